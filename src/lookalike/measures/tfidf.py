"""The TF-IDF cosine of two texts or token lists; the distance is 1 - similarity.

Each token weighs its count times its inverse document frequency. Without a table the two texts are the corpus, as in
scikit-learn's ``TfidfVectorizer`` fitted on them: idf = ln((1 + n) / (1 + df)) + 1 with n = 2, so a token of both texts
weighs 1 and a token of one text ln 1.5 + 1. ``tfidf_cosine_with`` takes a table of a larger corpus.

A text without tokens is similar to another such text only: 1, otherwise 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeAlias

from lookalike.errors import InputError
from lookalike.figures import shown_value
from lookalike.measures.base import Measure, by_similarity, counts_of, finite
from lookalike.measures.vectors import cosine_of

Counts: TypeAlias = dict[Hashable, float]
Weigh: TypeAlias = Callable[[Hashable, Counts, Counts], float]

IDF_OF_ONE_TEXT = math.log(3 / 2) + 1


def _idf_of_the_pair(token: Hashable, a: Counts, b: Counts) -> float:
    return 1.0 if token in a and token in b else IDF_OF_ONE_TEXT


def _measure(about: str, idf: Weigh) -> Measure:
    def similarity(a: Counts, b: Counts) -> float:
        try:
            left, right = ({token: count * idf(token, a, b) for token, count in counts.items()} for counts in (a, b))
        except OverflowError as error:
            raise InputError("a count does not fit a float: scale the counts") from error
        if not any(left.values()) or not any(right.values()):
            return 1.0 if a == b else 0.0
        return cosine_of(left, right)

    return by_similarity("tfidf_cosine", about, counts_of, similarity)


tfidf_cosine = _measure("the cosine of TF-IDF weights, the two texts being the corpus", _idf_of_the_pair)


def tfidf_cosine_with(idf: Mapping[str, float], *, default: float | None = None) -> Measure:
    """The measure with a given table of inverse document frequencies, and the one of tokens that it lacks.

    Without a default an unknown token is an error: leaving it out would make different texts of unknown words alike.
    """
    if not isinstance(idf, Mapping):
        raise InputError(f"idf={shown_value(idf)}: give a mapping of tokens to their inverse document frequency")
    fallback = None if default is None else finite(default, "default")

    def weigh(token: Any, a: Counts, b: Counts) -> float:
        value = idf.get(token, fallback)
        if value is None:
            raise InputError(f"idf has no entry for {shown_value(token)}: give default=, such as the largest value of the table")
        return finite(value, f"idf[{shown_value(token)}]")

    return _measure(f"the cosine of TF-IDF weights by a table of {len(idf)} tokens", weigh)
