"""The similarities of arrays that PostgreSQL's smlar extension computes: cosine, overlap and TF-IDF.

An array is a list, a tuple, a set, a 1-D numpy array, a mapping of elements to counts, or a text (its tokens).
Elements are taken once, as smlar does: repetitions matter to TF-IDF alone, and there only with ``tf="n"`` or ``"log"``.
(smlar counts the smallest element of an array with repetitions once too often; here it counts as often as it occurs.)
As in smlar, an empty array is similar to nothing, not even to another empty one: 0.

``smlar_cosine`` and ``smlar_overlap`` are measures; ``smlar_tfidf(idf)`` makes one from a table, since without a table
there is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Literal, TypeAlias

from lookalike.errors import InputError
from lookalike.figures import shown_value
from lookalike.measures.base import Measure, by_similarity, counts_of, finite
from lookalike.measures.vectors import cosine_of

Counts: TypeAlias = dict[Hashable, float]

TERM_FREQUENCIES: dict[str, Callable[[float], float]] = {
    "const": lambda count: 1,
    "n": lambda count: count,
    "log": lambda count: 1 + math.log(count),
}


def _shared(a: Counts, b: Counts) -> int:
    return len(a.keys() & b.keys())


def _not_shared(a: Counts, b: Counts) -> int:
    return len(a) + len(b) - 2 * _shared(a, b)


def _cosine(a: Counts, b: Counts) -> float:
    return _shared(a, b) / math.sqrt(len(a) * len(b)) if a and b else 0.0


smlar_cosine = by_similarity("smlar_cosine", "|A∩B| / sqrt(|A|·|B|); the distance is 1 - similarity", counts_of, _cosine)
smlar_overlap = Measure(
    name="smlar_overlap",
    about="|A∩B|, a count from 0 to the size of the smaller array; the distance is the number of elements that only one array has",
    read=counts_of,
    distance_of=_not_shared,
    similarity_of=_shared,
)


def smlar_tfidf(idf: Mapping[Any, float], *, tf: Literal["const", "n", "log"] = "const") -> Measure:
    """The cosine of TF-IDF weights: Σ w(a)·w(b) / sqrt(Σ w(a)² · Σ w(b)²), w = tf · idf; the distance is 1 - similarity.

    ``idf`` maps elements to their inverse document frequency; an element that it lacks has no weight. ``tf`` of an
    element that occurs n times is 1 (``const``), n (``n``) or 1 + ln n (``log``). Where one side has no weight at all
    the similarity is 0.
    """
    if not isinstance(idf, Mapping):
        raise InputError(f"idf={shown_value(idf)}: give a mapping of elements to their inverse document frequency")
    if tf not in TERM_FREQUENCIES:
        raise InputError(f"tf={tf!r}: choose one of {', '.join(TERM_FREQUENCIES)}")
    frequency = TERM_FREQUENCIES[tf]

    def weights(counts: Counts) -> Counts:
        return {element: frequency(n) * finite(idf.get(element, 0), f"idf[{shown_value(element)}]") for element, n in counts.items()}

    def similarity(a: Counts, b: Counts) -> float:
        left, right = weights(a), weights(b)
        return cosine_of(left, right) if any(left.values()) and any(right.values()) else 0.0

    about = f"the cosine of TF-IDF weights by a table of {len(idf)} elements, tf={tf}; the distance is 1 - similarity"
    return by_similarity("smlar_tfidf", about, counts_of, similarity)
