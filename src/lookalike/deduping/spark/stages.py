"""What tasks do with the documents and arrays they get. All of it is pure: a task that is lost is done again, with the same result."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lookalike.corpus.batches import character_counts
from lookalike.deduping.spark.blobs import (
    Blob,
    arrays_of,
    batches_of,
    blobs_of,
    by_partition,
    coded,
    decoded,
    pieces,
    scattered,
    target_of,
)
from lookalike.deduping.spark.decoding import CELL, Decode, Decoded
from lookalike.leaders.candidates import (
    BUCKET_LIMIT,
    SMALL,
    Bucketed,
    Open,
    Pairs,
    bucketed,
    candidates,
    distinct,
    grouped,
    last_candidates,
)
from lookalike.leaders.decide import originals
from lookalike.leaders.rounds import without
from lookalike.leaders.rule import Rule
from lookalike.leaders.sketching import Sketcher, Sketches
from lookalike.leaders.verify import verify

if TYPE_CHECKING:
    pass

# Kinds of rows.
DIGESTS, ROWS, FACTS, PROBLEMS, COPIES, MEMBERS, PAIRS, WANTED, CELLS, EDGES, OPEN, CODES, OUTSIDE = range(13)
HELD_ROWS = 1 << 22  # of buckets, in a task that reads: 64 MB
MOST_PROBLEMS = 1000  # that a task names; all are counted
MEMBERS_PER_TARGET = 1 << 16  # of one leader: the pairs of a leader with more are spread over several partitions
SALT = np.uint64(0xD6E8FEB86659FD93)
SPREAD = np.uint64(0xA24BAED4963EE407)

Names = NDArray[np.int64]


class Given(Protocol):
    """What a task can look up: a broadcast of Spark, or the value itself in a test."""

    @property
    def value(self) -> Any: ...


@dataclass(frozen=True)
class Priorities:
    """Numbers and ranks → priorities: one number, of which the smaller is kept first, and which ends with the number of the row."""

    order: str = "first"
    bits: int = 63  # of the numbers of rows
    ranks: Given | None = None  # of newest and best: all values there are, the largest first, negated
    rank_bits: int = 0

    def of(self, numbers: Names, found: Decoded) -> Names:
        """Of documents that have a text."""
        if self.order == "first":
            return numbers
        if self.order == "longest":
            places = np.int64(1 << 28) - character_counts(found.batch.texts).astype(np.int64)
        else:
            ranks = found.batch.ranks if found.batch.ranks is not None else np.zeros(0)
            places = np.searchsorted(self.ranks.value if self.ranks else np.zeros(0), -ranks + 0.0).astype(np.int64)
        whole: Names = places << np.int64(self.bits) | numbers
        return whole

    def numbers(self, names: Names) -> Names:
        found: Names = names & np.int64((1 << self.bits) - 1)
        return found


class Outside(Protocol):
    """Documents that were kept before all others."""

    def without_stored(self, batch: Any, outside: Any) -> Any: ...


@dataclass(frozen=True)
class Sketching:
    """Rows → digests and buckets, for the partitions of both; and what there is to say about the rows."""

    rule: Rule
    decode: Decode
    priorities: Priorities
    partitions: int
    key: NDArray[np.uint64]
    opened: Callable[[], Outside] | None = None  # a store that documents are compared with first
    per: str | None = None

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        sketcher = Sketcher(self.rule, 1, self.key)
        facts, problems, named = {"documents": 0, "texts": 0, "empty": 0, "characters": 0, "bytes": 0, "outside": 0}, [], 0
        store = self.opened() if self.opened else None
        held: list[tuple[Names, Sketches, NDArray[np.uint64] | None]] = []
        rows = 0
        for piece in batches:
            found = self.decode(piece)
            facts["documents"] += len(found.numbers)
            named += len(found.problems)
            problems += [[each.n, *each.problem] for each in found.problems[: MOST_PROBLEMS - len(problems)]]
            if store is not None:
                yield from self._stored(store, found, facts)
            names = self.priorities.of(found.with_text, found)
            sketches = sketcher.sketch(found.batch.texts)
            facts["texts"] += len(names)
            facts["bytes"] += int(found.batch.texts.offsets[-1] - found.batch.texts.offsets[0])
            facts["empty"] += int((sketches.digests.reshape(-1, 2) == 0).all(axis=1).sum())
            held.append((names, Sketches(*map(np.array, sketches)), self._groups(piece, found)))
            rows += len(names) * max(self.rule.banding.bands, 1)
            if rows >= HELD_ROWS:
                yield from batches_of(self._scattered(held))
                held, rows = [], 0
        yield from batches_of(self._scattered(held))
        said = [Blob(0, FACTS, json.dumps(facts | {"problems": named}).encode())]
        yield from batches_of([*said, *([Blob(0, PROBLEMS, json.dumps(problems).encode())] if problems else [])])

    def _stored(self, store: Outside, found: Decoded, facts: dict[str, int]) -> Iterator[Any]:
        told = Told()
        store.without_stored(found.batch, told)
        if told.places:
            facts["outside"] += len(told.places)
            numbers = found.numbers[np.array(told.places)]
            ids = json.dumps(told.ids).encode()
            yield from batches_of([Blob(0, OUTSIDE, coded(numbers), ids, np.array(told.similarities).tobytes())])

    def _groups(self, piece: Any, found: Decoded) -> NDArray[np.uint64] | None:
        """A number for the value that documents are compared within, where there is one."""
        if self.per is None:
            return None
        whole = np.asarray(piece.column("per")).astype(np.uint64)
        numbers = np.asarray(piece.column("n"))
        order = np.argsort(numbers)
        return np.asarray(whole[order[np.searchsorted(numbers, found.with_text, sorter=order)]], np.uint64)

    def _scattered(self, held: Sequence[tuple[Names, Sketches, NDArray[np.uint64] | None]]) -> Iterator[Blob]:
        for names, sketches, groups in _joined(held):
            digests = sketches.digests.reshape(-1, 2)
            if self.rule.method == "simhash":
                digests = code_digests(sketches.simhashes, digests)
            if groups is not None:
                digests = digests + groups[:, None] * np.array([SALT, SPREAD], np.uint64)
            yield from scattered(DIGESTS, target_of(digests[:, 0] ^ digests[:, 1], self.partitions), names, digests)
            if self.rule.method == "minhash":
                comparable = np.diff(sketches.offsets) > 0
                bands = self.rule.banding.bands
                keys = sketches.keys.reshape(-1, bands)[comparable]
                if groups is not None:
                    keys = keys + (groups[comparable] * SALT)[:, None]
                found = bucketed(keys.reshape(-1), bands, names[comparable])
                yield from scattered(ROWS, target_of(found.buckets, self.partitions), found.priorities, found.buckets)


class Told:
    """Notes what a store said about documents."""

    def __init__(self) -> None:
        self.places: list[int] = []
        self.ids: list[str] = []
        self.similarities: list[float] = []

    def point_outside(self, place: int, id_json: bytes, similarity: float) -> None:
        self.places.append(place)
        self.ids.append(id_json.decode())
        self.similarities.append(similarity)


def _joined(
    held: Sequence[tuple[Names, Sketches, NDArray[np.uint64] | None]],
) -> Iterator[tuple[Names, Sketches, NDArray[np.uint64] | None]]:
    """Batches as one: fewer and larger rows for each partition."""
    if not held:
        return
    names, parts, groups = zip(*held, strict=True)
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    whole = [np.concatenate(arrays) for arrays in list(zip(*parts, strict=True))[2:]]
    joined = Sketches(np.zeros(0, np.uint64), np.concatenate(([0], np.cumsum(lengths))), *whole)
    yield np.concatenate(names), joined, None if groups[0] is None else np.concatenate([each for each in groups if each is not None])


def code_digests(codes: NDArray[np.uint64], digests: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Equal SimHashes are copies; a document without tokens is like another such one."""
    said = (digests != 0).any(axis=1).astype(np.uint64)
    return np.stack((codes * said, said), axis=1)


