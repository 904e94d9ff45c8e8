"""Edits as a sequence that runs through both texts at once: what was kept, and what changed between that."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, zip_longest
from typing import NamedTuple

from lookalike.comparison.edits import Edits, Segment
from lookalike.model import Span


class ChangedBlock(NamedTuple):
    """What changed on both sides, and the kept text that follows it; no kept text at the end, where nothing follows."""

    left: tuple[Segment, ...]
    right: tuple[Segment, ...]
    kept: tuple[Span, Span] | None


def blocks(edits: Edits) -> Iterator[ChangedBlock]:
    """The edits in order. The kept stretches stand in the same order on both sides, so they divide both texts alike."""
    for (left, left_kept), (right, right_kept) in zip_longest(_until_kept(edits.left), _until_kept(edits.right), fillvalue=((), None)):
        kept = (left_kept.span, right_kept.span) if left_kept and right_kept else None
        yield ChangedBlock(left, right, kept)


def _until_kept(segments: tuple[Segment, ...]) -> Iterator[tuple[tuple[Segment, ...], Segment | None]]:
    changed: list[Segment] = []
    for segment in segments:
        if segment.kind == "kept":
            yield tuple(changed), segment
            changed = []
        else:
            changed.append(segment)
    if changed:
        yield tuple(changed), None


def partner_groups(edits: Edits) -> tuple[dict[Span, int], dict[Span, int]]:
    """A number for each moved or reworded stretch, by its span on the left and on the right: partners have the same number."""
    right = {segment.span[0]: segment for segment in edits.right if segment.partner}
    numbers: dict[int, int] = {}  # by where the left partner begins

    def number(start: int) -> int:
        return numbers.setdefault(start, len(numbers) + 1)

    left_groups: dict[Span, int] = {}
    for segment in edits.left:
        if segment.kind in ("moved", "reworded") and segment.partner:
            there = right[segment.partner[0]].partner
            left_groups[segment.span] = number(there[0] if there else segment.span[0])
    right_groups = {
        segment.span: number(segment.partner[0]) for segment in edits.right if segment.kind in ("moved", "reworded") and segment.partner
    }
    return left_groups, right_groups


class Moves:
    """Moved stretches that follow each other on both sides, with the words that were reworded inside them."""

    def __init__(self, edits: Edits) -> None:
        self._right = {segment.span[0]: number for number, segment in enumerate(edits.right)}
        self.reworded: set[Span] = set()  # spans on both sides
        for pair in pairwise(edits.left):
            if {segment.kind for segment in pair} == {"moved", "reworded"} and self.goes_on(*pair):
                changed = pair[0] if pair[0].kind == "reworded" else pair[1]
                self.reworded.add(changed.span)
        self.replacing = {segment.partner for segment in edits.left if segment.span in self.reworded and segment.partner}

    def goes_on(self, first: Segment, second: Segment) -> bool:
        """Whether the partner of the second follows that of the first."""
        if first.partner is None or second.partner is None:
            return False
        return self._right[first.partner[0]] + 1 == self._right[second.partner[0]]
