"""The words that say what a text is about, with their weights.

Ties are broken by the word itself, in code-point order: the same words in another order have exactly the same keywords,
so a text whose sentences were moved around has the same keywords and the same fingerprint of them.

A keyword has a letter or a digit in it, and is no stop word. Single characters count, unlike in jieba, which ignores
words of one character: short texts such as 我爱你 would be left with nothing. ``min_length=2, stop_words="jieba"`` restores jieba's
rules: then TF-IDF weights are the very numbers of ``jieba.analyse.extract_tags``, and with ``weights="textrank"`` and ``tags="jieba"``
those of ``jieba.analyse.textrank``.
"""

from __future__ import annotations

import functools
import heapq
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any, Literal, NamedTuple
from unicodedata import ucd_3_2_0

from lookalike.checks import check_int, check_several, check_str, refuse
from lookalike.errors import InputError, MissingExtra
from lookalike.text.idf import Idf, idf_table
from lookalike.text.normalize import fold
from lookalike.text.stopwords import normal_stop_words
from lookalike.text.text_rank import text_rank

Weights = Literal["tfidf", "count", "textrank"]
WEIGHTS = ("tfidf", "count", "textrank")
JIEBA_TAGS = ("ns", "n", "vn", "v")  # what jieba.analyse.textrank looks at: places, nouns, verbs


class Keyword(NamedTuple):
    word: str
    weight: float


def keywords(
    text: str,
    top: int | None = 20,
    *,
    tokenizer: str = "jieba",
    weights: Weights = "tfidf",
    idf: str | Idf | None = "jieba",
    stop_words: str | None = "default",
    min_length: int = 1,
    tags: str | Iterable[str] | None = None,
) -> list[Keyword]:
    """The ``top`` heaviest words of a text (all, when ``top`` is None), heaviest first.

    Words are normal forms. ``weights`` are "tfidf", "count", or "textrank": how near a word stands to others that matter. ``idf`` and
    ``stop_words`` are names or files; ``idf`` is not looked at unless weights are "tfidf". With ``tags`` only words with one of these parts
    of speech count, as ``jieba.posseg`` finds both ("jieba" stands for those that jieba's TextRank looks at); this needs the package jieba.
    """
    from lookalike.text.tokenize import tokenize

    _check_weights(weights)
    table = idf_table(idf) if weights == "tfidf" and idf is not None else None
    stop = normal_stop_words(stop_words) if stop_words is not None else frozenset()
    words: list[str]
    if tags is None:
        words = [token.text for token in tokenize(text, tokenizer)]
    else:
        words = _tagged(check_str("text", text), tokenizer, JIEBA_TAGS if isinstance(tags, str) and tags == "jieba" else tags)
    return rank(words, top, weights=weights, idf=table, stop=stop, min_length=min_length)


def rank(
    words: Iterable[str],
    top: int | None = 20,
    *,
    weights: Weights = "tfidf",
    idf: Idf | None = None,
    stop: Collection[str] = frozenset(),
    min_length: int = 1,
) -> list[Keyword]:
    """The heaviest of a text's words, given in normal form; a word's weight is its count, count x (idf / total), or its TextRank.

    ``total`` is the number of words that could be keywords, repetitions included.
    """
    _check(top, weights, idf, min_length)
    several = words if isinstance(words, str | bytes) else list(words)
    counts = _count(several)
    for word in [word for word in counts if len(word) < min_length or word in stop or not is_word(word)]:
        del counts[word]
    if weights == "textrank":
        ranks = text_rank([word if word in counts else None for word in several])
        # A text with one keyword has nothing that it could stand near to.
        found = [Keyword(word, ranks.get(word, 0.0)) for word in counts]
    elif idf is None or weights == "count":
        found = [Keyword(word, float(count)) for word, count in counts.items()]
    else:
        total = counts.total()
        found = [Keyword(word, count * (idf[word] / total)) for word, count in counts.items()]
    if top is None:
        return sorted(found, key=_heaviest_first)
    return heapq.nsmallest(top, found, key=_heaviest_first)


def _tagged(text: str, tokenizer: str, tags: str | Iterable[str]) -> list[str]:
    """The words that jieba.posseg finds, in normal form; one with another part of speech is an empty word, which is no keyword."""
    if isinstance(tags, str):
        raise refuse("tags", tags, "give a list of parts of speech such as ['n', 'v'], or 'jieba'")
    wanted = {check_str("tags", tag, "a list of parts of speech") for tag in check_several("tags", tags, "a list of parts of speech")}
    if tokenizer != "jieba":
        raise refuse("tokenizer", tokenizer, "parts of speech are those that jieba finds: leave the tokenizer out")
    posseg = _posseg()
    return [fold(word) if flag in wanted else "" for word, flag in posseg.cut(text)]


@functools.cache
def _posseg() -> Any:
    try:
        import jieba
        from jieba import posseg
    except ImportError as error:
        raise MissingExtra.for_extra("parts of speech", "jieba") from error
    # A tokenizer of our own: words that somebody adds to jieba's must not change our output.
    tokenizer = jieba.Tokenizer()
    level = jieba.default_logger.level
    jieba.default_logger.setLevel("ERROR")  # it tells standard error that it loads its dictionary
    try:
        tokenizer.initialize()
    finally:
        jieba.default_logger.setLevel(level)
    return posseg.POSTokenizer(tokenizer)


def _count(words: Iterable[str]) -> Counter[str]:
    if isinstance(words, str | bytes):
        raise InputError(f"words: expected a list of words, not one {type(words).__name__}")
    counts = Counter(words)
    wrong = next((word for word in counts if not isinstance(word, str)), None)
    if wrong is not None:
        raise InputError(f"words: {wrong!r} is not a str")
    return counts


def is_word(token: str) -> bool:
    """Whether a token has a letter or a digit. The answer does not depend on Python's Unicode version."""
    return (token.isascii() and token.isalnum()) or any(map(_is_word_character, token))  # the first is most of them, and fast


@functools.lru_cache(maxsize=1 << 16)
def _is_word_character(character: str) -> bool:
    # Unicode 3.2 is the one version that every Python carries. What it did not know yet is mostly letters of rare
    # scripts, except in the blocks of symbols and emoji.
    category = ucd_3_2_0.category(character)
    if category == "Cn":
        return not ("\u2000" <= character <= "\u2bff" or "\u2e00" <= character <= "\u2e7f" or "\U0001f000" <= character <= "\U0001faff")
    return category[0] in "LN"


def _heaviest_first(keyword: Keyword) -> tuple[float, str]:
    return -keyword.weight, keyword.word


def _check_weights(weights: object) -> None:
    if not isinstance(weights, str) or weights not in WEIGHTS:
        raise refuse("weights", weights, "choose 'tfidf', 'count' or 'textrank'")


def _check(top: int | None, weights: str, idf: Idf | None, min_length: int) -> None:
    _check_weights(weights)
    if weights == "tfidf" and not isinstance(idf, Idf):
        raise InputError(f"idf={idf!r}: weights='tfidf' needs an IDF table; give one, or choose weights='count'")
    for name, value in (("top", top), ("min_length", min_length)):
        if value is None and name == "top":
            continue
        check_int(name, value, 1, remedy="give a whole number of at least 1")
