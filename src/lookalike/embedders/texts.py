"""Texts as models take them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lookalike.errors import InputError

_SURROGATE = re.compile("[\ud800-\udfff]")
_STOP = re.compile(r"\s|[。！？；，、]")  # Chinese punctuation is meant


def plain(text: str) -> str:
    """The text with U+FFFD for every lone surrogate: tokenizers take no others."""
    if text.isascii():
        return text
    return _SURROGATE.sub("\ufffd", text)


def pieces(text: str, most: int) -> Iterator[str]:
    """The text in parts of at most ``most`` code points, cut where there is white space or punctuation if there is any."""
    start = 0
    while len(text) - start > most:
        stops = [stop.end() for stop in _STOP.finditer(text, start + most // 2, start + most)]
        end = stops[-1] if stops else start + most
        yield text[start:end]
        start = end
    yield text[start:]


def checked_texts(texts: Sequence[str], name: str = "texts") -> list[str]:
    if isinstance(texts, (str, bytes)):
        raise InputError(f"{name} is one {type(texts).__name__}: give a list of texts")
    found = list(texts)
    for number, text in enumerate(found):
        if not isinstance(text, str):
            raise InputError(f"{name}[{number}] is a {type(text).__name__}: give str")
    return found
