"""All pairs of codes within k bits of each other, exactly.

Of k + 1 blocks of bits two such codes share one. Codes travel to the partitions of their blocks, where the native index finds the
pairs; each pair is given where its first common block is, and so once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.deduping.spark import settling
from lookalike.deduping.spark.blobs import (
    CODES,
    SCHEMA,
    arrays_of,
    batches_of,
    blobs_of,
    by_partition,
    decoded,
    scattered,
    target_of,
)
from lookalike.deduping.spark.sketching import Names
from lookalike.deduping.spark.stages import edge_rows, edges_in
from lookalike.deduping.spark.work import Work, collected, named, placed
from lookalike.leaders.candidates import Pairs
from lookalike.leaders.decide import NOTHING_OPEN
from lookalike.leaders.rule import SIMHASH_BITS, Rule
from lookalike.segments.hamming import NO_LIMIT, found_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lookalike.deduping.spark.engine import Engine
    from lookalike.deduping.spark.rounds import Copies, FoundPairs

Words = NDArray[np.uint64]
BETWEEN = 0x9E3779B97F4A7C15


def blocks(k: int) -> list[tuple[np.uint64, np.uint64]]:
    """Where the k + 1 blocks of 64 bits are: a shift and a mask each."""
    edges = [SIMHASH_BITS * place // (k + 1) for place in range(k + 2)]
    return [(np.uint64(begin), np.uint64((1 << (end - begin)) - 1)) for begin, end in pairwise(edges)]


def first_common(left: Words, right: Words, k: int) -> NDArray[np.int64]:
    """The first block in which two codes agree; k + 1 where there is none."""
    found = np.full(len(left), k + 1)
    for place, (shift, mask) in reversed(list(enumerate(blocks(k)))):
        found[((left ^ right) >> shift & mask) == 0] = place
    return found


def routes(codes: Words, k: int, partitions: int) -> Iterator[tuple[int, Words]]:
    """For each block the partition of each code."""
    for place, (shift, mask) in enumerate(blocks(k)):
        yield place, target_of((codes >> shift & mask) + np.uint64((place + 1) * BETWEEN % 2**64), partitions)


def near_pairs(codes: Words, place: int, k: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Of the codes that came for a block the pairs within k whose first common block it is: places, and distances."""
    index = _native.HammingIndex(SIMHASH_BITS)
    index.add(codes, np.arange(len(codes), dtype=np.int64))
    left, right, distances = map(np.asarray, index.pairs(k, NO_LIMIT))
    good = first_common(codes[left], codes[right], k) == place
    return left[good], right[good], distances[good]


def near_others(codes: Words, others: Words, place: int, k: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The same between two sets."""
    index = _native.HammingIndex(SIMHASH_BITS)
    index.add(others, np.arange(len(others), dtype=np.int64))
    offsets, found, distances, _ = found_of(*index.search(codes, k, NO_LIMIT, 1))
    left = np.repeat(np.arange(len(codes)), np.diff(offsets))
    good = first_common(codes[left], others[found], k) == place
    return left[good], found[good], distances[good]


@dataclass(frozen=True)
class Spreading:
    """Codes → the partitions of their blocks. Kinds are places of blocks."""

    k: int
    partitions: int

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for blob in blobs_of(batches):
            names, codes = decoded(blob.a), np.frombuffer(blob.b, np.uint64)
            for place, targets in routes(codes, self.k, self.partitions):
                yield from batches_of(scattered(place, targets, names, codes))


@dataclass(frozen=True)
class Meeting:
    """The codes of blocks → edges between their documents."""

    k: int

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for target, kinds in by_partition(batches):
            for place, blobs in sorted(kinds.items()):
                names, codes = arrays_of(blobs, "u8")
                left, right, distances = near_pairs(codes, place, self.k)
                pairs = Pairs(np.minimum(names[left], names[right]), np.maximum(names[left], names[right]))
                order = np.argsort(pairs.later, kind="stable")
                pairs = Pairs(pairs.earlier[order], pairs.later[order])
                yield from batches_of(edge_rows(target, pairs, (1 - distances / SIMHASH_BITS)[order]))


@dataclass(frozen=True)
class Turning:
    """Edges → the edges of copies of removed originals."""

    copies: Any  # given: copies and originals, by original

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for blob in blobs_of(batches):
            yield from batches_of(edge_rows(0, *_of_copies(*edges_in([blob]), self.copies.value)))


def turned(pairs: Pairs, similarities: NDArray[np.float64], copies: tuple[Names, ...]) -> tuple[Pairs, NDArray[np.float64]]:
    """Edges, and behind them those of copies of removed originals."""
    more, found = _of_copies(pairs, similarities, copies)
    both = Pairs(np.concatenate((pairs.earlier, more.earlier)), np.concatenate((pairs.later, more.later)))
    return both, np.concatenate((similarities, found))


def _of_copies(pairs: Pairs, similarities: NDArray[np.float64], copies: tuple[Names, ...]) -> tuple[Pairs, NDArray[np.float64]]:
    """Edges of removed originals, either way → edges of their copies, from whatever is before them."""
    names, first = copies
    earlier, later, found = [], [], []
    for own, other in ((pairs.later, pairs.earlier), (pairs.earlier, pairs.later)):
        begins, ends = (np.searchsorted(first, own, side) for side in ("left", "right"))
        counts = ends - begins
        places = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts - begins, counts)
        others, copied = np.repeat(other, counts), names[places]
        before = others < copied
        earlier.append(others[before])
        later.append(copied[before])
        found.append(np.repeat(similarities, counts)[before])
    return Pairs(np.concatenate(earlier), np.concatenate(later)), np.concatenate(found)


def code_edges(
    work: Work, codes: DataFrame, copies: Copies, rule: Rule, partitions: int, engine: Engine, documents: int, step: Callable[[str], object]
) -> FoundPairs:
    """SimHash on Spark: all pairs are found at once, so nothing stays open, and no rounds are needed."""
    from lookalike.deduping.spark.rounds import Edges, FoundPairs

    step("pairs")
    spread = placed(codes.where(f"kind = {CODES}").mapInArrow(Spreading(rule.distance, partitions), SCHEMA), partitions)
    edges, count = work.saved_and_counted(spread.mapInArrow(Meeting(rule.distance), SCHEMA), "edges", 8)
    step("settle")
    least = 1 - rule.distance / SIMHASH_BITS
    held = Edges(*edges_in(collected(edges))) if count <= engine.edges_on_driver else None
    if held is not None:
        gone: Names = settling.settle(*held, NOTHING_OPEN, least).removed
    else:
        answers = settling.settled_by_component(work, edges, None, least, partitions)
        gone = settling.told(named(work, answers, 1, engine.names_on_driver, documents)).removed
    of_gone = tuple(copies.of(gone))
    if held is not None:
        return FoundPairs(None, Edges(*turned(held.pairs, held.similarities, of_gone)), gone, count)
    both = edges.unionAll(edges.mapInArrow(Turning(work.given(of_gone)), SCHEMA))
    return FoundPairs(work.saved(both, "all-edges"), None, gone, count)
