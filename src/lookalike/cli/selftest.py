"""``lookalike selftest``"""

from __future__ import annotations

import sys

import click

import lookalike
from lookalike.cli.options import json_option, print_json, say


@click.command("selftest")
@json_option
def command(as_json: bool) -> None:
    """Recompute the golden vectors on this machine; exit code 1 if a value differs."""
    results = lookalike.selftest()
    failed = [result for result in results if not result["passed"]]
    if as_json:
        print_json({"passed": not failed, "checks": results})
    else:
        for result in failed:
            say(f"differs: {result['name']}: expected {result['expected']}, found {result['found']}", fg="red")
        say(f"{len(results) - len(failed)} of {len(results)} golden vectors agree", fg="red" if failed else "green")
    if failed:
        sys.exit(1)
