"""How far MinHash estimates lie from the exact Jaccard similarity, at every document length.

The ideal is what 128 independent draws would give: a standard deviation of sqrt(J (1 - J) / 128).
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import lookalike as la

SIZE = 128
LENGTHS = (1, 3, 10, 30, 100, 300, 1000, 10_000, 100_000)
TARGETS = (0.5, 0.8)
# Single words, so that the features of a text are known exactly. Datasketch is given the same words.
RECIPE = la.Recipe(tokenizer="words", ngram=1)
# How many standard errors of a measured RMSE above the ideal are put down to chance, over 17 rows of a table.
CHANCE = 3.0

Features = list[str]
Estimate = Callable[[Features, Features], float]


class Shape(NamedTuple):
    """How many features two documents share, and how many each has alone."""

    shared: int
    left: int
    right: int

    @property
    def jaccard(self) -> float:
        return self.shared / sum(self)


def shape(length: int, target: float) -> Shape | None:
    """Two documents of so many features as alike as possible, or one inside the other where that comes closer."""
    shared = round(2 * length * target / (1 + target))
    equal = Shape(shared, length - shared, length - shared)
    nested = Shape(length, 0, round(length / target) - length)
    best = min((equal, nested), key=lambda found: abs(found.jaccard - target))
    return None if best.jaccard == 1 else best


def pair(draw: random.Random, form: Shape) -> tuple[Features, Features]:
    first = draw.randrange(1 << 40)
    words = [f"{value:x}" for value in range(first, first + sum(form))]
    shared, own = words[: form.shared], form.shared + form.left
    return shared + words[form.shared : own], shared + words[own:]


def ours(left: Features, right: Features) -> float:
    values = la.minhashes([" ".join(left), " ".join(right)], size=SIZE, recipe=RECIPE)
    return float((values[0] == values[1]).mean())


def datasketch() -> Estimate:
    minhash = import_module("datasketch").MinHash

    def estimate(left: Features, right: Features) -> float:
        first, second = minhash.generator(([word.encode() for word in side] for side in (left, right)), num_perm=SIZE)
        return float(first.jaccard(second))

    return estimate


def measure(budget: int, lengths: tuple[int, ...]) -> list[dict[str, Any]]:
    """A row for each length and similarity. ``budget`` is the number of features sketched for a row, by ours."""
    sketchers: dict[str, tuple[Estimate, int]] = {"ours": (ours, budget)}
    try:
        sketchers["datasketch"] = (datasketch(), budget // 8)
    except ImportError:
        print("  datasketch is not installed: the estimate is measured for ours alone", file=sys.stderr)
    rows = []
    for length in lengths:
        print(f"  error of the estimate: documents of {length} features", file=sys.stderr)
        for form in filter(None, (shape(length, target) for target in TARGETS)):
            ideal = (form.jaccard * (1 - form.jaccard) / SIZE) ** 0.5
            row: dict[str, Any] = {"features": length, "jaccard": round(form.jaccard, 4), "ideal": round(ideal, 4)}
            rows.append(row | {name: _errors(run, form, ideal, features) for name, (run, features) in sketchers.items()})
    return rows


def _errors(estimate: Estimate, form: Shape, ideal: float, budget: int) -> dict[str, Any]:
    pairs = min(4000, max(6, budget // (2 * sum(form))))
    draw = random.Random(sum(form))  # the same documents for every sketcher
    errors = [estimate(*pair(draw, form)) - form.jaccard for _ in range(pairs)]
    rmse = (sum(error * error for error in errors) / pairs) ** 0.5
    return {
        "rmse": round(rmse, 4),
        "bias": round(sum(errors) / pairs, 4),
        "pairs": pairs,
        "ok": rmse <= ideal * (1 + CHANCE / (2 * pairs) ** 0.5),
    }
