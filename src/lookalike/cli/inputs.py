"""Inputs of the verbs: paths, ``-`` for standard input, ``--text``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import click

from lookalike.corpus import formats
from lookalike.errors import InputError
from lookalike.io import read_whole

F = TypeVar("F", bound=Callable[..., Any])


def read_stdin() -> bytes:
    """Everything on standard input, once."""
    context = click.get_current_context().find_root()
    if context.meta.get("lookalike.stdin"):
        raise InputError("'-' stands for standard input and can be given only once")
    context.meta["lookalike.stdin"] = True
    return read_whole(standard_input(), "standard input")


def standard_input() -> BinaryIO:
    """Standard input, if there is one: a shell can close it (``<&-``)."""
    if sys.stdin is None:
        raise InputError("'-' is standard input, and that is closed: name a file, or pipe something in")
    return sys.stdin.buffer


def given(name: str) -> bytes | Path:
    return read_stdin() if name == "-" else Path(name)


def document_options(function: F) -> F:
    """How the documents of files are read: what ``lookalike.documents`` takes."""
    options = (
        click.option("--text-column", default="text", show_default=True, help="Column of the text."),
        click.option("--id-column", default="id", show_default=True, help="Column of the id; without one, file and row serve."),
        click.option("--format", "format_", type=click.Choice(formats.names()), help="Format of all inputs [default: from their names]"),
        click.option(
            "--extract", type=click.Choice(["main", "all"]), default="main", show_default=True, help="Text of web pages: main or all."
        ),
        click.option("--encoding", default=None, help="Encoding of the inputs [default: found out for texts, UTF-8 for tables]"),
    )
    for option in reversed(options):
        function = option(function)
    return function
