"""Paragraphs and lines on Spark: each is named by its document and its place there, and told from others by its digest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike import _native
from lookalike.corpus.arrow_values import arrow
from lookalike.corpus.batches import join_texts
from lookalike.deduping.levels import LAST_BREAKS, WORDLIKE, units
from lookalike.deduping.settings import CUT_ANNOTATIONS
from lookalike.deduping.spark.blobs import DIGESTS, SCHEMA, batches_of, scattered, target_of
from lookalike.deduping.spark.deciding import Deciding, looked_through, told
from lookalike.deduping.spark.decoding import CELL, Decode, FromFiles
from lookalike.deduping.spark.identifying import ids_of
from lookalike.deduping.spark.inputs import NUMBER, Corpus
from lookalike.deduping.spark.outcome import VALUE, Outcome, Placing, by_number, plain_ids
from lookalike.deduping.spark.report import SparkReport
from lookalike.deduping.spark.sketching import Priorities, Seen
from lookalike.deduping.spark.stages import find_copies
from lookalike.deduping.verdicts import TextCuts
from lookalike.errors import InputError
from lookalike.io import decode_text
from lookalike.leaders.rule import Rule
from lookalike.leaders.sketching import Sketcher

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lookalike.deduping.spark.job import SparkRun

MOST_UNIT_BITS = 24
FILES = ("text", "html")  # formats whose files are documents
UNITS = "lookalike units"  # the places of what is cut out of a row
CUTS = "n long, unit int, leader long, kept_unit int, similarity double"
SPANS = "n long, unit int, begin int, end int"


@dataclass(frozen=True)
class Splitting:
    """Rows → the digests of their paragraphs or lines."""

    level: str
    rule: Rule
    decode: Decode
    priorities: Priorities
    partitions: int
    key: Any
    unit_bits: int

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        sketcher, seen = Sketcher(self.rule, 1, self.key), Seen()
        for piece in batches:
            found = self.decode(piece)
            seen.add(found)
            seen.counts["texts"] += len(found.with_text)
            names: list[int] = []
            contents: list[str] = []
            for name, text in zip(self.priorities.of(found.with_text, found).tolist(), found.batch.texts.texts(), strict=True):
                for unit, (begin, end) in enumerate(units(text, self.level)):
                    seen.counts["units"] += 1
                    if WORDLIKE.search(content := text[begin:end]):
                        names.append(self._named(name, unit))
                        contents.append(LAST_BREAKS.sub("", content) if self.rule.method == "bytes" else content)
            digests = np.array(sketcher.sketch(join_texts(contents)).digests).reshape(-1, 2)
            targets = target_of(digests[:, 0] ^ digests[:, 1], self.partitions)
            yield from batches_of(scattered(DIGESTS, targets, np.array(names, np.int64), digests))
        yield from seen.batches()

    def _named(self, name: int, unit: int) -> int:
        if unit >> self.unit_bits:
            raise InputError(f"a document has more than {1 << self.unit_bits:,} {self.level}s: split it, or choose keep='first'")
        return name << self.unit_bits | unit


@dataclass(frozen=True)
class Spanning:
    """Rows with the places of some of their units → where these stand."""

    level: str
    decode: Decode

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pa = arrow("Spark")
        for piece in batches:
            wanted = dict(zip(piece.column("n").to_pylist(), piece.column("units").to_pylist(), strict=True))
            found = self.decode(piece)
            rows = [
                (n, unit, begin, end)
                for n, text in zip(found.with_text.tolist(), found.batch.texts.texts(), strict=True)
                for unit, (begin, end) in enumerate(units(text, self.level))
                if unit in set(wanted[n])
            ]
            columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
            kinds = (pa.int64(), pa.int32(), pa.int32(), pa.int32())
            arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, ["n", "unit", "begin", "end"])


@dataclass(frozen=True)
class Cutting:
    """Rows with the places of units to cut → the rows without them."""

    level: str
    decode: Decode
    column: str
    format: str
    names: tuple[str, ...]  # of the columns; those of the places are the last

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            piece = batch.rename_columns(list(self.names))
            cut = piece.column(UNITS).to_pylist()
            if any(cut) or self.format in FILES:
                place = piece.schema.get_field_index(self._target)
                texts = [
                    self._cut(n, cell, units_)
                    for n, cell, units_ in zip(*(piece.column(c).to_pylist() for c in (NUMBER, self._target, UNITS)), strict=True)
                ]
                piece = piece.set_column(place, piece.schema.field(place), arrow("Spark").array(texts, piece.schema.field(place).type))
            yield piece.drop_columns([UNITS]).rename_columns(batch.schema.names[:-1])

    @property
    def _target(self) -> str:
        return VALUE if self.format == "jsonl" else "edited" if self.format in FILES else self.column

    def _cut(self, n: int, cell: Any, cut: list[int] | None) -> Any:
        if not cut:
            return None if self.format in FILES else cell
        if self.format == "jsonl":
            line = cell.encode("utf-8", "surrogatepass")
            begin, end = list(_native.scan_json_lines(line, [self.column])["values"])[:2]
            return (
                line[:begin] + json.dumps(self._without(n, json.loads(line[begin:end]), cut), ensure_ascii=False).encode() + line[end:]
            ).decode()
        if self.format in FILES:
            encoding = self.decode.encoding if isinstance(self.decode, FromFiles) else None
            text = decode_text(bytes(cell), "", encoding)
            return self._without(n, text.text, cut).encode(text.encoding, "surrogatepass")
        return self._without(n, cell, cut)

    def _without(self, n: int, text: str, cut: list[int]) -> str:
        wanted = set(cut)
        spans = [span for unit, span in enumerate(units(text, self.level)) if unit in wanted]
        return TextCuts(self.column, {n: spans}).edited(n, text)


def level_report(run: SparkRun, corpus: Corpus) -> SparkReport:
    settings, work, steps = run.job.settings, run.work, run.steps
    if corpus.format == "html":
        raise InputError(f"level={settings.level!r}: pages cannot be cut without harm to their markup: extract their text first")
    deciding = Deciding(settings, run.engine, corpus, work, steps)
    priorities = deciding.priorities = deciding._priorities()
    unit_bits = min(MOST_UNIT_BITS, 63 - priorities.bits - priorities.rank_bits)
    steps("sketch")
    rule = Rule("bytes" if settings.method == "bytes" else "exact", settings.recipe)
    splitting = Splitting(settings.level, rule, corpus.decode(), priorities, deciding.partitions, deciding.key, unit_bits)
    sketches = work.saved(corpus.rows.drop("id").mapInArrow(splitting, SCHEMA), "units")
    steps("copies")
    found = looked_through(sketches, deciding.partitions).mapInArrow(find_copies, SCHEMA)
    copied, count = work.saved_and_counted(found, "copies", 8)
    facts, copies = told(work, copied, run.engine.names_on_driver, count)
    run.check(facts, corpus)
    pa = arrow("Spark")
    mask = np.int64((1 << unit_bits) - 1)
    columns = {}
    for names, numbers, places in ((copies.copies, "n", "unit"), (copies.originals, "leader", "kept_unit")):
        columns[numbers], columns[places] = priorities.numbers(names >> unit_bits), (names & mask).astype(np.int32)
    table = pa.table({**{name: columns[name] for name in ("n", "unit", "leader", "kept_unit")}, "similarity": np.ones(len(copies.copies))})
    cuts = work.saved(work.session.createDataFrame(table, CUTS), "cuts")
    removed, total = len(copies.copies), facts.units
    run.job.conduct.check_removed(removed, total, f"{settings.level}s")
    outcome = LevelOutcome(work, corpus, cuts, removed, run.skipped(facts), level=settings.level)
    outputs = run.written(outcome)
    work.forget(cuts, corpus.full)
    clusters = len(np.unique(copies.originals))
    made = SparkReport(
        settings, outcome, facts.documents, total, removed, clusters, 0.0, {}, 0, 0, facts.documents - facts.texts, run.problems.skipped
    )
    made.problems, made.problem_counts, made.outputs = run.problems.named, dict(run.problems.counts), outputs
    return made


@dataclass(frozen=True)
class LevelOutcome(Outcome):
    """``decisions`` are cuts: n, unit, leader, kept_unit, similarity."""

    level: str = "paragraph"

    @property
    def cluster_keys(self) -> list[str]:
        return ["leader", "kept_unit"]

    @property
    def annotations(self) -> tuple[str, ...]:
        return CUT_ANNOTATIONS

    def annotated(self, *, as_json: bool = False) -> DataFrame:
        """All documents as they are, with what would be cut out of them."""
        from pyspark.sql import functions as F

        removed = self.removed() if as_json else plain_ids(self.removed(), "kept_id")
        spans = (F.col(name).cast("array<long>").alias(name) for name in ("span", "kept_span"))
        each = F.struct("part", *spans, "kept_id")
        marks = removed.groupBy("n").agg(F.sort_array(F.collect_list(each)).alias("marks"))
        repeat = lambda mark: F.struct(mark["span"].alias("span"), mark["kept_id"].alias("kept_id"), mark["kept_span"].alias("kept_span"))  # noqa: E731
        named = marks.select("n", F.col("marks.span").alias("cut"), F.transform("marks", repeat).alias("repeats"))
        found = by_number(self.documents(), named, "left")
        for name in CUT_ANNOTATIONS:
            found = found.withColumn(name, F.coalesce(name, F.array().cast(named.schema[name].dataType)))
        return found

    def kept(self) -> DataFrame:
        """All documents, some of them shorter."""
        from pyspark.sql import functions as F
        from pyspark.sql.types import StructField, StructType

        cut = self.decisions.groupBy("n").agg(F.sort_array(F.collect_list("unit")).alias("units"))
        full = self.documents()
        if self.corpus.format in FILES:
            full = full.withColumnRenamed("content", "edited")
        joined = by_number(full, cut.withColumnRenamed("units", UNITS), "left")
        # Spark gives a task columns by their names, and reads dots and backticks in these: so they have others meanwhile.
        plain = [f"c{place}" for place in range(len(joined.columns))]
        schema = StructType([StructField(name, each.dataType) for name, each in zip(plain, full.schema.fields, strict=False)])
        cutting = Cutting(self.level, self.corpus.decode(bare=True), self.corpus.columns.text, self.corpus.format, tuple(joined.columns))
        return joined.toDF(*plain).mapInArrow(cutting, schema).toDF(*full.columns)

    def removed(self) -> DataFrame:
        from pyspark.sql import functions as F

        kept = self.decisions.select(F.col("leader").alias("n"), F.col("kept_unit").alias("unit"))
        wanted = self.decisions.select("n", "unit").unionAll(kept).groupBy("n").agg(F.collect_set("unit").alias("units"))
        read = self.corpus.rows.select("n", CELL).join(wanted, "n")
        spans = self.work.saved(read.mapInArrow(Spanning(self.level, self.corpus.decode(bare=True)), SPANS), "spans")
        ids = self.work.saved(ids_of(self.corpus, wanted.select("n"), 2 * self.removed_count), "ids")
        span = F.array("begin", "end")
        own = spans.join(ids, "n").select("n", "unit", "id", span.alias("span"))
        others = spans.join(ids, "n").select(
            F.col("n").alias("leader"), F.col("unit").alias("kept_unit"), F.col("id").alias("kept_id"), span.alias("kept_span")
        )
        rows = self.decisions.join(own, ["n", "unit"]).join(others, ["leader", "kept_unit"])
        told = rows.select("n", "id", "kept_id", "similarity", "span", "kept_span", F.col("unit").alias("part"))
        more = "span array<int>, kept_span array<int>, part int"
        return told.mapInArrow(
            Placing(self.corpus.places, ("span", "kept_span", "part")),
            f"id string, kept_id string, similarity double, file string, row long, n long, {more}",
        ).orderBy("n", "part")
