"""The decision which documents stay, within a budget of memory.

Features of kept documents are what takes the room. Beyond the budget their oldest chunks go to files, from which the system maps
back the few pages that a comparison needs.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.errors import InputError
from lookalike.leaders.candidates import BUCKET_LIMIT
from lookalike.leaders.rule import Rule
from lookalike.leaders.sketching import Sketches, can_be_made_again
from lookalike.system import forget_pages
from lookalike.text.native_form import native_form

if TYPE_CHECKING:
    from lookalike.leaders.meaning import MeaningLeaders
    from lookalike.leaders.records import RecordLeaders

DEFAULT_MEMORY = 4 << 30
RESERVED = 144 << 20  # for the interpreter, its libraries and the batch at hand
LEAST_FEATURES = 16 << 20  # stay in memory under any budget
FILE_BYTES = 64 << 20  # of features that go to a file together
SLOT_BYTES = 18  # in a table of buckets, per kept document and band
EXPECTED_SHARE = 4  # of the memory tables begin with no more than this part: files are not the same throughout
DECIDING = 2  # of so many workers one helps with the decision: by the stages it is what four cores would wait for otherwise


class Rows(NamedTuple):
    """Where documents stand, so that their features can be made again."""

    files: list[_native.RowFile]
    numbers: NDArray[np.uint32]  # of each document's file
    extents: NDArray[np.int64]  # begin and end of each row


class Decider:
    """Takes documents in the order in which they want to be kept."""

    def __init__(
        self, rule: Rule, budget: int, folder: Callable[[], Path], workers: int = 1, key: NDArray[np.uint64] | None = None
    ) -> None:
        """``key``: that of the features; by default the process has one."""
        self._meaning = _meaning_leaders(rule, folder, workers) if rule.method == "meaning" else None
        self._records = _record_leaders(rule) if rule.method == "record" else None
        self._simhash = _native.SimhashLeaders(rule.bits, rule.distance) if rule.method == "simhash" else None
        form = native_form(rule.recipe) if can_be_made_again(rule) else None
        self._leaders = _native.Leaders(rule.banding.bands, rule.threshold, BUCKET_LIMIT, rule.method == "estimate", form, key)
        self._slots_of_one = SLOT_BYTES * rule.banding.bands  # bytes for a document
        self._budget, self._folder, self._workers = budget, folder, max(workers // DECIDING, 1)
        self._maps: list[mmap.mmap] = []
        self._moved = 0

    def expect(self, documents: int) -> None:
        """About so many will be offered: what is to hold them need not grow step by step."""
        if self._slots_of_one:
            self._leaders.expect(min(documents, self._allowed(0) // EXPECTED_SHARE // self._slots_of_one), self._workers)

    def offer(
        self, sketches: Sketches, others: int = 0, *, stay: bool = False, rows: Rows | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The kept document that each one points at, by its number in the order of offers, or -1 where it is kept itself; and
        the similarity. ``others`` is what else the run holds in memory, in bytes. ``stay``: nobody changes the features any more, and
        those of kept documents may stay where they are. ``rows``: features may be missing, and none are kept: they are made again if
        they are needed."""
        if self._meaning:
            return self._meaning.offer(sketches.features, self._allowed(others))
        if self._records:
            return self._records.offer(sketches)
        if self._simhash:
            found = self._simhash.offer(sketches.simhashes, sketches.digests)
        else:
            keys = sketches.keys.astype(np.uint64, copy=False)  # those of stored MinHashes have 32 bits
            given = sketches.features, sketches.offsets, sketches.digests, keys, stay, self._workers
            try:
                found = self._leaders.offer(*given, *(rows or ()))
            except _native.RowChanged as error:
                raise InputError(f"{str(error)!r} was changed while it was read: run again") from None
            self._move_out(others)
        return np.asarray(found[0]), np.asarray(found[1])

    @property
    def compared(self) -> int:
        """Pairs whose similarity was computed."""
        return (self._meaning or self._records or self._leaders).compared

    @property
    def spilled(self) -> int:
        """Bytes that went to files."""
        return self._meaning.spilled if self._meaning else sum(map(len, self._maps))

    def hot_buckets(self, limit: int) -> list[tuple[int, int, int]]:
        """Band, documents refused, and a document of each bucket that was full."""
        return (self._records or self._leaders).hot_buckets(limit)

    def _allowed(self, others: int) -> int:
        return max(self._budget - RESERVED - others, LEAST_FEATURES)

    def _move_out(self, others: int) -> None:
        allowed = self._allowed(others)
        while self._leaders.nbytes > allowed and (chunks := self._oldest_chunks()):
            self._maps.append(self._to_file(chunks))
            self._moved = chunks.stop
        # For every page that a comparison reads the system maps sixteen: they are given back at once.
        for each in self._maps:
            forget_pages(each)

    def _oldest_chunks(self) -> range:
        """Those that go to a file next. The last one may still be filled, and stays, unless it is as large as it may be."""
        count = self._leaders.chunks
        if count > self._moved and self._leaders.chunk(count - 1).nbytes < LEAST_FEATURES:
            count -= 1
        size, last = 0, self._moved
        while last < count and size < FILE_BYTES:
            size, last = size + self._leaders.chunk(last).nbytes, last + 1
        return range(self._moved, last)

    def _to_file(self, chunks: range) -> mmap.mmap:
        path = self._folder() / f"features-{chunks.start}"
        views = [self._leaders.chunk(chunk) for chunk in chunks]
        with open(path, "w+b") as file:
            file.writelines(views)
            file.flush()
            mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        path.unlink()  # the map keeps it; whatever happens, nothing is left behind
        at = 0
        for chunk, view in zip(chunks, views, strict=True):
            elsewhere: Any = np.frombuffer(mapped, dtype=np.uint64, count=len(view), offset=at)
            self._leaders.replace_chunk(chunk, elsewhere)
            at += 8 * len(view)
        forget_pages(mapped)
        return mapped


def _record_leaders(rule: Rule) -> RecordLeaders:
    from lookalike.leaders.records import RecordLeaders

    return RecordLeaders(rule)


def _meaning_leaders(rule: Rule, folder: Callable[[], Path], workers: int) -> MeaningLeaders:
    from lookalike.embedders.opening import embedder
    from lookalike.leaders.meaning import MeaningLeaders

    dimensions = embedder(rule.recipe.embedder).dimensions if rule.dimensions is None else rule.dimensions
    return MeaningLeaders(dimensions, rule.threshold, workers, folder)
