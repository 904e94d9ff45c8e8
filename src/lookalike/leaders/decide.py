"""Verified pairs → who stays (native/sketch/decide.hpp has the rule)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.leaders.candidates import BUCKET_LIMIT, Open, Pairs, Priorities

UNDECIDED, KEPT, REMOVED = range(3)
NOTHING_OPEN = Open(np.zeros(0, np.uint64), np.zeros(0, np.int64), np.zeros(0, np.uint8))


class Decided(NamedTuple):
    """In the order of the priorities that were given, which ascend."""

    standings: NDArray[np.uint8]
    leaders: Priorities  # of the kept document that each one points at, or -1
    similarities: NDArray[np.float64]


def decide(
    priorities: Priorities,
    pairs: Pairs,
    similarities: NDArray[np.float64],
    threshold: float,
    left_open: Open = NOTHING_OPEN,
    limit: int = BUCKET_LIMIT,
) -> Decided:
    """What the pairs of all rounds so far say about documents; undecided is what the open buckets could still change.

    With nothing left open all is decided. ``priorities`` ascend and name every document of the pairs and of the open buckets.
    """
    later, earlier = np.searchsorted(priorities, pairs.later), np.searchsorted(priorities, pairs.earlier)
    order = np.argsort(later, kind="stable")
    owners = np.searchsorted(priorities, left_open.priorities)
    open_order = np.argsort(owners, kind="stable")
    numbers = np.unique(left_open.buckets, return_inverse=True)[1].astype(np.uint32)
    standings, leaders, nearness = map(
        np.asarray,
        _native.decide(
            _offsets(later, len(priorities)),
            earlier[order].astype(np.uint32),
            similarities[order],
            threshold,
            _offsets(owners, len(priorities)),
            numbers[open_order],
            left_open.leads[open_order],
            limit,
        ),
    )
    return Decided(standings, np.where(leaders < 0, -1, priorities[leaders]) if len(priorities) else leaders, nearness)


def originals(digests: NDArray[np.uint64], priorities: Priorities) -> Priorities:
    """The first of the documents with the same digest (two words each), for each document: itself, or the one it is a copy of."""
    pairs = digests.reshape(-1, 2)
    order = np.lexsort((priorities, pairs[:, 1], pairs[:, 0]))
    first = np.ones(len(order), np.bool_)
    first[1:] = (pairs[order][1:] != pairs[order][:-1]).any(axis=1)
    found = np.empty_like(priorities)
    found[order] = priorities[order][np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))]
    return found


def _offsets(owners: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    found: NDArray[np.int64] = np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=count)))).astype(np.int64)
    return found
