"""``dedupe(corpus)``: a corpus without near-duplicates, and the record of what was removed."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from lookalike.checks import check_choice
from lookalike.corpus.batches import Columns
from lookalike.corpus.files import Source
from lookalike.corpus.formats.base import FileReader
from lookalike.deduping.early_output import EarlyOutput
from lookalike.deduping.options import DedupeOptions, Method, Scope
from lookalike.deduping.outputs import Output, check_listed, check_paths, write_references, write_removed
from lookalike.deduping.parts import Parts
from lookalike.deduping.progress import StageTimes
from lookalike.deduping.readers import check_columns, expanded, readers_of, stamp
from lookalike.deduping.references.rule import contains_rule
from lookalike.deduping.report import DedupeReport, Figures
from lookalike.deduping.run import BatchReader, Means, Run, read_again
from lookalike.deduping.settings import Against, Conduct, Criteria, Destinations, Input, Resources
from lookalike.deduping.threads import Threads
from lookalike.deduping.verdicts import DocumentVerdicts, Verdicts
from lookalike.deduping.working_files import VERSION, Workspace
from lookalike.errors import InputError
from lookalike.options import checked, taken, takes
from lookalike.system import sha256

if TYPE_CHECKING:
    from lookalike.deduping.against import Stored
    from lookalike.deduping.references.found import FoundReference
    from lookalike.deduping.references.rule import ContainsRule
    from lookalike.deduping.references.run import ContainsRun
    from lookalike.deduping.spark.engine import Engine
    from lookalike.deduping.spark.report import SparkReport

ENGINES = ("local", "spark")
RECORD_FROM = 4 << 30  # bytes of input: below that a run is over in a minute or two, and starting anew costs less than recording


@takes(Destinations, Method, Scope, Against, Input, Resources, Conduct)
def dedupe(corpus: Any, *, engine: str | Engine = "local", **options: Unpack[DedupeOptions]) -> DedupeReport | SparkReport:
    """Remove documents that are near-duplicates of one that is kept.

    ``corpus`` is a path, folder or pattern, or several (JSONL, CSV, Parquet, text and HTML files, web archives; .gz, .zst; ``-`` is
    standard input), an Arrow, Polars or pandas table, a Hugging Face dataset, or a list of mappings. ``out`` gets the rows that stay, as
    they were, in the format of the input; with ``annotate`` all rows, each with the verdict on it. ``removed`` gets the audit trail. Of
    web pages ``extract`` says what is compared: the main text, or all of it.

    Methods: ``minhash`` (Jaccard similarity of shingles of at least ``threshold``, computed exactly), ``simhash`` (at most
    ``distance`` bits), ``exact`` (equal words after folding: case, width, punctuation and white space do not count), ``bytes`` (equal to
    the byte), ``meaning`` (a cosine of the ``model``'s vectors of at least ``threshold``), ``record`` (rows of a table by several
    columns: the mean of their similarities, weighted as ``columns`` says, such as ``{"name": 0.4, "address": 0.6}``; all but the id by
    default). The threshold is 0.8, and of ``meaning`` 0.9. Of similar documents ``keep`` says which one stays: ``first``, ``longest``,
    ``newest:COLUMN`` or ``best:COLUMN``.

    At the levels ``paragraph`` and ``line`` what repeats is cut out of the documents. At the level ``substring`` it is every passage of at
    least ``min_length`` tokens (50; or with ``unit="characters"`` characters, 200) that stands elsewhere, and at the level ``sentences``
    every three sentences in a row; with ``within=False`` only what another document has. Without ``out`` nothing is written, and
    ``removed`` lists what would be cut.

    ``against`` is a store, or files and folders: what they have already goes too, and with ``add`` what stays is added to the store. With
    ``contains`` nothing goes but documents that hold at least this share of a text of ``against``: of its n-grams of ``ngram`` tokens (13),
    or with ``contains_by="passages"`` of its tokens that lie in passages of so many; ``references`` gets what became of each such text.

    ``engine`` is where the work is done: ``local``, or ``spark`` (a cluster: files or a DataFrame; ``lookalike.spark.Engine`` says more).
    ``workers`` are threads, by default one per core. The result does not depend on them, on ``memory``, or on how rows are spread
    over files.
    """
    asked = checked(dedupe, options)
    settings = taken(Method, asked).settings(taken(Scope, asked))
    if asked.get("references") is not None and settings.contains is None:
        raise InputError("references= lists what became of the texts of contains=: say which share of them a document must hold")
    job = Job(
        settings,
        taken(Input, asked, corpus=corpus),
        taken(Destinations, asked),
        taken(Resources, asked),
        taken(Against, asked),
        taken(Conduct, asked),
    )
    if not isinstance(engine, str) or check_choice("engine", engine, ENGINES) == "spark":
        from lookalike.deduping.spark.engine import Engine
        from lookalike.deduping.spark.job import run

        if not isinstance(engine, str | Engine):
            raise InputError(f"engine={engine!r:.60}: give 'local', 'spark', or an lookalike.spark.Engine")
        return run(job, engine if isinstance(engine, Engine) else Engine())
    if job.against.is_frame:
        raise InputError("against= is a DataFrame of Spark: use engine='spark', or write it to files")
    return job.files() if job.input.is_files else job.table()


@dataclass(frozen=True, slots=True)
class Job:
    """A run on this machine: it reads and decides, and writes once everything is known."""

    settings: Criteria
    input: Input
    to: Destinations
    resources: Resources
    against: Against
    conduct: Conduct

    @property
    def columns(self) -> Columns:
        return self.input.columns(self.settings, self.to.annotate)

    def table(self) -> DedupeReport:
        columns = self.columns
        given = (("out", self.to.out), ("annotate", self.to.annotate or None), ("format", self.input.format))
        for name, value in (*given, ("encoding", self.input.encoding)):
            if value is not None:
                raise InputError(f"{name}= is for files: of a table take what you need from the result, .kept")
        check_paths([], **self.to.reports, references=self.against.references)
        from lookalike.deduping.tables import table_reader

        reader = table_reader(self.input.corpus, columns)
        with Workspace() as workspace, self._opened() as stored, Threads[Any, Any](self.resources.threads) as threads:
            report = self._decided([reader], Means(workspace, self.conduct.problems(), self._times(), threads, stored=stored))
            self._add(stored, [reader], report)
        cut = report.whole.edits
        report.kept_rows = reader.kept if cut is None else lambda rows: reader.edited(cut)
        self._write_reports(report)
        return report

    def files(self) -> DedupeReport:
        columns, encoding, out = self.columns, self.input.encoding, self.to.out
        with Workspace() as standard_input:
            problems = self.conduct.problems()
            sources = expanded(self.input.corpus, self.input.format, standard_input, problems.add)
            check_paths(sources, out=out, **self.to.reports, references=self.against.references)
            readers = readers_of(sources, columns, encoding)
            check_columns(sources, columns, encoding)
            if self.settings.level != "document" and any(source.format in ("html", "warc") for source in sources):
                raise InputError(
                    f"level={self.settings.level!r}: pages cannot be cut without harm to their markup: extract their text first"
                )
            output = Output.of(out, readers, self.to.annotate) if out is not None else None
            size = sum(source.path.stat().st_size for source in sources if source.path)
            recordable = output is not None and self.against.store is None and self.settings.level == "document"
            record = recordable and (self.conduct.resume or size >= RECORD_FROM)
            workspace = Workspace(self._work_folder(sources), keep_on_error=record)
            threads, times = Threads[Any, Any](self.resources.threads), self._times()
            early = self._early(output, readers, threads, times, workspace if record else None)
            with workspace, self._opened() as stored, early or nullcontext(), threads:
                if not self.conduct.resume:
                    workspace.discard()
                report = self._decided(readers, Means(workspace, problems, times, threads, record, stored, early))
                self._write(report, readers, output, early, times)
                self._add(stored, readers, report)
        return report

    def _times(self) -> StageTimes:
        return StageTimes(on_progress=self.conduct.progress)

    def _early(
        self,
        output: Output | None,
        readers: Sequence[FileReader],
        threads: Threads[Any, Any],
        times: StageTimes,
        workspace: Workspace | None,
    ) -> EarlyOutput | None:
        """Writes while it is read, where rows are decided as they come, and written as they came."""
        in_order = self.settings.keep.order == "first" and self.settings.level == "document" and self.against.store is None
        if output is None or not in_order or not EarlyOutput.possible(output, readers, self.to.annotate):
            return None
        return EarlyOutput(output, readers, threads, times, workspace)

    def _opened(self) -> AbstractContextManager[Stored | None]:
        if self.against.store is None or self.settings.contains is not None:
            return nullcontext()
        from lookalike.deduping.against import Stored  # indexes take longer to import than a small corpus to dedupe

        columns = self.against.against_column or self.input.text_column, self.input.id_column
        return Stored(self.against.store, self.settings, columns, add=self.against.add, workers=self.resources.threads)

    def _add(self, stored: Stored | None, readers: Sequence[BatchReader], report: DedupeReport) -> None:
        """After everything is written: a run that fails leaves the store as it was."""
        if stored is not None and self.against.add:
            report.added = stored.add_kept(readers, report.whole)

    def _decided(self, readers: Sequence[BatchReader], means: Means) -> DedupeReport:
        begin = time.perf_counter()
        problems = means.problems
        verdicts: Verdicts
        figures: Figures | None = None
        found: list[FoundReference] | None = None
        if self.settings.passages is not None:
            from lookalike.deduping.substrings.run import PassageRun

            passage_run = PassageRun(self.settings, self.resources, means)
            verdicts = passage_run.decide(readers)
            whole, figures = passage_run.whole(verdicts, self.input.text_column), passage_run.figures
        elif self.settings.contains is not None:
            contains_run = self._contains_run(means, self.settings.contains)
            verdicts = whole = DocumentVerdicts(contains_run.ledger, contains_run.decide(readers))
            found = contains_run.found()
        elif self.settings.level == "document":
            run = Run(self.settings, self.resources, means, readers)
            verdicts = whole = DocumentVerdicts(run.ledger, run.decide())
        else:
            from lookalike.deduping.levels import LevelRun

            level_run = LevelRun(self.settings, self.resources, means.workspace, problems, means.times)
            verdicts = level_run.decide(readers)
            whole = level_run.whole(verdicts, self.input.text_column)
        problems.check_any(verdicts.ledger.documents)
        self._check_limit(verdicts, figures)
        return DedupeReport(
            settings=self.settings,
            verdicts=verdicts,
            whole=whole,
            seconds=time.perf_counter() - begin,
            stages=means.times.to_dict(),
            problems=problems.named,
            problem_counts=dict(problems.counts),
            skipped=problems.skipped,
            unreadable=problems.unreadable,
            again=self._again,
            texts_of=partial(read_again, readers) if verdicts is whole else partial(_units_again, readers, verdicts),
            figures=figures,
            references=found,
        )

    def _contains_run(self, means: Means, rule: ContainsRule) -> ContainsRun:
        from lookalike.deduping.references.run import ContainsRun, ReferenceTable  # a store may have to be opened for it

        against, given = self.against, self.input
        if against.store is None:
            raise InputError("contains= needs references: name them with against=, files or a store")
        if against.add:
            raise InputError("add=True adds documents that are new, and contains= is not about that: leave one of them out")
        if against.references is not None:
            check_listed(against.references)
        with means.times.timed("references"):
            table = ReferenceTable(against.store, rule, self.settings, against.against_column or given.text_column, given.id_column)
        run = ContainsRun(self.settings, self.resources, means, table)
        run.ledger.store = table.files[0]
        return run

    def _again(self, threshold: float) -> DedupeReport:
        """The same with another threshold; nothing is written."""
        holding = contains_rule(threshold, self.settings.contains.ngram, self.settings.contains.by) if self.settings.contains else None
        settings, conduct = replace(self.settings, threshold=threshold, contains=holding), replace(self.conduct, max_removed=None)
        job = replace(
            self, settings=settings, conduct=conduct, to=Destinations(), against=replace(self.against, add=False, references=None)
        )
        return job.files() if self.input.is_files else job.table()

    def _check_limit(self, verdicts: Verdicts, figures: Figures | None) -> None:
        if figures is not None:  # a share is that of the text
            self.conduct.check_removed(figures.cut, figures.units, figures.unit)
        else:
            self.conduct.check_removed(verdicts.removed_count, len(verdicts.decisions.leaders), f"{self.settings.level}s")

    def _write(
        self, report: DedupeReport, readers: Sequence[FileReader], output: Output | None, early: EarlyOutput | None, times: StageTimes
    ) -> None:
        begin = time.perf_counter()
        with times.timed("write"):
            self._write_reports(report)
            if output is not None and not (early and early.complete):
                output.write(readers, report.whole, self.to.annotate, report.unreadable)
        if early and early.complete:
            early.finish()
        if output is not None:
            report.outputs["out"] = str(self.to.out)
        report.stages = times.to_dict()
        report.seconds += time.perf_counter() - begin

    def _write_reports(self, report: DedupeReport) -> None:
        if self.to.removed is not None:
            write_removed(self.to.removed, report.verdicts)
            report.outputs["removed"] = str(self.to.removed)
        if self.against.references is not None and report.references is not None:
            write_references(self.against.references, report.references)
            report.outputs["references"] = str(self.against.references)
        if self.to.html is not None:
            report.to_html(self.to.html)
            report.outputs["html"] = str(self.to.html)

    def _work_folder(self, sources: Sequence[Source]) -> Path | None:
        """Beside the output, and called by what decides its contents: only the same run on the same inputs finds it again."""
        out = self.to.out
        if out is None or out == "-":
            return None
        content = {
            "version": VERSION,
            "settings": self.settings.to_dict(),
            "columns": self.columns._replace(check=None),
            "inputs": stamp(sources),
        }
        name = sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
        return Path(out).absolute().parent / f".lookalike-dedupe-{name}"


def _units_again(readers: Sequence[BatchReader], verdicts: Verdicts, numbers: set[int]) -> dict[int, str]:
    """Some paragraphs, lines or passages."""
    if not isinstance(verdicts.ledger, Parts):
        return {}
    owners = {number: verdicts.ledger.owner(number) for number in numbers}
    texts = read_again(readers, set(owners.values()))
    found = {}
    for number, owner in owners.items():
        if (span := verdicts.ledger.part(number)) and owner in texts:
            found[number] = texts[owner][slice(*span)]
    return found
