"""What tasks do with the documents and arrays they get. All of it is pure: a task that is lost is done again, with the same result."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.corpus.arrow_values import arrow
from lookalike.deduping.spark.blobs import (
    CELLS,
    CODES,
    COPIES,
    DIGESTS,
    EDGES,
    FACTS,
    MEMBERS,
    MOST_BYTES,
    OPEN,
    PAIRS,
    PROBLEMS,
    ROWS,
    WANTED,
    Blob,
    arrays_of,
    batches_of,
    blobs_of,
    by_partition,
    coded,
    decoded,
    is_in,
    pieces,
    scattered,
    target_of,
)
from lookalike.deduping.spark.decoding import CELL, Decode, offsets_of, whole
from lookalike.deduping.spark.sketching import Names, Priorities, Shared
from lookalike.leaders.candidates import BUCKET_LIMIT, SMALL, Bucketed, Open, Pairs, candidates, distinct, grouped, last_candidates
from lookalike.leaders.decide import originals
from lookalike.leaders.rounds import without
from lookalike.leaders.rule import Rule
from lookalike.leaders.sketching import Sketcher, Sketches
from lookalike.leaders.verify import verify

MEMBERS_PER_TARGET = 1 << 16  # of one leader: the pairs of a leader with more are spread over several partitions
MEMBERS_PER_ROW = 1 << 22
EDGE = 24  # bytes at most
SPREAD = np.uint64(0xA24BAED4963EE407)


def find_copies(batches: Iterable[Any]) -> Iterator[Any]:
    """Digests → the copies, each with its original. Rows: names, and the names of the originals. What tasks said goes through."""
    for target, kinds in by_partition(batches):
        names, words = arrays_of(kinds[DIGESTS], "u8")
        yield from batches_of(_copies(target, names, originals(words, names)))
        yield from _through(kinds, FACTS, PROBLEMS)


def find_codes(batches: Iterable[Any]) -> Iterator[Any]:
    """The same for SimHashes, with the codes of the originals."""
    for target, kinds in by_partition(batches):
        yield from _through(kinds, FACTS, PROBLEMS)
        names, words = arrays_of(kinds[DIGESTS], "u8")
        first = originals(words, names)
        codes = words.reshape(-1, 2)
        said = (first == names) & (codes[:, 1] != 0)
        yield from batches_of([*_copies(target, names, first), *pieces(target, CODES, names[said], codes[said, 0])])


def _through(kinds: Mapping[int, list[Blob]], *chosen: int) -> Iterator[Any]:
    """Rows of some kinds, as they came."""
    return batches_of(Blob(*blob[:2], *map(bytes, blob[2:])) for kind in chosen for blob in kinds[kind])


def _copies(target: int, names: Names, first: Names) -> Iterator[Blob]:
    copies, of = names[first != names], first[first != names]
    order = np.argsort(copies)
    return pieces(target, COPIES, copies[order], of[order])


@dataclass(frozen=True)
class Grouping:
    """Rows of buckets → whole buckets of more than one, without copies."""

    copies: Shared

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        copies = self.copies.value
        for target, kinds in by_partition(batches):
            names, buckets = arrays_of(kinds[ROWS], "u8")
            mates = _with_mate(buckets)
            found = Bucketed(buckets[mates], names[mates])
            yield from batches_of(members_of(target, grouped([found.taken(~is_in(found.priorities, copies))])))


def _with_mate(buckets: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The places of buckets that come more than once, equal ones beside each other. Most come once, and go no further."""
    order = np.argsort(buckets)
    same = np.diff(buckets[order]) == 0
    return order[np.append(same, False) | np.insert(same, 0, False)] if len(same) else np.zeros(0, np.int64)


