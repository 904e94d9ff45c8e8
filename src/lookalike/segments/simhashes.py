"""SimHashes of a store's documents, as segments: see ``segments.container`` and native/segments/hamming.hpp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.segments.container import mapped_file
from lookalike.segments.hamming import Found, found_of

if TYPE_CHECKING:
    from lookalike.segments.container import Sections


class SimhashSegment:
    """Fingerprints of 32, 64 or 128 bits and the rows that have them."""

    kind: ClassVar[str] = "simhash"

    def __init__(self, native: _native.HammingSegment, file: _native.MappedFile | None = None) -> None:
        self._native = native
        self.mapped_file = file  # None where it is in memory

    @property
    def searched(self) -> _native.HammingSegment:
        """What native code searches."""
        return self._native

    @classmethod
    def build(cls, rows: NDArray[np.int64], words: NDArray[np.uint64], bits: int) -> Self:
        """``words``: one per row, or for 128 bits two, the low half first."""
        return cls(_native.HammingSegment.build(words, rows, bits))

    @classmethod
    def open(cls, sections: Sections) -> Self:
        columns = dict(sections)
        width = columns.pop("bits", np.zeros(0, np.uint32))
        if width.dtype != np.uint32 or len(width) != 1 or int(width[0]) not in (32, 64, 128):
            raise ValueError("fingerprint segment: the width is missing or none of 32, 64 and 128")
        return cls(_native.HammingSegment.open(int(width[0]), columns), mapped_file(width))

    @classmethod
    def merge(cls, segments: Sequence[Self], removed: NDArray[np.int64]) -> Self:
        return cls(_native.HammingSegment.merge([segment._native for segment in segments], removed))

    def sections(self) -> dict[str, NDArray[Any]]:
        columns = {name: np.asarray(column) for name, column in self._native.sections().items()}
        return {"bits": np.array([self._native.bits], dtype=np.uint32)} | columns

    def all_rows(self) -> NDArray[np.int64]:
        return np.asarray(self._native.ids())

    def __len__(self) -> int:
        return len(self._native)

    def search(self, words: NDArray[np.uint64], k: int, limit: int, workers: int = 1) -> Found:
        """All rows within ``k`` of each query, nearest first, then by row; at most ``limit`` of each."""
        return found_of(*self._native.search(words, k, limit, workers))
