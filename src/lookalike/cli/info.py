"""``lookalike info``"""

from __future__ import annotations

import click

import lookalike
from lookalike.cli.options import json_option, print_json, print_table, say


@click.command("info")
@json_option
def command(as_json: bool) -> None:
    """Version, processor features used, recipes, tokenizers, measures and extras."""
    facts = lookalike.info()
    if as_json:
        print_json(facts)
        return
    say(f"lookalike {facts['version']} · Python {facts['python']} · kernels: {facts['cpu']} · Unicode {facts['unicode']}", bold=True)
    for title in ("recipes", "extras"):
        say()
        say(title, bold=True)
        print_table(("", ""), [(name, str(value)) for name, value in facts[title].items()])
    for title in ("tokenizers", "measures", "kinds"):
        say()
        say(title, bold=True)
        say(", ".join(facts[title]))