def find_copies(batches: Iterable[Any]) -> Iterator[Any]:
    """Digests → the copies, each with its original. Rows: names, and the names of the originals."""
    for target, kinds in by_partition(batches):
        names, words = arrays_of(kinds[DIGESTS], "u8")
        first = originals(words, names)
        copy = first != names
        order = np.argsort(names[copy])
        yield from batches_of(pieces(target, COPIES, names[copy][order], first[copy][order]))


def find_codes(batches: Iterable[Any]) -> Iterator[Any]:
    """The same for SimHashes, with the codes of the originals."""
    for target, kinds in by_partition(batches):
        names, words = arrays_of(kinds[DIGESTS], "u8")
        first = originals(words, names)
        copy = first != names
        order = np.argsort(names[copy])
        codes = words.reshape(-1, 2)
        said = ~copy & (codes[:, 1] != 0)
        yield from batches_of(pieces(target, COPIES, names[copy][order], first[copy][order]))
        yield from batches_of(pieces(target, CODES, names[said], codes[said, 0]))


@dataclass(frozen=True)
class Grouping:
    """Rows of buckets → whole buckets of more than one, without copies."""

    copies: Given

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        copies = self.copies.value
        for target, kinds in by_partition(batches):
            names, buckets = arrays_of(kinds[ROWS], "u8")
            mates = _has_mate(buckets)
            found = Bucketed(buckets[mates], names[mates])
            yield from batches_of(members_of(target, grouped([found.taken(~_is_in(found.priorities, copies))])))


