"""What several verbs share: options, and how results are printed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import Console

F = TypeVar("F", bound=Callable[..., Any])


def json_option(function: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")(function)


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


def note(message: str, quiet: bool) -> None:
    if not quiet:
        click.echo(f"lookalike: {message}", err=True)


def console() -> Console:
    """For tables and colours on a terminal; off it, plain text of the full width."""
    from rich.console import Console

    on_terminal = sys.stdout.isatty()
    plain = "NO_COLOR" in os.environ or not on_terminal
    return Console(no_color=plain, highlight=False, width=None if on_terminal else 120, soft_wrap=not on_terminal)


def printable(text: str) -> str:
    """Text that a terminal can show: control characters and lone surrogates are escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)
