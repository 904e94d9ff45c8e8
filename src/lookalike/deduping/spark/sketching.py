"""Rows → digests and buckets: the first stage, and the only one that reads everything."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lookalike.corpus.batches import character_counts
from lookalike.deduping.spark.blobs import DIGESTS, FACTS, OUTSIDE, PROBLEMS, ROWS, Blob, batches_of, coded, scattered, target_of
from lookalike.deduping.spark.decoding import Decode, Decoded
from lookalike.leaders.candidates import bucketed
from lookalike.leaders.rule import Rule
from lookalike.leaders.sketching import Sketcher, Sketches

HELD_ROWS = 1 << 22  # of buckets, in a task: 64 MB
MOST_PROBLEMS = 1000  # that a task names; all are counted
COUNTED = ("documents", "texts", "units", "empty", "outside", "problems")
SALTS = np.array([0xD6E8FEB86659FD93, 0xA24BAED4963EE407], np.uint64)

Names = NDArray[np.int64]
Words = NDArray[np.uint64]


class Shared(Protocol):
    """What a task can look up: a broadcast of Spark, or the value itself in a test."""

    @property
    def value(self) -> Any: ...


@dataclass(frozen=True)
class Range:
    """The least and the largest of whole numbers."""

    least: float
    most: float

    @property
    def bits(self) -> int:
        """For all places."""
        return (int(self.most - self.least) + 1).bit_length()

    def places(self, ranks: NDArray[np.float64]) -> Names:
        """The largest is the first. Those without a value come after all others."""
        found: Names = np.minimum(self.most - ranks, self.most - self.least + 1).astype(np.int64)
        return found


@dataclass(frozen=True)
class Priorities:
    """Numbers and ranks → priorities: one number, of which the smaller is kept first, and which ends with the number of the row."""

    order: str = "first"
    bits: int = 63  # of the numbers of rows
    ranks: Shared | None = None  # of newest and best: all values there are, the largest first, negated
    rank_bits: int = 0
    range: Range | None = None  # of newest and best instead, where values are whole numbers: they say themselves how far apart they are

    def of(self, numbers: Names, found: Decoded) -> Names:
        """Of documents that have a text."""
        if self.order == "first":
            return numbers
        if self.order == "longest":
            places = np.int64(1 << 28) - character_counts(found.batch.texts).astype(np.int64)
        elif self.range is not None:
            places = self.range.places(_ranks(found))
        else:
            ranks = _ranks(found)
            places = np.searchsorted(self.ranks.value if self.ranks else np.zeros(0), -ranks + 0.0).astype(np.int64)
        whole: Names = places << np.int64(self.bits) | numbers
        return whole

    def numbers(self, names: Names) -> Names:
        found: Names = names & np.int64((1 << self.bits) - 1)
        return found


def _ranks(found: Decoded) -> NDArray[np.float64]:
    return found.batch.ranks if found.batch.ranks is not None else np.zeros(0)


class Seen:
    """What a task has to say about the rows it read."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(COUNTED, 0)
        self._problems: list[Any] = []

    def add(self, found: Decoded) -> None:
        self.counts["documents"] += len(found.numbers)
        self.counts["problems"] += len(found.problems)
        self._problems += [[each.n, *each.problem] for each in found.problems[: MOST_PROBLEMS - len(self._problems)]]

    def batches(self) -> Iterator[Any]:
        said = [Blob(0, FACTS, json.dumps(self.counts).encode())]
        return batches_of([*said, *([Blob(0, PROBLEMS, json.dumps(self._problems).encode())] if self._problems else [])])


class KeptBefore(Protocol):
    """Documents that were kept before all others."""

    def without_stored(self, batch: Any, outside: Any) -> Any: ...


class Held(NamedTuple):
    """What is needed of a batch, until there is enough for all partitions."""

    names: Names
    digests: Words
    keys: Words
    comparable: NDArray[np.bool_]  # whether a document has features
    groups: Words  # the value that documents are compared within, where there is one


@dataclass(frozen=True)
class Sketching:
    """Rows → digests and buckets, for the partitions of both; and what there is to say about the rows."""

    rule: Rule
    decode: Decode
    priorities: Priorities
    partitions: int
    key: Words
    opened: Callable[[], KeptBefore] | None = None  # a store that documents are compared with first
    per: str | None = None

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        sketcher, seen = Sketcher(self.rule, 1, self.key), Seen()
        store = self.opened() if self.opened else None
        held: list[Held] = []
        rows = 0
        for piece in batches:
            found = self.decode(piece)
            seen.add(found)
            if store is not None:
                yield from _pointed_outside(store, found, seen)
            held.append(self._held(piece, found, sketcher.sketch(found.batch.texts), seen))
            rows += held[-1].names.size * max(self.rule.banding.bands, 1)
            if rows >= HELD_ROWS:
                yield from batches_of(self._scattered(held))
                held, rows = [], 0
        yield from batches_of(self._scattered(held))
        yield from seen.batches()

    def _held(self, piece: Any, found: Decoded, sketches: Sketches, seen: Seen) -> Held:
        names = self.priorities.of(found.with_text, found)
        digests = np.array(sketches.digests).reshape(-1, 2)
        seen.counts["texts"] += len(names)
        seen.counts["empty"] += int((digests == 0).all(axis=1).sum())
        if self.rule.method == "simhash":
            digests = code_digests(sketches.simhashes, digests)
        return Held(names, digests, np.array(sketches.keys), np.diff(sketches.offsets) > 0, self._groups(piece, found))

    def _groups(self, piece: Any, found: Decoded) -> Words:
        if self.per is None:
            return np.zeros(0, np.uint64)
        values, numbers = np.asarray(piece.column("per")).view(np.uint64), np.asarray(piece.column("n"))
        order = np.argsort(numbers)
        return values[order[np.searchsorted(numbers, found.with_text, sorter=order)]]

    def _scattered(self, held: Sequence[Held]) -> Iterator[Blob]:
        """Batches as one: fewer and larger rows for each partition."""
        if not held:
            return
        names, digests, keys, comparable, groups = map(np.concatenate, zip(*held, strict=True))
        if self.per is not None:
            digests = digests + groups[:, None] * SALTS
        yield from scattered(DIGESTS, target_of(digests[:, 0] ^ digests[:, 1], self.partitions), names, digests)
        if self.rule.method != "minhash":
            return
        bands = self.rule.banding.bands
        chosen = keys.reshape(-1, bands)[comparable]
        if self.per is not None:
            chosen = chosen + (groups[comparable] * SALTS[0])[:, None]
        found = bucketed(chosen.reshape(-1), bands, names[comparable])
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


def _pointed_outside(store: KeptBefore, found: Decoded, seen: Seen) -> Iterator[Any]:
    """Takes out what a store has, and says so."""
    told = Told()
    store.without_stored(found.batch, told)
    if told.places:
        seen.counts["outside"] += len(told.places)
        numbers, ids = found.numbers[np.array(told.places)], json.dumps(told.ids).encode()
        yield from batches_of([Blob(0, OUTSIDE, coded(numbers), ids, np.array(told.similarities).tobytes())])


def code_digests(codes: NDArray[np.uint64], digests: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Equal SimHashes are copies; a document without tokens is like another such one."""
    said = (digests != 0).any(axis=1).astype(np.uint64)
    return np.stack((codes * said, said), axis=1)
