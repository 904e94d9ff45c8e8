"""How alike two strings of a page are. The default is lexical: fast, and without a model."""

from __future__ import annotations

from array import array
from collections.abc import Callable

from lookalike import _native
from lookalike.errors import InputError
from lookalike.measures import measures
from lookalike.text.normalize import utf8
from lookalike.text.tokenize import NATIVE_MODES

StringSimilarity = Callable[[str, str], float]

MAX_CELLS = 1 << 26  # of the table of edits, 30 ms; longer strings are compared by their 5-grams
NGRAM = 5


def lexical(left: str, right: str) -> float:
    """1 - insertions and deletions / both lengths (``rapidfuzz.fuzz.ratio``); of long strings the Dice share of 5-grams.

    >>> lexical("color", "colour")
    0.9090909090909091
    """
    if left == right:
        return 1.0
    if len(left) * len(right) <= MAX_CELLS:
        from rapidfuzz.distance import Indel

        return Indel.normalized_similarity(left, right)
    a, b = _grams(left), _grams(right)
    return 2.0 * _native.count_common(a, b) / (len(a) + len(b)) if len(a) + len(b) else 0.0


def _grams(text: str) -> array[int]:
    data = utf8(text, "string")
    offsets = array("q", (0, len(data)))
    return array("Q", sorted(_native.secret_features(data, offsets, NATIVE_MODES["chars"], True, NGRAM, False, 1)[0]))


def chosen_similarity(strings: str | StringSimilarity) -> StringSimilarity:
    """The function behind ``strings=``: "lexical", "meaning", the name of another measure, or a function of two strings."""
    if callable(strings):
        return strings
    if not isinstance(strings, str):
        raise InputError(f"strings={strings!r}: give 'lexical', the name of a measure, or a function of two strings")
    if strings == "lexical":
        return lexical
    if strings == "meaning":
        from lookalike.pages.string_meaning import MeaningOfStrings

        return MeaningOfStrings()
    return measures.get(strings).similarity
