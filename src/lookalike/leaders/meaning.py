"""Leaders by meaning: a document is removed if its vector has an exact cosine of at least the threshold with that of a kept one.

Every document is compared with every kept one (native/segments/vectors.hpp), so nothing is missed, and the result does not depend on
threads or batches. Vectors travel through a run as features do: as 64-bit words, as many of each document.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.leaders.candidates import Pairs
from lookalike.leaders.decide import decide
from lookalike.leaders.neighbours import vector_pairs
from lookalike.segments.vectors import encoded, has_direction
from lookalike.system import forget_pages

if TYPE_CHECKING:
    from lookalike.embedders.base import Embedder

WORD = 4  # halves
BLOCK = 1024  # documents that are compared with the kept ones at a time, and then with each other
MERGE_RATIO = 4


def vector_words(model: Embedder, texts: Sequence[str], forms: tuple[str, ...] = ()) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The vectors of texts as words, and where those of each text begin and end."""
    return vectors_as_words(encoded(model, texts, forms)[0].reshape(len(texts), model.dimensions))


def vectors_as_words(vectors: NDArray[np.uint16]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Vectors of halves, a row each, as words, and where those of each begin and end."""
    count, dimensions = vectors.shape
    halves = np.zeros((count, padded(dimensions)), dtype=np.uint16)
    halves[:, :dimensions] = vectors
    return halves.reshape(-1).view(np.uint64), np.arange(count + 1, dtype=np.int64) * (padded(dimensions) // WORD)


def padded(dimensions: int) -> int:
    """How many halves a vector takes; those at its end are 0, and change no cosine."""
    return -(-dimensions // WORD) * WORD


class MeaningLeaders:
    """Takes documents in the order in which they want to be kept."""

    def __init__(self, dimensions: int, threshold: float, workers: int, folder: Callable[[], Path]) -> None:
        self._dimensions, self._threshold, self._workers, self._folder = padded(dimensions), threshold, workers, folder
        self._parts: list[_KeptVectors] = []  # of kept documents, the oldest first; each is much larger than the next
        self._offered = self._kept = self._files = 0
        self.compared = self.spilled = 0

    def offer(self, words: NDArray[np.uint64], allowed: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The kept document that each one points at, by its number in the order of offers, or -1 where it is kept; and the cosine.

        ``allowed`` is how many bytes of vectors may stay in memory.
        """
        halves = words.view(np.uint16).reshape(-1, self._dimensions)
        leaders, cosines = np.full(len(halves), -1, dtype=np.int64), np.zeros(len(halves))
        for first in range(0, len(halves), BLOCK):
            here = slice(first, first + BLOCK)
            leaders[here], cosines[here] = self._block(np.ascontiguousarray(halves[here]), allowed)
        return leaders, cosines

    def _block(self, halves: NDArray[np.uint16], allowed: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The nearest of the earlier blocks' kept documents and those of the block itself, decided as one."""
        squares = np.asarray(_native.vector_squares(halves.reshape(-1), self._dimensions))
        numbers = np.arange(self._offered, self._offered + len(halves))
        earlier, cosines = self._among_kept(halves, squares)
        has = np.flatnonzero(earlier >= 0)
        within, found = vector_pairs(halves.reshape(-1), squares, self._dimensions, numbers, self._threshold, self._workers)
        pairs = Pairs(np.concatenate((earlier[has], within.earlier)), np.concatenate((numbers[has], within.later)))
        outside = np.unique(earlier[has])
        decided = decide(np.concatenate((outside, numbers)), pairs, np.concatenate((cosines[has], found)), self._threshold)
        leaders, cosines = decided.leaders[len(outside) :], decided.similarities[len(outside) :]
        says = has_direction(halves.reshape(-1), self._dimensions)
        kept = says & (leaders < 0)  # what says nothing is like nothing: it stays, and nothing is compared with it
        self.compared += int((self._kept + np.cumsum(kept) - kept)[says].sum())
        self._keep(halves[kept], squares[kept], numbers[kept], allowed)
        self._offered += len(halves)
        return leaders, cosines

    def _among_kept(self, halves: NDArray[np.uint16], squares: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The most similar one of the earlier blocks' kept documents, of equals the earliest; -1 where none is near enough."""
        leaders, cosines = np.full(len(halves), -1, dtype=np.int64), np.zeros(len(halves))
        asked = halves.reshape(-1)
        for part in self._parts:
            nearest = _native.nearest_vectors(
                part.halves, part.squares, asked, squares, self._dimensions, self._threshold, 1, self._workers
            )
            offsets, places, found, _ = map(np.asarray, nearest)
            has = np.flatnonzero(np.diff(offsets))
            better = has[found > cosines[has]]
            at = offsets[better]
            leaders[better], cosines[better] = part.numbers[places[at]], found[at]
            part.forget()
        return leaders, cosines

    def _keep(self, halves: NDArray[np.uint16], squares: NDArray[np.float64], numbers: NDArray[np.int64], allowed: int) -> None:
        if not len(numbers):
            return
        self._kept += len(numbers)
        self._parts.append(_KeptVectors(halves.reshape(-1), squares, numbers))
        while len(self._parts) > 1 and len(self._parts[-2].numbers) < MERGE_RATIO * len(self._parts[-1].numbers):
            self._parts[-2:] = [self._merged(self._parts[-2:], allowed)]

    def _merged(self, parts: list[_KeptVectors], allowed: int) -> _KeptVectors:
        squares, numbers = (np.concatenate([getattr(part, name) for part in parts]) for name in ("squares", "numbers"))
        size = sum(part.halves.nbytes for part in parts)
        in_memory = sum(part.halves.nbytes for part in self._parts if part.mapped is None)
        if in_memory + size <= allowed:
            return _KeptVectors(np.concatenate([part.halves for part in parts]), squares, numbers)
        self.spilled += sum(part.halves.nbytes for part in parts if part.mapped is None)
        self._files += 1
        path = self._folder() / f"vectors-{self._files}"
        with open(path, "w+b") as file:
            for part in parts:
                file.write(part.halves.data)
            file.flush()
            mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        path.unlink()  # the map keeps it; whatever happens, nothing is left behind
        return _KeptVectors(np.frombuffer(mapped, dtype=np.uint16), squares, numbers, mapped)


class _KeptVectors:
    """Vectors of kept documents and their numbers, in memory or in a file."""

    def __init__(
        self, halves: NDArray[np.uint16], squares: NDArray[np.float64], numbers: NDArray[np.int64], mapped: mmap.mmap | None = None
    ) -> None:
        self.halves, self.squares, self.numbers, self.mapped = halves, squares, numbers, mapped

    def forget(self) -> None:
        """What was read of a file need not stay in memory."""
        if self.mapped is not None:
            forget_pages(self.mapped)
