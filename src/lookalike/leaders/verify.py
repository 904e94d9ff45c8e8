"""Pairs and features → exact similarities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.leaders.candidates import Pairs, Priorities
from lookalike.leaders.rule import Rule


def verify(
    pairs: Pairs, priorities: Priorities, features: NDArray[np.uint64], offsets: NDArray[np.int64], rule: Rule, *, workers: int = 1
) -> NDArray[np.float64]:
    """The similarity of each pair, or 0 where it is below the rule's threshold. ``priorities`` name the lists of features, in any order;
    pairs that have the same earlier document, one after the other, cost the least."""
    order = np.argsort(priorities, kind="stable")
    left, right = (order[np.searchsorted(priorities, part, sorter=order)] for part in pairs)
    found = np.asarray(
        _native.feature_similarities(features, offsets, left, right, rule.threshold, rule.method == "estimate", workers), np.float64
    )
    return np.where(found < rule.threshold, 0.0, found)
