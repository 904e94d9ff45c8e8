"""``lookalike check``"""

from __future__ import annotations

import sys

import click

from lookalike.cli.options import answer_options, print_json, progress_bar, say
from lookalike.cli.stores import collection_option, existing, store_argument
from lookalike.errors import Corrupt


@click.command("check")
@store_argument
@click.option("--repair", is_flag=True, help="Make anew what can be made from the documents.")
@collection_option
@answer_options
def command(store: str, repair: bool, collection: str, as_json: bool, quiet: bool) -> None:
    """Check everything in STORE against its documents. Exit code 5 if something is wrong and was not repaired."""
    with existing(store, collection, writing=repair) as index, progress_bar("checking the store", quiet, len(index)) as count:
        report = index.check(repair=repair, progress=count)
    if as_json:
        print_json(report.to_dict())
    else:
        for line in report.repaired:
            say(f"repaired: {line}", fg="yellow")
        for line in report.problems:
            say(f"wrong: {line}", fg="red")
        if report.ok:
            say("everything is as it should be", fg="green")
    if not report.ok:
        sys.exit(Corrupt.exit_code)
