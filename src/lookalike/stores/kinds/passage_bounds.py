"""Which documents need not be compared with a query to know which share the most with it.

Shared fingerprints tell the share that a comparison would give, from both sides. Texts agree wherever passages of fingerprints say so, and
for up to ``window`` - 1 tokens more at each end: of that many shingles in a row, winnowing keeps one. What was skipped as boilerplate may
be shared too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from operator import sub
from typing import TYPE_CHECKING, NamedTuple

from lookalike.model import Span

if TYPE_CHECKING:
    from lookalike import _native
    from lookalike.segments.shared import SharedResult
    from lookalike.text.tokenize import TokenStream


class Bounded(NamedTuple):
    """A document, by its place in a list, and the shares of the query between which its own is."""

    place: int
    row: int
    least: float
    most: float


def bounded(tokens: TokenStream, found: SharedResult, window: int) -> list[Bounded]:
    """The documents that were found, those that may share the most first."""
    starts = tokens.starts.tolist()
    before = [0, *accumulate(map(sub, tokens.ends, tokens.starts))]

    def share(spans: Iterable[Span], further: int) -> float:
        places = sorted((bisect_left(starts, start) - further, bisect_left(starts, end) + further) for start, end in spans)
        inside = at = 0
        for first, last in places:
            first, last = max(at, first), min(last, len(starts))
            if last > first:
                inside, at = inside + before[last] - before[first], last
        return inside / before[-1] if before[-1] else 1.0

    skipped = found.skipped.spans
    made = []
    for place, each in enumerate(found.documents):
        spans = [passage.left for passage in each.passages]
        made.append(Bounded(place, each.row, share(spans, 0), share([*spans, *skipped], window - 1)))
    return sorted(made, key=lambda each: (-each.most, each.row))


def natively_bounded(query: _native.PassageQuery, found: SharedResult, window: int) -> list[Bounded]:
    """The same by native code."""
    counts = [len(each.passages) for each in found.documents]
    spans = [passage.left for each in found.documents for passage in each.passages]
    shares = query.bounds(counts, spans, list(found.skipped.spans), window - 1)
    made = [Bounded(place, each.row, *share) for place, (each, share) in enumerate(zip(found.documents, shares, strict=True))]
    return sorted(made, key=lambda each: (-each.most, each.row))


def compared(documents: Sequence[Bounded], compare: Callable[[int], float], threshold: float, limit: int) -> int:
    """Compare documents, by their places, until the best are known; returns how many others reach the threshold.

    They are compared while one may be among the best, or while it is open whether one reaches the threshold.
    """
    best: list[tuple[float, int]] = []  # shares that reach the threshold, negative, with rows
    others = 0
    for each in documents:
        full = len(best) >= limit
        beaten = full and (-each.most, each.row) > sorted(best)[limit - 1]
        if beaten and (each.most < threshold or each.least >= threshold):
            others += each.least >= threshold
            continue
        share = compare(each.place)
        if share >= threshold:
            best.append((-share, each.row))
    return others
