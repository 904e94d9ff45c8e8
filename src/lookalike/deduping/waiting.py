"""What is kept of documents that are not decided in the order in which they are read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.deduping.ledger import Growing
from lookalike.leaders.sketching import Sketches


class Waiting:
    """Sketches of documents that are decided once all are read. Their features stay in the file."""

    def __init__(self) -> None:
        self._starts, self._counts = Growing("int64"), Growing("int64")
        self._digests, self._keys, self._simhashes = Growing("uint64"), Growing("uint64"), Growing("uint64")

    @property
    def nbytes(self) -> int:
        return sum(each.nbytes for each in (self._starts, self._counts, self._digests, self._keys, self._simhashes))

    def add(self, sketches: Sketches, features_at: int) -> None:
        self._starts.add(sketches.offsets[:-1] + features_at)
        self._counts.add(np.diff(sketches.offsets))
        self._digests.add(np.array(sketches.digests))
        self._keys.add(np.array(sketches.keys))
        self._simhashes.add(np.array(sketches.simhashes))

    def taken(self, documents: NDArray[np.int64], features: NDArray[np.uint64]) -> Sketches:
        starts, counts = self._starts.whole()[documents], self._counts.whole()[documents]
        pieces = [features[start : start + count] for start, count in zip(starts.tolist(), counts.tolist(), strict=True)]
        simhashes: Any = self._simhashes.whole()
        return Sketches(
            np.concatenate(pieces) if pieces else np.zeros(0, np.uint64),
            np.concatenate(([0], np.cumsum(counts))),
            np.ascontiguousarray(self._digests.whole().reshape(-1, 2)[documents]).reshape(-1),
            self._of_each(self._keys.whole(), documents),
            simhashes[documents] if len(simhashes) else simhashes,
        )

    def _of_each(self, keys: NDArray[np.uint64], documents: NDArray[np.int64]) -> NDArray[np.uint64]:
        if not len(keys):
            return keys
        return keys.reshape(len(self._starts.whole()), -1)[documents].reshape(-1)
