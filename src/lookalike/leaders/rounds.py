"""The stages one after the other, wherever they run: one process, or many machines that are asked for each step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from lookalike.leaders.candidates import BUCKET_LIMIT, Open, Pairs, Priorities, distinct
from lookalike.leaders.decide import KEPT, NOTHING_OPEN, REMOVED, UNDECIDED, Decided, decide

NO_PAIRS = Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64))
Find = Callable[[Sequence[Priorities]], Iterable[tuple[Pairs, Open]]]  # what candidates() says, of each part of the buckets
FindLast = Callable[[Priorities], Iterable[Pairs]]  # what last_candidates() says
Compare = Callable[[Pairs], NDArray[np.float64]]


def in_rounds(
    members: Priorities, copies: Priorities, find: Find, find_last: FindLast, compare: Compare, threshold: float, limit: int = BUCKET_LIMIT
) -> tuple[Priorities, Decided]:
    """Who of the members of buckets stays, and what the others point at.

    ``members`` are documents of which none is a copy of another; ``copies`` are copies of members. A copy of a member that goes is looked
    up on its own, since what was kept in the meantime may be nearer; ``find_last`` gets the priorities that stay. The answer has the
    members, and the copies of those that go, by priority.
    """
    everyone = np.sort(members)
    known, similarities = NO_PAIRS, np.zeros(0)
    removed: list[Priorities] = []
    standings = np.full(len(everyone), UNDECIDED)
    while (standings == UNDECIDED).any():
        found = list(find(removed))
        known, similarities = _compared(known, similarities, [pairs for pairs, _ in found], compare)
        left_open = Open(*map(np.concatenate, zip(*(each for _, each in found), strict=True))) if found else NOTHING_OPEN
        before, standings = standings, decide(everyone, known, similarities, threshold, left_open, limit).standings
        removed.append(everyone[(standings == REMOVED) & (before != REMOVED)])
    known, similarities = _compared(known, similarities, find_last(everyone[standings == KEPT]), compare)
    everyone = np.union1d(everyone, np.intersect1d(copies, known.later))
    return everyone, decide(everyone, known, similarities, threshold)


def _compared(
    known: Pairs, similarities: NDArray[np.float64], found: Iterable[Pairs], compare: Compare
) -> tuple[Pairs, NDArray[np.float64]]:
    """All pairs with their similarities; those that are known already are not compared again."""
    new = without(distinct(NO_PAIRS, *found), known)
    together = Pairs(np.concatenate((known.earlier, new.earlier)), np.concatenate((known.later, new.later)))
    return together, np.concatenate((similarities, compare(new)))


def without(pairs: Pairs, known: Pairs) -> Pairs:
    """Pairs that are not known yet; each is there once."""
    earlier, later = np.concatenate((known.earlier, pairs.earlier)), np.concatenate((known.later, pairs.later))
    order = np.lexsort((later, earlier))  # stable: of equal pairs the known one is first
    repeated = np.zeros(len(order), np.bool_)
    same = (earlier[order][1:] == earlier[order][:-1]) & (later[order][1:] == later[order][:-1])
    repeated[order[1:][same]] = True
    new = ~repeated[len(known.earlier) :]
    return Pairs(pairs.earlier[new], pairs.later[new])
