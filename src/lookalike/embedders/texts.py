"""Texts as models take them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lookalike.errors import InputError

_SURROGATE = re.compile("[\ud800-\udfff]")


def plain(text: str) -> str:
    """The text with U+FFFD for every lone surrogate: tokenizers take no others."""
    if text.isascii():
        return text
    return _SURROGATE.sub("\ufffd", text)


def checked_texts(texts: Sequence[str], name: str = "texts") -> list[str]:
    if isinstance(texts, (str, bytes)):
        raise InputError(f"{name} is one {type(texts).__name__}: give a list of texts")
    found = list(texts)
    for number, text in enumerate(found):
        if not isinstance(text, str):
            raise InputError(f"{name}[{number}] is a {type(text).__name__}: give str")
    return found
