"""What became of a text: kept, moved, reworded and deleted on the left, inserted on the right.

Both texts are cut into words, ideographs and punctuation marks; white space does not count. Runs of them that stand on both
sides in the same order are kept, longer runs that stand elsewhere are moved (see ``runs``). What is left of a gap between two
kept runs was reworded if both sides have a comparable amount of text there, and deleted or inserted otherwise.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from lookalike.comparison.runs import Run, Side, shared_runs
from lookalike.model import Span

# Text that was replaced in its place is reworded if the shorter side has at least a third of the longer one, and either
# both are phrases or they share a good part of their characters.
REWORDED_RATIO = 3
PHRASE_CHARACTERS = 60
REWORDED_SIMILARITY = 0.3

Kind = Literal["kept", "moved", "reworded", "deleted", "inserted"]


class Segment(NamedTuple):
    """A stretch of one text and what became of it; ``partner`` is where its counterpart stands in the other text."""

    kind: Kind
    span: Span
    partner: Span | None


@dataclass(frozen=True, slots=True)
class Edits:
    """Shares of characters, and the stretches of both texts.

    ``kept``, ``moved``, ``reworded`` and ``deleted`` are shares of the left text and add up to 1; ``inserted`` is a share
    of the right text. Two texts without characters count as kept.
    """

    kept: float
    deleted: float
    inserted: float
    moved: float
    reworded: float
    left: tuple[Segment, ...]
    right: tuple[Segment, ...]

    def to_dict(self) -> dict[str, float]:
        """The shares."""
        return {name: getattr(self, name) for name in ("kept", "deleted", "inserted", "moved", "reworded")}

    def segments(self) -> dict[str, list[dict[str, Any]]]:
        """The stretches of both texts, for JSON."""
        return {side: [_segment_dict(segment) for segment in getattr(self, side)] for side in ("left", "right")}


def _segment_dict(segment: Segment) -> dict[str, Any]:
    return {"kind": segment.kind, "span": list(segment.span), "partner": list(segment.partner) if segment.partner else None}


def edits(left: str, right: str) -> Edits:
    """What became of ``left`` in ``right``."""
    a, b = Side(left), Side(right)
    kept, moved = shared_runs(a, b)
    left_segments, right_segments = _segments(a, b, kept, moved)
    return Edits(
        **_shares(left_segments, right_segments, a, b),
        left=tuple(segment for _, _, segment in left_segments),
        right=tuple(segment for _, _, segment in right_segments),
    )


_Placed = tuple[int, int, Segment]  # first token, token after the last


def _segments(a: Side, b: Side, kept: list[Run], moved: list[Run]) -> tuple[list[_Placed], list[_Placed]]:
    left: list[_Placed] = []
    right: list[_Placed] = []
    left_moves = deque(sorted(moved))
    right_moves = deque(sorted(moved, key=lambda run: run.right))
    at_left = at_right = 0
    for run in [*kept, Run(len(a), len(b), 0)]:
        left_free = list(_place_moves(a, b, at_left, run.left, left_moves, left, mirrored=False))
        right_free = list(_place_moves(b, a, at_right, run.right, right_moves, right, mirrored=True))
        _label_gap(a, b, left_free, right_free, left, right)
        if run.length:
            spans = a.span(run.left, run.left + run.length), b.span(run.right, run.right + run.length)
            left.append((run.left, run.left + run.length, Segment("kept", *spans)))
            right.append((run.right, run.right + run.length, Segment("kept", spans[1], spans[0])))
        at_left, at_right = run.left + run.length, run.right + run.length
    return sorted(left), sorted(right)


def _place_moves(
    side: Side, other: Side, first: int, last: int, moves: deque[Run], out: list[_Placed], *, mirrored: bool
) -> Iterator[tuple[int, int]]:
    """Writes down the moves that begin in a gap, and yields what they leave of it."""
    at = first
    while moves:
        here, there = (moves[0].right, moves[0].left) if mirrored else (moves[0].left, moves[0].right)
        if here >= last:
            break
        length = moves.popleft().length
        if here > at:
            yield at, here
        out.append((here, here + length, Segment("moved", side.span(here, here + length), other.span(there, there + length))))
        at = here + length
    if at < last:
        yield at, last


def _label_gap(
    a: Side, b: Side, left_free: list[tuple[int, int]], right_free: list[tuple[int, int]], left: list[_Placed], right: list[_Placed]
) -> None:
    if left_free and right_free and _is_rewording(a, b, left_free, right_free):
        left_whole, right_whole = a.span(left_free[0][0], left_free[-1][1]), b.span(right_free[0][0], right_free[-1][1])
        left.extend((first, last, Segment("reworded", a.span(first, last), right_whole)) for first, last in left_free)
        right.extend((first, last, Segment("reworded", b.span(first, last), left_whole)) for first, last in right_free)
        return
    left.extend((first, last, Segment("deleted", a.span(first, last), None)) for first, last in left_free)
    right.extend((first, last, Segment("inserted", b.span(first, last), None)) for first, last in right_free)


def _is_rewording(a: Side, b: Side, left_free: list[tuple[int, int]], right_free: list[tuple[int, int]]) -> bool:
    was = sum(a.characters(first, last) for first, last in left_free)
    now = sum(b.characters(first, last) for first, last in right_free)
    if max(was, now) > REWORDED_RATIO * min(was, now):
        return False
    if max(was, now) <= PHRASE_CHARACTERS:
        return True
    old = {bigram for first, last in left_free for bigram in _bigrams(a.text[slice(*a.span(first, last))])}
    new = {bigram for first, last in right_free for bigram in _bigrams(b.text[slice(*b.span(first, last))])}
    return 2 * len(old & new) >= REWORDED_SIMILARITY * (len(old) + len(new))


def _bigrams(text: str) -> Iterator[str]:
    return (text[i : i + 2] for i in range(len(text) - 1))


def _shares(left: list[_Placed], right: list[_Placed], a: Side, b: Side) -> dict[str, float]:
    was, now = a.characters(0, len(a)), b.characters(0, len(b))
    counts = dict.fromkeys(("kept", "moved", "reworded", "deleted"), 0)
    for first, last, segment in left:
        counts[segment.kind] += a.characters(first, last)
    inserted = sum(b.characters(first, last) for first, last, segment in right if segment.kind == "inserted")
    shares = {kind: count / was if was else 0.0 for kind, count in counts.items()}
    if not was and not now:
        shares["kept"] = 1.0
    return shares | {"inserted": inserted / now if now else 0.0}
