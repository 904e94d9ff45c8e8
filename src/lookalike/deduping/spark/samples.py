"""What the page about a run shows: counts that Spark makes, and the texts of a few pairs."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lookalike.deduping.levels import units
from lookalike.deduping.report import Sample, Similarities
from lookalike.deduping.spark.decoding import CELL
from lookalike.deduping.spark.frames import frame_of
from lookalike.deduping.spark.identifying import ids_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lookalike.deduping.spark.outcome import Outcome


def similarities(decisions: DataFrame, bars: int, least: float | None) -> Similarities:
    from pyspark.sql import functions as F

    found = F.col("similarity")
    copies, lowest = decisions.agg(F.count_if(found == 1), F.min(F.when(found < 1, found))).collect()[0]
    if lowest is None:
        return Similarities([], [], copies)
    edges = Similarities.edges_from(lowest, bars, least)
    counts = [F.count_if((found >= first) & (found < last)) for first, last in pairwise(edges)]
    return Similarities(edges, list(decisions.agg(*counts).collect()[0]), copies)


def sizes(decisions: DataFrame, keys: list[str]) -> list[tuple[int, int]]:
    from pyspark.sql import functions as F

    counted = decisions.groupBy(*keys).agg((F.count("*") + 1).alias("size")).groupBy("size").count().orderBy("size")
    return [(row["size"], row["count"]) for row in counted.collect()]


def samples(outcome: Outcome, keys: list[str], largest: int, nearest: int) -> tuple[list[tuple[int, Sample]], list[Sample]]:
    """Of each of the largest clusters the least similar pair; and the pairs that were nearest to staying, from different clusters."""
    from pyspark.sql import functions as F

    decisions = outcome.decisions
    part = [name for name in ("unit",) if name in decisions.columns]
    least = F.min(F.struct("similarity", "n", *part)).alias("least")
    # Kept documents in order; those of a store come after them, as they were met.
    order = [F.col(keys[0]).asc_nulls_last(), *map(F.col, keys[1:] if part else ()), F.col("first")]
    clusters = decisions.groupBy(*keys).agg(F.count("*").alias("removed"), F.min("n").alias("first"), least)
    top = clusters.orderBy(F.col("removed").desc(), *order).limit(largest).collect()
    below = decisions.where("similarity < 1").groupBy(*keys).agg(least)
    close = below.orderBy("least").limit(nearest).collect()
    wanted = {row.least.n for row in (*top, *close)} | {row.leader for row in (*top, *close) if row.leader is not None}
    told = ToldRows(outcome, wanted)
    return [(row.removed, told.sample(row, part)) for row in top], [told.sample(row, part) for row in close]


class ToldRows:
    """Ids and texts of a few rows."""

    def __init__(self, outcome: Outcome, numbers: set[int]) -> None:
        corpus = outcome.corpus
        frame = frame_of(outcome.work.session, [(n,) for n in sorted(numbers)], {"n": "long"})
        self._level = getattr(outcome, "level", "document")
        self._ids = {row.n: json.loads(row.id) for row in ids_of(corpus, frame, len(numbers)).collect()}
        decode, self._texts = corpus.decode(bare=True), dict[int, str]()
        for piece in corpus.rows.select("n", CELL).join(frame, "n", "left_semi").toArrow().to_batches():
            found = decode(piece)
            self._texts |= dict(zip(found.with_text.tolist(), found.batch.texts.texts(), strict=True))

    def sample(self, row: Any, part: list[str]) -> Sample:
        n, leader = row.least.n, row.leader
        removed, kept = (row.least.unit, row.kept_unit) if part else (None, None)
        outside = None if leader is not None else json.loads(row.outside)
        kept_id = outside if leader is None else self._ids[leader]
        kept_text = None if leader is None else self._text(leader, kept)
        return Sample(kept_id, self._ids[n], row.least.similarity, kept_text, self._text(n, removed) or "")

    def _text(self, n: int, unit: int | None) -> str | None:
        text = self._texts.get(n)
        if text is None or unit is None:
            return text
        begin, end = list(units(text, self._level))[unit]
        return text[begin:end]
