"""``lookalike compact``"""

from __future__ import annotations

import click

from lookalike.cli.options import answer_options, print_facts, print_json, progress_bar
from lookalike.cli.stores import collection_option, existing, store_argument


@click.command("compact")
@store_argument
@collection_option
@answer_options
def command(store: str, collection: str, as_json: bool, quiet: bool) -> None:
    """Merge what many additions and removals left in pieces: less space, faster searches."""
    with existing(store, collection, writing=True) as index, progress_bar("compacting the store", quiet, len(index)) as count:
        facts = index.compact(progress=count)
    if as_json:
        print_json(facts)
    else:
        print_facts(facts)
