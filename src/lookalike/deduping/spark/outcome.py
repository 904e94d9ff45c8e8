"""Decisions as frames for people: what stays, what was removed and why, and every row with the verdict on it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.corpus.arrow_values import arrow
from lookalike.deduping.settings import ANNOTATIONS
from lookalike.deduping.spark.decisions import Assigned
from lookalike.deduping.spark.frames import column_of, frame_of
from lookalike.deduping.spark.identifying import ids_of
from lookalike.deduping.spark.inputs import FILE, NUMBER, OTHER, Corpus, numbers_by
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
    few: Assigned | None = None  # the decisions, if they are few

    @property
    def cluster_keys(self) -> list[str]:
        """The columns of decisions that name what is kept."""
        return ["leader", "outside"]

    def documents(self) -> DataFrame:
        """The rows of the corpus, with their numbers, but for those that are none."""
        from pyspark.sql import functions as F

        full = self.corpus.full
        if self.corpus.format == "jsonl":
            full = full.where(F.col(VALUE).rlike(r"\S"))
        return full if self.skipped is None else by_number(full, F.broadcast(self.skipped), "left_anti")

    def kept(self) -> DataFrame:
        """What stays, with the columns of the input and its number."""
        from pyspark.sql import functions as F

        gone = self.decisions.select("n")
        return by_number(self.documents(), F.broadcast(gone) if self.removed_count <= BROADCAST else gone, "left_anti")

    def removed(self) -> DataFrame:
        """The audit trail, in the order of the input: ids as JSON, similarities, files and rows, and ``n``, which is that order."""
        from pyspark.sql import functions as F

        if self.few is not None:
            return self._few_removed(self.few)
        leaders = self.decisions.where("leader is not null").select(F.col("leader").alias("n"))
        wanted = self.decisions.select("n").unionAll(leaders)
        ids = self.work.saved(ids_of(self.corpus, wanted, 2 * self.removed_count), "ids")
        own, kept = ids.select("n", "id"), ids.select(F.col("n").alias("leader"), F.col("id").alias("kept_id"))
        rows = self.decisions.join(own, "n").join(kept, "leader", "left")
        told = rows.select("n", "id", F.coalesce("kept_id", "outside").alias("kept_id"), "similarity")
        return told.mapInArrow(Placing(self.corpus.places), REMOVED).orderBy("n")

    def _few_removed(self, few: Assigned) -> DataFrame:
        """Ids are read, and joined here."""
        pa = arrow("Spark")
        wanted = np.union1d(few.n, few.leader)
        frame: Any = self.work.session.createDataFrame(pa.table({"n": wanted}), "n long")
        found = ids_of(self.corpus, frame, len(wanted)).toArrow().combine_chunks()
        ids, numbers = found.column("id").combine_chunks(), found.column("n").to_numpy()
        order = np.argsort(numbers)
        own, kept = (ids.take(pa.array(order[np.searchsorted(numbers, part, sorter=order)])) for part in (few.n, few.leader))
        batch = pa.RecordBatch.from_arrays([own, kept, pa.array(few.similarity), pa.array(few.n)], ["id", "kept_id", "similarity", "n"])
        placed = pa.Table.from_batches(list(Placing(self.corpus.places)([batch])))
        made: Any = self.work.session.createDataFrame(placed, REMOVED)
        return made

    def sizes(self) -> DataFrame:
        """How many documents the clusters have, by their kept ones."""
        from pyspark.sql import functions as F

        return self.decisions.where("leader is not null").groupBy("leader").agg((F.count("*") + 1).alias("size"))

    def with_sizes(self, frame: DataFrame, column: str) -> DataFrame:
        """A frame with numbers, and the size of each row's cluster."""
        from pyspark.sql import functions as F

        sizes = self.sizes()
        of_removed = self.decisions.select("n", "leader").join(sizes, "leader").select("n", "size")
        found = of_removed.unionAll(sizes.select(F.col("leader").alias("n"), "size")).select("n", F.col("size").alias(column))
        joined = by_number(frame, found, "left")
        return joined.withColumn(column, F.coalesce(column_of(column), F.lit(1)).cast("long"))

    @property
    def annotations(self) -> tuple[str, ...]:
        """The columns that annotate adds."""
        return ANNOTATIONS

    def annotated(self, *, as_json: bool = False) -> DataFrame:
        """Every document, with the columns of the local engine. Ids there are JSON or text."""
        found = by_number(self.documents(), self._verdicts(), "left")
        return found if as_json else plain_ids(found, "kept_id")

    def _verdicts(self) -> DataFrame:
        """What annotate adds, by numbers: kept documents are counted in order, the others go with theirs."""
        from pyspark.sql import functions as F

        kept = self.kept().select(F.col(f"`{NUMBER}`").alias("o"))
        counted = self.work.saved(numbers_by(kept, self.work), "clusters")
        clusters = counted.select(F.col("o").alias("leader"), F.col(f"`{NUMBER}`").alias("cluster"))
        total = clusters.count()
        ids = ids_of(self.corpus, clusters.select(F.col("leader").alias("n")), total).select(F.col("n").alias("leader"), "id")
        named = self.work.saved(clusters.join(ids, "leader"), "leaders")
        order = self.decisions.where("outside is not null").groupBy("outside").agg(F.min("n").alias("first")).orderBy("first").collect()
        rows = [(row.outside, total + i) for i, row in enumerate(order)]
        stored = frame_of(self.work.session, rows, {"outside": "string", "cluster": "long"})
        leaders = named.select(F.col("leader").alias("n"), "cluster", F.lit(True).alias("kept"), "id", F.lit(1.0).alias("similarity"))
        removed = self.decisions.join(named, "leader").select("n", "cluster", F.lit(False), "id", "similarity")
        known = self.decisions.join(stored, "outside").select("n", "cluster", F.lit(False), "outside", "similarity")
        return leaders.unionAll(removed).unionAll(known).withColumnRenamed("id", "kept_id")


def by_number(frame: DataFrame, other: DataFrame, how: str) -> DataFrame:
    """A frame with numbers, joined with one that has them in its column n; the columns of the user may be called anything."""
    from pyspark.sql import functions as F

    named = other.withColumnRenamed("n", OTHER)
    joined = frame.join(named, F.col(f"`{NUMBER}`") == F.col(f"`{OTHER}`"), how)
    return joined if how == "left_anti" else joined.drop(OTHER)


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
    """Lines of JSON → the same with some columns behind their own. Ids come as JSON."""

    columns: tuple[str, ...]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pa = arrow("Spark")
        for batch in batches:
            lines = []
            for row in batch.to_pylist():
                added = {name: _with_ids(row[name]) if name == "repeats" else row[name] for name in self.columns}
                added |= {"kept_id": json.loads(row["kept_id"])} if "kept_id" in self.columns else {}
                body = row[VALUE].rstrip()[:-1].rstrip()
                lines.append(body + ("" if body.endswith("{") else ", ") + json.dumps(added)[1:])
            yield pa.RecordBatch.from_arrays([pa.array(lines, pa.string()), batch.column(FILE)], [VALUE, FILE])


def _with_ids(repeats: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each | {"kept_id": json.loads(each["kept_id"])} for each in repeats]
