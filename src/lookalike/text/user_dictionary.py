"""``jieba-with:WORDS``: jieba with words of the user's beside its own dictionary, as ``jieba.load_userdict`` adds them.

WORDS is a dictionary (``lookalike.text.dictionaries``): registered, or a file in jieba's format. A word without a frequency gets the one
that jieba suggests, so that the word can be cut out. The words are added in code-point order: each addition changes the
frequencies that are suggested for later ones, and a dictionary must mean the same in whatever order it was written.
"""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING

from lookalike.text import dictionaries
from lookalike.text.segment import Segmenter, installed, spans_by_jieba

if TYPE_CHECKING:
    import rjieba

is_registered = dictionaries.is_registered
_LOADING = threading.Lock()


def load(scheme: str, argument: str) -> Segmenter:
    words = dictionaries.dictionary(argument)

    def spans(text: str) -> list[tuple[int, int]]:
        with _LOADING:
            jieba = _jieba(words)
        return spans_by_jieba(jieba, text, words.frequencies.keys())

    return spans


def version(scheme: str, argument: str) -> str:
    return f"1-{installed('rjieba', 'jieba')}-{dictionaries.dictionary(argument).digest}"


@functools.lru_cache(maxsize=4)  # some 100 MB each
def _jieba(words: dictionaries.Dictionary) -> rjieba.Jieba:
    from rjieba import Jieba

    made = Jieba()
    for word in sorted(words.frequencies):
        made.add_word(word, words.frequencies[word], None)
    return made
