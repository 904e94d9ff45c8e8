"""Similarities of sets: jaccard, containment, overlap, dice. The distance is 1 - similarity.

A set is a set, a list or tuple (as a set), a 1-D array (of hashes, say), or a text: the set of its shingle hashes by
the default recipe, to be compared with another text only. A mapping, such as a ``Counter``, is a weighted set:
the size is the sum of its weights, the intersection the sum of the smaller, the union the sum of the larger weight of
each element. A weighted set and a plain one cannot be compared, since a plain one has no weights to compare.

Two empty sets are identical: 1. An empty set and another have nothing in common: 0, containment included.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Set
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from lookalike import _native
from lookalike.errors import InputError
from lookalike.measures.base import (
    Delegate,
    by_similarity,
    delegate,
    hashed,
    is_array,
    is_fingerprint,
    items_of,
    refuse_nan,
    total,
    weights_of,
)
from lookalike.recipe import DEFAULT

if TYPE_CHECKING:
    from numpy.typing import NDArray

JACCARD_KINDS = ("minhash", "winnowing", "karp-rabin")  # their similarity is the Jaccard similarity or an estimate of it


class TextFeatures(NamedTuple):
    """The distinct shingles of a text as secret hashes, ascending: ints that mean nothing beside a caller's own elements."""

    hashes: memoryview


Plain: TypeAlias = "Set[Hashable] | NDArray[Any]"
Features: TypeAlias = "Plain | dict[Hashable, float] | TextFeatures"


def read_features(thing: Any, name: str) -> Features:
    if isinstance(thing, str):
        from lookalike.text.shingle import secret_shingles

        return TextFeatures(secret_shingles(thing, DEFAULT))
    if isinstance(thing, Mapping):
        return weights_of(thing, name)
    if isinstance(thing, Set):
        elements: Set[Hashable] = thing
    elif is_array(thing) and thing.ndim == 1 and thing.dtype.kind in "iu":
        return _distinct(thing)
    else:
        elements = hashed(frozenset, items_of(thing, name, "a set, a list, an array, a mapping to weights, or a text"), name)
    refuse_nan(elements, name)
    return elements


def read_jaccard(thing: Any, name: str) -> Features | Delegate:
    return delegate(thing, JACCARD_KINDS, "jaccard") if is_fingerprint(thing) else read_features(thing, name)


def _shared(a: Features, b: Features) -> tuple[float, float, float]:
    """The sizes of the intersection, of ``a`` and of ``b``."""
    if isinstance(a, TextFeatures) and isinstance(b, TextFeatures):
        return _native.count_common(a.hashes, b.hashes), len(a.hashes), len(b.hashes)
    if isinstance(a, TextFeatures) or isinstance(b, TextFeatures):
        raise InputError("one is a text, the other a collection: give two texts, or the features of both")
    if isinstance(a, dict) and isinstance(b, dict):
        return _shared_weight(a, b)
    if isinstance(a, dict) or isinstance(b, dict):
        raise InputError("one has weights (a mapping), the other has none: give two mappings, or two plain sets")
    return _shared_count(a, b), len(a), len(b)


def _distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Sorted, each once; np.unique hashes, which takes 60 times as long on a million hashes."""
    import numpy as np

    ordered = np.sort(values)
    first = np.ones(len(ordered), dtype=np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def _shared_count(a: Plain, b: Plain) -> int:
    if is_array(a) and is_array(b) and a.dtype == b.dtype:
        import numpy as np

        both = np.concatenate([a, b])
        both.sort(kind="stable")  # merges the two sorted runs
        return int(np.count_nonzero(both[1:] == both[:-1]))
    # Arrays of different types would meet as float64, where large hashes collide.
    left = a if isinstance(a, Set) else frozenset(a.tolist())
    right = b if isinstance(b, Set) else frozenset(b.tolist())
    return len(left & right)


def _shared_weight(a: dict[Hashable, float], b: dict[Hashable, float]) -> tuple[float, float, float]:
    try:
        sizes = total(min(weight, b[key]) for key, weight in a.items() if key in b), total(a.values()), total(b.values())
        if sizes[1] + sizes[2] < math.inf:
            return sizes
    except OverflowError:
        pass
    raise InputError("the weights are too large, their sum does not fit a float: scale them")


def _ratio(formula: Callable[[float, float, float], float]) -> Callable[[Features, Features], float]:
    def similarity(a: Features, b: Features) -> float:
        common, size_a, size_b = _shared(a, b)
        if not size_a or not size_b:
            return 1.0 if size_a == size_b else 0.0
        return formula(common, size_a, size_b)

    return similarity


# Each formula stays within 1 when its sums are rounded: the common part is never larger than either size.
_jaccard = _ratio(lambda common, a, b: common / (a + (b - common)))
_containment = _ratio(lambda common, a, b: common / a)
_overlap = _ratio(lambda common, a, b: common / min(a, b))
_dice = _ratio(lambda common, a, b: 2 * common / (a + b))


def _jaccard_or_own(a: Features | Delegate, b: Features | Delegate) -> float:
    if isinstance(a, Delegate) and isinstance(b, Delegate):
        return a.similarity(b)
    if isinstance(a, Delegate) or isinstance(b, Delegate):
        raise InputError("one is a fingerprint, the other is not: make both fingerprints by the same recipe")
    return _jaccard(a, b)


jaccard = by_similarity(
    "jaccard", "|A∩B| / (|A| + |B| - |A∩B|); of MinHash and winnowing fingerprints their own similarity", read_jaccard, _jaccard_or_own
)
containment = by_similarity("containment", "|A∩B| / |A|: how much of a is in b; not symmetric", read_features, _containment)
overlap = by_similarity("overlap", "|A∩B| / min(|A|, |B|)", read_features, _overlap)
dice = by_similarity("dice", "2·|A∩B| / (|A| + |B|)", read_features, _dice)
