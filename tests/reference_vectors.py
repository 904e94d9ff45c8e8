"""Vectors by the definition: one number at a time, in exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction


def half(value: float) -> float:
    """The number nearest to it that a half can hold, of two the one with an even last bit; values up to 1."""
    magnitude = abs(Fraction(value))
    exponent = -14
    while exponent < 0 and magnitude >= Fraction(2) ** (exponent + 1):
        exponent += 1
    step = Fraction(2) ** (exponent - 10)
    steps = round(magnitude / step)  # half to even
    return math.copysign(float(steps * step), value) if steps else 0.0


def unit_halves(vector: list[float]) -> list[float]:
    square = 0.0
    for value in vector:
        square += value * value
    length = math.sqrt(square)
    return [half(value / length) if length else 0.0 for value in vector]


def cosine(left: list[float], right: list[float]) -> float | None:
    """None where one of them has no direction. Sums are exact; what follows is rounded at each step, as everywhere."""
    dot, left_square, right_square = (
        float(sum(Fraction(a) * Fraction(b) for a, b in zip(x, y, strict=True))) for x, y in ((left, right), (left, left), (right, right))
    )
    lengths = math.sqrt(left_square * right_square)
    return max(-1.0, min(1.0, dot / lengths)) if lengths else None


def nearest(vectors: list[list[float]], query: list[float], least: float, limit: int) -> tuple[list[tuple[int, float]], int]:
    """Places and cosines, the largest first, then the smallest places; and how many there were."""
    found = []
    for place, vector in enumerate(vectors):
        score = cosine(vector, query)
        if score is not None and score >= least:
            found.append((place, score))
    found.sort(key=lambda pair: (-pair[1], pair[0]))
    return found[:limit], len(found)


def leaders(vectors: list[list[float]], threshold: float) -> list[tuple[int, float]]:
    """For each vector in turn the kept one it joins and their cosine, or (-1, 0)."""
    kept: list[int] = []
    decided = []
    for number, vector in enumerate(vectors):
        scores = [(cosine(vectors[each], vector), each) for each in kept]
        best = max(((score, -each) for score, each in scores if score is not None and score >= threshold), default=None)
        decided.append((-1, 0.0) if best is None else (-best[1], best[0]))
        if best is None:
            kept.append(number)
    return decided


def nearest_single(value: Fraction) -> Fraction:
    """The number of single precision (binary32) nearest to a fraction; of two that are as near, the even one."""
    if value == 0:
        return value
    exponent = abs(value).numerator.bit_length() - abs(value).denominator.bit_length()
    while abs(value) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while abs(value) < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, -126) - 23)
    return round(value / unit) * unit


def matrix_product(left: list[list[float]], right: list[list[float]]) -> list[list[float]]:
    """Each number starts at 0 and takes its products one by one, rounded once for each."""
    found = []
    for row in left:
        sums = [Fraction(0)] * len(right[0])
        for factor, others in zip(row, right, strict=True):
            sums = [nearest_single(total + Fraction(factor) * Fraction(other)) for total, other in zip(sums, others, strict=True)]
        found.append([float(total) for total in sums])
    return found
