"""Which rows go and what each points at: as a frame, and as arrays too while they are few, when nobody needs a join."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.corpus.arrow_values import arrow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lookalike.deduping.spark.work import Work

FEW = 1 << 20  # 28 bytes each, in the plan of every frame made of them
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
    def held(cls, work: Work, found: Assigned) -> SparkDecisions:
        """Of all that the driver holds: nobody needs Spark to count it."""
        order = np.argsort(found.n)
        ordered = Assigned(found.n[order], found.leader[order], found.similarity[order])
        few, frame = len(order) <= FEW, ordered.frame(work.session)
        return cls(frame if few else work.saved(frame, "decisions"), len(order), len(np.unique(found.leader)), ordered if few else None)

    @classmethod
    def counted(cls, frame: DataFrame) -> SparkDecisions:
        from pyspark.sql import functions as F

        leaders = F.count_distinct(F.coalesce(F.col("leader").cast("string"), F.concat(F.lit("o"), F.col("outside"))))
        return cls(frame, *frame.agg(F.count("*"), leaders).collect()[0])
