"""Sketches by their bands, with bands and rows set by hand: ``BandIndex``. What it finds are candidates, which nobody has compared yet."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.checks import check_int, check_several, check_workers
from lookalike.errors import InputError
from lookalike.fingerprints.minhash import MinHash, WeightedMinHash
from lookalike.recipe import require_same
from lookalike.segments.banding import MAX_BANDS, MAX_SIZE, Banding
from lookalike.segments.bands import BandSegment

if TYPE_CHECKING:
    Sketches = Sequence[MinHash] | Sequence[WeightedMinHash] | Sequence[Sequence[int]] | NDArray[np.integer[Any]]

NO_LIMIT = 2**62


class Candidate(NamedTuple):
    """What shares at least one band with a query, and how many."""

    id: Hashable
    shared: int


class CandidatePair(NamedTuple):
    left: Hashable
    right: Hashable
    shared: int


class BandIndex:
    """Sketches of whole numbers, cut into ``bands`` bands of ``rows`` values each; two that agree in a whole band are candidates.

    Takes MinHashes, or rows of numbers below 2^32; of longer sketches the first ``bands * rows`` values count. Without ids, sketches are
    numbered from 0.

    >>> index = BandIndex([[1, 2, 3, 2], [1, 2, 3, 2], [3, 1, 2, 3]], ["Doc1", "Doc2", "Doc3"], bands=2, rows=2)
    >>> index.pairs()
    [CandidatePair(left='Doc1', right='Doc2', shared=2)]
    """

    def __init__(self, sketches: Sketches, ids: Sequence[Hashable] | None = None, *, bands: int, rows: int) -> None:
        remedy = "choose how many values of a sketch make one band"
        self.banding = Banding(check_int("bands", bands, 1, MAX_BANDS), check_int("rows", rows, 1, MAX_SIZE, remedy))
        self._recipe: str | None = None
        keys = self._keys(sketches, "sketches")
        count = len(keys) // bands
        self._ids: list[Hashable] = list(range(count)) if ids is None else list(check_several("ids", ids, "a list of ids"))
        if len(self._ids) != count:
            raise InputError(f"ids: {len(self._ids)} ids for {count} sketches")
        self._all_keys = keys
        self._segment = BandSegment.build(np.arange(count, dtype=np.int64), np.arange(count, dtype=np.uint64), keys, bands)

    def __len__(self) -> int:
        return len(self._ids)

    def recall(self, similarity: float) -> float:
        """How likely two sketches that agree in this share of their values are candidates of each other."""
        return self.banding.recall(similarity)

    def candidates(self, queries: Sketches, *, limit: int | None = None, workers: int = 1) -> list[list[Candidate]]:
        """Of each query those that share a band with it, most bands first, then in the order of adding."""
        check_workers(workers)
        most = NO_LIMIT if limit is None else check_int("limit", limit, 1, remedy="give the largest number of results, 1 or more")
        return self._found(self._keys(queries, "queries"), most, workers)

    def pairs(self) -> list[CandidatePair]:
        """All pairs that share a band, in the order of adding."""
        found = []
        for place, others in enumerate(self._found_places(self._all_keys, NO_LIMIT, 1)):
            later = sorted(other for other in others if other[0] > place)
            found += [CandidatePair(self._ids[place], self._ids[other], shared) for other, shared in later]
        return found

    def _found(self, keys: NDArray[np.uint32], limit: int, workers: int) -> list[list[Candidate]]:
        return [[Candidate(self._ids[place], shared) for place, shared in each] for each in self._found_places(keys, limit, workers)]

    def _found_places(self, keys: NDArray[np.uint32], limit: int, workers: int) -> list[list[tuple[int, int]]]:
        found = self._segment.candidates(keys, limit, workers)
        # Every sketch is a group of its own, numbered as the sketches are.
        pairs = list(zip(found.groups.tolist(), found.shared.tolist(), strict=True))
        ends = found.offsets.tolist()
        return [pairs[ends[query] : ends[query + 1]] for query in range(len(ends) - 1)]

    def _keys(self, sketches: Any, name: str) -> NDArray[np.uint32]:
        size = self.banding.bands * self.banding.rows
        values = self._values(sketches, name)
        if not len(values):
            return np.zeros(0, np.uint32)
        if values.ndim != 2 or values.shape[1] < size:
            raise InputError(f"{name}: {self.banding.bands} bands of {self.banding.rows} rows need sketches of {size} values or more")
        if values.dtype.kind not in "iu" or int(values.min()) < 0 or int(values.max()) >= 2**32:
            raise InputError(f"{name}: expected whole numbers from 0 to 2^32 - 1")
        cut = np.ascontiguousarray(values[:, :size], dtype=np.uint32).reshape(-1)
        return np.asarray(_native.band_keys(cut, size, *self.banding))

    def _values(self, sketches: Any, name: str) -> NDArray[Any]:
        if isinstance(sketches, np.ndarray):
            return sketches
        if isinstance(sketches, (str, bytes, MinHash, WeightedMinHash)) or not isinstance(sketches, Sequence):
            raise InputError(f"{name} is a {type(sketches).__name__}: give a list of MinHashes, or rows of whole numbers")
        rows = []
        for sketch in sketches:
            if isinstance(sketch, MinHash | WeightedMinHash):
                self._recipe = self._recipe or sketch.recipe
                require_same(self._recipe, sketch.recipe)
            rows.append(sketch.values if isinstance(sketch, MinHash | WeightedMinHash) else sketch)
        try:
            return np.array(rows)
        except (ValueError, TypeError, OverflowError):
            raise InputError(f"{name}: give rows of equally many whole numbers") from None
