"""A corpus → decisions: which rows go, what each points at, and how similar they are."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lookalike.corpus.arrow_values import arrow
from lookalike.corpus.row import Problem
from lookalike.deduping.spark.blobs import CODES, COPIES, DIGESTS, FACTS, OUTSIDE, PROBLEMS, ROWS, SCHEMA, blobs_of, decoded, is_in
from lookalike.deduping.spark.costs import DOCUMENTS_PER_PARTITION
from lookalike.deduping.spark.engine import MOST_PARTITIONS
from lookalike.deduping.spark.hamming import code_edges
from lookalike.deduping.spark.rounds import Copies, Found, Rounds, found_copies
from lookalike.deduping.spark.sketching import COUNTED, Given, Priorities, Sketching
from lookalike.deduping.spark.stages import Verifying, edges_in, find_codes, find_copies
from lookalike.deduping.spark.work import Work, collected, placed
from lookalike.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lookalike.deduping.settings import Settings
    from lookalike.deduping.spark.engine import Engine
    from lookalike.deduping.spark.inputs import Corpus

RANK_BITS = 29  # of the length of a text, negated
DECISIONS = "n long, leader long, similarity double, outside string"
BATCH = 1 << 16


@dataclass
class Facts:
    """What there is to say about a corpus, beside the decisions."""

    documents: int = 0
    texts: int = 0
    units: int = 0  # paragraphs or lines
    empty: int = 0
    outside: int = 0
    problems: int = 0
    named: list[tuple[int, Problem]] = field(default_factory=list)


@dataclass
class Deciding:
    """A run up to the decisions."""

    settings: Settings
    engine: Engine
    corpus: Corpus
    work: Work
    step: Callable[[str], object]
    opened: Callable[[], Any] | None = None
    facts: Facts = field(default_factory=Facts)
    compared: int = 0
    # Of what is decided nobody outside can make two texts that collide.
    key: NDArray[np.uint64] = field(default_factory=lambda: np.frombuffer(secrets.token_bytes(32), np.uint64))
    priorities: Priorities = field(default_factory=Priorities)

    @property
    def partitions(self) -> int:
        least = self.work.session.sparkContext.defaultParallelism
        return self.engine.partitions or min(max(-(-self.corpus.last // DOCUMENTS_PER_PARTITION), least), MOST_PARTITIONS)

    def sketched(self, check: Callable[[Facts], object]) -> DataFrame:
        """Digests and buckets of all documents. Whoever checks the facts may end the run."""
        self.step("sketch")
        self.priorities = self._priorities()
        sketching = Sketching(
            self.settings.rule, self.corpus.decode(), self.priorities, self.partitions, self.key, self.opened, self.engine.per
        )
        rows = self.corpus.rows
        found = self.work.saved(rows.select(*(name for name in rows.columns if name != "id")).mapInArrow(sketching, SCHEMA), "sketches")
        self.facts = read_facts(found)
        check(self.facts)
        return found

    def decided(self, sketches: DataFrame) -> DataFrame:
        """The decisions: a row for each document that goes."""
        self.step("copies")
        is_simhash = self.settings.method == "simhash"
        digests = placed(sketches.where(f"kind = {DIGESTS}"), self.partitions)
        copied = self.work.saved(digests.mapInArrow(find_codes if is_simhash else find_copies, SCHEMA), "copies")
        copies = found_copies(copied.where(f"kind = {COPIES}"))
        found = Found(None, np.zeros(0, np.int64), 0)
        if is_simhash:
            codes = copied.where(f"kind = {CODES}")
            found = code_edges(self.work, codes, copies, self.settings.rule, self.partitions, self.engine.edges_on_driver, self.step)
        elif self.settings.method == "minhash":
            verifying = Verifying(self.settings.rule, self.corpus.decode(bare=True), self.priorities, self.key)
            rounds = Rounds(
                self.work,
                self.corpus.rows,
                verifying,
                self.priorities,
                self.partitions,
                self.settings.threshold,
                self.engine.edges_on_driver,
                self.step,
            )
            found = rounds.decide(sketches.where(f"kind = {ROWS}"), copies)
        self.compared = found.compared
        self.step("assign")
        return self.work.saved(self._assigned(found, copies, sketches), "decisions")

    def _priorities(self) -> Priorities:
        order = self.settings.keep.order
        bits = max(int(self.corpus.last).bit_length(), 1)
        if order in ("newest", "best"):
            ranks = self.corpus.rows.mapInArrow(Ranking(self.corpus.decode()), "rank double").distinct().toArrow().column(0).to_numpy()
            found = Priorities(order, bits, self.work.given(np.sort(ranks)), max(len(ranks).bit_length(), 1))
        else:
            found = Priorities(order, bits, rank_bits=RANK_BITS if order == "longest" else 0)
        if found.bits + found.rank_bits > 63:
            raise InputError(f"keep={self.settings.keep}: {self.corpus.last:,} rows and so many values are too many: round the values")
        return found

    def _assigned(self, found: Found, copies: Copies, sketches: DataFrame) -> DataFrame:
        """Of all similar documents that stay, each one that goes points at the nearest, of equals at the first."""
        from pyspark.sql import functions as F

        session = self.work.session
        going = copies.of(found.removed).copies
        kept_copies = np.setdiff1d(copies.copies, going)
        first = copies.originals[np.searchsorted(copies.copies, kept_copies)]
        pa = arrow("Spark")
        numbers = self.priorities.numbers
        table = pa.table({"n": numbers(kept_copies), "leader": numbers(first), "similarity": np.ones(len(first))})
        parts = [session.createDataFrame(table, "n long, leader long, similarity double")] if len(first) else []
        if found.edges is not None:
            keeping = Keeping(self.work.given(np.sort(np.concatenate((found.removed, going)))))
            edges = found.edges.mapInArrow(keeping, "later long, earlier long, similarity double")
            # Priorities are compared, and only then made numbers.
            best = edges.groupBy("later").agg(F.max(F.struct("similarity", (-F.col("earlier")).alias("earlier"))).alias("b"))
            names = best.select("later", (-F.col("b.earlier")).alias("earlier"), F.col("b.similarity").alias("similarity"))
            mask = F.lit((1 << self.priorities.bits) - 1)
            parts.append(
                names.select(F.col("later").bitwiseAND(mask).alias("n"), F.col("earlier").bitwiseAND(mask).alias("leader"), "similarity")
            )
        whole = [part.withColumn("outside", F.lit(None).cast("string")) for part in parts]
        if self.facts.outside:
            whole.append(sketches.where(f"kind = {OUTSIDE}").mapInArrow(pointing_outside, DECISIONS))
        if not whole:
            return session.createDataFrame([], DECISIONS)
        joined = whole[0]
        for part in whole[1:]:
            joined = joined.unionAll(part)
        return joined


@dataclass(frozen=True)
class Ranking:
    """Rows → the values that keep= compares, negated: the smallest is kept first."""

    decode: Any

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pa = arrow("Spark")
        for piece in batches:
            ranks = self.decode(piece).batch.ranks
            if ranks is not None:
                yield pa.RecordBatch.from_arrays([pa.array(np.unique(-ranks + 0.0))], ["rank"])


@dataclass(frozen=True)
class Keeping:
    """Edges, one by one, to documents that go from documents that stay."""

    going: Given  # ascending

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pa = arrow("Spark")
        for blob in blobs_of(batches):
            pairs, similarities = edges_in([blob])
            good = ~is_in(pairs.earlier, self.going.value) & is_in(pairs.later, self.going.value)
            columns = (pairs.later[good], pairs.earlier[good], similarities[good])
            for begin in range(0, len(columns[0]), BATCH):
                arrays = [pa.array(column[begin : begin + BATCH]) for column in columns]
                yield pa.RecordBatch.from_arrays(arrays, ["later", "earlier", "similarity"])


def pointing_outside(batches: Iterable[Any]) -> Iterator[Any]:
    """What a store said, as decisions."""
    pa = arrow("Spark")
    for blob in blobs_of(batches):
        numbers, ids = decoded(blob.a), json.loads(bytes(blob.b))
        nobody = pa.nulls(len(numbers), pa.int64())
        arrays = [pa.array(numbers), nobody, pa.array(np.frombuffer(blob.c, np.float64)), pa.array(ids, pa.string())]
        yield pa.RecordBatch.from_arrays(arrays, ["n", "leader", "similarity", "outside"])


def read_facts(sketches: DataFrame) -> Facts:
    facts = Facts()
    for blob in collected(sketches.where(f"kind in ({FACTS}, {PROBLEMS})")):
        said = json.loads(bytes(blob.a))
        if blob.kind == PROBLEMS:
            facts.named += [(n, Problem(*rest)) for n, *rest in said]
        else:
            for name in COUNTED:
                setattr(facts, name, getattr(facts, name) + said[name])
    facts.named.sort(key=lambda each: each[0])
    return facts
