"""``lookalike fingerprint``"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import lookalike
from lookalike.cli.inputs import given
from lookalike.cli.options import json_option, note, print_json, print_table, quiet_option, say, working
from lookalike.errors import InputError, LookalikeError

if TYPE_CHECKING:
    from lookalike import Fingerprints

LARGE_FILE = 10_000_000
SHOWN_CHARACTERS = 160  # the joined Karp-Rabin value grows with the text; --json prints it whole


@click.command("fingerprint")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--text", "texts", multiple=True, help="A text instead of a file; may be repeated.")
@click.option("--kind", "kinds", default="all", show_default=True, help="Kinds, separated by commas: simhash, minhash, winnowing … or all.")
@click.option("--recipe", default=None, help="Name of the recipe for the text kinds (see 'lookalike info').")
@click.option("--encoding", default=None, help="Encoding of the files; by default it is found out and stated.")
@json_option
@quiet_option
def command(
    files: tuple[str, ...], texts: tuple[str, ...], kinds: str, recipe: str | None, encoding: str | None, as_json: bool, quiet: bool
) -> None:
    """Fingerprint each FILE ('-' is standard input) or --text, one line per input."""
    inputs: list[tuple[str, Any]] = [(name, name) for name in files] + [("text", text) for text in texts]
    if not inputs:
        raise InputError("nothing to fingerprint: name a FILE, '-' for standard input, or --text 'some text'")
    failed: LookalikeError | None = None
    for index, (name, value) in enumerate(inputs):
        try:
            thing = value if index >= len(files) else given(name)
            with working(f"fingerprinting {name}", quiet or not _is_large(thing)):
                found = lookalike.fingerprint(thing, kinds, recipe=recipe, encoding=encoding)
        except LookalikeError as error:
            if len(inputs) == 1:
                raise
            click.echo(f"lookalike: {error}", err=True)  # the other inputs are still worth their lines
            failed = failed or error
            continue
        if as_json:
            encoding_used = {"encoding": found.read.encoding} if found.read and name != "text" else {}
            print_json({"input": name, **encoding_used, "fingerprints": {kind: each.to_dict() for kind, each in found.items()}})
        else:
            _show(name, found)
        if found.read and found.read.note:
            note(f"{name}: {found.read.note}", quiet)
    if failed:
        sys.exit(failed.exit_code)


def _is_large(thing: str | bytes | Path) -> bool:
    return isinstance(thing, Path) and thing.exists() and thing.stat().st_size > LARGE_FILE


def _show(name: str, found: Fingerprints) -> None:
    say(f"{name} ({found.read.encoding})" if found.read and name != "text" else name, bold=True)
    print_table(("", ""), [(kind, _summary(each.to_dict())) for kind, each in found.items()])


def _summary(data: dict[str, Any]) -> str:
    if data.get("value") is not None:
        value = str(data["value"])
        return value if len(value) <= SHOWN_CHARACTERS else f"{value[:SHOWN_CHARACTERS]}… ({len(value)} characters)"
    if "status" in data:
        return f"– ({data['status']})"
    values = data["values"]
    shown = " ".join(str(value) for value in values[:4])
    return f"{len(values)} values: {shown}{' …' if len(values) > 4 else ''}"
