"""``lookalike add``"""

from __future__ import annotations

from typing import Any

import click

import lookalike
from lookalike.cli.options import counted, json_option, note, print_json, quiet_option, say
from lookalike.cli.progress import ProblemNotes, Progress
from lookalike.cli.stores import collection_option, created, creation_options, store_argument
from lookalike.errors import InputError

FORMATS = ["jsonl", "json", "csv", "tsv", "parquet", "text", "html", "warc"]


@click.command("add")
@store_argument
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("--text-column", default="text", show_default=True, help="Column of the text.")
@click.option("--id-column", default="id", show_default=True, help="Column of the id; without one, file and row serve.")
@click.option("--format", "format_", type=click.Choice(FORMATS), default=None, help="Format of all inputs [default: from their names]")
@click.option("--extract", type=click.Choice(["main", "all"]), default="main", show_default=True, help="Text of web pages: main or all.")
@click.option("--encoding", default=None, help="Encoding of the inputs [default: found out for texts, UTF-8 for tables]")
@collection_option
@creation_options
@json_option
@quiet_option
def command(
    store: str,
    inputs: tuple[str, ...],
    text_column: str,
    id_column: str,
    format_: str | None,
    extract: str,
    encoding: str | None,
    collection: str,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Add the documents of each INPUT to STORE, which is made if it is not there.

    An INPUT is a file, a folder, a pattern, or '-' for JSON lines on standard input. A row of a JSONL, JSON, CSV, TSV or
    Parquet file (also .gz, .zst) is a document, and so is each page of a web archive (.warc), called by its address; any
    other file is one document, called by its path. Of web pages the main text is taken. A document whose id is
    there already replaces the old one. What cannot be used is named on standard error and counted.
    """
    with Progress(quiet, "documents") as progress:
        problems = ProblemNotes(progress, quiet)
        documents = lookalike.documents(
            inputs,
            text_column=text_column,
            id_column=id_column,
            format=format_,
            encoding=encoding,
            extract=extract,
            on_problem=problems,
        )
        with created(store, collection, **settings) as index:
            done = index.add(documents, progress=progress.at)
        problems.finish()
    count = done.added + done.updated
    if as_json:
        print_json({"documents": count, "added": done.added, "updated": done.updated, "skipped": problems.skipped})
    else:
        say(f"{counted(count, 'document')}: {done.added:,} added, {done.updated:,} updated")
        if problems.skipped:
            note(f"{problems.skipped:,} skipped", quiet)
    if not count and problems.skipped:
        raise InputError("nothing could be added: check the files, and the names of their columns (--text-column, --id-column)")
