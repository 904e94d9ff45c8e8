"""How much of a page is its text."""

from __future__ import annotations

from lookalike.errors import InputError
from lookalike.figures import shown_value

EXTRACTS = ("main", "all")


def check_extract(extract: str) -> None:
    if not isinstance(extract, str) or extract not in EXTRACTS:
        raise InputError(f"extract={shown_value(extract)}: choose 'main' (the text without navigation) or 'all'")
