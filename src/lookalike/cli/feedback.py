"""``lookalike feedback``"""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import lookalike
from lookalike.cli.inputs import standard_input
from lookalike.cli.options import answer_options, bar, form_option, forms_of, note, print_json, print_table, say
from lookalike.cli.progress import Counter, ProblemNotes
from lookalike.corpus.writing import atomic_file, check_outputs, check_reports
from lookalike.errors import InputError
from lookalike.figures import counted, shown_share

if TYPE_CHECKING:
    from lookalike import FeedbackReport, Problem
    from lookalike.drafts.aggregate import Summary

SHOWN_PASSAGES = 10
SHOWN_PAIRS = 5
SHOWN_GROUPS = 30


@click.command("feedback")
@click.argument("pairs", metavar="PAIRS")
@click.option("--by", default=None, help="Columns to sum up by, separated by commas [default: model, where it is there]")
@click.option("--html", "html", type=click.Path(dir_okay=False, path_type=Path), help="Write a report with plots to this file.")
@click.option("--rows-out", type=click.Path(dir_okay=False, path_type=Path), help="Write a row for each pair to this .jsonl or .csv file.")
@click.option("--rows", is_flag=True, help="With --json: the rows too (they are held in memory).")
@click.option("--problems-out", type=click.Path(dir_okay=False, path_type=Path), help="Write every problem to this .jsonl file.")
@click.option("--bounds", default=None, help="Largest edit share of: as is, light, heavy, rewritten [default: 0,0.3,0.7,0.9]")
@form_option("invisible")
@click.option("--draft-column", default="draft", show_default=True, help="Column of the draft.")
@click.option("--final-column", default="final", show_default=True, help="Column of the final text.")
@click.option("--id-column", default="id", show_default=True, help="Column of the id; without one the line number serves.")
@click.option("--time-column", default="time", show_default=True, help="Column of the time (ISO 8601), for the trend.")
@click.option("--format", "format_", type=click.Choice(["jsonl", "csv", "parquet"]), help="Format of PAIRS [default: from its name]")
@click.option("--encoding", default="utf-8", show_default=True, help="Encoding of JSON lines and CSV.")
@click.option("--max-side", type=click.IntRange(1), default=10, show_default=True, help="MiB; pairs with a larger side are skipped.")
@click.option("--workers", type=int, default=1, show_default=True, help="Processes; the output does not depend on it.")
@answer_options
def command(pairs: str, as_json: bool, quiet: bool, **options: Any) -> None:
    """How usable drafts were: what people kept of each, overall, by model and over time.

    PAIRS has a draft and a final text per line: JSON lines, CSV or Parquet, also .gz ('-' is standard input). Pairs that
    cannot be judged are skipped, named on standard error and counted. Exit code 0: done, 2: no pair could be judged.
    """
    check_reports([], {"--html": options["html"]})
    check_outputs([pairs], rows_out=options["rows_out"], html=options["html"], problems_out=options["problems_out"])
    with ExitStack() as files:
        report = _run(pairs, quiet, files, options, keep_rows=options["rows"] and as_json)
    if report.pairs and options["html"]:
        report.to_html(options["html"])
    if as_json:
        print_json(report.to_dict(rows=options["rows"]))
    elif report.pairs:
        _show(report)
    _finish(report, quiet)


