"""``lookalike load``"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lookalike.cli.options import answer_options, print_json, say
from lookalike.cli.progress import Counter
from lookalike.cli.stores import collection_option, created, creation_options, store_argument
from lookalike.figures import counted


@click.command("load")
@store_argument
@click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@collection_option
@creation_options
@click.option("--refingerprint", is_flag=True, help="Load into a collection with other settings: all fingerprints are made anew.")
@answer_options
def command(store: str, file: Path, collection: str, refingerprint: bool, as_json: bool, quiet: bool, **settings: Any) -> None:
    """Add what 'lookalike export' wrote to FILE to STORE, which is made like the one that was exported if it is not there."""
    with created(store, collection, **settings) as index, Counter(quiet, "documents") as progress:
        count = index.load(file, refingerprint=refingerprint, progress=progress.at)
        progress.again("documents indexed")
        index.close(progress.at)
    if as_json:
        print_json({"documents": count})
    else:
        say(f"{counted(count, 'document')} loaded")
