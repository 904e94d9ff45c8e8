"""Word Mover's Distance the slow and obvious way: a linear program, and bounds by their definitions."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog


def cheapest(supplies: np.ndarray, demands: np.ndarray, costs: np.ndarray) -> float:
    """The least cost of moving supplies to demands (equal sums), as a linear program."""
    n, m = costs.shape
    rows = np.kron(np.eye(n), np.ones(m))
    columns = np.kron(np.ones(n), np.eye(m))
    scale = float(costs.max()) or 1.0  # the solver's tolerances are absolute
    found = linprog((costs / scale).reshape(-1), A_eq=np.vstack([rows, columns]), b_eq=np.concatenate([supplies, demands]), method="highs")
    assert found.status == 0, found.message
    return float(found.fun) * scale


def ground(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.sqrt(((left[:, None, :].astype(np.float64) - right[None, :, :].astype(np.float64)) ** 2).sum(axis=2))


def distance(left: np.ndarray, left_counts: np.ndarray, right: np.ndarray, right_counts: np.ndarray) -> float:
    return cheapest(left_counts / left_counts.sum(), right_counts / right_counts.sum(), ground(left, right))


def centroid(left: np.ndarray, left_counts: np.ndarray, right: np.ndarray, right_counts: np.ndarray) -> float:
    means = [(counts[:, None] * vectors).sum(axis=0) / counts.sum() for vectors, counts in ((left, left_counts), (right, right_counts))]
    return float(np.linalg.norm(means[0] - means[1]))


def relaxed(left: np.ndarray, left_counts: np.ndarray, right: np.ndarray, right_counts: np.ndarray) -> float:
    distances = ground(left, right)
    one = (left_counts * distances.min(axis=1)).sum() / left_counts.sum()
    other = (right_counts * distances.min(axis=0)).sum() / right_counts.sum()
    return float(max(one, other))
