"""``lookalike add``"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import click

import lookalike
from lookalike.cli.inputs import document_options
from lookalike.cli.options import json_option, note, print_json, quiet_option, say
from lookalike.cli.pages import Fetching, fetch_options, read_page
from lookalike.cli.progress import ProblemNotes, Progress
from lookalike.cli.stores import collection_option, created, creation_options, store_argument
from lookalike.errors import FetchError, InputError
from lookalike.figures import counted


@click.command("add")
@store_argument
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@document_options
@fetch_options
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
    fetch: bool,
    allow_private: bool,
    collection: str,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Add the documents of each INPUT to STORE, which is made if it is not there.

    An INPUT is a file, a folder, a pattern, or '-' for JSON lines on standard input. A row of a JSONL, JSON, CSV, TSV or
    Parquet file (also .gz, .zst) is a document, and so is each page of a web archive (.warc), called by its address; any
    other file is one document, called by its path. Of web pages the main text is taken, and their structure for 'search --by
    structure'; with --fetch an INPUT can be the address of one. A document whose id is there already replaces the old
    one. What cannot be used is named on standard error and counted.
    """
    fetching = Fetching(fetch, allow_private)
    urls = [name for name in inputs if fetching.check(name)]
    with Progress(quiet, "documents") as progress:
        problems = ProblemNotes(progress, quiet)
        documents = lookalike.documents(
            [name for name in inputs if name not in urls],
            text_column=text_column,
            id_column=id_column,
            format=format_,
            encoding=encoding,
            extract=extract,
            on_problem=problems,
        )
        first = list(islice(documents, 1))  # what is wrong with the input as a whole is said before there is a store
        with created(store, collection, **settings) as index:
            done = index.add(chain(first, documents, _fetched(urls, fetching, extract, encoding, problems)), progress=progress.at)
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


def _fetched(
    urls: list[str], fetching: Fetching, extract: str, encoding: str | None, problems: ProblemNotes
) -> Iterator[lookalike.Document]:
    """Pages by their addresses. One that cannot be had is named, and the others are fetched."""
    for url in urls:
        try:
            page = read_page(url, fetching, encoding, quiet=True)
            yield lookalike.Document(url, lookalike.page_text(page, extract), {"url": page.name} if page.name != url else {}, page=page)
        except (FetchError, InputError) as error:
            problems(lookalike.Problem("unreachable page", url, str(error).removeprefix(f"{url}: ")))
