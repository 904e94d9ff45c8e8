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
from lookalike.corpus.ranks import LAST
from lookalike.corpus.row import Problem
from lookalike.deduping.spark.blobs import CODES, COPIES, DIGESTS, FACTS, OUTSIDE, PROBLEMS, ROWS, SCHEMA, Blob, blobs_of, decoded, is_in
from lookalike.deduping.spark.costs import DOCUMENTS_PER_PARTITION
from lookalike.deduping.spark.decisions import DECISIONS, Assigned, SparkDecisions
from lookalike.deduping.spark.engine import MOST_PARTITIONS
from lookalike.deduping.spark.hamming import code_edges
from lookalike.deduping.spark.rounds import NOTHING_FOUND, Copies, FoundPairs, Rounds, copies_in
from lookalike.deduping.spark.sketching import COUNTED, Names, Priorities, Range, Shared, Sketching
from lookalike.deduping.spark.stages import Verifying, edges_in, find_codes, find_copies
from lookalike.deduping.spark.work import Work, named, placed
from lookalike.errors import EngineError, InputError
from lookalike.leaders.candidates import Pairs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lookalike.deduping.settings import Criteria
    from lookalike.deduping.spark.engine import Engine
    from lookalike.deduping.spark.inputs import Corpus

RANK_BITS = 29  # of the length of a text, negated
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

    settings: Criteria
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

    def sketched(self) -> DataFrame:
        """Digests and buckets of all documents."""
        self.step("sketch")
        self.priorities = self._priorities()
        sketching = Sketching(
            self.settings.rule, self.corpus.decode(), self.priorities, self.partitions, self.key, self.opened, self.engine.per
        )
        rows = self.corpus.rows
        return self.work.saved(rows.select(*(name for name in rows.columns if name != "id")).mapInArrow(sketching, SCHEMA), "sketches")

    def decided(self, sketches: DataFrame, check: Callable[[Facts], object]) -> SparkDecisions:
        """The decisions: a row for each document that goes. Whoever checks the facts may end the run."""
        self.step("copies")
        is_simhash = self.settings.method == "simhash"
        copied = looked_through(sketches, self.partitions).mapInArrow(find_codes if is_simhash else find_copies, SCHEMA)
        copied = self.work.saved(copied, "copies") if is_simhash else copied
        self.facts, copies = told(self.work, copied.where(f"kind != {CODES}"), self.engine.names_on_driver, self.corpus.last)
        check(self.facts)
        found = NOTHING_FOUND
        if is_simhash:
            codes = copied.where(f"kind = {CODES}")
            found = code_edges(self.work, codes, copies, self.settings.rule, self.partitions, self.engine, self.corpus.last, self.step)
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
                self.engine.names_on_driver,
                self.corpus.last,
                self.step,
            )
            found = rounds.decide(sketches.where(f"kind = {ROWS}"), copies)
        self.compared = found.compared
        self.step("assign")
        return self._assigned(found, copies, sketches)

    def _priorities(self) -> Priorities:
        order = self.settings.keep.order
        bits = max(int(self.corpus.last).bit_length(), 1)
        if order in ("newest", "best"):
            found = self._by_values(order, bits)
        else:
            found = Priorities(order, bits, rank_bits=RANK_BITS if order == "longest" else 0)
        if found.bits + found.rank_bits > 63:
            raise InputError(f"keep={self.settings.keep}: {self.corpus.last:,} rows and so many values are too many: round the values")
        return found

    def _by_values(self, order: str, bits: int) -> Priorities:
        """Of whole numbers (such as seconds) the range is enough, if it is not too large. Of others the driver holds all there are."""
        rows, decode, most = self.corpus.rows, self.corpus.decode(), self.engine.names_on_driver
        range = range_of(rows.mapInArrow(Ranging(decode), "least double, most double, whole boolean").toArrow())
        if range is not None and bits + range.bits <= 63:
            return Priorities(order, bits, rank_bits=range.bits, range=range)
        ranks = rows.mapInArrow(Ranking(decode), "rank double").distinct()
        if self.corpus.last > most and (count := ranks.count()) > most:
            raise EngineError(
                f"keep={self.settings.keep}: of {count:,} different values the driver holds {most:,}: round them to whole numbers;"
                " or raise Engine(names_on_driver=…), 8 bytes each on the driver and in every worker"
            )
        values = np.sort(ranks.toArrow().column(0).to_numpy())
        return Priorities(order, bits, self.work.given(values), max(len(values).bit_length(), 1))

    def _assigned(self, found: FoundPairs, copies: Copies, sketches: DataFrame) -> SparkDecisions:
        """Of all similar documents that stay, each one that goes points at the nearest, of equals at the first."""
        going = copies.of(found.removed).copies
        kept_copies = np.setdiff1d(copies.copies, going)
        first = copies.originals[np.searchsorted(copies.copies, kept_copies)]
        all_going = np.sort(np.concatenate((found.removed, going)))
        held, edges = found.held or NOTHING_FOUND.held, found.edges
        assert held is not None  # noqa: S101 - nothing at least
        later, earlier, similarities = _nearest(*held, all_going)
        assigned = Assigned(
            self.priorities.numbers(np.concatenate((kept_copies, later))),
            self.priorities.numbers(np.concatenate((first, earlier))),
            np.concatenate((np.ones(len(first)), similarities)),
        )
        if edges is None and not self.facts.outside:
            return SparkDecisions.held(self.work, assigned)
        frame = assigned.frame(self.work.session)
        if edges is not None:
            frame = frame.unionAll(self._in_spark(edges, all_going))
        if self.facts.outside:
            frame = frame.unionAll(sketches.where(f"kind = {OUTSIDE}").mapInArrow(pointing_outside, DECISIONS))
        return SparkDecisions.counted(self.work.saved(frame, "decisions"))

    def _in_spark(self, edges: DataFrame, all_going: Names) -> DataFrame:
        from pyspark.sql import functions as F

        kept = edges.mapInArrow(Keeping(self.work.given(all_going)), "later long, earlier long, similarity double")
        # Priorities are compared, and only then made numbers.
        best = kept.groupBy("later").agg(F.max(F.struct("similarity", (-F.col("earlier")).alias("earlier"))).alias("b"))
        names = best.select("later", (-F.col("b.earlier")).alias("earlier"), F.col("b.similarity").alias("similarity"))
        mask, nobody = F.lit((1 << self.priorities.bits) - 1), F.lit(None).cast("string").alias("outside")
        return names.select(
            F.col("later").bitwiseAND(mask).alias("n"), F.col("earlier").bitwiseAND(mask).alias("leader"), "similarity", nobody
        )


