"""What became of a text: kept, moved, reworded and deleted on the left, inserted on the right.

Both texts are cut into words, ideographs and punctuation marks; white space does not count. Runs of them that stand on both
sides in the same order are kept (see ``runs``), and what stands elsewhere is moved (see ``moves``). What is left of a gap between
two kept runs was replaced if both sides have text there. It was reworded if the sentence around it is still recognisable;
otherwise one text was deleted and another one inserted. The rule looks at sentences, so all that was replaced in one is
treated alike.
"""

from __future__ import annotations

from bisect import bisect, bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from lookalike.comparison.likeness import in_common, trigrams
from lookalike.comparison.moves import Change, Shared, shared
from lookalike.comparison.runs import kept_runs
from lookalike.comparison.sides import Gap, Run, Side, changed
from lookalike.model import Span

# A sentence is recognisable if this share of its longer side was kept, or became similar words in the same place.
RECOGNISABLE = 0.35
SIMILAR_TOKENS = 16  # of a gap: longer texts have many trigrams in common by chance
CONTEXT_TOKENS = 64  # of kept text on either side of a gap: a sentence that is longer is recognisable anyhow

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
    of the right text. Two texts without characters count as kept. ``added`` is what the right text has beyond the left one, in
    terms of the left text: inserted text, and what reworded text is longer by.
    """

    kept: float
    deleted: float
    inserted: float
    moved: float
    reworded: float
    left: tuple[Segment, ...]
    right: tuple[Segment, ...]
    added: float = 0.0

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
    return edits_of(Side(left), Side(right))


def edits_of(a: Side, b: Side) -> Edits:
    """The same of texts that are tokens already."""
    left_segments, right_segments = _segments(a, b, shared(a, b, kept_runs(a, b)))
    return Edits(
        **_shares(left_segments, right_segments, a, b),
        left=tuple(segment for _, _, segment in left_segments),
        right=tuple(segment for _, _, segment in right_segments),
    )


_Placed = tuple[int, int, Segment]


def _segments(a: Side, b: Side, found: Shared) -> tuple[list[_Placed], list[_Placed]]:
    left = list(_moved(a, b, found))
    right = list(_moved(b, a, _mirrored(found)))
    for run in found.kept:
        spans = a.span(run.left, run.left_end), b.span(run.right, run.right_end)
        left.append((run.left, run.left_end, Segment("kept", *spans)))
        right.append((run.right, run.right_end, Segment("kept", spans[1], spans[0])))
    runs = (((run.left, run.left_end), (run.right, run.right_end)) for run in found.moved)
    between = list(changed(found.kept, [*runs, *((change[:2], change[2:]) for change in found.changes)], a, b))
    for gap, reworded in zip(between, _reworded(a, b, found.kept, between), strict=True):
        _label(a, b, gap, reworded, left, right)
    return sorted(left), sorted(right)


def _mirrored(found: Shared) -> Shared:
    moved = [Run(run.right, run.left, run.length) for run in found.moved]
    return Shared([], moved, [Change(right, right_end, left, left_end) for left, left_end, right, right_end in found.changes])


def _moved(side: Side, other: Side, found: Shared) -> Iterator[_Placed]:
    for run in found.moved:
        spans = side.span(run.left, run.left_end), other.span(run.right, run.right_end)
        yield run.left, run.left_end, Segment("moved", *spans)
    for left, left_end, right, right_end in found.changes:
        yield left, left_end, Segment("reworded", side.span(left, left_end), other.span(right, right_end))


def _label(a: Side, b: Side, gap: Gap, reworded: bool, left: list[_Placed], right: list[_Placed]) -> None:
    if reworded and gap.left and gap.right:
        left_whole, right_whole = a.span(gap.left[0][0], gap.left[-1][1]), b.span(gap.right[0][0], gap.right[-1][1])
        left.extend((first, last, Segment("reworded", a.span(first, last), right_whole)) for first, last in gap.left)
        right.extend((first, last, Segment("reworded", b.span(first, last), left_whole)) for first, last in gap.right)
        return
    left.extend((first, last, Segment("deleted", a.span(first, last), None)) for first, last in gap.left)
    right.extend((first, last, Segment("inserted", b.span(first, last), None)) for first, last in gap.right)


def _reworded(a: Side, b: Side, kept: list[Run], between: list[Gap]) -> Iterator[bool]:
    """For each gap, whether the sentence it stands in is still recognisable.

    A sentence, here, is what lies between two kept tokens with which lines or sentences begin.
    """
    sentence: list[Gap] = []
    same = 0
    for number, gap in enumerate(between):
        sentence.append(gap)
        head, tail = _context(a, kept[number]) if number < len(kept) else (0, 0)
        same += head
        if tail is not None:
            yield from [_is_recognisable(a, b, sentence, same)] * len(sentence)
            sentence, same = [], tail


def _is_recognisable(a: Side, b: Side, sentence: list[Gap], same: int) -> bool:
    was = sum([a.characters(*stretch) for gap in sentence for stretch in gap.left])
    now = sum([b.characters(*stretch) for gap in sentence for stretch in gap.right])
    least = RECOGNISABLE * (same + max(was, now))
    return same >= least or same + sum(_similar(a, b, gap) for gap in sentence) >= least


def _context(a: Side, run: Run) -> tuple[int, int | None]:
    """The characters of a kept run that belong to the sentence before it, and those of the sentence behind it.

    None if it all belongs to one sentence.
    """
    reach = min(run.length, CONTEXT_TOKENS)
    # The first and the last token of the run, within reach of its ends, that begins a line or a sentence; the text's end begins one.
    end = a.beginnings[bisect_left(a.beginnings, run.left)]
    start = a.beginnings[bisect(a.beginnings, run.left_end) - 1]
    if end > run.left_end and reach == run.length:
        return a.characters(run.left, run.left_end), None
    return a.characters(run.left, min(end, run.left + reach)), a.characters(max(start, run.left_end - reach), run.left_end)


def _similar(a: Side, b: Side, gap: Gap) -> float:
    """How many characters of a gap became similar words."""
    sides = [[token for stretch in stretches for token in range(*stretch)] for stretches in (gap.left, gap.right)]
    if not all(0 < len(tokens) <= SIMILAR_TOKENS for tokens in sides):
        return 0.0
    was, now = (sum(side.sizes[token] for token in tokens) for side, tokens in zip((a, b), sides, strict=True))
    old, new = (trigrams(side.word(token).lower() for token in tokens) for side, tokens in zip((a, b), sides, strict=True))
    return float(in_common(old, new) * 2 * min(was, now) / (was + now))


def _shares(left: list[_Placed], right: list[_Placed], a: Side, b: Side) -> dict[str, float]:
    was, now = a.characters(0, len(a)), b.characters(0, len(b))
    counts = dict.fromkeys(("kept", "moved", "reworded", "deleted"), 0)
    for first, last, segment in left:
        counts[segment.kind] += a.characters(first, last)
    come = dict.fromkeys(("kept", "moved", "reworded", "inserted"), 0)
    for first, last, segment in right:
        come[segment.kind] += b.characters(first, last)
    shares = {kind: count / was if was else 0.0 for kind, count in counts.items()}
    if not was and not now:
        shares["kept"] = 1.0
    added = come["inserted"] + max(0, come["reworded"] - counts["reworded"])
    return shares | {"inserted": come["inserted"] / now if now else 0.0, "added": added / was if was else 0.0}
