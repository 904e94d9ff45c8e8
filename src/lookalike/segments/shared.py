"""Which stored documents share passages with a text, how much of it, and where: ``shared_documents``.

**Boilerplate.** A hash that more than ``max(50, 1 % of all documents)`` documents have (or more than ``common``) is skipped, and the
result says so. Where that is every hash of the query, the rarest are used after all: in order of frequency, then of their
value, as many as have ``MAX_RAREST`` documents together, and at least one. Removed documents do not count.

**A passage** is a run of shared fingerprints, in the same order on both sides, in which nothing between two neighbours is known to
differ: they follow each other directly among the fingerprints of both texts, or their spans overlap or touch on both sides.
Where k is not smaller than the window, as by default, the two texts of a passage are equal, but for how often a token is repeated
at once. A passage reaches from its first to its last fingerprint; the texts may agree for up to ``window`` - 1 tokens more at
each end. A skipped fingerprint may lie inside, where both have it, but neither begin nor end a passage. Where a hash stands in
many places, the first 32 are tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.checks import check_int
from lookalike.errors import InputError
from lookalike.fingerprints.winnowing import Winnowing
from lookalike.model import Passage, Span
from lookalike.segments.passages import PassageSegment, QueryPrints, column

FEW_DOCUMENTS = 50  # a hash of so few documents is never boilerplate, however small the store
COMMON_SHARE = 100  # … and of larger stores, one in so many documents
MAX_RAREST = 200_000  # entries that are read where everything is boilerplate: a few milliseconds


@dataclass(frozen=True, slots=True)
class SharedDocument:
    """A document that shares passages with the query: ``left`` of a passage is the query, ``right`` the document."""

    row: int
    shared: int
    """distinct hashes of the query that the document has"""
    share: float
    """the same as a share of all that were searched: an estimate of how much of the query is in the document"""
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Skipped:
    """The part of the query that was not searched because it is boilerplate."""

    hashes: int
    spans: tuple[Span, ...]
    """where it stands in the query"""
    documents: int
    """how many documents have the most common of its hashes"""


@dataclass(frozen=True, slots=True)
class SharedResult:
    """What ``shared_documents`` found: most shared hashes first, then by row."""

    documents: tuple[SharedDocument, ...]
    total: int
    """how many there were before the limit"""
    searched: int
    """distinct hashes of the query that were searched"""
    skipped: Skipped
    common: int
    """hashes in more documents than this are boilerplate"""
    rarest: bool
    """everything was boilerplate: only the rarest hashes were searched"""


def shared_documents(
    segments: Sequence[PassageSegment],
    query: Winnowing,
    *,
    documents: int,
    removed: NDArray[np.int64],
    common: int | None = None,
    limit: int,
    spans: bool = True,
) -> SharedResult:
    """The documents of all segments that share passages with the query.

    ``documents`` is how many the store has, ``removed`` the rows to leave out, ascending; without ``spans`` no passages are named.
    No row is in two segments; how they are distributed does not change the result.
    """
    _count(limit, "limit", 1)
    bound = max(FEW_DOCUMENTS, _count(documents, "documents", 0) // COMMON_SHARE)
    if common is not None:
        bound = _count(common, "common", 0)
    gone = column(removed, "removed", "int64")
    prints = _prints(query)
    hashes, number = np.unique(prints.values, return_inverse=True)
    frequencies = _Frequencies(segments, hashes, gone)
    used = frequencies.at_most(bound)
    rarest = bool(hashes.size) and not used.any()
    if rarest:
        used = frequencies.rarest()
    skipped = Skipped(int((~used).sum()), _spans(prints, ~used[number]), frequencies.largest(~used))
    found = _ranked(segments, hashes[used], gone, limit)
    named = _passages(segments, found, prints._replace(used=used[number].astype(np.uint8))) if spans else [()] * len(found.rows)
    searched = int(used.sum())
    best = tuple(
        SharedDocument(row, shared, shared / searched, named[at])
        for at, (row, shared) in enumerate(zip(found.rows.tolist(), found.shared.tolist(), strict=True))
    )
    return SharedResult(best, found.total, searched, skipped, bound, rarest)


class _Ranking(NamedTuple):
    rows: NDArray[np.int64]
    shared: NDArray[np.uint32]
    segments: NDArray[np.int64]  # the number of the segment that has the document …
    documents: NDArray[np.uint32]  # … and of the document in it
    total: int


class _Frequencies:
    """How many documents have each of the hashes, which ascend.

    Finding removed documents among many is work, so they are subtracted only where it matters; elsewhere a count is an upper bound.
    """

    def __init__(self, segments: Sequence[PassageSegment], hashes: NDArray[np.uint64], gone: NDArray[np.int64]) -> None:
        self._segments, self._hashes, self._gone = segments, hashes, gone
        self._counts = np.zeros(len(hashes), dtype=np.int64)
        for segment in segments:
            self._counts += segment.frequencies(hashes)
        self._exact = np.full(len(hashes), not gone.size)

    def at_most(self, bound: int) -> NDArray[np.bool_]:
        self._settle((self._counts > bound) & (self._counts - self._gone.size <= bound))
        return self._counts <= bound

    def rarest(self) -> NDArray[np.bool_]:
        """The rarest with up to ``MAX_RAREST`` documents together; at least one."""
        self._settle(~self._exact)
        order = np.argsort(self._counts, kind="stable")
        fitting = int(np.searchsorted(np.cumsum(self._counts[order]), MAX_RAREST, side="right"))
        chosen = np.zeros(len(order), dtype=np.bool_)
        chosen[order[: max(fitting, 1)]] = True
        return chosen

    def largest(self, chosen: NDArray[np.bool_]) -> int:
        """The largest count of those chosen, 0 of none."""
        while True:
            counts = np.where(chosen, self._counts, 0)
            top = chosen & (counts == counts.max(initial=0))
            if self._exact[top].all():
                return int(counts.max(initial=0))
            self._settle(top)

    def _settle(self, chosen: NDArray[np.bool_]) -> None:
        at = np.flatnonzero(chosen & ~self._exact)
        if not at.size:
            return
        self._counts[at] = 0
        for segment in self._segments:
            self._counts[at] += segment.frequencies(self._hashes[at], self._gone)
        self._exact[at] = True


def _ranked(segments: Sequence[PassageSegment], hashes: NDArray[np.uint64], gone: NDArray[np.int64], limit: int) -> _Ranking:
    """The best of each segment, of which the best are taken."""
    found = [segment.sharing(hashes, gone, limit) for segment in segments]
    rows = np.concatenate([np.zeros(0, np.int64), *(one.rows for one in found)])
    shared = np.concatenate([np.zeros(0, np.uint32), *(one.shared for one in found)])
    documents = np.concatenate([np.zeros(0, np.uint32), *(one.documents for one in found)])
    numbers = np.repeat(np.arange(len(segments)), [len(one.rows) for one in found])
    best = np.lexsort((rows, -shared.astype(np.int64)))[:limit]
    return _Ranking(rows[best], shared[best], numbers[best], documents[best], sum(one.total for one in found))


def _passages(segments: Sequence[PassageSegment], found: _Ranking, prints: QueryPrints) -> list[tuple[Passage, ...]]:
    """The passages of each document that was found, in the same order."""
    passages: list[tuple[Passage, ...]] = [()] * len(found.rows)
    for number in np.unique(found.segments).tolist():
        here = np.flatnonzero(found.segments == number)
        offsets, edges = segments[number].passages(prints, found.documents[here])
        every = [Passage((a, b), (c, d)) for a, b, c, d in edges.tolist()]
        for at, first, last in zip(here.tolist(), offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            passages[at] = tuple(every[first:last])
    return passages


def _prints(query: Winnowing) -> QueryPrints:
    if not isinstance(query, Winnowing):
        raise InputError(f"query is a {type(query).__name__}: give the Winnowing of a text, from winnow or winnows")
    if not all(0 <= start <= end < 2**32 for start, end in query.spans):
        raise InputError("query: its spans should be pairs of numbers from 0 to 2**32 - 1, the smaller first")
    values = np.array(query.values, dtype=np.uint64)
    starts, ends = np.array(query.spans, dtype=np.uint32).reshape(-1, 2).T.copy()
    return QueryPrints(values, starts, ends, np.ones(len(values), dtype=np.uint8))


def _spans(prints: QueryPrints, chosen: NDArray[np.bool_]) -> tuple[Span, ...]:
    """The spans of the chosen fingerprints; those that overlap or touch are one."""
    order = np.argsort(prints.starts[chosen], kind="stable")
    starts, ends = prints.starts[chosen][order], np.maximum.accumulate(prints.ends[chosen][order])
    if not starts.size:
        return ()
    breaks = np.flatnonzero(starts[1:] > ends[:-1])
    firsts, lasts = np.append(0, breaks + 1), np.append(breaks, len(starts) - 1)
    return tuple(zip(starts[firsts].tolist(), ends[lasts].tolist(), strict=True))


def _count(number: Any, name: str, least: int) -> int:
    return check_int(name, number, least, 2**62, f"give a whole number, {least} or more")
