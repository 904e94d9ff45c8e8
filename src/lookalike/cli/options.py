"""What several verbs share: options, and how results are printed."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from lookalike.comparison.escaping import columns, printable

SIGN_AFTER = 0.5  # seconds
F = TypeVar("F", bound=Callable[..., Any])


def json_option(function: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")(function)


def method_option(function: F) -> F:
    choice = click.Choice(["minhash", "simhash", "exact", "bytes", "meaning"])
    shown = "What counts as a duplicate. exact: equal words, whatever case and punctuation they have. bytes: equal to the byte."
    return click.option("--method", type=choice, default="minhash", show_default=True, help=shown)(function)


def quiet_option(function: F) -> F:
    return click.option("-q", "--quiet", is_flag=True, help="No notes and no progress on standard error.")(function)


def print_json(value: object) -> None:
    """One JSON value, one line. Text stays readable; what UTF-8 cannot carry is escaped."""
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        line.encode("utf-8")
    except UnicodeEncodeError:
        line = json.dumps(value, ensure_ascii=True, allow_nan=False)
    sys.stdout.buffer.write(line.encode("utf-8") + b"\n")


def counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def note(message: str, quiet: bool) -> None:
    if not quiet:
        click.echo(f"lookalike: {message}", err=True)


@contextmanager
def working(message: str, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A sign of life on a terminal while something takes longer than a moment. Gives a function that adds a count of documents to it."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.text import Text

    shown: list[Any] = []
    said = [Text(printable(message))]

    def show() -> None:
        from rich.console import Console

        shown.append(Console(stderr=True).status(said[0]))
        shown[0].start()

    def count(documents: int) -> None:
        said[0] = Text(printable(f"{message}: {counted(documents, 'document')}"))
        for status in shown:
            status.update(said[0])

    timer = threading.Timer(SIGN_AFTER, show)
    timer.daemon = True
    timer.start()
    try:
        yield count
    finally:
        timer.cancel()
        timer.join()
        for status in shown:
            status.stop()


def colours() -> bool:
    """Whether standard output is a terminal that wants colours."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def say(text: str = "", **style: Any) -> None:
    """A line on standard output, styled on a terminal only."""
    click.echo(click.style(printable(text), **style) if colours() else printable(text))


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, right: Container[int] = ()) -> None:
    """A table: drawn by rich on a terminal, plain columns off it (rich would cost 80 ms there for nothing)."""
    cells = [[printable(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        _rich_table(headers, cells, right)
        return
    widths = [max(columns(row[i]) for row in [*cells, headers]) for i in range(len(headers))]
    for row in [headers, *cells] if any(headers) else cells:
        spaces = [" " * (width - columns(cell)) for cell, width in zip(row, widths, strict=True)]
        padded = (space + cell if i in right else cell + space for i, (cell, space) in enumerate(zip(row, spaces, strict=True)))
        click.echo("  ".join(padded).rstrip())


def _rich_table(headers: Sequence[str], rows: Sequence[Sequence[str]], right: Container[int]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_edge=False, pad_edge=False, show_header=any(headers), header_style="bold")
    for i, header in enumerate(headers):
        table.add_column(header, justify="right" if i in right else "left", overflow="fold", style="bold" if i == 0 else "")
    for row in rows:
        table.add_row(*map(Text, row))
    Console(no_color=not colours(), highlight=False).print(table)


def print_facts(facts: Mapping[str, Any]) -> None:
    """Names and values in two columns; what is nested is named by its path."""
    print_table(("", ""), list(_facts(facts)))


def _facts(facts: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _facts(value, f"{prefix}{name}.")
        elif isinstance(value, list | tuple):
            yield f"{prefix}{name}", ", ".join(map(str, value))
        else:
            yield f"{prefix}{name}", f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
