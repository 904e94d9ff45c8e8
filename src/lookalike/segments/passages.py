"""Which documents have a winnowing hash, and where: ``PassageSegment``, an immutable inverted index in columns.

native/segments/postings.hpp has the layout. A segment knows nothing of removals: searches over several segments, with removals and
boilerplate, are in ``shared.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.errors import InputError
from lookalike.lazy import cached_property
from lookalike.segments.container import mapped_file

SECTIONS = {
    "rows": "int64",
    "firsts": "uint32",
    "suffix_bits": "uint8",
    "directory": "uint32",
    "suffixes": "uint8",
    "places": "uint32",
    "repeats": "uint32",
    "starts": "uint16",
    "lengths": "uint16",
    "uppers": "uint64",
}


class Postings(NamedTuple):
    """Where hashes stand: the postings of hash i are at ``offsets[i]:offsets[i + 1]``, by row, then in order of the text."""

    offsets: NDArray[np.int64]
    rows: NDArray[np.int64]
    starts: NDArray[np.uint32]
    ends: NDArray[np.uint32]


class Sharing(NamedTuple):
    """Documents by row and by their number in the segment, how many of the hashes each has, and how many there were before
    the limit.
    """

    rows: NDArray[np.int64]
    documents: NDArray[np.uint32]
    shared: NDArray[np.uint32]
    total: int


class QueryPrints(NamedTuple):
    """The fingerprints of a query in the order of its text, and which are looked for: all of a hash, or none."""

    values: NDArray[np.uint64]
    starts: NDArray[np.uint32]
    ends: NDArray[np.uint32]
    used: NDArray[np.uint8]


class PassageSegment:
    """The winnowing hashes of a set of documents, by hash. Up to 2**32 - 1 fingerprints, about 14 bytes each."""

    kind: ClassVar[str] = "passages"

    def __init__(self, sections: Mapping[str, NDArray[Any]]) -> None:
        self._sections = dict(sections)

    @cached_property
    def _native(self) -> _native.PostingSegment:
        """Everything in it is checked when it is asked for: a segment that was just made, and is only written, needs no check."""
        with _refusal("passage segment: "):
            return _native.PostingSegment(**self._sections)

    @classmethod
    def build(
        cls,
        rows: NDArray[np.int64],
        offsets: NDArray[np.int64],
        values: NDArray[np.uint64],
        starts: NDArray[np.uint32],
        ends: NDArray[np.uint32],
    ) -> Self:
        """From the columns of ``winnows``: document i is ``rows[i]`` and has ``values[offsets[i]:offsets[i + 1]]``."""
        numbers, places = column(rows, "rows", "int64"), column(offsets, "offsets", "int64")
        hashes, first, last = column(values, "values", "uint64"), column(starts, "starts", "uint32"), column(ends, "ends", "uint32")
        with _refusal():
            return cls(_named(_native.build_postings(numbers, places, hashes, first, last)))

    @classmethod
    def open(cls, sections: Mapping[str, NDArray[Any]]) -> Self:
        """From the arrays of ``sections()``, which are used where they are. Everything in them is checked."""
        if sections.keys() != SECTIONS.keys():
            raise InputError(f"passage segment: has the sections {sorted(sections)}, expected {sorted(SECTIONS)}")
        for name, dtype in SECTIONS.items():
            array = sections[name]
            if array.dtype != dtype or array.ndim != 1 or not array.flags.c_contiguous:
                raise InputError(f"passage segment: {name} is {array.dtype} of shape {array.shape}, expected one contiguous row of {dtype}")
        found = cls(sections)
        _ = found._native  # checked now: it comes from outside
        return found

    @classmethod
    def merge(cls, segments: Sequence[Self], removed: NDArray[np.int64]) -> Self:
        """One segment of all documents, except those of the rows ``removed``, which ascend."""
        read_once = all(mapped_file(one._sections["places"]) is not None for one in segments)
        with _refusal():
            return cls(_named(_native.merge_postings([one._native for one in segments], column(removed, "removed", "int64"), read_once)))

    def sections(self) -> dict[str, NDArray[Any]]:
        return dict(self._sections)

    def __len__(self) -> int:
        return len(self._native)

    def all_rows(self) -> NDArray[np.int64]:
        return self._sections["rows"]

    def fingerprints(self) -> NDArray[np.int64]:
        """How many fingerprints each document has."""
        firsts = self._sections["firsts"].astype(np.int64)
        return firsts[1:] - firsts[:-1]

    def frequencies(self, values: NDArray[np.uint64], removed: NDArray[np.int64] | None = None) -> NDArray[np.uint32]:
        """How many documents have each hash, not counting those of the rows ``removed``, which ascend."""
        gone = np.zeros(0, dtype=np.int64) if removed is None else column(removed, "removed", "int64")
        with _refusal():
            return np.asarray(self._native.frequencies(column(values, "values", "uint64"), gone))

    def postings(self, values: NDArray[np.uint64]) -> Postings:
        """Where each hash stands. A hash of boilerplate stands everywhere: ask for ``frequencies`` before."""
        return Postings(*(np.asarray(part) for part in self._native.postings(column(values, "values", "uint64"))))

    def sharing(self, values: NDArray[np.uint64], removed: NDArray[np.int64], limit: int) -> Sharing:
        """The documents that have any of the hashes, which ascend, except those of the rows ``removed``: most hashes first, then
        by row, at most ``limit``.
        """
        with _refusal():
            found, shared, total = self._native.sharing(column(values, "values", "uint64"), column(removed, "removed", "int64"), limit)
        documents = np.asarray(found)
        return Sharing(self.all_rows()[documents], documents, np.asarray(shared), total)

    def passages(self, query: QueryPrints, documents: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """The passages that the query shares with each of the documents, which are given by their numbers in the segment.

        Those of document i are ``offsets[i]:offsets[i + 1]`` of the rows of the second array: start and end in the query, start
        and end in the document. ``shared.py`` says what a passage is.
        """
        with _refusal():
            offsets, edges = self._native.passages(*query, column(documents, "documents", "uint32"))
        return np.asarray(offsets), np.asarray(edges).reshape(-1, 4)


def column(array: NDArray[Any], name: str, dtype: str) -> NDArray[Any]:
    """The array, contiguous; numbers of another type are an error, not cast."""
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
        found = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        raise InputError(f"{name}: expected a numpy array of {dtype} in one dimension, not {found}")
    return np.ascontiguousarray(array)


@contextmanager
def _refusal(what: str = "") -> Iterator[None]:
    """What the native side refuses is our kind of error."""
    try:
        yield
    except ValueError as error:
        raise InputError(f"{what}{error}") from None


def _named(parts: _native.Postings) -> dict[str, NDArray[Any]]:
    return {name: np.asarray(part) for name, part in zip(SECTIONS, parts, strict=True)}
