"""``lookalike add``"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import click

import lookalike
from lookalike.cli.inputs import document_options
from lookalike.cli.options import answer_options, note, print_json, say
from lookalike.cli.pages import Fetching, check_language_option, fetch_options, language_option, read_page
from lookalike.cli.progress import Counter, ProblemNotes
from lookalike.cli.stores import collection_option, created, creation_options, expiry_options, store_argument
from lookalike.deduping.record_columns import parse_columns
from lookalike.errors import FetchError, InputError
from lookalike.figures import counted
from lookalike.fingerprints.record import comparable_documents
from lookalike.text.code import check_language, code_recipe, language_of


@click.command("add")
@store_argument
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@document_options
@click.option(
    "--as", "what", type=click.Choice(["text", "record", "code"]), default="text", show_default=True, help="What a row or a file is."
)
@click.option("--columns", help="--as record: the columns of the record, NAME[:WEIGHT[:MEASURE]], with commas [default: all but the id]")
@language_option
@fetch_options
@expiry_options
@collection_option
@creation_options
@answer_options
def command(
    store: str,
    inputs: tuple[str, ...],
    text_column: str,
    id_column: str,
    what: str,
    columns: str | None,
    format_: str | None,
    extract: str,
    encoding: str | None,
    language: str | None,
    fetch: bool,
    allow_private: bool,
    ttl: float | None,
    expires: str | float | None,
    collection: str,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Add the documents of each INPUT to STORE, which is made if it is not there.

    An INPUT is a file, a folder, a pattern, or '-' for JSON lines on standard input. A row of a JSONL, JSON, CSV, TSV or
    Parquet file (also .gz, .zst) is a document, and so is each page of a web archive (.warc), called by its address; any
    other file is one document, called by its path. Of web pages the main text is taken, and their structure for 'search
    --by structure'; with --fetch an INPUT can be the address of one. --as record: a row is structured data, for 'search
    --as record'. A document whose id is there already replaces the old one. What cannot be used is named on standard
    error and counted. --as code: the
    collection compares source code in one language, where names, literals, comments and layout do not count; files in
    other languages are left out.
    """
    check_language_option(what, language)
    if what == "code":
        language = _language(inputs, language, settings)
        format_ = format_ or "text"
        settings["recipe"] = code_recipe(language)
    fetching = Fetching(fetch, allow_private)
    fields, rules = _record_columns(what, columns)
    urls = [name for name in inputs if fetching.check(name)]
    with Counter(quiet, "documents") as progress:
        problems = ProblemNotes(progress, quiet)
        documents = lookalike.documents(
            [name for name in inputs if name not in urls],
            text_column=text_column,
            id_column=id_column,
            format=format_,
            encoding=encoding,
            extract=extract,
            binary=True,
            columns=fields,
            on_problem=problems,
        )
        if language is not None:
            documents = _in_language(documents, language, problems)
        first = list(islice(documents, 1))  # what is wrong with the input as a whole is said before there is a store
        with created(store, collection, **settings, **rules) as index:
            weights, measures = (index.settings.get(name, {}) for name in ("weights", "measures"))
            usable = comparable_documents(chain(first, documents), weights, measures, problems)
            fetched = _fetched(urls, fetching, extract, encoding, problems)
            done = index.add(chain(usable, fetched), progress=progress.at, ttl=ttl, expires=expires)
            progress.again("documents indexed")
            index.close(progress.at)
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


def _record_columns(what: str, columns: str | None) -> tuple[tuple[str, ...] | None, dict[str, Any]]:
    """The columns of records, and how a new collection weighs and compares them."""
    if what != "record":
        if columns is not None:
            raise InputError("--columns belongs to --as record: texts have one column, --text-column")
        return None, {}
    found = parse_columns(columns)
    return found.names, {"weights": dict(found.weights), "measures": dict(found.measures)} if columns is not None else {}


def _language(inputs: tuple[str, ...], language: str | None, settings: dict[str, Any]) -> str:
    """The one language of a collection: the one that is named, or that of all the files."""
    if settings["recipe"] is not None:
        raise InputError("--as code: code has a recipe of its own: leave out --recipe")
    if language is not None:
        return check_language(language)
    try:
        found = {language_of(Path(name)) for name in inputs}
    except InputError as error:
        raise InputError(f"{error} (--language python)") from error
    if len(found) > 1:
        raise InputError(f"files in {', '.join(sorted(found))}: a collection has one language; name it (--language {min(found)})")
    return found.pop()


def _in_language(documents: Iterator[lookalike.Document], language: str, problems: ProblemNotes) -> Iterator[lookalike.Document]:
    """The documents of files in a language; one without a file is taken as it is."""
    for document in documents:
        try:
            its = language if document.path is None else language_of(document.path)
        except InputError:
            its = "no language that is known"
        if its == language:
            yield document
        else:
            problems(lookalike.Problem("another language", str(document.id), f"{its}, and the collection has {language}"))


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
