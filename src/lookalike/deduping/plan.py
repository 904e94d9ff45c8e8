"""What a dedupe would cost and find, from a sample: ``plan(corpus)``."""

from __future__ import annotations

import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from lookalike.checks import check_choice, check_int
from lookalike.corpus.batches import Batch
from lookalike.corpus.files import Source
from lookalike.corpus.formats.base import FileReader
from lookalike.corpus.row import Problem
from lookalike.deduping.options import Method, PlanOptions, Scope
from lookalike.deduping.problems import Problems
from lookalike.deduping.readers import check_columns, expanded, readers_of
from lookalike.deduping.settings import Criteria, Input, Resources
from lookalike.deduping.spark.costs import SparkPlan, spark_plan
from lookalike.deduping.working_files import Workspace
from lookalike.errors import InputError
from lookalike.figures import shown_share
from lookalike.fingerprints.reposts import BETTER, ENGLISH, RECOMMENDED, measured_recall
from lookalike.leaders.candidates import Bucketed, bucketed, grouped
from lookalike.leaders.decider import RESERVED, Decider
from lookalike.leaders.sketching import Sketcher, can_be_made_again
from lookalike.options import checked, taken, takes
from lookalike.recipe import Recipe, recipes
from lookalike.text.features import weighs_words

SAMPLE = 10_000  # documents
FEW_FEATURES = 20  # a changed word changes five shingles of five: below this many, one word is the difference to the threshold
WARN_SHARE = 0.05
SHOWN_LEFT_OUT = 5
EDITED_TEXTS = 2_000  # texts of the sample among which some of each length are edited
LEDGER_BYTES = 100  # a document: where it stands, its id and what was decided
RECORD_BYTES = 140  # a kept document: its digest, places and decision
BAND_BYTES = 20  # a kept document and band: a slot of a table at its usual load, and the link to the next one
WRITTEN_PER_SECOND = 300e6  # bytes


@dataclass(slots=True)
class Plan:
    """An estimate. ``measured`` says what was sampled."""

    settings: Criteria
    documents: int
    bytes: int
    sampled: int
    removed_share: float  # within the sample: in the whole corpus it is larger
    memory: int  # bytes, without a budget
    budget: int
    disk: int  # bytes that go to working files under the budget
    seconds: float
    pairs: tuple[int, int]  # compared: if each document finds as many as in the sample, and if as many as the corpus is larger
    recall: dict[float, float]
    short_texts: float  # share of texts with few features
    edited: dict[str, float] = field(default_factory=dict)  # by simhash: the share of light edits that are found, by the length of texts
    warnings: list[str] = field(default_factory=list)
    spark: SparkPlan | None = None  # what it would take on Spark, where that was asked

    def to_dict(self) -> dict[str, Any]:
        banding = self.settings.banding
        return {
            "documents": self.documents,
            "bytes": self.bytes,
            "sampled": self.sampled,
            "removed_share_of_sample": round(self.removed_share, 4),
            "memory": self.memory,
            "budget": self.budget,
            "disk": self.disk,
            "seconds": round(self.seconds, 1),
            "pairs": {"at_least": self.pairs[0], "at_most": self.pairs[1]},
            "bands": banding.bands,
            "rows": banding.rows,
            "recall": {f"{similarity:g}": round(share, 5) for similarity, share in self.recall.items()},
            "short_texts": round(self.short_texts, 4),
            "recall_of_edits": {length: round(share, 3) for length, share in self.edited.items()},
            "warnings": self.warnings,
            **({"spark": self.spark.to_dict()} if self.spark else {}),
        }


