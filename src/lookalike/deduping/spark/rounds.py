"""MinHash on Spark: the rounds of ``leaders.rounds``, with every step a pass over partitions.

Pairs, edges and open buckets stay in Spark. The driver holds what is removed and what is a copy, 8 and 16 bytes each, and the edges
while they are few.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lookalike.deduping.spark import settling
from lookalike.deduping.spark.blobs import EDGES, OPEN, PAIRS, SCHEMA, WANTED, arrays_of
from lookalike.deduping.spark.residue import settle_residue
from lookalike.deduping.spark.sketching import Names, Priorities
from lookalike.deduping.spark.stages import Grouping, LastPairing, Pairing, Verifying, new_pairs
from lookalike.deduping.spark.texts import wanted_cells
from lookalike.deduping.spark.work import Work, collected, placed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_ROUNDS = 12  # then what is undecided goes to one task
FEW_UNDECIDED = 5_000  # these go there at once: a round costs seconds


class Copies(NamedTuple):
    """Ascending copies, and the original of each."""

    copies: Names
    originals: Names

    def of(self, removed: Names) -> Copies:
        """Copies of these originals alone, by original."""
        chosen = np.isin(self.originals, removed)
        order = np.lexsort((self.copies[chosen], self.originals[chosen]))
        return Copies(self.copies[chosen][order], self.originals[chosen][order])


class Found(NamedTuple):
    """Documents that go, the kept one each points at, and their similarity. In a frame or in arrays."""

    edges: DataFrame | None  # all of them, of kind EDGES
    removed: Names  # originals that go, ascending
    compared: int


@dataclass
class Rounds:
    """Buckets → edges, and who goes."""

    work: Work
    corpus: DataFrame  # the numbers and cells of all documents
    verifying: Verifying
    priorities: Priorities
    partitions: int
    threshold: float
    edges_on_driver: int
    step: Callable[[str], object] = lambda stage: None
    compared: int = 0
    edges: int = 0
    _known: list[DataFrame] = field(default_factory=list)  # pairs that were compared
    _edges: list[DataFrame] = field(default_factory=list)

    def decide(self, rows: DataFrame, copies: Copies) -> Found:
        """``rows`` are those of kind ROWS, of all documents."""
        self.step("buckets")
        grouping = Grouping(self.work.given(copies.copies))
        members = self.work.saved(placed(rows, self.partitions).mapInArrow(grouping, SCHEMA), "buckets")
        removed: list[Names] = []
        while True:
            self.step("pairs")
            pairing = Pairing(self.work.given(removed), self.partitions)
            found = self.work.saved(members.mapInArrow(pairing, SCHEMA), "pairs")
            self._compare(found.where(f"kind = {PAIRS}"))
            left_open = found.where(f"kind = {OPEN}")
            self.step("settle")
            settled = settling.settled(
                self.work, self._all_edges(), self.edges, left_open, self.threshold, self.partitions, self.edges_on_driver
            )
            before = np.concatenate(removed) if removed else np.zeros(0, np.int64)
            removed.append(np.setdiff1d(settled.removed, before))
            if not len(settled.undecided):
                break
            if len(removed) >= MOST_ROUNDS or len(settled.undecided) <= FEW_UNDECIDED:
                self.step("residue")
                removed.append(settle_residue(self, members, settled.undecided, np.sort(np.concatenate(removed))))
                break
        gone = np.sort(np.concatenate(removed))
        self.step("last pairs")
        last = LastPairing(self.work.given(gone), self.work.given(tuple(copies.of(gone))), self.partitions)
        self._compare(self.work.saved(members.mapInArrow(last, SCHEMA), "last-pairs"))
        return Found(self._all_edges(), gone, self.compared)

    def _all_edges(self) -> DataFrame | None:
        return reduce(lambda left, right: left.unionAll(right), self._edges) if self._edges else None

    def _compare(self, pairs: DataFrame) -> None:
        """Compares those that are new."""
        from pyspark.sql import functions as F

        known = [frame.withColumn("kind", F.lit(EDGES)) for frame in self._known]
        everything = placed(reduce(lambda left, right: left.unionAll(right), known, pairs), self.partitions)
        new = self.work.saved(everything.mapInArrow(new_pairs, SCHEMA), "new-pairs")
        found = new.where(f"kind = {PAIRS}")
        counts = {
            row.kind: row for row in new.groupBy("kind").agg(F.sum(F.length("a")).alias("a"), F.sum(F.length("b")).alias("b")).collect()
        }
        if PAIRS not in counts:
            return
        self.compared += counts[PAIRS].b // 8
        self._known.append(found)
        self.step("verify")
        cells = wanted_cells(self.corpus, new.where(f"kind = {WANTED}"), counts[WANTED].a, self.priorities)
        verified = placed(found.unionAll(cells), self.partitions).mapInArrow(self.verifying, SCHEMA)
        edges = self.work.saved(verified, "edges")
        # There are no more edges than pairs: while these are few, nobody needs to count.
        self.edges = self.compared if self.compared <= self.edges_on_driver else self.edges + edge_count(edges)
        self._edges.append(edges)


def edge_count(edges: DataFrame) -> int:
    from pyspark.sql import functions as F

    return (edges.agg(F.sum(F.length("b"))).collect()[0][0] or 0) // 8


def found_copies(frame: DataFrame) -> Copies:
    names, first = arrays_of(collected(frame), "i8")
    order = np.argsort(names)
    return Copies(names[order], first[order])
