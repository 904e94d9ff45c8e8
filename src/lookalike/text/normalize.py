"""The normal form of a text: compatibility forms and case folded, by frozen Unicode tables.

Full-width and half-width forms, ligatures, superscripts and the like become what they stand for; case is folded;
combining marks come in canonical order; Hangul syllables are whole; zero-width characters and soft hyphens vanish.
A lone surrogate counts as U+FFFD, and so does every ill-formed part of a byte string that should be UTF-8.
"""

from __future__ import annotations

from lookalike import _native
from lookalike.corpus.joined import text_of
from lookalike.errors import InputError


def utf8(text: str | bytes, name: str = "text") -> bytes:
    """The bytes that the native kernels read: UTF-8 in which a lone surrogate keeps its three bytes."""
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    if isinstance(text, bytes):
        return text
    raise InputError(f"{name} is a {type(text).__name__}: expected str (or bytes in UTF-8)")


def as_str(text: str | bytes) -> str:
    """The inverse of ``utf8``. Bytes that are not UTF-8 are replaced as Python replaces them."""
    if isinstance(text, str):
        return text
    return text_of(utf8(text))


def fold(text: str | bytes) -> str:
    """The normal form of a whole text.

    >>> fold("Ｌｏｏｋ­alike ﬁnds STRASSE and straße")
    'lookalike finds strasse and strasse'
    """
    return _native.fold_text(utf8(text)).decode("utf-8")