@takes(Method, Input, Resources)
def plan(
    corpus: str | Path | Sequence[str | Path],
    *,
    sample: int = SAMPLE,
    engine: str = "local",
    documents: int | None = None,
    **options: Unpack[PlanOptions],
) -> Plan:
    """Read a sample of some files and say what ``dedupe`` would need: memory, time, pairs to compare; and what it would find.

    With ``engine="spark"`` also what it would take on a cluster, for as many ``documents`` as you will have.
    """
    asked = checked(plan, options)
    check_choice("engine", engine, ("local", "spark"))
    if documents is not None:
        check_int("documents", documents, 1, remedy="give a number of documents from 1 on")
        if engine != "spark":
            raise InputError("documents= is for engine='spark': the local engine counts those of the inputs")
    check_int("sample", sample, 1, remedy="give a number of documents from 1 on")
    method = taken(Method, asked)
    if isinstance(method.method, str) and method.method == "record":
        raise InputError("method='record': plan reads texts; dedupe rows by their columns without it, they are read in one pass")
    settings = method.settings(Scope())
    given, resources = taken(Input, asked, corpus=corpus), taken(Resources, asked)
    with Workspace() as workspace:
        sampled = _Sample(settings, resources, workspace)
        sources = expanded(given.corpus, given.format, workspace, sampled.left_out.append)
        columns = given.columns(settings)
        check_columns(sources, columns, given.encoding)
        readers = readers_of(sources, columns, given.encoding)
        sampled.again = can_be_made_again(settings.rule) and all(reader.row_file for reader in readers)
        for reader in readers:
            sampled.read(reader, max(1, sample // len(readers)))
    found = sampled.plan(_size(sources))
    if engine == "spark":
        found.spark = spark_plan(
            settings, documents or found.documents, sampled.text_bytes / sampled.documents, sampled.mates_share, found.removed_share
        )
    return found


class _Sample:
    """Sketches the first documents of every reader and compares them, with a clock at hand."""

    def __init__(self, settings: Criteria, resources: Resources, workspace: Workspace) -> None:
        self.settings, self._budget = settings, resources.budget
        self._sketcher = Sketcher(settings.rule, resources.threads)
        self._decider = Decider(settings.rule, 1 << 62, workspace.folder, resources.threads)
        self._problems = Problems("skip")
        self.left_out: list[Problem] = []
        self.documents = self.removed = self.text_bytes = 0
        self.packed_bytes = 0.0
        self.complete = True
        self.again = False  # whether features can be made again, and only those that are needed twice are held
        self.features: list[NDArray[np.int64]] = []
        self._ratio_sample = b""
        self.seconds = {"read": 0.0, "sketch": 0.0, "compare": 0.0}
        self._texts: list[str] = []  # for SimHashes of edited copies
        self._buckets: list[Bucketed] = []

    def read(self, reader: FileReader, limit: int) -> None:
        before = self.documents
        begin = time.perf_counter()
        last: Batch | None = None
        for batch in reader.batches(self._problems.report):
            self.seconds["read"] += time.perf_counter() - begin
            self._take(batch)
            last = batch
            begin = time.perf_counter()
            if self.documents - before >= limit:
                self.complete = False
                break
        self._add_bytes(reader, last, self.documents - before)

    def _take(self, batch: Batch) -> None:
        self.documents += len(batch)
        self.text_bytes += int(batch.texts.offsets[-1]) - int(batch.texts.offsets[0])
        begin = time.perf_counter()
        sketches = self._sketcher.sketch(batch.texts)
        middle = time.perf_counter()
        leaders, _ = self._decider.offer(sketches)
        end = time.perf_counter()
        self.seconds["sketch"] += middle - begin
        self.seconds["compare"] += end - middle
        self.features.append(np.diff(sketches.offsets))
        self.removed += int((leaders >= 0).sum())
        if bands := self.settings.banding.bands:
            first = sum(len(each.priorities) for each in self._buckets) // bands
            self._buckets.append(bucketed(sketches.keys, bands, np.arange(first, first + len(sketches))))
        if self.settings.method == "simhash" and len(self._texts) < EDITED_TEXTS:
            self._texts += [text for text in islice(batch.texts.texts(), EDITED_TEXTS - len(self._texts)) if text.strip()]
        if len(batch):
            self._ratio_sample = bytes(memoryview(batch.texts.data)[: 1 << 18])

    @property
    def mates_share(self) -> float:
        """The share of documents of the sample that share a bucket with another."""
        return len(np.unique(grouped(self._buckets).priorities)) / self.documents if self._buckets and self.documents else 0.0

    def _add_bytes(self, reader: FileReader, last: Batch | None, documents: int) -> None:
        """How many bytes of the file the sampled documents took; of a packed file an estimate, by packing some of them."""
        if not reader.source.holds_many:
            self.packed_bytes += _size(reader.sources[:documents])
        elif last is None:
            self.packed_bytes += 0
        elif self.complete:
            self.packed_bytes += _size([reader.source])
        else:
            taken = last.resume_at[0] if last.resume_at else self.text_bytes
            packs = reader.source.packing or reader.format.begins_at_end
            ratio = len(zlib.compress(self._ratio_sample, 6)) / max(len(self._ratio_sample), 1) if packs else 1
            self.packed_bytes += taken * ratio

    def plan(self, size: int) -> Plan:
        self._problems.check_any(self.documents)
        if not self.documents:
            raise InputError("no document could be read: check the inputs, and the name of the text column")
        scale = 1.0 if self.complete else max(size / max(self.packed_bytes, 1), 1.0)
        documents = self.documents if self.complete else round(self.documents * scale)
        counts = np.concatenate(self.features)
        kept = documents * (1 - self.removed / self.documents)
        bands = self.settings.banding.bands
        tables = documents * LEDGER_BYTES + kept * (RECORD_BYTES + bands * BAND_BYTES) + RESERVED
        held = min(documents - kept, kept) if self.again else kept
        features = 8 * float(counts.mean() if len(counts) else 0) * held
        compared = self._decider.compared
        if self.settings.method == "meaning":  # each document is compared with all that are kept
            self.seconds["compare"] *= scale
        seconds = sum(self.seconds.values()) * scale + self.text_bytes * scale / WRITTEN_PER_SECOND
        short = float((counts < FEW_FEATURES).mean()) if self.settings.method == "minhash" and len(counts) else 0.0
        threshold = self.settings.threshold
        similarities = sorted({threshold, *(each for each in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0) if each > threshold)})
        recall = {each: self.settings.banding.recall(each) for each in similarities} if bands else {}
        found = Plan(
            settings=self.settings,
            documents=documents,
            bytes=size,
            sampled=self.documents,
            removed_share=self.removed / self.documents,
            memory=int(tables + features),
            budget=self._budget,
            disk=int(max(0.0, min(features, tables + features - self._budget))),
            seconds=seconds,
            pairs=(round(compared * scale), round(compared * scale * scale)),
            recall=recall,
            short_texts=short,
            edited=self._edited(self.settings.recipe),
        )
        found.warnings += self._warnings(found, tables)
        return found

    def _edited(self, recipe: Recipe) -> dict[str, float]:
        return measured_recall(self._texts, recipe, self.settings.distance) if self._texts else {}

    def _better_recipe(self, found: Plan) -> list[str]:
        """Which of the recipes for reposts would find more of the edits, if one does: the one that finds most."""
        if not found.edited or weighs_words(self.settings.recipe):
            return []
        others = {name: self._edited(recipes.get(name)) for name in (RECOMMENDED, ENGLISH)}
        best = max(others, key=lambda name: sum(others[name].values()))
        if all(others[best][length] - share < BETTER for length, share in found.edited.items()):
            return []
        shown = ", ".join(f"{shown_share(share, 0)} of {length} characters" for length, share in others[best].items())
        return [f"the recipe {best!r} finds more lightly edited copies: {shown}"]

    def _warnings(self, found: Plan, tables: float) -> list[str]:
        warnings: list[str] = []
        warnings += self._better_recipe(found)
        if found.short_texts > WARN_SHARE:
            ngram, threshold = self.settings.recipe.ngram, self.settings.threshold
            warnings.append(
                f"{shown_share(found.short_texts, 0)} of the texts have fewer than {FEW_FEATURES} shingles of {ngram} tokens: one changed"
                f" word takes {ngram} of them, so near-duplicates can stay below {threshold:g}; choose a lower"
                " threshold, or a recipe with a smaller ngram"
            )
        if tables > found.budget:
            warnings.append(
                f"the tables of the kept documents alone need {tables / 2**30:.1f} GiB and cannot go to disk: raise the budget, or"
                " split the corpus"
            )
        if self._problems.skipped:
            named = self._problems.named[0]
            warnings.append(f"{self._problems.skipped:,} rows of the sample cannot be used, for example {named.place}: {named.kind}")
        if self.left_out:
            names = ", ".join(problem.place for problem in self.left_out[:SHOWN_LEFT_OUT])
            more = len(self.left_out) - SHOWN_LEFT_OUT
            warnings.append(f"not data, and left out: {names}{f' and {more:,} more' if more > 0 else ''}")
        return warnings


def _size(sources: Sequence[Source]) -> int:
    return sum(source.path.stat().st_size for source in sources if source.path)
