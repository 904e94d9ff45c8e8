"""What rounds leave undecided for long: chains inside full buckets. One task has their buckets and texts, and goes on by itself.

It gets all living members of all buckets that an undecided document is in. An undecided one meets there all that it ever meets; a kept
one meets less than it met, and stays. So by priority everybody's standing is what it would have become.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

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
    names_of,
    pieces,
)
from lookalike.deduping.spark.sketching import Given, Names
from lookalike.deduping.spark.stages import Verifying, members_in
from lookalike.deduping.spark.texts import wanted_cells
from lookalike.deduping.spark.work import collected
from lookalike.leaders.candidates import BUCKET_LIMIT, Bucketed, Pairs, candidates, grouped
from lookalike.leaders.decide import REMOVED
from lookalike.leaders.rounds import NO_PAIRS, in_rounds
from lookalike.leaders.verify import verify

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lookalike.deduping.spark.rounds import Rounds


@dataclass(frozen=True)
class Concerned:
    """Buckets → the living members of those with an undecided one."""

    undecided: Given
    removed: Given

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
    """The rounds in one process. It gives the documents that go."""

    verifying: Verifying
    limit: int = BUCKET_LIMIT

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for _, kinds in by_partition(batches):
            names, buckets = arrays_of(kinds[MEMBERS], "u8")
            members = grouped([Bucketed(buckets, names)])
            cells = {bytes(blob.a): blob for blob in kinds[CELLS]}  # a document may be wanted by several buckets
            numbers, sketches = self.verifying.features(list(cells.values()))

            def compare(pairs: Pairs) -> Any:
                rows = Pairs(*map(self.verifying.priorities.numbers, pairs))
                return verify(rows, numbers, sketches.features, sketches.offsets, self.verifying.rule)  # noqa: B023 - called at once

            found, decided = in_rounds(
                np.unique(members.priorities),
                np.zeros(0, np.int64),
                lambda removed: [candidates(members, removed, self.limit)],  # noqa: B023 - called at once
                lambda kept: [NO_PAIRS],
                compare,
                self.verifying.rule.threshold,
                self.limit,
            )
            yield from batches_of(pieces(0, WANTED, found[decided.standings == REMOVED]))


def settle_residue(rounds: Rounds, members: DataFrame, undecided: Names, removed: Names) -> Names:
    """Of the undecided documents those that go."""
    work = rounds.work
    concerned = work.saved(members.mapInArrow(Concerned(work.given(undecided), work.given(removed)), SCHEMA), "residue")
    cells = wanted_cells(rounds.corpus, concerned.where(f"kind = {WANTED}"), 0, rounds.priorities)
    together = concerned.where(f"kind = {MEMBERS}").unionAll(cells).repartition(1)
    gone = names_of(collected(together.mapInArrow(Remaining(rounds.verifying), SCHEMA)))
    return np.intersect1d(gone, undecided)
