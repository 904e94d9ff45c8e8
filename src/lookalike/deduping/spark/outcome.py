"""Decisions as frames for people: what stays, what was removed and why, and every row with the verdict on it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookalike.corpus.arrow_values import arrow
from lookalike.deduping.spark.identifying import ids_of
from lookalike.deduping.spark.inputs import FILE, NUMBER, Corpus, numbers_by
from lookalike.deduping.spark.texts import BROADCAST
from lookalike.deduping.spark.work import Work

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lookalike.deduping.spark.inputs import Places

VALUE = "value"  # the line of a row of JSON lines
REMOVED = "id string, kept_id string, similarity double, file string, row long, n long"


@dataclass(frozen=True)
class Outcome:
    """All frames of a run. Each is computed when somebody asks."""

    work: Work
    corpus: Corpus
    decisions: DataFrame  # n, leader, similarity, outside
    removed_count: int
    skipped: DataFrame | None = None  # numbers of rows that are no documents

    def documents(self) -> DataFrame:
        """The rows of the corpus, with their numbers, but for those that are none."""
        from pyspark.sql import functions as F

        full = self.corpus.full
        if self.corpus.format == "jsonl":
            full = full.where(F.col(VALUE).rlike(r"\S"))
        if self.skipped is None:
            return full
        return full.join(F.broadcast(self.skipped), F.col(f"`{NUMBER}`") == F.col("n"), "left_anti")

    def kept(self) -> DataFrame:
        """What stays, with the columns of the input and its number."""
        from pyspark.sql import functions as F

        gone = self.decisions.select("n")
        chosen = F.broadcast(gone) if self.removed_count <= BROADCAST else gone
        return self.documents().join(chosen, F.col(f"`{NUMBER}`") == F.col("n"), "left_anti")

    def removed(self) -> DataFrame:
        """The audit trail: ids as JSON, similarities, files and rows; ``n`` is the order of the input."""
        from pyspark.sql import functions as F

        leaders = self.decisions.where("leader is not null").select(F.col("leader").alias("n"))
        wanted = self.decisions.select("n").unionAll(leaders).distinct()
        ids = self.work.saved(ids_of(self.corpus, wanted, 2 * self.removed_count), "ids")
        own, kept = ids.select("n", "id"), ids.select(F.col("n").alias("leader"), F.col("id").alias("kept_id"))
        rows = self.decisions.join(own, "n").join(kept, "leader", "left")
        told = rows.select("n", "id", F.coalesce("kept_id", "outside").alias("kept_id"), "similarity")
        return told.mapInArrow(Placing(self.corpus.places), REMOVED)

    def sizes(self) -> DataFrame:
        """How many documents the clusters have, by their kept ones."""
        from pyspark.sql import functions as F

        return self.decisions.where("leader is not null").groupBy("leader").agg((F.count("*") + 1).alias("size"))

    def with_sizes(self, frame: DataFrame, column: str) -> DataFrame:
        """A frame with numbers, and the size of each row's cluster."""
        from pyspark.sql import functions as F

        mates = self.decisions.where("leader is not null").select(F.col("n"), "leader")
        sizes = self.sizes().select("leader", "size")
        of_removed = mates.join(sizes, "leader").select("n", "size")
        found = of_removed.unionAll(sizes.select(F.col("leader").alias("n"), "size"))
        joined = frame.join(found, F.col(f"`{NUMBER}`") == F.col("n"), "left")
        return joined.withColumn(column, F.coalesce("size", F.lit(1)).cast("long")).drop("n", "size")

    def annotated(self) -> DataFrame:
        """Every document, with the columns of the local engine: cluster, kept, kept_id and similarity."""
        from pyspark.sql import functions as F

        number = F.col(f"`{NUMBER}`")
        kept = self.kept().select(number.alias("o"))
        clusters = self.work.saved(numbers_by(kept, self.work), "clusters").select(
            F.col("o").alias("own"), F.col(f"`{NUMBER}`").alias("cluster")
        )
        total = clusters.count()
        outside = self.decisions.where("outside is not null").groupBy("outside").agg(F.min("n").alias("first")).orderBy("first").collect()
        session = self.work.session
        numbers = session.createDataFrame([(row.outside, total + i) for i, row in enumerate(outside)], "o string, oc long")
        verdicts = self.documents().join(self.decisions, number == F.col("n"), "left").withColumn("own", F.coalesce("leader", number))
        joined = verdicts.join(clusters, "own", "left").join(F.broadcast(numbers), F.col("outside") == F.col("o"), "left")
        ids = ids_of(self.corpus, kept.select(F.col("o").alias("n")), total).select(F.col("n").alias("own"), F.col("id").alias("kept"))
        named = joined.join(ids, "own", "left").withColumn("kept_json", F.coalesce("outside", "kept")).drop("kept")
        return named.select(
            *(F.col(f"`{name}`") for name in self.corpus.full.columns),
            F.coalesce("oc", "cluster").alias("cluster"),
            F.col("n").isNull().alias("kept"),
            F.col("kept_json").alias("kept_id"),
            F.coalesce("similarity", F.lit(1.0)).alias("similarity"),
        )


@dataclass(frozen=True)
class Placing:
    """Numbers → files and rows."""

    places: Places
    more: tuple[str, ...] = ()  # columns that stay

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pa = arrow("Spark")
        for batch in batches:
            numbers = batch.column("n").to_pylist()
            files, rows = [self.places.file(n) for n in numbers], [self.places.row(n) for n in numbers]
            arrays = [*(batch.column(name) for name in ("id", "kept_id", "similarity")), pa.array(files), pa.array(rows), batch.column("n")]
            arrays += [batch.column(name) for name in self.more]
            yield pa.RecordBatch.from_arrays(arrays, ["id", "kept_id", "similarity", "file", "row", "n", *self.more])


def plain_ids(frame: DataFrame, *columns: str) -> DataFrame:
    """Ids as text rather than as JSON: that of a text without quotes."""
    from pyspark.sql import functions as F

    for name in columns:
        column = F.col(name)
        text = F.from_json(F.concat(F.lit('{"i":'), column, F.lit("}")), "i string")["i"]
        frame = frame.withColumn(name, F.when(column.startswith('"'), text).otherwise(column))
    return frame


@dataclass(frozen=True)
class Adding:
    """Lines of JSON → the same with some columns behind their own."""

    columns: tuple[str, ...]
    ids: tuple[str, ...] = ()

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pa = arrow("Spark")
        for batch in batches:
            lines = []
            for row in batch.to_pylist():
                added = {name: json.loads(row[name]) if name in self.ids else row[name] for name in self.columns}
                body = row[VALUE].rstrip()[:-1].rstrip()
                lines.append(body + ("" if body.endswith("{") else ", ") + json.dumps(added)[1:])
            yield pa.RecordBatch.from_arrays([pa.array(lines, pa.string()), batch.column(FILE)], [VALUE, FILE])
