"""``lookalike fingerprint``"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

import lookalike
from lookalike.cli.inputs import given
from lookalike.cli.options import console, json_option, note, print_json, printable, quiet_option
from lookalike.errors import InputError, LookalikeError


@click.command("fingerprint")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--text", "texts", multiple=True, help="A text instead of a file; may be repeated.")
@click.option("--kind", "kinds", default="all", show_default=True, help="Kinds, separated by commas: simhash, minhash, winnowing … or all.")
@click.option("--recipe", default=None, help="Name of the recipe for the text kinds (see 'lookalike info').")
@click.option("--encoding", default=None, help="Encoding of the files; by default it is found out and stated.")
@json_option
@quiet_option
def command(files: tuple[str, ...], texts: tuple[str, ...], kinds: str, recipe: str | None, encoding: str | None, as_json: bool, quiet: bool) -> None:
    """Fingerprint each FILE ('-' is standard input) or --text, one line per input."""
    inputs: list[tuple[str, Any]] = [(name, name) for name in files] + [("text", text) for text in texts]
    if not inputs:
        raise InputError("nothing to fingerprint: name a FILE, '-' for standard input, or --text 'some text'")
    failed: LookalikeError | None = None
    for index, (name, value) in enumerate(inputs):
        try:
            thing = value if index >= len(files) else given(name)
            found = lookalike.fingerprint(thing, kinds, recipe=recipe, encoding=encoding)
        except LookalikeError as error:
            if len(inputs) == 1:
                raise
            click.echo(f"lookalike: {error}", err=True)  # the other inputs are still worth their lines
            failed = failed or error
            continue
        if isinstance(thing, Path) and not quiet:
            _state_encoding(thing, encoding, found)
        if as_json:
            print_json({"input": name, "fingerprints": {kind: each.to_dict() for kind, each in found.items()}})
        else:
            _show(name, found)
    if failed:
        sys.exit(failed.exit_code)


def _state_encoding(path: Path, encoding: str | None, found: dict[str, Any]) -> None:
    read = next((each for each in found.values() if getattr(each, "encoding", None)), None)
    if read is not None:
        note(f"{path}: read as {read.encoding}", False)


def _show(name: str, found: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table(title=printable(name), title_justify="left", show_edge=False, pad_edge=False, box=None)
    table.add_column("kind", style="bold")
    table.add_column("fingerprint", overflow="fold")
    for kind, each in found.items():
        table.add_row(kind, _summary(each.to_dict()))
    console().print(table)


def _summary(data: dict[str, Any]) -> str:
    if data.get("value") is not None:
        return str(data["value"])
    if "status" in data:
        return f"– ({data['status']})"
    values = data["values"]
    shown = " ".join(str(value) for value in values[:4])
    return f"{len(values)} values: {shown}{' …' if len(values) > 4 else ''}"
