"""``dedupe(corpus)``: a corpus without near-duplicates, and the record of what was removed."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.checks import check_bool, check_callback, check_choice, check_path
from lookalike.corpus.batches import Columns
from lookalike.corpus.files import Source
from lookalike.corpus.formats.base import FileReader
from lookalike.corpus.row import Problem
from lookalike.deduping.levels import LevelRun, Units
from lookalike.deduping.outputs import Output, check_paths, write_removed
from lookalike.deduping.problems import POLICIES, Problems
from lookalike.deduping.readers import check_columns, expanded, readers_of, stamp
from lookalike.deduping.records import VERSION
from lookalike.deduping.report import DedupeReport
from lookalike.deduping.run import Reader, Run, read_again
from lookalike.deduping.settings import Settings, make_settings, memory_bytes, removal_limit
from lookalike.deduping.stages import Progress, Stages
from lookalike.deduping.tables import table_reader
from lookalike.deduping.verdicts import ANNOTATIONS, DocumentVerdicts, Verdicts
from lookalike.deduping.workspace import Workspace
from lookalike.errors import InputError, TooManyRemoved
from lookalike.figures import shown_share
from lookalike.fingerprints.base import check_workers
from lookalike.markup.extraction import check_extract
from lookalike.recipe import Recipe

if TYPE_CHECKING:
    from lookalike.deduping.against import Stored

RECORD_FROM = 4 << 30  # bytes of input: below that a run is over in a minute or two, and starting anew costs less than recording


def dedupe(
    corpus: Any,
    *,
    out: str | Path | None = None,
    removed: str | Path | None = None,
    html: str | Path | None = None,
    annotate: bool = False,
    method: str = "minhash",
    threshold: float | None = None,
    distance: int = 3,
    keep: str = "first",
    level: str = "document",
    text_column: str = "text",
    id_column: str = "id",
    format: str | None = None,
    encoding: str | None = None,
    extract: str = "main",
    recipe: Recipe | str | None = None,
    model: str | None = None,
    workers: int = 1,
    memory: int | str | None = None,
    max_removed: int | float | str | None = None,
    on_error: str = "stop",
    on_problem: Callable[[Problem], object] | None = None,
    progress: Callable[[Progress], object] | None = None,
    resume: bool = False,
    against: str | Path | None = None,
    add: bool = False,
) -> DedupeReport:
    """Remove documents that are near-duplicates of one that is kept.

    ``corpus`` is a path, folder or pattern, or several (JSONL, CSV, Parquet, text and HTML files, web archives; .gz, .zst; ``-`` is
    standard input), an Arrow, Polars or pandas table, a Hugging Face dataset, or a list of mappings. ``out`` gets the rows that stay, as
    they were, in the format of the input; with ``annotate`` all rows, each with the verdict on it. ``removed`` gets the audit trail. Of
    web pages ``extract`` says what is compared: the main text, or all of it.

    Methods: ``minhash`` (Jaccard similarity of shingles of at least ``threshold``, computed exactly), ``simhash`` (at most
    ``distance`` bits), ``exact`` (equal words after folding: case, width, punctuation and white space do not count), ``bytes`` (equal to
    the byte), ``meaning`` (a cosine of the ``model``'s vectors of at least ``threshold``). The
    threshold is 0.8, and of ``meaning`` 0.9. Of similar documents ``keep`` says which one stays: ``first``, ``longest``,
    ``newest:COLUMN`` or ``best:COLUMN``. ``against`` is a store: what it has already goes too, and with ``add`` what stays is added to
    it. The result does not depend on ``workers``, ``memory`` or how rows are spread over files.
    """
    check_workers(workers)
    check_extract(extract)
    for name, flag in (("annotate", annotate), ("resume", resume), ("add", add)):
        check_bool(name, flag)
    for name, callback in (("progress", progress), ("on_problem", on_problem)):
        check_callback(name, callback)
    check_choice("on_error", on_error, POLICIES)
    for name, path in (("out", out), ("removed", removed), ("html", html)):
        if path is not None:
            check_path(name, path)
    settings = make_settings(method, threshold, distance, keep, recipe, level, model)
    job = _Job(
        settings,
        _columns(text_column, id_column, settings, annotate)._replace(extract=extract),
        workers,
        memory_bytes(memory),
        removal_limit(max_removed),
        partial(Problems, on_error, on_problem),
        progress,
        against,
        add,
    )
    if add and against is None:
        raise InputError("add=True adds to the store of against=: name it")
    if isinstance(corpus, str | Path) or (isinstance(corpus, Sequence) and corpus and all(isinstance(each, str | Path) for each in corpus)):
        return job.files(_Files(corpus, format, encoding, out, removed, html, annotate, resume))
    for name, value in (("out", out), ("annotate", annotate or None), ("format", format), ("encoding", encoding)):
        if value is not None:
            raise InputError(f"{name}= is for files: of a table take what you need from the result, .kept")
    return job.table(corpus, removed, html)


def _columns(text: str, id_: str, settings: Settings, annotate: bool) -> Columns:
    for name, value in (("text_column", text), ("id_column", id_)):
        if not isinstance(value, str) or not value:
            raise InputError(f"{name}={value!r}: give the name of a column")
    if text == id_:
        raise InputError(f"text_column and id_column are both {text!r}: give each a column of its own")
    if annotate and (taken := {text, id_, settings.keep.column} & set(ANNOTATIONS)):
        raise InputError(f"the column {min(map(str, taken))!r} is one that annotate adds: rename it")
    if annotate and settings.level != "document":
        raise InputError(f"annotate is for level='document': at level={settings.level!r} use removed= (--removed)")
    kind = settings.keep.order if settings.keep.column else ""
    return Columns(text, id_, settings.keep.column, kind, ANNOTATIONS if annotate else ())


@dataclass(frozen=True, slots=True)
class _Files:
    inputs: Any
    format: str | None
    encoding: str | None
    out: str | Path | None
    removed: str | Path | None
    html: str | Path | None
    annotate: bool
    resume: bool


@dataclass(slots=True)
class _Job:
    settings: Settings
    columns: Columns
    workers: int
    budget: int
    limit: float | int | None
    problems: Callable[[], Problems]
    progress: Callable[[Progress], object] | None
    against: str | Path | None = None
    add: bool = False

    def table(self, table: Any, removed: str | Path | None, html: str | Path | None) -> DedupeReport:
        check_paths([], removed=removed, html=html)
        reader = table_reader(table, self.columns)
        with Workspace() as workspace, self._opened() as stored:
            report = self._run([reader], workspace, False, stored, self.problems())
            self._add(stored, [reader], report)
        cut = report.whole.edits
        report.kept_rows = reader.kept if cut is None else lambda rows: reader.edited(cut)
        report.again = lambda threshold: self._with(threshold).table(table, None, None)
        self._write_reports(report, removed, html)
        return report

    def files(self, files: _Files) -> DedupeReport:
        with Workspace() as standard_input:
            problems = self.problems()
            sources = expanded(files.inputs, files.format, standard_input, problems.add)
            check_paths(sources, out=files.out, removed=files.removed, html=files.html)
            readers = readers_of(sources, self.columns, files.encoding)
            check_columns(sources, self.columns, files.encoding)
            if self.settings.level != "document" and any(source.format in ("html", "warc") for source in sources):
                raise InputError(
                    f"level={self.settings.level!r}: pages cannot be cut without harm to their markup: extract their text first"
                )
            output = Output.of(files.out, readers, files.annotate) if files.out is not None else None
            size = sum(source.path.stat().st_size for source in sources if source.path)
            recordable = output is not None and self.against is None and self.settings.level == "document"
            record = recordable and (files.resume or size >= RECORD_FROM)
            workspace = Workspace(self._work_folder(files.out, sources), keep_on_error=record)
            with workspace, self._opened() as stored:
                if not files.resume:
                    workspace.discard()
                report = self._run(readers, workspace, record, stored, problems)
                report.again = lambda threshold: self._with(threshold).files(
                    replace(files, out=None, removed=None, html=None, annotate=False)
                )
                self._write(report, readers, output, files)
                self._add(stored, readers, report)
        return report

    def _opened(self) -> AbstractContextManager[Stored | None]:
        if self.against is None:
            return nullcontext()
        from lookalike.deduping.against import Stored  # indexes take longer to import than a small corpus to dedupe

        return Stored(self.against, self.settings, add=self.add, workers=self.workers)

    def _add(self, stored: Stored | None, readers: Sequence[Reader], report: DedupeReport) -> None:
        """After everything is written: a run that fails leaves the store as it was."""
        if stored is not None and self.add:
            report.added = stored.add_kept(readers, report.whole)

    def _run(
        self, readers: Sequence[Reader], workspace: Workspace, record: bool, stored: Stored | None, problems: Problems
    ) -> DedupeReport:
        begin = time.perf_counter()
        stages = Stages(on_progress=self.progress)
        verdicts: Verdicts
        if self.settings.level == "document":
            run = Run(self.settings, self.workers, self.budget, workspace, problems, stages, record, stored)
            verdicts = whole = DocumentVerdicts(run.ledger, run.decide(readers))
        else:
            level_run = LevelRun(self.settings, self.workers, self.budget, workspace, problems, stages)
            verdicts = level_run.decide(readers)
            whole = level_run.whole(verdicts, self.columns.text)
        problems.check_any(verdicts.ledger.documents)
        self._check_limit(verdicts)
        return DedupeReport(
            settings=self.settings,
            verdicts=verdicts,
            whole=whole,
            seconds=time.perf_counter() - begin,
            stages=stages.to_dict(),
            problems=problems.named,
            problem_counts=dict(problems.counts),
            skipped=problems.skipped,
            unreadable=problems.unreadable,
            again=self._unknown,
            texts_of=partial(read_again, readers) if verdicts is whole else partial(_units_again, readers, verdicts),
        )

    @staticmethod
    def _unknown(threshold: float) -> DedupeReport:
        raise InputError(f"rethreshold({threshold}): the corpus is not known any more: run dedupe again")

    def _with(self, threshold: float) -> _Job:
        return replace(self, settings=replace(self.settings, threshold=threshold), limit=None, add=False)

    def _check_limit(self, verdicts: Verdicts) -> None:
        documents, removed = len(verdicts.decisions.leaders), verdicts.removed_count
        if self.limit is None or removed <= (self.limit * documents if isinstance(self.limit, float) else self.limit):
            return
        allowed = f"{self.limit:.4g} of them" if isinstance(self.limit, float) else f"{self.limit:,}"
        found = f"{removed:,} of {documents:,} {self.settings.level}s would be removed ({shown_share(removed / documents)})"
        raise TooManyRemoved(f"{found}, and max_removed allows {allowed}: nothing was written; look at the input, or allow more")

    def _write(self, report: DedupeReport, readers: Sequence[FileReader], output: Output | None, files: _Files) -> None:
        begin = time.perf_counter()
        self._write_reports(report, files.removed, files.html)
        if output is not None:
            output.write(readers, report.whole, files.annotate, report.unreadable)
            report.outputs["out"] = str(files.out)
        report.stages["write"] = round(time.perf_counter() - begin, 3)
        report.seconds += time.perf_counter() - begin

    @staticmethod
    def _write_reports(report: DedupeReport, removed: str | Path | None, html: str | Path | None) -> None:
        if removed is not None:
            write_removed(removed, report.verdicts)
            report.outputs["removed"] = str(removed)
        if html is not None:
            report.to_html(html)
            report.outputs["html"] = str(html)

    def _work_folder(self, out: str | Path | None, sources: Sequence[Source]) -> Path | None:
        """Beside the output, and called by what decides its contents: only the same run on the same inputs finds it again."""
        if out is None or out == "-":
            return None
        content: Mapping[str, Any] = {
            "version": VERSION,
            "settings": self.settings.to_dict(),
            "columns": self.columns,
            "inputs": stamp(sources),
        }
        name = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
        return Path(out).absolute().parent / f".lookalike-dedupe-{name}"


def _units_again(readers: Sequence[Reader], verdicts: Verdicts, numbers: set[int]) -> dict[int, str]:
    """Some paragraphs or lines."""
    if not isinstance(verdicts.ledger, Units):
        return {}
    owners = {number: int(verdicts.ledger.owners()[number]) for number in numbers}
    texts = read_again(readers, set(owners.values()))
    found = {}
    for number, owner in owners.items():
        if (span := verdicts.ledger.part(number)) and owner in texts:
            found[number] = texts[owner][slice(*span)]
    return found
