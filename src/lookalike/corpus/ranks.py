"""What ``keep`` compares: lengths, times and numbers, as numbers of which the larger one is kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.checks import is_number
from lookalike.corpus.batches import Report
from lookalike.corpus.row import Problem

LAST = -math.inf  # documents without a value come after all others


def rank_of(value: Any, kind: str) -> float:
    """The rank behind a value of the column of ``newest`` or ``best``; a ValueError says what was expected."""
    if value is None or value == "":
        return LAST
    if kind == "newest" and isinstance(value, str | date):
        return _seconds(value)
    if isinstance(value, str):
        value = float(value)
    if not is_number(value) or math.isnan(value):
        raise ValueError(f"of type {type(value).__name__}")
    return float(value)


def _seconds(value: str | date) -> float:
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            value = datetime.fromisoformat(value.strip())
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def ranks_of(
    values: Sequence[Any], column: str, kind: str, place: Callable[[int], str], report: Report
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The ranks of a column, and which rows are usable."""
    ranks, usable = np.full(len(values), LAST), np.ones(len(values), dtype=np.bool_)
    expected = "a time in ISO 8601, or a number" if kind == "newest" else "a number"
    for i, value in enumerate(values):
        try:
            ranks[i] = rank_of(value, kind)
        except (ValueError, OverflowError):
            report(Problem("wrong type", place(i), f"{column!r} is {value!r:.60}: keep={kind}:{column} needs {expected}"))
            usable[i] = False
    return ranks, usable
