"""How usable drafts were: ``feedback(pairs)``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict, Unpack

from lookalike.checks import check_bool, check_callback, check_int, check_path, check_str
from lookalike.corpus.row import Problem
from lookalike.corpus.writing import check_outputs, write_file
from lookalike.drafts.aggregate import Groups, Summary, Trend
from lookalike.drafts.edit_share import METHOD
from lookalike.drafts.judge import ROW_NAMES, Bounds, DraftRow, Judged, row_of
from lookalike.drafts.pairs import GROUP_COLUMNS, MAX_SIDE_BYTES, DraftPair, PairColumns, PairReader
from lookalike.drafts.row_files import row_writer
from lookalike.drafts.sketches import Frequent, FrequentPassages, Top
from lookalike.drafts.sources import records_of
from lookalike.drafts.workers import judged
from lookalike.errors import InputError
from lookalike.options import checked, taken, takes
from lookalike.text.forms import UNSEEN, check_forms
from lookalike.version import __version__

MOST_EDITED = 20
MOST_PASSAGES = 20
MAX_PROBLEMS = 1000  # named one by one in the report; all of them are counted


@dataclass(frozen=True, slots=True)
class EditedPair:
    """A row, and how its two texts begin."""

    row: DraftRow
    draft: str
    final: str

    def to_dict(self) -> dict[str, Any]:
        return {**self.row.to_dict(), "draft": self.draft, "final": self.final}


@dataclass(slots=True)
class FeedbackReport:
    """What became of a set of drafts."""

    bounds: Bounds
    summary: Summary
    most_edited: list[EditedPair]
    deleted_passages: list[Frequent]
    problems: list[Problem]  # the first MAX_PROBLEMS
    problem_counts: dict[str, int]
    skipped: int
    groups: dict[str, Groups]
    periods: Trend
    rows_kept: list[DraftRow] | None
    columns: PairColumns = field(default_factory=PairColumns)
    forms: tuple[str, ...] = UNSEEN  # that did not count

    @property
    def pairs(self) -> int:
        """How many pairs are in the numbers."""
        return self.summary.pairs

    @property
    def rows(self) -> list[DraftRow]:
        """A row for each pair, in the order of the input."""
        if self.rows_kept is None:
            raise InputError("rows were not kept: call feedback with keep_rows=True, or take each row as it comes with on_row")
        return self.rows_kept

    def by(self, column: str) -> dict[str, Summary]:
        """A summary for each value of a column, the largest group first."""
        if column in self.groups:
            return self.groups[column].ranked()
        if self.rows_kept is None or column not in self.columns.groups:
            known = sorted({*self.groups, *(self.columns.groups if self.rows_kept is not None else ())})
            raise InputError(f"by={column!r}: name it in by= of feedback; known columns are {', '.join(known) or 'none'}")
        groups = Groups()
        for row in self.rows_kept:
            groups.add(row.groups[column], row)
        return groups.ranked()

    def trend(self) -> list[dict[str, Any]]:
        """A summary for each day, week, month or year, in order; empty if no pair has a time."""
        return self.periods.to_list()

    def to_dict(self, *, rows: bool = False) -> dict[str, Any]:
        out: dict[str, Any] = {
            "pairs": self.pairs,
            "skipped": self.skipped,
            "aggregates": {**self.summary.to_dict(), "distribution": self.summary.distribution()},
            "by": {name: {value: summary.to_dict() for value, summary in self.by(name).items()} for name in self.groups},
            "trend": self.trend(),
            "most_edited": [pair.to_dict() for pair in self.most_edited],
            "deleted_passages": [passage.to_dict() for passage in self.deleted_passages],
            "bounds": self.bounds.to_dict(),
            "problem_counts": self.problem_counts,
            "problems": [problem.to_dict() for problem in self.problems],
            "signature": {"lookalike": __version__, "edit_share": METHOD} | ({"form": "+".join(self.forms)} if self.forms else {}),
        }
        if rows:
            out["rows"] = [row.to_dict() for row in self.rows]
        return out

    def to_csv(self, path: Path | str) -> None:
        """The rows as CSV that a spreadsheet may open: no cell can be taken for a formula."""
        rows = self.rows  # asked for first: without them there shall be no file
        with row_writer(check_path("path", path), self.columns.groups, "csv") as writer:
            for row in rows:
                writer.write(row.to_dict())

    def to_html(self, path: Path | str | None = None, *, title: str = "Feedback on drafts") -> str:
        """One page that opens offline; written to ``path`` if there is one."""
        from lookalike.drafts.html_report import page

        html = page(self, check_str("title", title))
        if path is not None:
            write_file(check_path("path", path), html)
        return html


class FeedbackOptions(TypedDict, total=False):
    draft_column: str
    final_column: str
    id_column: str
    time_column: str
    format: str | None
    encoding: str
    keep_rows: bool
    rows_out: Path | str | None
    on_row: Callable[[DraftRow], object] | None
    on_problem: Callable[[Problem], object] | None


@dataclass(frozen=True, slots=True)
class PairInput:
    """How pairs are read."""

    draft_column: str = "draft"
    final_column: str = "final"
    id_column: str = "id"
    time_column: str = "time"
    format: str | None = None
    encoding: str = "utf-8"

    def columns(self, by: Iterable[str]) -> PairColumns:
        groups = tuple(dict.fromkeys((*GROUP_COLUMNS, *by)))
        return PairColumns(self.draft_column, self.final_column, self.id_column, self.time_column, groups)


@dataclass(frozen=True, slots=True)
class RowOutputs:
    """What becomes of the rows and the problems of a call, besides the sums."""

    keep_rows: bool = True
    rows_out: Path | str | None = None
    on_row: Callable[[DraftRow], object] | None = None
    on_problem: Callable[[Problem], object] | None = None

    def __post_init__(self) -> None:
        if self.rows_out is not None:
            check_path("rows_out", self.rows_out)
        check_callback("on_row", self.on_row)
        check_callback("on_problem", self.on_problem)
        check_bool("keep_rows", self.keep_rows)

    @property
    def path(self) -> Path | None:
        return None if self.rows_out is None else Path(self.rows_out)


@takes(PairInput, RowOutputs)
def feedback(
    pairs: Any,
    *,
    by: str | Iterable[str] | None = None,
    bounds: Bounds | Sequence[float] | None = None,
    ignore_form: Iterable[str] | None = None,
    max_side_bytes: int = MAX_SIDE_BYTES,
    workers: int = 1,
    **options: Unpack[FeedbackOptions],
) -> FeedbackReport:
    """Judge each (draft, final) pair, and sum up.

    ``pairs`` is a path (JSON lines, CSV or Parquet; .gz, .zst), an open binary file, an Arrow, Polars or pandas table, or an
    iterable of mappings or (draft, final) tuples. ``by`` names the columns to sum up by ("model" by default, where it
    is there). ``ignore_form`` names forms that do not count (``lookalike.text.forms``), by default what nobody sees; how much was edited
    in form alone is a share of its own. With ``keep_rows=False`` memory stays flat however many pairs there are; ``rows_out`` (.jsonl or
    .csv) and ``on_row`` get each row as it comes.
    """
    asked = checked(feedback, options)
    outputs, given = taken(RowOutputs, asked), taken(PairInput, asked)
    wanted = _column_names(by)
    columns = given.columns(wanted)
    check_int("max_side_bytes", max_side_bytes, 1, remedy="choose a number of bytes from 1 on")
    check_outputs([check_path("pairs", pairs)] if isinstance(pairs, str | Path) else [], rows_out=outputs.path)
    reader = PairReader(columns, max_side_bytes, wanted)
    limits = Bounds.of(bounds)
    forms = check_forms(ignore_form, UNSEEN)
    collector = _Collector(limits, columns, wanted or ("model",), outputs)
    judgements = judged(reader.read(records_of(pairs, columns, given.format, given.encoding, reader.check_header)), limits, workers, forms)
    with row_writer(outputs.path, columns.groups) if outputs.path is not None else nullcontext() as writer:
        for item, found in judgements:
            if isinstance(item, Problem):
                collector.add_problem(item)
            elif found is not None:
                row = collector.add(item, found)
                if writer:
                    writer.write(row.to_dict())
        reader.named.check()  # before the rows have their file
    return collector.report(reader.seen_columns | set(wanted), forms)


def _column_names(by: str | Iterable[str] | None) -> tuple[str, ...]:
    if by is not None and not isinstance(by, Iterable):
        raise InputError(f"by={by!r}: give the name of a column, or several")
    names = () if by is None else (by,) if isinstance(by, str) else tuple(by)
    for name in names:
        if not isinstance(name, str) or not name or name in ROW_NAMES:
            raise InputError(f"by={name!r}: choose the name of a column of the input, other than {', '.join(sorted(ROW_NAMES))}")
    return tuple(dict.fromkeys(names))


class _Collector:
    """The running sums of one call."""

    def __init__(self, bounds: Bounds, columns: PairColumns, by: tuple[str, ...], outputs: RowOutputs) -> None:
        self.bounds, self.columns, self.outputs = bounds, columns, outputs
        self.rows: list[DraftRow] | None = [] if outputs.keep_rows else None
        self.summary = Summary()
        self.groups: Mapping[str, Groups] = {name: Groups() for name in by}
        self.trend = Trend()
        self.most_edited: Top[EditedPair] = Top(MOST_EDITED)
        self.passages = FrequentPassages()
        self.problems: list[Problem] = []
        self.problem_counts: Counter[str] = Counter()
        self.skipped = 0

    def add(self, pair: DraftPair, found: Judged) -> DraftRow:
        row = row_of(pair, found)
        self.summary.add(row)
        for name, groups in self.groups.items():
            groups.add(row.groups[name], row)
        self.trend.add(row)
        if row.edit_share:
            self.most_edited.add((row.edit_share, row.draft_characters), EditedPair(row, *found.excerpts))
        self.passages.add(found.removed, row.id)
        if self.rows is not None:
            self.rows.append(row)
        if self.outputs.on_row:
            self.outputs.on_row(row)
        return row

    def add_problem(self, problem: Problem) -> None:
        self.problem_counts[problem.kind] += 1
        self.skipped += problem.skipped
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)
        if self.outputs.on_problem:
            self.outputs.on_problem(problem)

    def report(self, seen: set[str], forms: tuple[str, ...]) -> FeedbackReport:
        return FeedbackReport(
            bounds=self.bounds,
            summary=self.summary,
            most_edited=self.most_edited.items(),
            deleted_passages=self.passages.most(MOST_PASSAGES),
            problems=self.problems,
            problem_counts=dict(self.problem_counts),
            skipped=self.skipped,
            groups={name: groups for name, groups in self.groups.items() if name in seen},
            periods=self.trend,
            rows_kept=self.rows,
            columns=self.columns,
            forms=forms,
        )