def _run(pairs: str, quiet: bool, files: ExitStack, options: dict[str, Any], *, keep_rows: bool) -> FeedbackReport:
    progress = files.enter_context(Counter(quiet, "pairs"))
    notes = ProblemNotes(progress, quiet)
    problems = files.enter_context(atomic_file(options["problems_out"])) if options["problems_out"] else None

    def on_problem(problem: Problem) -> None:
        notes(problem)
        if problems:
            problems.write(json.dumps(problem.to_dict()).encode() + b"\n")

    found = lookalike.feedback(
        standard_input() if pairs == "-" else Path(pairs),
        by=[name.strip() for name in options["by"].split(",")] if options["by"] else None,
        bounds=_bounds(options["bounds"]),
        ignore_form=forms_of(options["ignore_form"]),
        draft_column=options["draft_column"],
        final_column=options["final_column"],
        id_column=options["id_column"],
        time_column=options["time_column"],
        format=options["format_"],
        encoding=options["encoding"],
        keep_rows=keep_rows,
        rows_out=options["rows_out"],
        on_row=progress.step,
        on_problem=on_problem,
        max_side_bytes=options["max_side"] << 20,
        workers=options["workers"],
    )
    notes.finish("" if problems else " (all of them: --problems-out FILE.jsonl)")
    return found


def _bounds(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise InputError(f"--bounds {text}: give four numbers separated by commas, such as 0,0.3,0.7,0.9") from error


def _show(report: FeedbackReport) -> None:
    found = report.summary
    say(f"{counted(found.pairs, 'pair')}: {shown_share(found.usable)} usable (as is, after a light edit, or extended)", bold=True)
    spreads = (("edit share", found.edit_share), ("kept", found.kept), ("added", found.added))
    say(" · ".join(f"{name}: mean {shown_share(spread.mean)}, median {shown_share(spread.median)}" for name, spread in spreads))
    if found.mean("form"):
        say(f"edited in form alone ({', '.join(report.forms)}): mean {shown_share(found.mean('form'))}, not in the edit share")
    say()
    verdicts = found.to_dict()["verdicts"].items()
    rows = [(name, f"{count:,}", shown_share(count / found.pairs), bar(count / found.pairs, 30)) for name, count in verdicts]
    print_table(("verdict", "pairs", "share", ""), rows, right=(1, 2))
    for name in report.groups:
        groups = report.by(name)
        _show_summaries(name, list(groups.items())[:SHOWN_GROUPS])
        if len(groups) > SHOWN_GROUPS:
            say(f"… and {len(groups) - SHOWN_GROUPS} more (all of them: --json)")
    points = report.periods.points()
    if points:
        _show_summaries(f"{report.periods.unit} from", [(day.isoformat(), summary) for day, summary in points])
    _show_passages(report)


def _show_summaries(title: str, summaries: list[tuple[str, Summary]]) -> None:
    say()
    rows = [
        (
            value,
            f"{each.pairs:,}",
            *map(shown_share, (each.usable, each.edit_share.mean, each.edit_share.median, each.kept.mean, each.added.median)),
        )
        for value, each in summaries
    ]
    print_table((title, "pairs", "usable", "edit share", "median", "kept", "added"), rows, right=(1, 2, 3, 4, 5, 6))


def _shortened(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"


def _show_passages(report: FeedbackReport) -> None:
    if report.most_edited:
        say()
        pairs = [
            (pair.row.id, pair.row.verdict, shown_share(pair.row.edit_share), shown_share(pair.row.kept), _shortened(pair.draft, 60))
            for pair in report.most_edited[:SHOWN_PAIRS]
        ]
        print_table(("most edited", "verdict", "edit share", "kept", "draft"), pairs, right=(2, 3))
    if report.deleted_passages:
        say()
        passages = [
            (_shortened(found.text, 80), f"{found.count:,}", ", ".join(found.ids[:3])) for found in report.deleted_passages[:SHOWN_PASSAGES]
        ]
        print_table(("often removed", "times", "for example in"), passages, right=(1,))


def _finish(report: FeedbackReport, quiet: bool) -> None:
    if report.problem_counts:
        counts = ", ".join(f"{kind}: {count:,}" for kind, count in report.problem_counts.items())
        note(f"{report.skipped:,} of {report.pairs + report.skipped:,} pairs skipped ({counts})", quiet)
    if not report.pairs:
        raise InputError("no pair could be judged: check the file, and the names of its columns (--draft-column, --final-column)")