def members_of(target: int, members: Bucketed) -> Iterator[Blob]:
    """Rows of whole buckets: whoever gets one needs no other. A bucket that is larger than a row may be has one of its own."""
    if not len(members.buckets):
        return
    ends = np.append(np.flatnonzero(np.diff(members.buckets)) + 1, len(members.buckets))
    most, first = MEMBERS_PER_ROW, 0
    while first < len(members.buckets):
        fitting = int(np.searchsorted(ends, first + most, "right")) - 1
        last = int(ends[max(fitting, int(np.searchsorted(ends, first, "right")))])
        part = slice(first, last)
        yield Blob(target, MEMBERS, coded(members.priorities[part]), members.buckets[part].tobytes())
        first = last


def members_in(blob: Blob) -> Bucketed:
    return Bucketed(np.frombuffer(blob.b, np.uint64), decoded(blob.a))


@dataclass(frozen=True)
class PairRound:
    """Buckets → the pairs of a round, for the partitions that compare them; and the buckets that are still open."""

    removed: Shared  # by each round so far
    partitions: int
    limit: int = BUCKET_LIMIT

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        removed = self.removed.value
        for blob in blobs_of(batches):
            members = members_in(blob)
            if removed:  # of small buckets all pairs were found at first
                members = members.taken(np.repeat((sizes := _sizes(members)) > min(SMALL, self.limit), sizes))
            pairs, left_open = candidates(members, removed, self.limit)
            yield from batches_of(routed(pairs, self.partitions))
            if len(left_open.buckets):
                yield from batches_of(open_rows(blob.p, left_open))


def _sizes(members: Bucketed) -> NDArray[np.int64]:
    ends = np.append(np.flatnonzero(np.diff(members.buckets)) + 1, len(members.buckets)) if len(members.buckets) else np.zeros(0, np.int64)
    return np.diff(ends, prepend=0)


