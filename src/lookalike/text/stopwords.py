"""Words that say nothing about what a text is about: ``zh``, ``en``, ``default`` (both), ``jieba``, and lists of your own.

The lists hold function words: pronouns, particles, prepositions, conjunctions, auxiliaries, the commonest adverbs. They
hold no punctuation, which is no keyword anyway. A name that nobody registered is taken for the path of a file with a
word a line.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path

from lookalike.text.word_lists import WordList, WordLists

_SHIPPED = {"zh": ("stopwords_zh.txt",), "en": ("stopwords_en.txt",), "default": ("stopwords_zh.txt", "stopwords_en.txt"), "jieba": ()}

# What jieba 0.42.1 leaves out of keywords: for those who want its numbers.
_JIEBA = "the of is and to in that we for an are by be as on with can if from which you it this then at have all not one has or"

_lists = WordLists("stop words")


def register_stop_words(name: str, words: Iterable[str]) -> None:
    """Give a list of stop words a name."""
    _lists.register(name, words)


def stop_words(name: str) -> frozenset[str]:
    """The words of a list, as they were written."""
    return _get(name).words


def normal_stop_words(name: str) -> frozenset[str]:
    """The words of a list in the normal form of tokens, so that ``The`` in a user's list stops the token ``the``."""
    return _folded(_get(name))


def stop_words_version(name: str) -> str:
    """Our revision and the digest of the words: what a recipe id records."""
    return f"1-{_get(name).digest}"


def is_registered_list(name: str) -> bool:
    """Whether a name is no file."""
    return name in _SHIPPED or name in _lists.names()


def _get(name: str) -> WordList:
    if isinstance(name, str) and name in _SHIPPED and name not in _lists.names():
        _lists.register(name, _shipped(name))
    return _lists.get(name)


def _shipped(name: str) -> frozenset[str]:
    if name == "jieba":
        return frozenset(_JIEBA.split())
    reader = WordLists("stop words")
    return frozenset().union(*(reader.get(str(Path(__file__).with_name(file))).words for file in _SHIPPED[name]))


@functools.lru_cache(maxsize=32)
def _folded(words: WordList) -> frozenset[str]:
    from lookalike.text.normalize import fold

    return frozenset(fold(word) for word in words.words) - {""}
