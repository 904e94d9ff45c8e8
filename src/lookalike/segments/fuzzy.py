"""Segments of fuzzy hashes: what is within a TLSH distance, or has at least an ssdeep score, exactly and without comparing everything.

A segment is immutable: named arrays, in memory or mapped from a file, and searched in place (native/segments/tlsh_segment.hpp says
how). Equal digests are kept once, with the rows of all their documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.checks import check_int, check_workers
from lookalike.errors import InputError
from lookalike.fingerprints.fuzzy_ssdeep import Ssdeep
from lookalike.fingerprints.fuzzy_tlsh import Tlsh

MAX_LIMIT = 2**62
MAX_DISTANCE = 2**31  # no two digests are so far apart


class DigestsFound(NamedTuple):
    """Documents, the nearest first, then by row. ``total`` is how many there were before the limit."""

    rows: NDArray[np.int64]
    values: NDArray[np.uint32]  # distances of TLSH, scores of ssdeep
    total: int


class _FuzzySegment:
    """Digests by document. Rows are unique; a document without a digest is in no segment."""

    kind: ClassVar[str]
    _digest: ClassVar[type[Tlsh] | type[Ssdeep]]
    _kernel: ClassVar[Any]
    _columns: ClassVar[dict[str, str]]  # names and dtypes of the sections
    _segment: _native.TlshSegment | _native.SsdeepSegment

    def __init__(self, sections: Mapping[str, NDArray[Any]]) -> None:
        """Use ``build``, ``open`` or ``merge``."""
        self._sections = {name: sections[name] for name in self._columns}
        self._segment = self._kernel(**self._sections)

    @classmethod
    def build(cls, rows: NDArray[np.int64] | Sequence[int], digests: Sequence[str]) -> Self:
        """A segment of these documents: rows ascend, and each has its digest."""
        if isinstance(digests, (str, bytes)):
            raise InputError(f"digests is a {type(digests).__name__}: give a list of digests")
        try:
            texts, offsets = _native.pack_strings(list(digests))
            return cls._of(cls._kernel.build(_rows(rows, "rows"), texts, offsets))
        except (TypeError, ValueError) as error:
            raise InputError(f"{cls.kind} segment: {error}") from error

    @classmethod
    def open(cls, sections: Mapping[str, NDArray[Any]]) -> Self:
        """The segment that these sections describe, used in place. ValueError where they are not what ``sections`` returned."""
        if sections.keys() != cls._columns.keys():
            raise ValueError(f"{cls.kind} segment: expected the sections {', '.join(cls._columns)}, not {', '.join(map(str, sections))}")
        for name, dtype in cls._columns.items():
            array = sections[name]
            plain = isinstance(array, np.ndarray) and array.ndim == 1 and array.flags.c_contiguous and array.flags.aligned
            if not plain or array.dtype != np.dtype(dtype):
                raise ValueError(f"{cls.kind} segment: {name} should be a plain array of {dtype} in one dimension")
        try:
            return cls(sections)
        except ValueError as error:
            raise ValueError(f"{cls.kind} segment: {error}") from error

    @classmethod
    def merge(cls, segments: Sequence[Self], removed: NDArray[np.int64] | Sequence[int]) -> Self:
        """What ``build`` would make of all documents of the segments but the removed ones. Removed rows ascend."""
        try:
            return cls._of(cls._kernel.merge([segment._segment for segment in segments], _rows(removed, "removed")))
        except ValueError as error:
            raise InputError(f"{cls.kind} segment: {error}") from error

    @classmethod
    def _of(cls, columns: tuple[Any, ...]) -> Self:
        return cls({name: np.asarray(column) for name, column in zip(cls._columns, columns, strict=True)})

    def sections(self) -> dict[str, NDArray[Any]]:
        """The arrays that ``open`` takes."""
        return dict(self._sections)

    def __len__(self) -> int:
        return len(self._sections["rows"])

    def all_rows(self) -> NDArray[np.int64]:
        """The rows of all documents, ascending."""
        return np.sort(self._sections["rows"])

    def digests(self) -> list[str]:
        """The digest of each document, in the order of ``all_rows``."""
        texts = self._segment.texts().splitlines()
        entries = np.repeat(np.arange(len(texts)), np.diff(self._sections["starts"]))
        return [texts[entry] for entry in entries[np.argsort(self._sections["rows"])].tolist()]

    def _check(self, digest: str, limit: int, workers: int) -> None:
        check_workers(workers)
        if not isinstance(digest, str):
            raise InputError(f"digest: expected a {self.kind} digest as a str, not {type(digest).__name__}")
        self._digest(digest)
        check_int("limit", limit, 1, MAX_LIMIT)


class TlshSegment(_FuzzySegment):
    """TLSH digests, as ``Tlsh.value`` has them, by distance."""

    kind = "tlsh"
    _digest = Tlsh
    _kernel = _native.TlshSegment
    _segment: _native.TlshSegment
    _columns: ClassVar = {
        "rows": "int64",
        "starts": "uint32",
        "groups": "uint16",
        "group_starts": "uint32",
        "codes": "uint64",
        "checksums": "uint8",
    }

    def search(self, digest: str, max_distance: int, limit: int, workers: int = 1) -> DigestsFound:
        """All documents within ``max_distance`` (as ``Tlsh.distance`` counts it, with the lengths), of which the first ``limit``."""
        self._check(digest, limit, workers)
        check_int("max_distance", max_distance, 0, MAX_DISTANCE)
        rows, distances, total = self._segment.search(digest, max_distance, limit, workers)
        return DigestsFound(np.asarray(rows), np.asarray(distances), total)


class SsdeepSegment(_FuzzySegment):
    """ssdeep digests, as ``Ssdeep.value`` has them, by score."""

    kind = "ssdeep"
    _digest = Ssdeep
    _kernel = _native.SsdeepSegment
    _segment: _native.SsdeepSegment
    _columns: ClassVar = {
        "rows": "int64",
        "starts": "uint32",
        "levels": "uint8",
        "first_sizes": "uint8",
        "letter_starts": "uint64",
        "letters": "uint8",
        "bucket_starts": "uint32",
        "tags": "uint16",
        "postings": "uint32",
    }

    def search(self, digest: str, min_score: int, limit: int, workers: int = 1) -> DigestsFound:
        """All documents that score ``min_score`` (1 to 100) or more, of which the first ``limit``."""
        self._check(digest, limit, workers)
        check_int("min_score", min_score, 1, 100)
        rows, ranks, total = self._segment.search(digest, min_score, limit, workers)
        return DigestsFound(np.asarray(rows), 100 - np.asarray(ranks), total)


def _rows(rows: Any, name: str) -> NDArray[np.int64]:
    array = np.asarray(rows) if len(rows) else np.zeros(0, dtype=np.int64)
    if array.dtype != np.int64 or array.ndim != 1:
        raise InputError(f"{name}: expected row numbers as one array of int64, not {array.ndim} dimensions of {array.dtype}")
    return np.ascontiguousarray(array)
