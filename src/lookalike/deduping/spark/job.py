"""A run on Spark from its inputs to its outputs."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lookalike.corpus.row import NOT_DATA
from lookalike.deduping.progress import Progress
from lookalike.deduping.settings import ANNOTATIONS
from lookalike.deduping.spark import inputs
from lookalike.deduping.spark.against import add_kept, check_before, opened_before
from lookalike.deduping.spark.deciding import Deciding, Facts
from lookalike.deduping.spark.decoding import LINE, NAME
from lookalike.deduping.spark.engine import Engine, configured
from lookalike.deduping.spark.frames import frame_of
from lookalike.deduping.spark.levels import level_report
from lookalike.deduping.spark.outcome import Outcome
from lookalike.deduping.spark.outputs import (
    FILE_COLUMN,
    check_list,
    check_output,
    check_reports,
    spark_path,
    write_documents,
    write_removed,
)
from lookalike.deduping.spark.report import SparkReport
from lookalike.deduping.spark.stopping import stoppable
from lookalike.deduping.spark.work import Work
from lookalike.errors import EngineError, InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lookalike.deduping.local import Job
    from lookalike.deduping.problems import Problems

_UNREADABLE = re.compile(r"\[FAILED_READ_FILE[^\]]*\] (?:Encountered )?error while reading file (\S+?)\. (.*)", re.IGNORECASE)
_NO_FILES = re.compile(r'No FileSystem for scheme "[^"]*"|Class \S+FileSystem not found')
_REFUSED = re.compile(r"^lookalike\.errors\.InputError: (.*)$", re.MULTILINE)
METHODS = ("minhash", "simhash", "exact", "bytes")


def run(job: Job, engine: Engine) -> SparkReport:
    _check(job, engine)
    session = engine.opened()
    out = None if job.to.out is None else str(job.to.out)
    with said_by_spark():
        if out is not None:
            check_output(session, out)
        if job.to.removed is not None:
            check_list(str(job.to.removed))
        check_reports((), **job.to.reports)
        if job.settings.level == "document":
            check_before(job.against, job.settings)
        work = Work.beside(session, engine.work, None if out is None else spark_path(out))
        with configured(session, session.sparkContext.defaultParallelism), work, stoppable(session):
            return SparkRun(job, engine, work).report()


@contextmanager
def said_by_spark(places: inputs.Places | None = None) -> Iterator[None]:
    """What goes wrong inside Spark, as an error of ours; what a task refused, as it said it, with the file and the row."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        if found := _REFUSED.search(str(error)):
            raise InputError(LINE.sub(lambda line: places.place(int(line[1])) if places else line[0], found[1])) from error
        if found := _NO_FILES.search(str(error)):
            raise InputError(f"Spark has no file system for such addresses ({found[0]}): add its jars (--packages)") from error
        if found := _UNREADABLE.search(str(error)):
            name = unquote(found[1]).removeprefix("file://")
            causes = re.findall(r"Caused by: [\w.$]+: (.+)", str(error))
            shown = (causes or [found[2]])[-1][:200].strip()
            raise InputError(f"{name}: Spark cannot read this file ({shown}): repair it, or leave it out") from error
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        shown = next((line for line in reversed(lines) if not line.startswith(("at ", "File", "..."))), "")
        raise EngineError(f"Spark ended the run: {lines[0][:200] if lines else ''} {shown[:300]}; see its log") from error


def _check(job: Job, engine: Engine) -> None:
    settings = job.settings
    if settings.method not in METHODS:
        raise InputError(f"method={settings.method!r}: engine='spark' has {', '.join(METHODS)}: use engine='local'")
    if settings.passages is not None:
        raise InputError(f"level={settings.level!r}: engine='spark' has document, paragraph and line: use engine='local'")
    if settings.contains is not None or job.against.references is not None:
        raise InputError("contains and references are for engine='local': documents are looked through on one machine")
    if job.conduct.resume:
        raise InputError("resume is for engine='local': Spark repeats by itself what a lost machine had not finished")
    if engine.per and settings.method == "simhash":
        raise InputError("per= is for method='minhash', 'exact' or 'bytes': dedupe each part by itself")
    if job.to.annotate and engine.cluster_size in ANNOTATIONS:
        raise InputError(f"cluster_size={engine.cluster_size!r}: annotate adds a column of this name: choose another one")
    if settings.level != "document" and (engine.cluster_size or engine.per):
        raise InputError(f"level={settings.level!r}: cluster_size and per are for documents")


