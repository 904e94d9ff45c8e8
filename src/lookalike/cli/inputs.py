"""Inputs of the verbs: paths, ``-`` for standard input, ``--text``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from lookalike.errors import InputError


def read_stdin() -> bytes:
    """Everything on standard input, once."""
    context = click.get_current_context().find_root()
    if context.meta.get("lookalike.stdin"):
        raise InputError("'-' stands for standard input and can be given once")
    context.meta["lookalike.stdin"] = True
    return sys.stdin.buffer.read()


def given(name: str) -> bytes | Path:
    return read_stdin() if name == "-" else Path(name)
