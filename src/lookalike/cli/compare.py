"""``lookalike compare``"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import lookalike
from lookalike.cli.inputs import given
from lookalike.cli.options import console, json_option, note, print_json, printable, quiet_option
from lookalike.errors import InputError

if TYPE_CHECKING:
    from lookalike import Comparison


@click.command("compare")
@click.argument("left", metavar="A")
@click.argument("right", metavar="B")
@click.option("--as", "kind", type=click.Choice(["text", "file", "record"]), default="text", show_default=True, help="What A and B are.")
@click.option("--measure", "measures", help="Measures to compute, separated by commas; all by default.")
@click.option("--threshold", type=float, default=0.8, show_default=True, help="From this score on, A and B are alike.")
@click.option("--encoding", default=None, help="Encoding of the files; by default it is found out and stated.")
@json_option
@quiet_option
def command(left: str, right: str, kind: str, measures: str | None, threshold: float, encoding: str | None, as_json: bool, quiet: bool) -> None:
    """How alike the files A and B are ('-' is standard input), and why. Exit code 0: alike, 1: not alike."""
    names = [part.strip() for part in measures.split(",")] if measures else None
    things = [_read(name, kind, encoding, quiet) for name in (left, right)]
    found = lookalike.compare(*things, measures=names, threshold=threshold)
    if as_json:
        print_json(found.to_dict())
    else:
        _show(found, left, right)
    sys.exit(0 if found.alike else 1)


def _read(name: str, kind: str, encoding: str | None, quiet: bool) -> Any:
    source = given(name)
    if kind == "file":
        if not isinstance(source, Path):
            raise InputError("--as file reads its inputs more than once: name files, not '-'")
        return source
    read = lookalike.decode_text(source, name, encoding) if isinstance(source, bytes) else lookalike.read_text(source, encoding)
    if read.encoding != "utf-8" or read.note:
        note(f"{name}: read as {read.encoding}{f'; {read.note}' if read.note else ''}", quiet)
    if kind == "text":
        return read.text
    try:
        parsed = json.loads(read.text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: not JSON ({error}); --as record takes a file with one JSON object") from None
    if not isinstance(parsed, dict):
        raise InputError(f"{name}: holds a JSON {type(parsed).__name__}; --as record takes one JSON object")
    return parsed


def _show(found: Comparison, left: str, right: str) -> None:
    from rich.table import Table

    out = console()
    colour = "green" if found.alike else "red"
    comparison = "≥" if found.alike else "<"
    out.print(f"[bold {colour}]{found.verdict}[/]: score {found.score:.4f} {comparison} {found.threshold:g}")
    if found.edits is not None:
        shares = found.edits.to_dict()
        out.print("  ".join(f"{name} {share:.1%}" for name, share in shares.items() if share or name == "kept"))
    table = Table(box=None, show_edge=False, pad_edge=False, header_style="bold")
    table.add_column("measure")
    table.add_column("similarity", justify="right")
    table.add_column("")
    for name, value in found.measures.items():
        table.add_row(printable(name), "–" if value is None else f"{value:.4f}", "" if value is None else "█" * round(20 * max(0.0, min(1.0, value))))
    out.print(table)
    for passage in found.passages[:5]:
        out.print(f"shared: A {passage.left[0]}–{passage.left[1]}, B {passage.right[0]}–{passage.right[1]}")
    if len(found.passages) > 5:
        out.print(f"… and {len(found.passages) - 5} more shared passages")
    for line in found.notes:
        out.print(f"note: {printable(line)}", style="dim")
