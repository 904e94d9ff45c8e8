"""``lookalike selftest``"""

from __future__ import annotations

import sys

import click

import lookalike
from lookalike.cli.options import console, json_option, print_json


@click.command("selftest")
@json_option
def command(as_json: bool) -> None:
    """Recompute the golden vectors on this machine; exit code 1 if a value differs."""
    results = lookalike.selftest()
    failed = [result for result in results if not result["passed"]]
    if as_json:
        print_json({"passed": not failed, "checks": results})
    else:
        out = console()
        for result in results:
            mark = "[green]ok[/]" if result["passed"] else "[bold red]differs[/]"
            out.print(f"{mark}  {result['name']}" + ("" if result["passed"] else f": expected {result['expected']}, found {result['found']}"))
        out.print(f"{len(results) - len(failed)} of {len(results)} golden vectors agree")
    if failed:
        sys.exit(1)
