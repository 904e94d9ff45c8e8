"""MinHash on Spark: the rounds of ``leaders.rounds``, with every step a pass over partitions.

Pairs, edges and open buckets stay in Spark. The driver holds what is removed and what is a copy, 8 and 16 bytes each, and the edges
while they are few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.corpus.arrow_values import arrow
from lookalike.deduping.spark import settling
from lookalike.deduping.spark.blobs import EDGES, OPEN, PAIRS, SCHEMA, WANTED, Blob, arrays_of, batch_of
from lookalike.deduping.spark.residue import settle_residue
from lookalike.deduping.spark.sketching import Names, Priorities
from lookalike.deduping.spark.stages import Grouping, LastPairing, PairRound, Verifying, edge_rows, edges_in, new_pairs
from lookalike.deduping.spark.texts import wanted_cells
from lookalike.deduping.spark.work import Work, collected, named, placed
from lookalike.leaders.candidates import Pairs
from lookalike.leaders.rounds import NO_PAIRS

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


class Edges(NamedTuple):
    """Pairs that are similar enough."""

    pairs: Pairs
    similarities: NDArray[np.float64]


class FoundPairs(NamedTuple):
    """Documents that go, and all similar pairs: in arrays while they are few, else in a frame."""

    edges: DataFrame | None  # of kind EDGES
    held: Edges | None
    removed: Names  # originals that go, ascending
    compared: int


NOTHING_FOUND = FoundPairs(None, Edges(NO_PAIRS, np.zeros(0)), np.zeros(0, np.int64), 0)


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
    names_on_driver: int
    documents: int
    step: Callable[[str], object] = lambda stage: None
    compared: int = 0
    _known: list[DataFrame] = field(default_factory=list)  # pairs that were compared
    _held: list[Edges] = field(default_factory=list)
    _edges: list[DataFrame] = field(default_factory=list)  # once they are too many to be held

    def decide(self, rows: DataFrame, copies: Copies) -> FoundPairs:
        """``rows`` are those of kind ROWS, of all documents."""
        self.step("buckets")
        grouping = Grouping(self.work.given(copies.copies))
        members = self.work.saved(placed(rows, self.partitions).mapInArrow(grouping, SCHEMA), "buckets")
        removed: list[Names] = []
        while True:
            self.step("pairs")
            left_open = self._compare(members.mapInArrow(PairRound(self.work.given(removed), self.partitions), SCHEMA))
            self.step("settle")
            settled = self._settled(left_open)
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
        self._compare(members.mapInArrow(last, SCHEMA))
        return FoundPairs(self._all_edges(), self._all_held() if not self._edges else None, gone, self.compared)

    def _settled(self, left_open: DataFrame | None) -> settling.Settled:
        """What all edges so far and the open buckets say: on the driver while it holds them, else component by component."""
        if not self._edges:
            still_open = settling.open_in(collected(left_open) if left_open is not None else [])
            return settling.settle(*self._all_held(), still_open, self.threshold)
        answers = settling.settled_by_component(self.work, self._all_edges(), left_open, self.threshold, self.partitions)
        return settling.told(named(self.work, answers, 1, self.names_on_driver, self.documents))

    def _all_held(self) -> Edges:
        return Edges(
            Pairs(*(np.concatenate([getattr(held.pairs, side) for held in self._held] or [NO_PAIRS.later]) for side in Pairs._fields)),
            np.concatenate([held.similarities for held in self._held] or [np.zeros(0)]),
        )

    def _all_edges(self) -> Any:
        return reduce(lambda left, right: left.unionAll(right), self._edges) if self._edges else None

    def _compare(self, pairs: DataFrame) -> DataFrame | None:
        """Compares those that are new. Rows of open buckets that were among them come back, if there are any."""
        from pyspark.sql import functions as F

        known = [frame.withColumn("kind", F.lit(EDGES)) for frame in self._known]
        everything = placed(reduce(lambda left, right: left.unionAll(right), known, pairs), self.partitions)
        bytes_of = {PAIRS: "b", WANTED: "a", OPEN: "a"}
        sums = {str(kind): F.sum(F.when(F.col("kind") == kind, F.length(column))) for kind, column in bytes_of.items()}
        new, sizes = self.work.saved_and_seen(everything.mapInArrow(new_pairs, SCHEMA), "new-pairs", sums)
        pairs_bytes, wanted_bytes, open_bytes = (sizes[str(kind)] or 0 for kind in bytes_of)
        if pairs_bytes:
            self.compared += pairs_bytes // 8
            found = new.where(f"kind = {PAIRS}")
            self._known.append(found)
            self.step("verify")
            cells = wanted_cells(self.corpus, new.where(f"kind = {WANTED}"), wanted_bytes, self.priorities)
            self._take(placed(found.unionAll(cells), self.partitions).mapInArrow(self.verifying, SCHEMA))
        return new.where(f"kind = {OPEN}") if open_bytes else None

    def _take(self, verified: DataFrame) -> None:
        """There are no more edges than pairs: while these are few, the driver holds the edges."""
        if self.compared <= self.edges_on_driver:
            self._held.append(Edges(*edges_in(collected(verified))))
            return
        if not self._edges:
            table: Any = arrow("Spark").Table.from_batches([batch_of([blob for held in self._held for blob in edge_rows(0, *held)])])
            self._edges.append(self.work.saved(self.work.session.createDataFrame(table, SCHEMA), "first-edges"))
            self._held.clear()
        self._edges.append(self.work.saved(verified, "edges"))


def copies_in(blobs: Iterable[Blob]) -> Copies:
    """Rows of kind COPIES, of all partitions."""
    names, first = arrays_of(blobs, "i8")
    order = np.argsort(names)
    return Copies(names[order], first[order])
