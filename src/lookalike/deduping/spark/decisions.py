"""Which rows go and what each points at: as a frame, and as arrays too while they are few, when nobody needs a join."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.corpus.arrow_values import arrow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FEW = 1 << 16
DECISIONS = "n long, leader long, similarity double, outside string"


class Assigned(NamedTuple):
    """Rows that go, and the kept row that each points at."""

    n: NDArray[np.int64]
    leader: NDArray[np.int64]
    similarity: NDArray[np.float64]

    def frame(self, session: SparkSession) -> DataFrame:
        pa = arrow("Spark")
        table = pa.table({**self._asdict(), "outside": pa.nulls(len(self.n), pa.string())})
        made: Any = session.createDataFrame(table, DECISIONS)
        return made


@dataclass(frozen=True)
class SparkDecisions:
    frame: DataFrame  # n, leader, similarity, outside
    removed: int
    clusters: int
    few: Assigned | None = None  # all of it, by the number of the row

    @classmethod
    def of_few(cls, session: SparkSession, few: Assigned) -> SparkDecisions:
        order = np.argsort(few.n)
        ordered = Assigned(few.n[order], few.leader[order], few.similarity[order])
        return cls(ordered.frame(session), len(order), len(np.unique(few.leader)), ordered)

    @classmethod
    def counted(cls, frame: DataFrame) -> SparkDecisions:
        from pyspark.sql import functions as F

        leaders = F.count_distinct(F.coalesce(F.col("leader").cast("string"), F.concat(F.lit("o"), F.col("outside"))))
        return cls(frame, *frame.agg(F.count("*"), leaders).collect()[0])
