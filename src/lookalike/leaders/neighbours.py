"""Fingerprints → all pairs that are near enough, with their similarities: SimHashes and vectors need no second look."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.leaders.candidates import Pairs, Priorities
from lookalike.segments.hamming import NO_LIMIT


def simhash_pairs(words: NDArray[np.uint64], priorities: Priorities, bits: int, k: int) -> tuple[Pairs, NDArray[np.float64]]:
    """Of SimHashes that differ: equal ones are copies, which ``decide.originals`` finds."""
    index = _native.HammingIndex(bits)
    index.add(words, priorities)
    left, right, distances = map(np.asarray, index.pairs(k, NO_LIMIT))
    return Pairs(np.minimum(left, right), np.maximum(left, right)), 1 - distances / bits


def vector_pairs(
    halves: NDArray[np.uint16], squares: NDArray[np.float64], dimensions: int, priorities: Priorities, threshold: float, workers: int = 1
) -> tuple[Pairs, NDArray[np.float64]]:
    """Of vectors of halves, all by all."""
    found = _native.nearest_vectors(halves, squares, halves, squares, dimensions, threshold, NO_LIMIT, workers)
    offsets, places, cosines, _ = map(np.asarray, found)
    pairs = Pairs(priorities[places], np.repeat(priorities, np.diff(offsets)))
    wanted = pairs.earlier < pairs.later
    return Pairs(pairs.earlier[wanted], pairs.later[wanted]), cosines[wanted]
