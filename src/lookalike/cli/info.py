"""``lookalike info``"""

from __future__ import annotations

import click

import lookalike
from lookalike.cli.options import console, json_option, print_json


@click.command("info")
@json_option
def command(as_json: bool) -> None:
    """Version, processor features used, recipes, tokenizers, measures and extras."""
    facts = lookalike.info()
    if as_json:
        print_json(facts)
        return
    from rich.table import Table

    out = console()
    out.print(f"lookalike {facts['version']} · Python {facts['python']} · kernels: {facts['cpu']} · Unicode {facts['unicode']}")
    for title, names in (("recipes", facts["recipes"]), ("extras", facts["extras"])):
        table = Table(title=title, title_justify="left", box=None, show_edge=False, pad_edge=False, show_header=False)
        table.add_column(style="bold")
        table.add_column(overflow="fold")
        for name, value in names.items():
            table.add_row(name, str(value))
        out.print(table)
    for title in ("tokenizers", "measures", "kinds"):
        out.print(f"{title}: {', '.join(facts[title])}")
