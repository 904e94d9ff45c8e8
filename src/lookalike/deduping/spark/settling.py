"""Edges and open buckets → who goes and who is undecided: on the driver while they fit, else component by component.

Documents that no edge and no open bucket joins have nothing to say about each other, so components are settled side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.corpus.arrow_values import arrow
from lookalike.deduping.spark.blobs import EDGES, SCHEMA, Blob, arrays_of, batches_of, blobs_of, names_of, pieces
from lookalike.deduping.spark.components import components
from lookalike.deduping.spark.sketching import Names
from lookalike.deduping.spark.work import Work
from lookalike.leaders.candidates import BUCKET_LIMIT, Open, Pairs
from lookalike.leaders.decide import NOTHING_OPEN, REMOVED, UNDECIDED, decide

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

GONE, UNKNOWN = 0, 1  # kinds of what comes back
ROWS = 1 << 16  # at a time


class Settled(NamedTuple):
    removed: Names
    undecided: Names


def settled_by_component(work: Work, edges: DataFrame, left_open: DataFrame | None, threshold: float, partitions: int) -> DataFrame:
    """Rows of kinds GONE and UNKNOWN."""
    return by_component(work, edges, left_open, partitions).mapInArrow(Settling(threshold), SCHEMA)


def told(answers: list[Blob]) -> Settled:
    gone, unknown = (np.sort(names_of(blob for blob in answers if blob.kind == kind)) for kind in (GONE, UNKNOWN))
    return Settled(gone, unknown)


def settle(pairs: Pairs, similarities: NDArray[np.float64], still_open: Open, threshold: float, limit: int = BUCKET_LIMIT) -> Settled:
    """What all edges and open buckets of some components say."""
    names = np.unique(np.concatenate((pairs.earlier, pairs.later, still_open.priorities)))
    standings = decide(names, pairs, similarities, threshold, still_open, limit).standings
    return Settled(names[standings == REMOVED], names[standings == UNDECIDED])


def open_in(blobs: Iterable[Blob]) -> Open:
    held = list(blobs)
    if not held:
        return NOTHING_OPEN
    names, buckets, leads = arrays_of(held, "u8", "u1")
    return Open(buckets, names, leads)


@dataclass(frozen=True)
class Settling:
    """Rows of whole components → who goes."""

    threshold: float

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        held = list(batches)
        if not held:
            return
        names, kinds, x, y = (np.concatenate([np.asarray(batch.column(name)) for batch in held]) for name in ("n", "kind", "x", "y"))
        edge = kinds == EDGES
        still_open = Open(x[~edge].view(np.uint64), names[~edge], y[~edge].astype(np.uint8))
        found = settle(Pairs(x[edge], names[edge]), y[edge], still_open, self.threshold)
        counted = (np.zeros(len(names), np.uint8) for names in found)
        yield from batches_of([*pieces(0, GONE, found.removed, next(counted)), *pieces(0, UNKNOWN, found.undecided, next(counted))])


def by_component(work: Work, edges: DataFrame, left_open: DataFrame | None, partitions: int) -> DataFrame:
    """Edges and open rows one by one, those of a component in one partition."""
    from pyspark.sql import functions as F

    both = edges if left_open is None else edges.unionAll(left_open)
    rows = work.saved(both.mapInArrow(exploded, "n long, kind int, x long, y double"), "rows")
    # A bucket is a node of its own, below all documents: so its members belong together.
    other = F.when(F.col("kind") == EDGES, F.col("x")).otherwise(F.lit(-1) - F.shiftrightunsigned("x", 1))
    labels = components(work, rows.select(F.col("n").alias("u"), other.alias("v")))
    placed = rows.join(labels, "n", "left").withColumn("c", F.coalesce("c", "n"))
    return placed.repartition(partitions, "c").select("n", "kind", "x", "y")


def exploded(batches: Iterable[Any]) -> Iterator[Any]:
    """Edges as (later, earlier, similarity), rows of open buckets as (document, bucket, whether it leads)."""
    pa = arrow("Spark")
    for blob in blobs_of(batches):
        names, x, y = arrays_of([blob], "i8", "f8" if blob.kind == EDGES else "u1")
        kinds = np.full(len(names), blob.kind, np.int32)
        for first in range(0, len(names), ROWS):
            part = slice(first, first + ROWS)
            arrays = [pa.array(each[part]) for each in (names, kinds, x, y.astype(np.float64))]
            yield pa.RecordBatch.from_arrays(arrays, ["n", "kind", "x", "y"])