def open_rows(target: int, left_open: Open) -> Iterator[Blob]:
    for first in range(0, len(left_open.buckets), step := max(MOST_BYTES // EDGE, 1)):
        part = slice(first, first + step)
        yield Blob(target, OPEN, coded(left_open.priorities[part]), left_open.buckets[part].tobytes(), left_open.leads[part].tobytes())


def routed(pairs: Pairs, partitions: int) -> Iterator[Blob]:
    """Pairs by their leader; those of a leader with very many members by some of the members, too."""
    own = pairs.earlier.astype(np.uint64)
    _, places, counts = np.unique(own, return_inverse=True, return_counts=True)
    parts = (counts[places] // MEMBERS_PER_TARGET).astype(np.uint64)
    of_member = np.where(parts > 0, pairs.later.astype(np.uint64) * SPREAD >> np.uint64(40), 0) % (parts + np.uint64(1))
    return scattered(PAIRS, target_of(own + of_member * SPREAD, partitions), pairs.later, pairs.earlier)


@dataclass(frozen=True)
class LastPairing:
    """Buckets → the pairs of removed documents, and of copies of these, with all kept ones that their buckets held."""

    removed: Shared  # all, ascending
    copies: Shared  # of removed documents: copies and originals, by original
    partitions: int
    limit: int = BUCKET_LIMIT

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        removed, (copies, first) = self.removed.value, self.copies.value
        all_going = np.sort(np.concatenate((removed, copies)))
        for blob in blobs_of(batches):
            members = members_in(blob)
            begins, ends = (np.searchsorted(first, members.priorities, side) for side in ("left", "right"))
            counts = ends - begins
            places = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts - begins, counts)
            added = Bucketed(np.repeat(members.buckets, counts), copies[places])
            # Of small buckets without such copies all pairs are known.
            sizes = _sizes(members)
            large = np.repeat(sizes > min(SMALL, self.limit), sizes) | is_in(members.buckets, np.unique(added.buckets))
            whole = grouped([members.taken(large), added])
            goes = is_in(whole.priorities, all_going)
            pairs = last_candidates(whole, whole.priorities[~goes], self.limit)
            yield from batches_of(routed(pairs, self.partitions))


def new_pairs(batches: Iterable[Any]) -> Iterator[Any]:
    """Pairs from everywhere, and those that were compared before (kind EDGES) → those that are new, and the texts that they need.
    Rows of open buckets go through."""
    for target, kinds in by_partition(batches):
        found = distinct(_pairs(kinds[PAIRS]))
        if kinds[EDGES]:
            found = without(found, distinct(_pairs(kinds[EDGES])))
        if len(found.later):
            yield from batches_of(pieces(target, PAIRS, found.later, found.earlier))
            yield from batches_of(pieces(target, WANTED, np.unique(np.concatenate(found))))
        yield from _through(kinds, OPEN)


def _pairs(blobs: Iterable[Blob]) -> Pairs:
    later, earlier = arrays_of(blobs, "i8")
    return Pairs(earlier, later)


@dataclass(frozen=True)
class Verifying:
    """Pairs and cells → the pairs that are similar enough, with their similarities."""

    rule: Rule
    decode: Decode
    priorities: Priorities
    key: NDArray[np.uint64]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        rows, cells = cells_apart(batches)
        for target, kinds in by_partition(rows):
            pairs = distinct(_pairs(kinds[PAIRS]))
            numbers, sketches = self.features(cells[target])
            rows_of = Pairs(*map(self.priorities.numbers, pairs))
            similarities = verify(rows_of, numbers, sketches.features, sketches.offsets, self.rule)
            similar = similarities > 0
            yield from batches_of(edge_rows(target, Pairs(*(part[similar] for part in pairs)), similarities[similar]))

    def features(self, cells: Sequence[Any]) -> tuple[Names, Sketches]:
        """Of rows of kind CELLS, each with the number of its row in the corpus."""
        found = self.decode(cells_of(cells))
        return found.with_text, Sketcher(self.rule, 1, self.key).sketch(found.batch.texts)


def cells_apart(batches: Iterable[Any]) -> tuple[list[Any], dict[int, list[Any]]]:
    """Record batches without rows of kind CELLS, and these by partition: they are many, and nobody looks at them one by one."""
    others: list[Any] = []
    cells: dict[int, list[Any]] = defaultdict(list)
    for batch in batches:
        parts, kinds = (np.asarray(batch.column(name)) for name in ("p", "kind"))
        ends = np.flatnonzero((np.diff(parts) != 0) | (np.diff(kinds) != 0)) + 1
        for first, last in pairwise([0, *ends.tolist(), len(batch)] if len(batch) else []):
            run = batch.slice(first, last - first)
            (cells[int(parts[first])] if kinds[first] == CELLS else others).append(run)
    return others, cells


def cells_of(batches: Sequence[Any]) -> Any:
    """Rows that came as they are in the corpus, as one record batch for a decoder. Ids and ranks stayed behind."""
    pa = arrow("Spark")
    numbers = np.frombuffer(b"".join(whole(batch.column("a")) for batch in batches), ">i8").astype(np.int64)
    sizes = [np.diff(offsets_of(batch.column("c"))) for batch in batches]
    data = pa.py_buffer(b"".join(whole(batch.column("c")) for batch in batches))
    offsets = np.cumsum(np.concatenate([np.zeros(1, np.int64), *sizes]))
    cells = pa.Array.from_buffers(pa.large_string(), len(numbers), [None, pa.py_buffer(offsets), data])
    return pa.RecordBatch.from_pydict({"n": pa.array(numbers), CELL: cells})


def edge_rows(target: int, pairs: Pairs, similarities: NDArray[np.float64]) -> Iterator[Blob]:
    for first in range(0, len(pairs.later), step := max(MOST_BYTES // EDGE, 1)):
        part = slice(first, first + step)
        yield Blob(target, EDGES, coded(pairs.later[part]), pairs.earlier[part].tobytes(), similarities[part].tobytes())


def edges_in(blobs: Iterable[Blob]) -> tuple[Pairs, NDArray[np.float64]]:
    later, earlier, similarities = arrays_of(blobs, "i8", "f8")
    return Pairs(earlier, later), similarities