def _has_mate(buckets: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which buckets come more than once: most come once, and need not be sorted with all that is beside them."""
    ordered = np.sort(buckets)
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    return _is_in(buckets, repeated[np.insert(repeated[1:] != repeated[:-1], 0, True)] if len(repeated) else repeated)


def _is_in(values: NDArray[Any], ascending: NDArray[Any]) -> NDArray[np.bool_]:
    if not len(ascending) or not len(values):
        return np.zeros(len(values), np.bool_)
    places = np.searchsorted(ascending, values)
    found: NDArray[np.bool_] = ascending[np.minimum(places, len(ascending) - 1)] == values
    return found


def members_of(target: int, members: Bucketed) -> Iterator[Blob]:
    """Rows of whole buckets: whoever gets one needs no other. A bucket that is larger than a row may be has one of its own."""
    if not len(members.buckets):
        return
    ends = np.append(np.flatnonzero(np.diff(members.buckets)) + 1, len(members.buckets))
    most, first = MEMBERS_PER_ROW, 0
    while first < len(members.buckets):
        fitting = int(np.searchsorted(ends, first + most, "right")) - 1
        last = int(ends[max(fitting, np.searchsorted(ends, first, "right"))])
        part = slice(first, last)
        yield Blob(target, MEMBERS, coded(members.priorities[part]), members.buckets[part].tobytes())
        first = last


MEMBERS_PER_ROW = 1 << 22


def members_in(blob: Blob) -> Bucketed:
    return Bucketed(np.frombuffer(blob.b, np.uint64), decoded(blob.a))


@dataclass(frozen=True)
class Pairing:
    """Buckets → the pairs of a round, for the partitions that compare them; and the buckets that are still open."""

    removed: Given  # by each round so far
    partitions: int
    limit: int = BUCKET_LIMIT

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        removed = self.removed.value
        for blob in blobs_of(batches):
            members = members_in(blob)
            if removed:  # of small buckets all pairs were found at first
                members = members.taken(np.repeat((sizes := _sizes(members)) > SMALL, sizes))
            pairs, left_open = candidates(members, removed, self.limit)
            yield from batches_of(routed(pairs, self.partitions))
            if len(left_open.buckets):
                yield from batches_of(open_rows(left_open))


def _sizes(members: Bucketed) -> NDArray[np.int64]:
    ends = np.append(np.flatnonzero(np.diff(members.buckets)) + 1, len(members.buckets)) if len(members.buckets) else np.zeros(0, np.int64)
    return np.diff(ends, prepend=0)


def open_rows(left_open: Open) -> Iterator[Blob]:
    for first in range(0, len(left_open.buckets), MEMBERS_PER_ROW):
        part = slice(first, first + MEMBERS_PER_ROW)
        yield Blob(0, OPEN, coded(left_open.priorities[part]), left_open.buckets[part].tobytes(), left_open.leads[part].tobytes())


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

    removed: Given  # all, ascending
    copies: Given  # of removed documents: copies and originals, by original
    partitions: int
    limit: int = BUCKET_LIMIT

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        removed, (copies, first) = self.removed.value, self.copies.value
        for blob in blobs_of(batches):
            members = members_in(blob)
            begins, ends = (np.searchsorted(first, members.priorities, side) for side in ("left", "right"))
            counts = ends - begins
            places = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts - begins, counts)
            added = Bucketed(np.repeat(members.buckets, counts), copies[places])
            # Of small buckets without such copies all pairs are known.
            sizes = _sizes(members)
            large = np.repeat(sizes > SMALL, sizes) | _is_in(members.buckets, np.unique(added.buckets))
            whole = grouped([members.taken(large), added])
            goes = _is_in(whole.priorities, removed) | _is_in(whole.priorities, np.sort(copies))
            pairs = last_candidates(whole, whole.priorities[~goes], self.limit)
            yield from batches_of(routed(pairs, self.partitions))


def new_pairs(batches: Iterable[Any]) -> Iterator[Any]:
    """Pairs from everywhere, and those that were compared before (kind EDGES) → those that are new, and the texts that they need."""
    for target, kinds in by_partition(batches):
        found = distinct(_pairs(kinds[PAIRS]))
        if kinds[EDGES]:
            found = without(found, distinct(_pairs(kinds[EDGES])))
        if len(found.later):
            yield from batches_of(pieces(target, PAIRS, found.later, found.earlier))
            yield from batches_of(pieces(target, WANTED, np.unique(np.concatenate(found))))


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
        for target, kinds in by_partition(batches):
            pairs = distinct(_pairs(kinds[PAIRS]))
            numbers, sketches = self.features(kinds[CELLS])
            rows = Pairs(*map(self.priorities.numbers, pairs))
            similarities = verify(rows, numbers, sketches.features, sketches.offsets, self.rule)
            similar = similarities > 0
            yield from batches_of(edge_rows(target, Pairs(*(part[similar] for part in pairs)), similarities[similar]))

    def features(self, cells: Sequence[Blob]) -> tuple[Names, Sketches]:
        """Of cells, each with the number of its row."""
        found = self.decode(cells_of(cells))
        return found.with_text, Sketcher(self.rule, 1, self.key).sketch(found.batch.texts)


def cells_of(blobs: Sequence[Blob]) -> Any:
    """Rows that came as they are in the corpus, as a record batch for a decoder. Ids and ranks stayed behind."""
    from lookalike.corpus.arrow_values import arrow

    pa = arrow("Spark")
    numbers = np.frombuffer(b"".join(blob.a for blob in blobs), ">i8").astype(np.int64)
    sizes = np.fromiter((len(blob.c) for blob in blobs), np.int64, len(blobs))
    data = pa.py_buffer(b"".join(blob.c for blob in blobs))
    offsets = pa.py_buffer(np.concatenate(([0], np.cumsum(sizes))).astype(np.int64))
    cells = pa.Array.from_buffers(pa.large_string(), len(blobs), [None, offsets, data])
    return pa.RecordBatch.from_pydict({"n": pa.array(numbers), CELL: cells})


def edge_rows(target: int, pairs: Pairs, similarities: NDArray[np.float64]) -> Iterator[Blob]:
    for first in range(0, len(pairs.later), MEMBERS_PER_ROW):
        part = slice(first, first + MEMBERS_PER_ROW)
        yield Blob(target, EDGES, coded(pairs.later[part]), pairs.earlier[part].tobytes(), similarities[part].tobytes())


def edges_in(blobs: Iterable[Blob]) -> tuple[Pairs, NDArray[np.float64]]:
    later, earlier, similarities = arrays_of(blobs, "i8", "f8")
    return Pairs(earlier, later), similarities
