"""``lookalike remove``"""

from __future__ import annotations

import click

from lookalike.cli.options import answer_options, note, print_json, say, working
from lookalike.cli.stores import collection_option, existing, ids_of, store_argument, stored_id
from lookalike.figures import counted


@click.command("remove")
@store_argument
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@collection_option
@answer_options
def command(store: str, ids: tuple[str, ...], collection: str, as_json: bool, quiet: bool) -> None:
    """Remove the documents with these IDs from STORE ('-': ids on standard input, one per line)."""
    named = ids_of(ids)
    with existing(store, collection, writing=True) as index, working(f"removing {counted(len(named), 'document')}", quiet):
        removed = index.remove([stored_id(index, name) for name in named])
    missing = len(named) - removed
    if as_json:
        print_json({"removed": removed, "missing": missing})
        return
    say(f"{removed:,} removed")
    if missing:
        note(f"not there: {missing:,}", quiet)
