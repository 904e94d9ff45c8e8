"""Slow, obvious versions of what the fingerprints of this area compute."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from fractions import Fraction
from typing import Any


def window_hashes(codes: Sequence[int], window: int, base: int, prime: int) -> list[int]:
    """Each window's polynomial, from scratch."""
    size = min(window, len(codes))
    starts = range(len(codes) - size + 1) if size else range(0)
    return [sum(code * base ** (size - 1 - place) for place, code in enumerate(codes[start : start + size])) % prime for start in starts]


def multiset_jaccard(left: Sequence[int], right: Sequence[int]) -> float:
    values = set(left) | set(right)
    common = sum(min(left.count(value), right.count(value)) for value in values)
    union = sum(max(left.count(value), right.count(value)) for value in values)
    return common / union if union else 1.0


def fold(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def indel_ratio(left: str, right: str) -> float:
    """Twice the longest common subsequence by the sum of the lengths."""
    if not left and not right:
        return 1.0
    row = [0] * (len(right) + 1)
    for a in left:
        previous, row = row, [0]
        for column, b in enumerate(right, 1):
            row.append(previous[column - 1] + 1 if a == b else max(previous[column], row[-1]))
    return 2 * row[-1] / (len(left) + len(right))


def closeness(left: float, right: float) -> float:
    a, b = Fraction(left), Fraction(right)
    return float(max(Fraction(0), 1 - abs(a - b) / max(abs(a), abs(b), Fraction(1e-9))))


def similar(left: Any, right: Any) -> float:
    """The default score of two values of JSON."""
    if type(left) is bool or type(right) is bool:
        return float(left is right)
    if isinstance(left, str) and isinstance(right, str):
        return indel_ratio(fold(left), fold(right))
    if isinstance(left, int | float) and isinstance(right, int | float):
        return closeness(left, right)
    if isinstance(left, list) and isinstance(right, list):
        return _lists(left, right)
    if isinstance(left, dict) and isinstance(right, dict):
        return _objects(left, right)
    return float(left is None and right is None)


def _one_bool(left: Any, right: Any) -> bool:
    return isinstance(left, bool) != isinstance(right, bool)


def _lists(left: list[Any], right: list[Any]) -> float:
    mine, yours = _distinct(left), _distinct(right)
    common = sum(any(_alike(a, b) for b in yours) for a in mine)
    union = len(mine) + len(yours) - common
    return common / union if union else 1.0


def _distinct(values: list[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if not any(_alike(value, other) for other in found):
            found.append(value)
    return found


def _alike(left: Any, right: Any) -> bool:
    """The same element: equal strings but for case and form, equal numbers, or the same JSON."""
    if isinstance(left, str) and isinstance(right, str):
        return fold(left) == fold(right)
    if isinstance(left, list | dict) or isinstance(right, list | dict):
        return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
    return not _one_bool(left, right) and bool(left == right)


def _objects(left: dict[str, Any], right: dict[str, Any]) -> float:
    keys = set(left) | set(right)
    return sum(similar(left[key], right[key]) if key in left and key in right else 0.0 for key in keys) / len(keys) if keys else 1.0
