"""All SimHashes within a Hamming distance, exactly, among millions: ``HammingIndex``.

Multi-index hashing over immutable segments with a small mutable part (native/segments/hamming.hpp says how). Exact for every k from
0 to 16: where probing would cost more than reading everything, everything is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.bit_patterns import bit_pattern, bit_patterns
from lookalike.checks import check_int, check_workers
from lookalike.errors import InputError
from lookalike.fingerprints.simhash import SimHash, check_bits

if TYPE_CHECKING:
    Values = NDArray[Any] | Sequence[int] | Sequence[SimHash]

MAX_K = 16
MAX_PAIRS = 10_000_000  # without a limit; they take some 400 MB
NO_LIMIT = 2**62

_WORDS, _BYTES = np.dtype(np.uint64), np.dtype(np.uint8)
_ARRAY, _ONE = np.ndarray, (1,)


class Found(NamedTuple):
    """The matches of a batch of queries: those of query i are at ``offsets[i]:offsets[i + 1]``, nearest first, then by id.

    ``totals`` is how many each query had before the limit: more than are here means that the result was cut.
    """

    offsets: NDArray[np.int64]
    ids: NDArray[np.int64]
    distances: NDArray[np.uint8]
    totals: NDArray[np.int64]


def found_of(block: Any, matches: int) -> Found:
    """What the native search gives, as arrays: one block of memory, which they share (native/bind/hamming.cpp says how it lies there)."""
    whole: NDArray[np.int64] = np.asarray(block)
    words = whole.size - matches - (matches + 7) // 8
    queries = words // 2
    distances: NDArray[np.uint8] = np.ndarray(matches, _BYTES, block, 8 * (words + matches))
    return Found(whole[: queries + 1], whole[words : words + matches], distances, whole[queries + 1 : words])


class IdPairs(NamedTuple):
    """Pairs of ids within a distance, the smaller id on the left, in order; ``cut`` says that there were more."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    distances: NDArray[np.uint8]
    cut: bool


class EqualGroups(NamedTuple):
    """Entries of equal fingerprints as groups, and the pairs of groups within a distance.

    The ids of group i, ascending, are at ``offsets[i]:offsets[i + 1]``; groups are in the order of their smallest ids. ``left``,
    ``right`` and ``distances`` are the pairs of groups, by their numbers, in order; ``cut`` says that there were more.
    """

    offsets: NDArray[np.int64]
    ids: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    distances: NDArray[np.uint8]
    cut: bool


class HammingIndex:
    """Fingerprints of 32, 64 or 128 bits by Hamming distance: numpy in, arrays out.

    Ids are integers; without them entries are numbered from 0 in the order they come. The same id may be added more than
    once: each is an entry of its own. Searches may run in several threads, also while entries are added.
    """

    def __init__(self, values: Values | None = None, ids: NDArray[np.int64] | Sequence[int] | None = None, *, bits: int = 64) -> None:
        check_bits(bits)
        self.bits = bits
        self._index = _native.HammingIndex(bits)
        self._next = 0
        if values is not None:
            self.add(values, ids)

    def __len__(self) -> int:
        return len(self._index)

    @property
    def nbytes(self) -> int:
        """Memory that the index takes."""
        return self._index.nbytes

    def add(self, values: Values, ids: NDArray[np.int64] | Sequence[int] | None = None) -> None:
        """Add fingerprints. They can be found as soon as this returns."""
        words = words_of(values, self.bits, "values")
        count = len(words) // (2 if self.bits == 128 else 1)
        labels = np.arange(self._next, self._next + count, dtype=np.int64) if ids is None else _ids(ids)
        if len(labels) != count:
            raise InputError(f"ids: {len(labels)} ids for {count} fingerprints")
        self._index.add(words, labels)
        self._next = max(self._next + count, int(labels.max()) + 1 if count else 0)

    def remove(self, ids: NDArray[np.int64] | Sequence[int]) -> int:
        """Remove all entries with these ids; returns how many there were. It reads all ids once: remove in batches."""
        return self._index.remove(_ids(ids))

    def search(self, queries: Values, k: int = 3, *, limit: int | None = None, workers: int = 1) -> Found:
        """All entries within ``k`` of each query; with ``limit`` the nearest so many of each."""
        if (  # one query, and nothing unusual: the steps below take longer than the search
            limit is None
            and type(queries) is _ARRAY
            and queries.dtype is _WORDS
            and queries.shape == _ONE
            and self.bits == 64
            and type(k) is int
            and 0 <= k <= MAX_K
            and type(workers) is int
            and workers == 1
        ):
            return self._index.search_one(queries.item(), k, NO_LIMIT, Found)
        check_k(k)
        check_workers(workers)
        return found_of(*self._index.search(words_of(queries, self.bits, "queries"), k, check_limit(limit), workers))

    def pairs(self, k: int = 3, *, limit: int | None = None) -> IdPairs:
        """All pairs of entries within ``k``; with ``limit`` at most so many of them.

        A million equal fingerprints have half a trillion pairs. Without a limit more than ten million are an error: ``groups`` says
        the same in little room.
        """
        check_k(k)
        most = MAX_PAIRS if limit is None else check_limit(limit)
        left, right, distances = (np.asarray(part) for part in self._index.pairs(k, most))
        if limit is None and len(left) > most:
            raise _too_many(k, "give limit=, or take groups(k), which has equal fingerprints once")
        return IdPairs(left[:most], right[:most], distances[:most], len(left) > most)

    def groups(self, k: int = 3, *, limit: int | None = None) -> EqualGroups:
        """Entries of equal fingerprints as groups, and all pairs of groups within ``k``; with ``limit`` at most so many of the pairs.

        Without a limit more than ten million pairs of groups are an error.
        """
        check_k(k)
        most = MAX_PAIRS if limit is None else check_limit(limit)
        offsets, ids, left, right, distances = (np.asarray(part) for part in self._index.groups(k, most))
        if limit is None and len(left) > most:
            raise _too_many(k, "give limit=, or a smaller k")
        return EqualGroups(offsets, ids, left[:most], right[:most], distances[:most], len(left) > most)


