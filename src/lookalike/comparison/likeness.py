"""How many letters of changed words are still the same: by the trigrams that both sides have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from lookalike.text.normalize import fold

LONGEST_WORD = 64  # letters: a longer one is data, and equals another one or does not


def trigrams(words: Iterable[str]) -> Counter[str]:
    """The letter trigrams of each word, with a blank before and after it: as many as the word has letters.

    Forms of a letter count as the same; forms of a mark, such as ``,`` and ``，``, do not.
    """
    found: list[str] = []
    for word in words:
        if len(word) <= LONGEST_WORD:
            found += _trigrams(word)
    return Counter(found)


@lru_cache(maxsize=1 << 14)
def _trigrams(word: str) -> list[str]:
    if not word.isascii() and word.isalnum():
        word = fold(word) or word
    if len(word) == 1:
        return [word]
    padded = f" {word} "
    return [padded[i : i + 3] for i in range(len(word))]


def in_common(a: Counter[str], b: Counter[str]) -> int:
    """How many items the two have in common, each as often as in both."""
    return sum([min(a[item], b[item]) for item in a.keys() & b.keys()])
