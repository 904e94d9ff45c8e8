"""``lookalike get``"""

from __future__ import annotations

import json
import sys

import click

import lookalike
from lookalike.cli.options import answer_options, complain, print_json, say
from lookalike.cli.stores import collection_option, existing, ids_of, store_argument, stored_id
from lookalike.errors import NotFound
from lookalike.reports.escaping import printable


@click.command("get")
@store_argument
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@collection_option
@answer_options
def command(store: str, ids: tuple[str, ...], collection: str, as_json: bool, quiet: bool) -> None:
    """Print the documents with these IDs ('-': ids on standard input, one per line). Exit code 3 if one is not there."""
    missing = False
    with existing(store, collection) as index:
        for number, name in enumerate(ids_of(ids)):
            try:
                document = index.get(stored_id(index, name))
            except NotFound as error:
                complain(error)
                missing = True
                continue
            if as_json:
                print_json({"id": document.id, "text": document.text, "meta": dict(document.meta)})
            else:
                _show(document, first=not number)
    if missing:
        sys.exit(NotFound.exit_code)


def _show(document: lookalike.Document, *, first: bool) -> None:
    if not first:
        say()
    say(str(document.id), bold=True)
    for name, value in document.meta.items():
        say(f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}", dim=True)
    if document.text is None:
        say("(the text is not kept here)", dim=True)
        return
    for line in document.text.splitlines():
        click.echo(printable(line.expandtabs()))
