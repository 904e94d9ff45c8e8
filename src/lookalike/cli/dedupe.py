"""``lookalike dedupe``"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import lookalike
from lookalike.cli.dedupe_options import (
    against_options,
    engine_of,
    engine_options,
    input_options,
    level_options,
    method_options,
    resource_options,
    stream_options,
)
from lookalike.cli.dedupe_stream import stream
from lookalike.cli.options import answer_options, note, print_json, print_table, say
from lookalike.cli.progress import ProblemNotes, StageCounter
from lookalike.errors import InputError
from lookalike.figures import counted, shown_score

if TYPE_CHECKING:
    from lookalike import DedupeReport, Recipe
    from lookalike.spark import SparkReport

# numpy would start a thread a core for linear algebra, of which there is none here; models have threads of their own.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

SHOWN_CLUSTERS = 5
RULES = {"exact": "duplicates have equal words, whatever their case and punctuation", "bytes": "duplicates are equal to the byte"}


@click.command("dedupe")
@click.argument("inputs", metavar="INPUT...", nargs=-1, required=True)
@click.option("--out", help="Write what stays here: a file, or a folder for several inputs ('-' is standard output).")
@click.option("--removed", type=click.Path(dir_okay=False, path_type=Path), help="List what was removed and why (.jsonl, .csv, .parquet).")
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write a report with plots to this file.")
@click.option(
    "--annotate",
    is_flag=True,
    help="Keep every row, and add cluster, kept, kept_id and similarity, or what would be cut.",
)
@click.option("--as", "what", type=click.Choice(["text", "record"]), default="text", show_default=True, help="What a row is.")
@click.option("--columns", help="--as record: the columns to compare, NAME[:WEIGHT[:MEASURE]], with commas [default: all but the id]")
@method_options
@click.option("--keep", default="first", show_default=True, help="Which of two stays: first, longest, newest:COL or best:COL.")
@level_options
@input_options
@engine_options
@resource_options
@click.option("--max-removed", help="Stop before writing if more would be removed, such as 30% or 1000 (exit code 8).")
@click.option(
    "--on-error", type=click.Choice(["stop", "skip"]), default="stop", show_default=True, help="What a row that cannot be used does."
)
@against_options
@stream_options
@click.option("--resume", is_flag=True, help="Go on where an interrupted run ended.")
@answer_options
def command(inputs: tuple[str, ...], what: str, as_json: bool, quiet: bool, **options: Any) -> None:
    """A corpus without near-duplicates, and the record of what was removed.

    INPUT is a file (JSONL, CSV, Parquet, text, HTML, WARC; .gz, .zst), a folder, a pattern or '-'. Every removed document
    was compared, exactly, with the kept one it points at. --as record: rows of a table that are alike in several columns.
    Exit code 0: done, 2: bad input, 8: more would be removed than --max-removed allows.
    """
    if options["bloom"] is not None:
        stream(inputs, as_json, quiet, options)
        return
    engine = engine_of(options)
    del options["bloom"]
    if options.pop("capacity") is not None:
        raise InputError("--capacity belongs to --bloom: say which rate of errors you accept")
    if options["out"] is None and options["removed"] is None and options["html"] is None:
        raise InputError("nothing would be written: name --out, or --removed or --html to be told only what would go")
    if what == "record":
        if options["method"] != "minhash":
            raise InputError(f"--as record compares columns: leave out --method {options['method']}")
        options["method"] = "record"
    elif options["columns"] is not None:
        raise InputError("--columns belongs to --as record: texts have one column, --text-column")
    options["against"] = (
        (options["against"][0] if len(options["against"]) == 1 else list(options["against"])) if options["against"] else None
    )
    with StageCounter(quiet) as progress:
        notes = ProblemNotes(progress, quiet)
        report: Any = lookalike.dedupe(list(inputs), on_problem=notes, progress=progress.stage, engine=engine, **options)
        notes.finish()
    if engine != "local":
        _show_spark(report, as_json)
        return
    if report.settings.method == "simhash":
        _note_weak(report.settings.recipe, quiet)
    if as_json:
        _print(report, options["out"])
    elif options["out"] != "-":
        _show(report)


def _note_weak(recipe: Recipe, quiet: bool) -> None:
    from lookalike.fingerprints.reposts import CHARACTERS, ENGLISH, RECOMMENDED, is_weak

    if is_weak(recipe) and recipe.tokenizer not in CHARACTERS:
        better = f"--recipe {RECOMMENDED} finds more (of English, {ENGLISH}), and 'lookalike plan --method simhash' says how many"
        note(f"SimHashes of this recipe find few copies that were edited: {better}", quiet)


def _show_spark(report: SparkReport, as_json: bool) -> None:
    with report:
        found = report.to_dict()
    if as_json:
        print_json(found)
        return
    say(report.headline(), bold=True)
    say(" · ".join([counted(found["clusters"], "cluster"), f"{counted(found['compared'], 'pair')} compared", f"{found['seconds']:.1f} s"]))


def _print(report: DedupeReport, out: str) -> None:
    if out == "-":
        note("--json is not printed, because standard output holds the documents", False)
        return
    print_json(report.to_dict())


def _show(report: DedupeReport) -> None:
    found = report.to_dict()
    say(report.headline(), bold=True)
    details = [counted(found["clusters"], "cluster"), f"{counted(found['compared'], 'pair')} compared", f"{found['seconds']:.1f} s"]
    details += [RULES[found["settings"]["method"]]] if found["settings"]["method"] in RULES else []
    details += [
        f"{found[name]:,} {shown}"
        for name, shown in (("without_text", "without text"), ("empty_texts", "empty"), ("skipped", "skipped"))
        if found[name]
    ]
    say(" · ".join(details))
    rows = []
    for cluster, _ in zip(report.clusters(), range(SHOWN_CLUSTERS), strict=False):
        first = cluster.removed[0]
        rows.append((str(cluster.kept), f"{len(cluster.removed):,}", str(first.id), shown_score(first.similarity)))
    if rows:
        say()
        print_table(("kept", "removed", "for example", "similarity"), rows, right=(1, 3))
