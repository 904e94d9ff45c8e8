"""Documents that share a band of their MinHash sketches with a query: ``BandSegment``.

An immutable set of named arrays, in memory or mapped from a file (native/segments/bands.hpp says how they are laid out). Equal documents
are one *group*, so a million copies of a page are one entry with a million rows. What is found are candidates: nothing here
was compared, and rows that were removed since are still there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.checks import check_int, check_workers
from lookalike.errors import InputError
from lookalike.lazy import cached_property
from lookalike.segments.banding import MAX_BANDS
from lookalike.segments.container import mapped_file

# The sections of a segment and their types, in the order in which native code takes and gives them.
SECTIONS = {
    "shape": "uint64",
    "directory": "uint32",
    "rests16": "uint16",
    "rests32": "uint32",
    "groups": "uint32",
    "digests": "uint64",
    "row_offsets": "uint32",
    "rows": "int64",
}


class Candidates(NamedTuple):
    """The candidates of a batch of queries: those of query i are at ``offsets[i]:offsets[i + 1]``.

    Groups that share the most bands come first, then those with the smaller number. ``totals`` is how many each query had
    before the limit.
    """

    offsets: NDArray[np.int64]
    groups: NDArray[np.uint32]
    shared: NDArray[np.uint16]
    totals: NDArray[np.int64]


class BandSegment:
    """Documents by their band keys: ``bands`` keys each, in ``groups`` groups, numbered from 0 in the order of their smallest row."""

    kind: ClassVar[str] = "bands"

    def __init__(self, sections: Mapping[str, NDArray[Any]]) -> None:
        self._sections = {name: _section(sections, name) for name in SECTIONS}
        if unknown := sorted(set(sections) - set(SECTIONS)):
            raise ValueError(f"a band segment has no section {unknown[0]!r}")
        _ = self._tables  # which are checked
        self.bands, self.groups = (int(number) for number in self._sections["shape"])

    @cached_property
    def _tables(self) -> _native.BandTables:
        return _native.BandTables(*self._sections.values())

    @classmethod
    def build(cls, rows: NDArray[np.int64], digests: NDArray[np.uint64], keys: NDArray[np.uint32], bands: int) -> Self:
        """A segment of documents: their rows, ascending; a digest of the contents of each; ``bands`` keys of each, one after the other.

        Documents with equal digests should have equal keys, and then are one group.
        """
        check_int("bands", bands, 1, MAX_BANDS)
        columns = (_column("rows", rows, "int64"), _column("digests", digests, "uint64"), _column("keys", keys, "uint32"))
        return cls._of(_native.build_bands(*columns, bands))

    @classmethod
    def open(cls, sections: Mapping[str, NDArray[Any]]) -> Self:
        """A segment in these arrays, which are used in place. Everything in them is checked: ``ValueError`` says what is wrong."""
        return cls(sections)

    @classmethod
    def merge(cls, segments: Sequence[Self], removed: NDArray[np.int64]) -> Self:
        """One segment of all documents of these, but for the removed rows, which ascend: what ``build`` makes of them."""
        return cls._of(_native.merge_bands([segment._tables for segment in segments], _column("removed", removed, "int64")))

    def sections(self) -> dict[str, NDArray[Any]]:
        """The arrays, for ``open``."""
        return dict(self._sections)

    @property
    def searched(self) -> _native.BandTables:
        """What native code searches."""
        return self._tables

    @property
    def mapped_file(self) -> _native.MappedFile | None:
        """What it is mapped from; None where it is in memory."""
        return mapped_file(self._sections["shape"])

    def __len__(self) -> int:
        return len(self._sections["rows"])

    def candidates(self, keys: NDArray[np.uint32], limit: int, workers: int = 1) -> Candidates:
        """The groups that share at least one band with each query, at most ``limit`` of each; ``bands`` keys a query."""
        check_workers(workers)
        found = self._tables.candidates(_column("keys", keys, "uint32"), _check_limit(limit), workers)
        return Candidates(*(np.asarray(part) for part in found))

    def near(
        self, keys: NDArray[np.uint32], limit: int, rows: int, removed: NDArray[np.int64]
    ) -> tuple[int, list[tuple[int, int, int, list[int]]]]:
        """All that one query needs: how many groups share a band with it, and of each of the best, at most ``limit``, how many bands it
        shares, its digest, how many rows it has, and the first of them; ``removed`` rows, which ascend, are left out of both."""
        return self._tables.near(keys, _check_limit(limit), _check_limit(rows), removed)

    def rows(self, groups: NDArray[np.uint32], limit: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Offsets and rows: the rows of the i-th group are at ``offsets[i]:offsets[i + 1]``, ascending, at most ``limit`` of each."""
        offsets, rows = self._tables.rows(_column("groups", groups, "uint32"), _check_limit(limit))
        return np.asarray(offsets), np.asarray(rows)

    def sizes(self, groups: NDArray[np.uint32]) -> NDArray[np.int64]:
        """How many rows each of the groups has."""
        return np.asarray(self._tables.sizes(_column("groups", groups, "uint32")))

    def digests(self, groups: NDArray[np.uint32]) -> NDArray[np.uint64]:
        """The digest of each of the groups."""
        return np.asarray(self._tables.digests(_column("groups", groups, "uint32")))

    def all_rows(self) -> NDArray[np.int64]:
        """The rows of all documents, ascending."""
        return np.sort(self._sections["rows"])

    @classmethod
    def _of(cls, built: Sequence[Any]) -> Self:
        """What was built just now, perhaps to be written only: it is checked when it is searched."""
        made = cls.__new__(cls)
        made._sections = {name: np.asarray(part) for name, part in zip(SECTIONS, built, strict=True)}
        made.bands, made.groups = (int(number) for number in made._sections["shape"])
        return made


def _section(sections: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any]:
    if name not in sections:
        raise ValueError(f"section {name!r} of a band segment is missing")
    array = sections[name]
    if not _fits(array, SECTIONS[name]):
        found = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        raise ValueError(
            f"section {name!r} of a band segment: expected {SECTIONS[name]} in one contiguous, aligned dimension, found {found}"
        )
    return array


def _column(name: str, array: NDArray[Any], dtype: str) -> NDArray[Any]:
    if not _fits(array, dtype):
        raise InputError(f"{name}: expected a contiguous numpy array of one dimension and type {dtype}")
    return array


def _fits(array: object, dtype: str) -> bool:
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
        return False
    return bool(array.flags.c_contiguous and array.flags.aligned)


def _check_limit(limit: int) -> int:
    if type(limit) is int and 0 < limit <= 2**62:  # every search passes here
        return limit
    return min(check_int("limit", limit, 1, remedy="give the largest number of results, 1 or more"), 2**62)
