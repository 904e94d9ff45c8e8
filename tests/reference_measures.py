"""Slow, obvious measures: exact fractions, plain loops and dynamic programming tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any


def square_root(value: Fraction) -> float:
    with localcontext() as context:
        context.prec = 800
        return float((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())


def euclidean(a: Sequence[float], b: Sequence[float]) -> float:
    return square_root(sum(((Fraction(x) - Fraction(y)) ** 2 for x, y in zip(a, b, strict=True)), Fraction(0)))


def manhattan(a: Sequence[float], b: Sequence[float]) -> float:
    return float(sum((abs(Fraction(x) - Fraction(y)) for x, y in zip(a, b, strict=True)), Fraction(0)))


def chebyshev(a: Sequence[float], b: Sequence[float]) -> float:
    return float(max((abs(Fraction(x) - Fraction(y)) for x, y in zip(a, b, strict=True)), default=Fraction(0)))


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    dot = sum((Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)), Fraction(0))
    squares_a = sum((Fraction(x) ** 2 for x in a), Fraction(0))
    squares_b = sum((Fraction(y) ** 2 for y in b), Fraction(0))
    if not squares_a or not squares_b:
        return 1.0 if squares_a == squares_b else 0.0
    return math.copysign(square_root(dot * dot / (squares_a * squares_b)), float(dot > 0) - 0.5)


def counted(a: Mapping[Any, float], b: Mapping[Any, float]) -> tuple[list[float], list[float]]:
    keys = sorted(set(a) | set(b))
    return [a.get(key, 0) for key in keys], [b.get(key, 0) for key in keys]


def weighted_sizes(a: Mapping[Any, float], b: Mapping[Any, float]) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """The intersection, the union, and the two sizes."""
    left, right = counted(a, b)
    pairs = [(Fraction(x), Fraction(y)) for x, y in zip(left, right, strict=True)]
    zero = Fraction(0)
    return (
        sum((min(pair) for pair in pairs), zero),
        sum((max(pair) for pair in pairs), zero),
        sum((x for x, _ in pairs), zero),
        sum((y for _, y in pairs), zero),
    )


def set_measure(name: str, a: Mapping[Any, float], b: Mapping[Any, float]) -> float:
    common, union, size_a, size_b = weighted_sizes(a, b)
    if not size_a or not size_b:
        return 1.0 if size_a == size_b else 0.0
    denominator = {"jaccard": union, "containment": size_a, "overlap": min(size_a, size_b), "dice": (size_a + size_b) / 2}[name]
    return float(common / denominator)


def bits_that_differ(a: int, b: int) -> int:
    return sum((a >> i & 1) != (b >> i & 1) for i in range(max(a.bit_length(), b.bit_length())))


def edits(a: Sequence[Any], b: Sequence[Any], substitution: int) -> int:
    """The textbook table; a substitution costs 1 for Levenshtein and 2, as a deletion and an insertion, for indel."""
    table = [[i + j for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            same = table[i - 1][j - 1] + (0 if a[i - 1] == b[j - 1] else substitution)
            table[i][j] = min(same, table[i - 1][j] + 1, table[i][j - 1] + 1)
    return table[-1][-1]


def smlar_tfidf(a: Sequence[Any], b: Sequence[Any], idf: Mapping[Any, float], tf: str) -> float:
    def weights(array: Sequence[Any]) -> dict[Any, float]:
        found = {}
        for element in set(array):
            n = list(array).count(element)
            found[element] = {"const": 1.0, "n": float(n), "log": 1.0 + math.log(n)}[tf] * idf.get(element, 0.0)
        return found

    left, right = weights(a), weights(b)
    sum_a, sum_b = sum(w * w for w in left.values()), sum(w * w for w in right.values())
    if not (sum_a > 0 and sum_b > 0):
        return 0.0
    return sum(left[e] * right[e] for e in left if e in right) / math.sqrt(sum_a * sum_b)