@dataclass
class Steps:
    """How long each stage took, and whom to tell where the run is."""

    tell: Any
    seconds: dict[str, float] = field(default_factory=dict)
    _stage: str = ""
    _begin: float = 0.0
    _count: int = 0

    def __call__(self, stage: str) -> None:
        now = time.perf_counter()
        if self._stage:
            self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + now - self._begin
        self._stage, self._begin, self._count = stage, now, self._count + 1
        if stage and self.tell:
            self.tell(Progress(stage, self._count, None, "steps", 0.0))


class SparkRun:
    def __init__(self, job: Job, engine: Engine, work: Work) -> None:
        self.job, self.engine, self.work = job, engine, work
        self.steps = Steps(job.conduct.progress)
        self.problems: Problems = job.conduct.problems()

    def report(self) -> SparkReport:
        begin = time.perf_counter()
        self.steps("read")
        corpus = inputs.opened(self.work.session, self.job.input, self.job.columns, self.engine, self.work)
        with said_by_spark(corpus.places):
            return self._report(corpus, begin)

    def _report(self, corpus: inputs.Corpus, begin: float) -> SparkReport:
        check_reports(corpus.sources, **self.job.to.reports)
        for problem in corpus.left_out:
            (self.problems.add if problem.kind == NOT_DATA else self.problems.report)(problem)
        if self.engine.per_file and (not corpus.sources or FILE_COLUMN in corpus.full.columns):
            raise InputError(f"per_file is for files that have no column {FILE_COLUMN!r}: rename it, or leave per_file out")
        if self.job.to.annotate and corpus.format in ("text", "html"):
            raise InputError("annotate adds columns, and texts and pages have none: use removed= (--removed) to list what was removed")
        made = level_report(self, corpus) if self.job.settings.level != "document" else self._documents(corpus)
        self.steps("")
        made.seconds, made.stages = time.perf_counter() - begin, {name: round(each, 3) for name, each in self.steps.seconds.items()}
        if self.job.to.html is not None:
            made.to_html(self.job.to.html)
            made.outputs["html"] = str(self.job.to.html)
        return made

    def _documents(self, corpus: inputs.Corpus) -> SparkReport:
        against, settings = self.job.against, self.job.settings
        columns = against.against_column or self.job.input.text_column, self.job.input.id_column
        with opened_before(against, columns, settings, self.engine, self.work) as opened:
            deciding = Deciding(settings, self.engine, corpus, self.work, self.steps, opened)
            decisions = deciding.decided(deciding.sketched(), lambda facts: self.check(facts, corpus))
        facts = deciding.facts
        self.job.conduct.check_removed(decisions.removed, facts.documents, "documents")
        outcome = Outcome(self.work, corpus, decisions.frame, decisions.removed, self.skipped(facts), decisions.few)
        outputs = self.written(outcome)
        added = add_kept(outcome, against.store, settings) if against.add and isinstance(against.store, str | Path) else 0
        self.work.forget(decisions.frame, corpus.full)
        return SparkReport(
            settings,
            outcome,
            facts.documents,
            facts.documents,
            decisions.removed,
            decisions.clusters,
            0.0,
            {},
            deciding.compared,
            facts.empty,
            facts.documents - facts.texts - facts.outside,
            self.problems.skipped,
            self.problems.named,
            dict(self.problems.counts),
            outputs,
            added,
        )

    def check(self, facts: Facts, corpus: inputs.Corpus) -> None:
        """What is wrong with rows ends the run, or is counted."""
        for n, problem in facts.named:
            message = problem.message.replace(NAME, corpus.places.file(n))
            self.problems.report(problem._replace(place=corpus.places.place(n), message=message))
        unnamed = facts.problems - len(facts.named)
        if unnamed > 0:
            self.problems.counts += Counter({"more problems": unnamed})
            self.problems.skipped += unnamed
        self.problems.check_any(facts.documents)

    def skipped(self, facts: Facts) -> DataFrame | None:
        numbers = sorted({n for n, problem in facts.named if problem.skipped})
        if facts.problems > len(facts.named):
            raise InputError(f"{facts.problems:,} rows cannot be used: engine='spark' leaves out a thousand of each part; repair the input")
        return frame_of(self.work.session, [(n,) for n in numbers], {"n": "long"}) if numbers else None

    def written(self, outcome: Outcome) -> dict[str, str]:
        to, outputs = self.job.to, {}
        if to.removed is not None or to.out is not None:
            self.steps("write")
        if to.removed is not None:
            write_removed(outcome.removed(), str(to.removed))
            outputs["removed"] = str(to.removed)
        if to.out is not None:
            frame = outcome.annotated(as_json=outcome.corpus.format == "jsonl") if to.annotate else outcome.kept()
            write_documents(outcome, frame, str(to.out), self.engine, annotate=to.annotate)
            outputs["out"] = str(to.out)
        return outputs