def _nearest(pairs: Pairs, similarities: NDArray[np.float64], going: Names) -> tuple[Names, Names, NDArray[np.float64]]:
    """Documents that go, the nearest that stays for each, and how near it is."""
    good = ~is_in(pairs.earlier, going) & is_in(pairs.later, going)
    earlier, later, found = pairs.earlier[good], pairs.later[good], similarities[good]
    order = np.lexsort((earlier, -found, later))
    chosen = order[np.flatnonzero(np.diff(later[order], prepend=-1))] if len(order) else order
    return later[chosen], earlier[chosen], found[chosen]


@dataclass(frozen=True)
class Ranging:
    """Rows → the least and the largest of the values that keep= compares, and whether all are whole numbers."""

    decode: Any

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pa = arrow("Spark")
        for piece in batches:
            ranks = self.decode(piece).batch.ranks
            there = ranks[ranks != LAST] if ranks is not None else np.zeros(0)
            if len(there):
                whole = bool(np.isfinite(there).all() and (there == np.rint(there)).all())
                yield pa.RecordBatch.from_pydict({"least": [there.min()], "most": [there.max()], "whole": [whole]})


def range_of(parts: Any) -> Range | None:
    """Of all parts of a corpus; None unless all values are whole numbers."""
    from pyarrow import compute

    if not len(parts) or not all(parts.column("whole").to_pylist()):
        return None
    return Range(compute.min(parts.column("least")).as_py(), compute.max(parts.column("most")).as_py())


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

    going: Shared  # ascending

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


def looked_through(sketches: DataFrame, partitions: int) -> DataFrame:
    """Digests, each where its equals are; and what tasks had to say, which goes with them so that sketches are not read for it alone."""
    return placed(sketches.where(f"kind in ({DIGESTS}, {FACTS}, {PROBLEMS})"), partitions)


def told(work: Work, copied: DataFrame, most: int, documents: int) -> tuple[Facts, Copies]:
    """What tasks had to say, and the copies, of which the driver holds so many."""
    blobs = named(work, copied, 8, most, documents)
    return facts_in(blobs), copies_in(blob for blob in blobs if blob.kind == COPIES)


def facts_in(blobs: Iterable[Blob]) -> Facts:
    facts = Facts()
    for blob in blobs:
        if blob.kind == PROBLEMS:
            facts.named += [(n, Problem(*rest)) for n, *rest in json.loads(bytes(blob.a))]
        elif blob.kind == FACTS:
            said = json.loads(bytes(blob.a))
            for name in COUNTED:
                setattr(facts, name, getattr(facts, name) + said[name])
    facts.named.sort(key=lambda each: each[0])
    return facts
