"""Keys → pairs: which documents are compared, and what that leaves open.

Documents are named by their priority: a number of their own, and the smaller one is kept first. A bucket holds the first
``BUCKET_LIMIT`` documents in it that are kept, which nobody knows before they are decided. So pairs come in rounds. In each, the first
living documents of a bucket lead: they are compared with all later ones. What is removed makes room for others to lead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BUCKET_LIMIT = 256  # kept documents a bucket holds; more are near-copies of a template below the threshold, and cost a comparison each
SMALL = 32  # members of a bucket in which all lead at once; of a larger one, most are copies of its first, and one leads at first

BETWEEN_BANDS = np.uint64(0x9E3779B97F4A7C15)  # how far apart the same key is in neighbouring bands

Priorities = NDArray[np.int64]


class Bucketed(NamedTuple):
    """Documents in buckets, in parallel arrays."""

    buckets: NDArray[np.uint64]  # the key, moved by the band
    priorities: Priorities

    def taken(self, which: NDArray[np.bool_] | NDArray[np.int64]) -> Bucketed:
        return Bucketed(self.buckets[which], self.priorities[which])


class Pairs(NamedTuple):
    earlier: Priorities
    later: Priorities


class Open(NamedTuple):
    """Living documents of buckets in which not all lead."""

    buckets: NDArray[np.uint64]
    priorities: Priorities
    leads: NDArray[np.uint8]


def bucketed(keys: NDArray[np.uint64], bands: int, priorities: Priorities) -> Bucketed:
    """Documents with the keys of their bands, as members of buckets. Keys have 64 bits: with 32, each of ten billion documents would
    share some thirty buckets with others by accident."""
    places = np.arange(bands, dtype=np.uint64) * BETWEEN_BANDS
    return Bucketed((keys.astype(np.uint64, copy=False).reshape(-1, bands) + places).reshape(-1), np.repeat(priorities, bands))


def grouped(batches: Iterable[Bucketed]) -> Bucketed:
    """Members by bucket and priority, without buckets of one. A bucket must be whole, and may be anywhere."""
    parts = list(batches)
    whole = Bucketed(*map(np.concatenate, zip(*parts, strict=True))) if parts else Bucketed(np.zeros(0, np.uint64), np.zeros(0, np.int64))
    whole = whole.taken(np.lexsort((whole.priorities, whole.buckets)))
    same = whole.buckets[1:] == whole.buckets[:-1]
    return whole.taken(np.append(same, False) | np.insert(same, 0, False)) if len(same) else whole.taken(np.zeros(0, np.int64))


def candidates(members: Bucketed, removed: Sequence[Priorities], limit: int = BUCKET_LIMIT) -> tuple[Pairs, Open]:
    """The pairs of a round, given what each earlier round removed; and the buckets in which not all pairs are among those so far."""
    edges = _edges(members.buckets)
    living, leads = np.ones(len(members.buckets), np.bool_), np.zeros(len(members.buckets), np.bool_)
    new = leads
    for round_ in range(len(removed) + 1):
        if round_:
            living &= ~np.isin(members.priorities, removed[round_ - 1])
            most: NDArray[np.int64] | int = limit
        else:
            sizes = np.diff(edges)
            most = np.repeat(np.where(sizes <= SMALL, limit, 1), sizes)
        new = living & ~leads & (_before(living, edges) < most)
        leads |= new
    leads &= living
    pairs = _with_later(members, new, living)
    partly = np.logical_or.reduceat(living & ~leads, edges[:-1]) if len(living) else np.zeros(0, np.bool_)
    shown = living & np.repeat(partly, np.diff(edges))
    return pairs, Open(*members.taken(shown), leads[shown].astype(np.uint8))


def last_candidates(members: Bucketed, kept: Priorities, limit: int = BUCKET_LIMIT) -> Pairs:
    """Once all is decided: each document that goes, with all kept ones that its buckets held when its turn came."""
    stays = np.isin(members.priorities, kept)
    leads = stays & (_before(stays, _edges(members.buckets)) < limit)
    return _with_later(members, leads, leads | ~stays, ~stays)


def distinct(*pairs: Pairs) -> Pairs:
    """Each pair once, by the earlier document."""
    earlier, later = (np.concatenate(part) for part in zip(*pairs, strict=True))
    order = np.lexsort((later, earlier))
    earlier, later = earlier[order], later[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (earlier[1:] != earlier[:-1]) | (later[1:] != later[:-1])
    return Pairs(earlier[new], later[new])


def _edges(buckets: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Where buckets begin, and the end of the last."""
    begins = np.flatnonzero(buckets[1:] != buckets[:-1]) + 1
    return np.concatenate(([0], begins, [len(buckets)])) if len(buckets) else np.zeros(1, np.int64)


def _before(which: NDArray[np.bool_], edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of these are before each member in its bucket."""
    counts: NDArray[np.int64] = np.cumsum(which) - which
    return counts - np.repeat(counts[edges[:-1]], np.diff(edges))


def _with_later(members: Bucketed, leads: NDArray[np.bool_], among: NDArray[np.bool_], wanted: NDArray[np.bool_] | None = None) -> Pairs:
    """Each leading one with the later ones of its bucket: both are among the same members, and of these the wanted ones are later."""
    chosen = members.taken(among)
    places = np.flatnonzero(leads[among])
    edges = _edges(chosen.buckets)
    ends = np.repeat(edges[1:], np.diff(edges))[places]
    counts = ends - places - 1
    later = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts - places - 1, counts)
    earlier = np.repeat(places, counts)
    if wanted is not None:
        wanted_here = wanted[among][later]
        earlier, later = earlier[wanted_here], later[wanted_here]
    return distinct(Pairs(chosen.priorities[earlier], chosen.priorities[later]))
