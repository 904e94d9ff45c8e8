"""What rounds leave undecided for long: chains inside full buckets. One task has their buckets and texts, and asks the native leaders.

It gets all living members of all buckets that an undecided document is in. An undecided one meets there all that it ever meets; a kept
one meets less than it met, and stays. So by priority everybody's standing is what it would have become. Other buckets of these documents
are taken away: not all of their members are here, so that they could hold somebody who had no room.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.deduping.spark.blobs import (
    CELLS,
    MEMBERS,
    SCHEMA,
    WANTED,
    Blob,
    arrays_of,
    batches_of,
    blobs_of,
    by_partition,
    coded,
    is_in,
    names_of,
    pieces,
)
from lookalike.deduping.spark.sketching import SALTS, Names, Shared
from lookalike.deduping.spark.stages import Verifying, members_in
from lookalike.deduping.spark.texts import wanted_cells
from lookalike.deduping.spark.work import collected
from lookalike.leaders.candidates import BUCKET_LIMIT, bucketed

ODD = np.uint64(0x9E3779B97F4A7C15)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lookalike.deduping.spark.rounds import Rounds


@dataclass(frozen=True)
class Concerned:
    """Buckets → the living members of those with an undecided one."""

    undecided: Shared
    removed: Shared

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for blob in blobs_of(batches):
            members = members_in(blob)
            members = members.taken(~np.isin(members.priorities, self.removed.value))
            concerned = np.unique(members.buckets[np.isin(members.priorities, self.undecided.value)])
            members = members.taken(np.isin(members.buckets, concerned))
            if len(members.buckets):
                yield from batches_of(
                    [
                        Blob(0, MEMBERS, coded(members.priorities), members.buckets.tobytes()),
                        *pieces(0, WANTED, np.unique(members.priorities)),
                    ]
                )


@dataclass(frozen=True)
class Remaining:
    """The native leaders on whole buckets. It gives the documents that go."""

    verifying: Verifying
    limit: int = BUCKET_LIMIT

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for _, kinds in by_partition(batches):
            names, buckets = arrays_of(kinds[MEMBERS], "u8")
            everyone = np.unique(names)
            # A document may be wanted by several buckets.
            cells = {bytes(blob.a): Blob(*blob[:2], *map(bytes, blob[2:])) for blob in kinds[CELLS]}
            numbers, sketches = self.verifying.features(list(batches_of(cells.values())))
            by_number = np.argsort(numbers)
            places = by_number[np.searchsorted(numbers, self.verifying.priorities.numbers(everyone), sorter=by_number)]
            groups = _groups([cells[int(n).to_bytes(8, "big", signed=True)] for n in numbers[places].tolist()])
            banding = self.verifying.rule.banding
            found = bucketed(
                np.asarray(sketches.keys).reshape(-1, banding.bands)[places].reshape(-1) + np.repeat(groups, banding.bands),
                banding.bands,
                everyone,
            )
            concerned = is_in(found.buckets, np.unique(buckets))
            # A key that nobody shares, in place of those of other buckets; and no document is a copy of another.
            alone = np.arange(len(concerned), dtype=np.uint64) * ODD
            keys = np.where(concerned, found.buckets, alone)
            digests = np.repeat(np.arange(1, len(everyone) + 1, dtype=np.uint64), 2)
            features, offsets = _taken(np.asarray(sketches.features), np.asarray(sketches.offsets), places)
            leaders = _native.Leaders(banding.bands, self.verifying.rule.threshold, self.limit).offer(features, offsets, digests, keys)[0]
            yield from batches_of(pieces(0, WANTED, everyone[np.asarray(leaders) >= 0]))


def _groups(cells: Sequence[Blob]) -> NDArray[np.uint64]:
    """What the keys of each document were moved by, where documents are compared within groups alone."""
    held = [np.frombuffer(cell.b, ">i8").astype(np.int64) for cell in cells]
    moved: NDArray[np.uint64] = np.array([int(each[0]) if len(each) else 0 for each in held], np.int64).view(np.uint64) * SALTS[0]
    return moved


def _taken(
    features: NDArray[np.uint64], offsets: NDArray[np.int64], places: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The features of some documents, in this order."""
    counts = np.diff(offsets)[places]
    ends = np.concatenate(([0], np.cumsum(counts)))
    chosen = np.arange(ends[-1]) + np.repeat(offsets[:-1][places] - ends[:-1], counts)
    return features[chosen], ends


def settle_residue(rounds: Rounds, members: DataFrame, undecided: Names, removed: Names) -> Names:
    """Of the undecided documents those that go."""
    work = rounds.work
    concerned = work.saved(members.mapInArrow(Concerned(work.given(undecided), work.given(removed)), SCHEMA), "residue")
    cells = wanted_cells(rounds.corpus, concerned.where(f"kind = {WANTED}"), 0, rounds.priorities)
    together = concerned.where(f"kind = {MEMBERS}").unionAll(cells).repartition(1)
    gone = names_of(collected(together.mapInArrow(Remaining(rounds.verifying), SCHEMA)))
    return np.intersect1d(gone, undecided)
