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

from lookalike.figures import counted
from lookalike.recipe import FORMS
from lookalike.reports.escaping import columns, printable

SIGN_AFTER = 0.5  # seconds
F = TypeVar("F", bound=Callable[..., Any])


def json_option(function: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")(function)


def quiet_option(function: F) -> F:
    return click.option("-q", "--quiet", is_flag=True, help="No notes and no progress on standard error.")(function)


def answer_options(function: F) -> F:
    """What every verb with notes or progress has."""
    return json_option(quiet_option(function))


def form_option(default: str) -> Callable[[F], F]:
    """Which forms do not count."""
    about = f"Forms that do not count, separated by commas: {', '.join(FORMS)}; all, or none [default: {default}]"
    return click.option("--ignore-form", default=None, metavar="LIST", help=about)


def forms_of(text: str | None) -> list[str] | None:
    """What the option names; None if it was not given."""
    if text is None:
        return None
    names = [part.strip() for part in text.split(",")]
    return list(FORMS) if names == ["all"] else [] if names == ["none"] else names


def print_json(value: object) -> None:
    """One JSON value, one line. Text stays readable; what UTF-8 cannot carry is escaped."""
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        line.encode("utf-8")
    except UnicodeEncodeError:
        line = json.dumps(value, ensure_ascii=True, allow_nan=False)
    sys.stdout.buffer.write(line.encode("utf-8") + b"\n")


def bar(share: float, width: int) -> str:
    """A share as blocks: a full bar is 1 and no bar is 0, and nothing else."""
    blocks = round(width * share)
    return "█" * max(min(blocks, width if share >= 1 else width - 1), 1 if share > 0 else 0)


def complain(message: object) -> None:
    """A line on standard error, behind all that was printed before it: both may go to one file."""
    sys.stdout.flush()
    click.echo(f"lookalike: {message}", err=True)


def note(message: str, quiet: bool) -> None:
    if not quiet:
        complain(message)


@contextmanager
def working(message: str, quiet: bool) -> Iterator[None]:
    """A sign of life on a terminal while something takes longer than a moment."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.text import Text

    shown: list[Any] = []

    def show() -> None:
        from rich.console import Console

        shown.append(Console(stderr=True).status(Text(printable(message))))
        shown[0].start()

    timer = threading.Timer(SIGN_AFTER, show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        for status in shown:
            status.stop()


@contextmanager
def progress_bar(message: str, quiet: bool, documents: int) -> Iterator[Callable[[int], None]]:
    """How many of so many documents are done, with a bar and the time that remains, on a terminal and if it takes longer than a moment."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    parts = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[done]}"), TimeRemainingColumn())
    shown = Progress(*parts, console=Console(stderr=True), transient=True)
    task = shown.add_task(printable(message), total=max(documents, 1), done="")
    timer = threading.Timer(SIGN_AFTER, shown.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda done: shown.update(task, completed=done, done=f"{min(done, documents):,} of {counted(documents, 'document')}")
    finally:
        timer.cancel()
        timer.join()
        shown.stop()


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
        # Numbers and headers stay whole on a narrow terminal: what gives way is the text.
        table.add_column(
            header,
            justify="right" if i in right else "left",
            overflow="fold",
            no_wrap=i in right,
            min_width=columns(header),
            style="bold" if i == 0 else "",
        )
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
            yield f"{prefix}{name}", ", ".join(map(_fact, value))
        else:
            yield f"{prefix}{name}", _fact(value)


def _fact(value: object) -> str:
    """A value as people write it, and not as Python does."""
    if value is None or isinstance(value, bool):
        return "none" if value is None else "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
