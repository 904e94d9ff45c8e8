"""The changes of a text for a terminal: each with a little of what stands around it, as a diff of words.

In colour, deleted text is struck through and inserted text is underlined, so that colour is not the only sign. Without
colour they stand in [-brackets-]{+like these+}, and moved text in [>these>]. A reworded stretch is shown as deleted and
inserted, a moved one where it was, together with the words that were reworded inside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from lookalike.checks import check_bool, check_int
from lookalike.comparison.blocks import Moves, blocks
from lookalike.comparison.edits import Segment
from lookalike.reports.escaping import columns, printable
from lookalike.text.lines import Lines

if TYPE_CHECKING:
    from lookalike.comparison.outcome import Comparison

CONTEXT = 30  # columns of kept text before and after a change; changes closer than twice that share a line
LONGEST = 160  # columns of one stretch: the middle of a longer one is left out
HUNK = 400  # columns after which a change begins a new line, however close it is
MIN_WIDTH = 20
INDENT = "    "

_MARKERS = {"deleted": ("[-", "-]"), "inserted": ("{+", "+}"), "moved": ("[>", ">]")}
_LEFT = {"deleted": "deleted", "reworded": "deleted", "moved": "moved"}  # what each kind is shown as
_RIGHT = {"inserted": "inserted", "reworded": "inserted"}
_COLOURS = {"deleted": "31;9", "inserted": "32;4", "moved": "36", "place": "2"}
_UNITS = re.compile(r"[\u1100-\uffdc\U00010000-\U0010ffff]|[^\s\u1100-\uffdc\U00010000-\U0010ffff]+\s*|\s+")


class _Piece(NamedTuple):
    """Text in one style: deleted, inserted, moved, kept, or a place."""

    style: str
    text: str


def changes(comparison: Comparison, *, width: int, colours: bool, most: int) -> str:
    """At most ``most`` lines; empty if nothing changed or there are no edits."""
    for name, value in (("width", width), ("lines", most)):
        check_int(name, value, 1, remedy="choose a whole number from 1 on")
    check_bool("colours", colours)
    shown: list[str] = []
    left_out = _count(comparison)
    for hunk in _hunks(comparison):
        lines = _wrapped(hunk, max(width, MIN_WIDTH), colours)
        stretches = sum(piece.style in _MARKERS for piece in hunk)
        if len(shown) + len(lines) > most - (left_out > stretches):
            break
        shown += lines
        left_out -= stretches
    if left_out:
        shown.append(f"… {left_out:,} more change{'' if left_out == 1 else 's'}")
    return "\n".join(shown)


def _count(comparison: Comparison) -> int:
    """The stretches that would be shown without a limit."""
    if comparison.edits is None:
        return 0
    return sum(segment.kind in _LEFT for segment in comparison.edits.left) + sum(
        segment.kind in _RIGHT for segment in comparison.edits.right
    )


def _hunks(comparison: Comparison) -> Iterator[list[_Piece]]:
    """Changes that stand close to each other, with their context. The first piece names the place in the left text."""
    left_text, right_text = comparison.left, comparison.right
    if comparison.edits is None or not isinstance(left_text, str) or not isinstance(right_text, str):
        return
    moves = Moves(comparison.edits)
    place, other = (Lines(left_text), Lines(right_text)) if comparison.kind == "code" else (None, None)
    hunk: list[_Piece] = []
    before = ""
    at_left = at_right = 0
    for left, right, kept in blocks(comparison.edits):
        (left_end, at_next_left), (right_end, at_next_right) = kept or ((len(left_text),) * 2, (len(right_text),) * 2)
        stays = [segment for segment in right if segment.span not in moves.replacing]
        was = _changes(left_text, left, at_left, left_end, _LEFT, (moves, right_text), other)
        now = _changes(right_text, stays, at_right, right_end, _RIGHT)
        at_left, at_right = at_next_left, at_next_right
        around = was if was.pieces else now
        after = _one_line(left_text[left_end:at_left])
        if around.pieces:
            at = left[0].span[0] if left else left_end
            shown = f"A line {place.of((at, at + 1))[0]:,}: " if place else f"A {at:,}: "
            hunk = hunk or [_Piece("place", shown), _Piece("kept", _last(before))]
            hunk += [_Piece("kept", around.lead), *was.pieces, *now.pieces, _Piece("kept", around.trail)]
        before = after
        if hunk and columns(after) <= 2 * CONTEXT and sum(columns(piece.text) for piece in hunk) < HUNK:
            hunk.append(_Piece("kept", after))
        elif hunk:
            yield [*hunk, _Piece("kept", _first(after))]
            hunk = []
    if hunk:
        yield hunk


class _Changes(NamedTuple):
    """What changed on one side, and the space before and after."""

    lead: str
    pieces: list[_Piece]
    trail: str


def _changes(
    text: str,
    segments: Sequence[Segment],
    start: int,
    end: int,
    styles: dict[str, str],
    moved: tuple[Moves, str] | None = None,
    lines: Lines | None = None,
) -> _Changes:
    """``moved`` has the moves and the other text, where moved text is shown; ``lines`` are those of the other text, if places are lines."""
    lead = ""
    pieces: list[_Piece] = []
    place: int | None = None  # where the moved text that is being shown went
    for segment, following in zip_longest(segments, segments[1:]):
        gap, start = _space(text[start : segment.span[0]]), segment.span[1]
        if segment.kind not in styles:
            continue
        if pieces:
            pieces.append(_Piece("kept", gap))
        else:
            lead = gap
        shown = text[slice(*segment.span)]
        pieces.append(_Piece(styles[segment.kind], _shortened(shown)))
        if moved is None or segment.partner is None:
            continue
        moves, other = moved
        inside = segment.span in moves.reworded
        if inside:
            pieces.append(_Piece("inserted", _shortened(other[slice(*segment.partner)])))
        if inside or segment.kind == "moved":
            place = segment.partner[0] if place is None else place
            if following is None or not moves.goes_on(segment, following):
                # A mark that went along needs no place of its own.
                where = f"line {lines.of((place, place + 1))[0]:,}" if lines else f"{place:,}"
                pieces += [_Piece("place", f"(to B {where})")] if any(map(str.isalnum, shown)) else []
                place = None
    return _Changes(lead, pieces, _space(text[start:end]))


def _one_line(text: str) -> str:
    return printable(re.sub(r"\s+", lambda space: "⏎" if "\n" in space[0] else " ", text))


def _space(text: str) -> str:
    """The space between two stretches; text between them is text that does not count."""
    return _one_line(text) if not text or text.isspace() else " … "


def _shortened(text: str) -> str:
    # White space folds and escapes only lengthen a text otherwise, so a slice of it is enough to look at.
    if len(text) <= LONGEST and columns(_one_line(text)) <= LONGEST:
        return _one_line(text)
    head, tail = _first(_one_line(text[:LONGEST]), LONGEST // 2), _last(_one_line(text[-LONGEST:]), LONGEST // 4)
    return f"{head} {len(text):,} characters {tail}"


def _first(text: str, most: int = CONTEXT) -> str:
    """The beginning of a text, cut where it would take more columns."""
    if columns(text[: most + 1]) <= most:
        return text
    end = most
    while columns(text[:end]) > most - 1:
        end -= 1
    return f"{text[:end]}…"


def _last(text: str, most: int = CONTEXT) -> str:
    return _first(text[-most - 1 :][::-1], most)[::-1]


def _wrapped(hunk: list[_Piece], width: int, colours: bool) -> list[str]:
    """Lines of at most ``width`` columns, broken between words or ideographs."""
    lines: list[list[_Piece]] = [[]]
    room = width
    for piece in hunk:
        opening, closing = ("", "") if colours else _MARKERS.get(piece.style, ("", ""))
        for unit in _units(f"{opening}{piece.text}{closing}", width - len(INDENT)):
            if columns(unit.rstrip()) > room:
                lines.append([])
                room = width - len(INDENT)
            lines[-1].append(_Piece(piece.style, unit))
            room -= columns(unit)
    for line in lines:
        while line and not line[-1].text.strip():
            line.pop()
        if line:
            line.append(_Piece(line[-1].style, line.pop().text.rstrip()))
    return [INDENT * (i > 0) + _styled(line, colours) for i, line in enumerate(lines)]


def _units(text: str, widest: int) -> Iterator[str]:
    for unit in _UNITS.findall(text):
        while columns(unit) > widest:
            yield unit[: widest // 2]
            unit = unit[widest // 2 :]
        yield unit


def _styled(line: list[_Piece], colours: bool) -> str:
    shown = ""
    for style, pieces in groupby(line, key=lambda piece: piece.style):
        text = "".join(piece.text for piece in pieces)
        shown += f"\x1b[{_COLOURS[style]}m{text}\x1b[0m" if colours and style in _COLOURS else text
    return shown
