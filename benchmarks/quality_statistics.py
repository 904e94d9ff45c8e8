"""What the benchmarks of quality count: ranks, correlations, areas under curves."""

from __future__ import annotations

import numpy as np


def ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1; equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return ((last - counts + 1 + last) / 2)[inverse]


def spearman(values: np.ndarray, labels: np.ndarray) -> float:
    return float(np.corrcoef(ranks(values), ranks(labels))[0, 1])


def auc(values: np.ndarray, positive: np.ndarray) -> float:
    """The chance that a positive pair gets a higher value than a negative one."""
    hits = int(positive.sum())
    return float((ranks(values)[positive].sum() - hits * (hits + 1) / 2) / (hits * (len(values) - hits)))