def _too_many(k: int, remedy: str) -> InputError:
    return InputError(f"more than {MAX_PAIRS:,} pairs are within k={k}: {remedy}")


def words_of(values: Values, bits: int, name: str) -> NDArray[np.uint64]:
    """Fingerprints, signed or unsigned, as the native code takes them: one word each, or for 128 bits two, the low half first."""
    if not isinstance(values, np.ndarray):
        return _from_python(values, bits, name)
    array: NDArray[Any] = values
    wanted = 2 if bits == 128 else 1
    if bits == 64 and array.dtype is _WORDS and array.strides == (8,):
        return array  # as nearly all are: for one query the steps below take longer than the search
    if array.ndim != wanted or (wanted == 2 and array.shape[1] != 2):
        shape = "rows of two words, the low half first" if wanted == 2 else "one dimension"
        raise InputError(f"{name}: fingerprints of {bits} bits have {shape}, not shape {array.shape}")
    words = np.ascontiguousarray(bit_patterns(array, min(bits, 64), name))
    return words if wanted == 1 else words.reshape(-1)


def _from_python(values: Any, bits: int, name: str) -> NDArray[np.uint64]:
    if isinstance(values, (str, bytes, int, SimHash)) or not isinstance(values, Sequence):
        raise InputError(f"{name} is a {type(values).__name__}: give a numpy array, or a list of integers or SimHashes")
    numbers = []
    for index, value in enumerate(values):
        if isinstance(value, SimHash) and value.bits != bits:
            raise InputError(f"{name}[{index}] is a SimHash of {value.bits} bits, this index holds {bits}")
        numbers.append(value.value if isinstance(value, SimHash) else bit_pattern(value, bits, f"{name}[{index}]"))
    if bits == 128:
        return np.array([half for number in numbers for half in (number & 0xFFFFFFFFFFFFFFFF, number >> 64)], dtype=np.uint64)
    return np.array(numbers, dtype=np.uint64)


def _ids(ids: Any) -> NDArray[np.int64]:
    array = np.asarray(ids)
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "ui" or int(array.max()) >= 2**63:
        raise InputError("ids: expected a list of integers of 64 bits")
    return np.ascontiguousarray(array, dtype=np.int64)


def check_k(k: int) -> None:
    check_int("k", k, 0, MAX_K, f"choose 0 to {MAX_K} bits")


def check_limit(limit: int | None) -> int:
    if limit is None:
        return NO_LIMIT
    return min(check_int("limit", limit, 1, remedy="give the largest number of results, 1 or more"), NO_LIMIT)
