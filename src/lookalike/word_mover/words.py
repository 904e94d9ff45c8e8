"""The words of a text that are moved: Chinese words, words of other scripts, without stop words.

The tokenizer ``mixed`` cuts runs of ideographs into words as jieba does, and everything else as the default tokenizer. jieba
alone would cut accented letters apart, the default tokenizer alone every ideograph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from unicodedata import normalize

from lookalike.model import Token
from lookalike.text.keywords import is_word
from lookalike.text.normalize import as_str
from lookalike.text.stopwords import normal_stop_words
from lookalike.text.tokenize import tokenize

MIXED = "mixed"
_IDEOGRAPHS = re.compile("([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+)")


class Word(NamedTuple):
    """The forms of a word in the order in which a table is asked for them: it may know ``straße``, or ``Obama``, and nothing else.

    The normal form is composed (NFC), as words in tables are.
    """

    normal: str
    lower: str
    written: str


def words_of(text: str | bytes, *, tokenizer: str = MIXED, stop_words: str | None = "default") -> list[Word]:
    """The words of a text, repetitions included. A text of nothing but stop words keeps them: something has to be moved.

    >>> [word.normal for word in words_of("The Straße is in 我的城市。")]
    ['strasse', '城市']
    """
    content = as_str(text)
    tokens = [(token.text, piece[token.start : token.end]) for piece, token in _tokens(content, tokenizer) if is_word(token.text)]
    if stop_words is not None:
        stop = normal_stop_words(stop_words)
        tokens = [token for token in tokens if token[0] not in stop] or tokens
    return [Word(normalize("NFC", normal), written.lower(), written) for normal, written in tokens]


def _tokens(text: str, tokenizer: str) -> Iterator[tuple[str, Token]]:
    if tokenizer != MIXED:
        yield from ((text, token) for token in tokenize(text, tokenizer))
        return
    for number, piece in enumerate(_IDEOGRAPHS.split(text)):  # every second piece is ideographs
        yield from ((piece, token) for token in tokenize(piece, "jieba" if number % 2 else "auto"))
