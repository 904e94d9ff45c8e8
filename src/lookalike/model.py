"""The plain values that every layer passes on."""

from __future__ import annotations

from typing import NamedTuple

Span = tuple[int, int]
"""Start and end in code points of the original text, end exclusive."""


class Token(NamedTuple):
    """A token: its normal form, and where it stands in the original text."""

    text: str
    start: int
    end: int


class Passage(NamedTuple):
    """A fragment that two texts share: where it stands in each."""

    left: Span
    right: Span
