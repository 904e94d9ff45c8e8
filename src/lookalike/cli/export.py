"""``lookalike export``"""

from __future__ import annotations

from pathlib import Path

import click

from lookalike.cli.options import answer_options, print_json, say
from lookalike.cli.progress import Counter
from lookalike.cli.stores import collection_option, existing, store_argument
from lookalike.figures import counted


@click.command("export")
@store_argument
@click.argument("out", metavar="OUT", type=click.Path(dir_okay=False, path_type=Path))
@collection_option
@answer_options
def command(store: str, out: Path, collection: str, as_json: bool, quiet: bool) -> None:
    """Write all documents of STORE to OUT: .jsonl (also .gz, .zst) or .parquet. 'lookalike load' reads them back."""
    with existing(store, collection) as index, Counter(quiet, "documents") as progress:
        count = index.export(out, progress=progress.at)
    if as_json:
        print_json({"documents": count, "out": str(out)})
    else:
        say(f"{counted(count, 'document')} → {out}")
