"""The texts that pairs need: each travels once to each partition that compares it, by a join inside Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.corpus.arrow_values import arrow
from lookalike.deduping.spark.blobs import CELLS, blobs_of, decoded
from lookalike.deduping.spark.decoding import CELL
from lookalike.deduping.spark.sketching import Priorities

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BROADCAST = 1 << 24  # wanted rows that every executor holds, some 50 bytes each; with more, both sides are sorted
ROWS = 1 << 16


@dataclass(frozen=True)
class Exploding:
    """Names → a row for each, as a join takes them."""

    priorities: Priorities

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pa = arrow("Spark")
        for blob in blobs_of(batches):
            numbers = self.priorities.numbers(decoded(blob.a))
            for first in range(0, len(numbers), ROWS):
                part = numbers[first : first + ROWS]
                yield pa.RecordBatch.from_arrays([pa.array(part), pa.array(np.full(len(part), blob.p, np.int32))], ["n", "p"])


def wanted_cells(corpus: DataFrame, wanted: DataFrame, count: int, priorities: Priorities) -> DataFrame:
    """Rows of kind CELLS: the number of a row of the corpus, its group where there are such, and its cell. At most ``count`` are wanted."""
    from pyspark.sql import functions as F

    rows = wanted.mapInArrow(Exploding(priorities), "n long, p int")
    if count <= BROADCAST:
        rows = F.broadcast(rows)
    group = F.col("per").cast("binary") if "per" in corpus.columns else F.lit(b"").cast("binary")
    names = (F.col("n").cast("binary").alias("a"), group.alias("b"), F.col(CELL).cast("binary").alias("c"))
    return (
        corpus.select(*(name for name in ("n", CELL, "per") if name in corpus.columns))
        .join(rows, "n")
        .select("p", F.lit(CELLS).alias("kind"), *names)
    )
