"""``lookalike stats``"""

from __future__ import annotations

import click

from lookalike.cli.options import json_option, print_facts, print_json
from lookalike.cli.stores import collection_option, existing, store_argument


@click.command("stats")
@store_argument
@collection_option
@json_option
def command(store: str, collection: str, as_json: bool) -> None:
    """What STORE holds: documents, recipe, kinds of fingerprints, sizes."""
    with existing(store, collection) as index:
        facts = index.stats()
    if as_json:
        print_json(facts)
    else:
        settings = {name: value for name, value in facts["settings"].items() if name != "recipe"}  # its id says it all
        print_facts(facts | {"settings": settings})
