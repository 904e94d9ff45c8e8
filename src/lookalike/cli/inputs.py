"""Inputs of the verbs: paths, ``-`` for standard input, ``--text``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO

import click

from lookalike.errors import InputError
from lookalike.io import read_whole


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
