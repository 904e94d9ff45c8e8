"""All maximal runs of at least k equal tokens between two things, found through the grams that they share.

A run begins where two places have equal grams and the tokens before them differ; only these are looked at. How far it goes is found by
halving, with sums of hashes, and then compared token by token. No pair of things is looked at that shares no gram.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.pairing.columns import Flags, Numbers, TokenColumns
from lookalike.pairing.grams import ODD, Grams, mixed
from lookalike.pairing.surprise import Surprise

MOST_PLACES = 32  # of a gram in one thing: a text that repeats itself endlessly is looked at so often
MOST_PARTNERS = 100  # of a thing that is nothing but what many share: it is compared with so many of them, and not with each


Run = tuple[int, int, int, float]
"""The first token on both sides, the number of tokens, and the surprise in bits. The left thing comes before the right one."""


class Runs(NamedTuple):
    """Many of them, in columns."""

    left: Numbers
    right: Numbers
    length: Numbers
    bits: NDArray[np.float64]

    def rows(self) -> list[Run]:
        return list(zip(*(column.tolist() for column in self), strict=True))

    def chosen(self, which: Flags) -> Runs:
        return Runs(*(column[which] for column in self))  # type: ignore[arg-type]


def find_runs(columns: TokenColumns, grams: Grams, surprise: Surprise, least: float, common: int) -> Runs:
    """The runs of at least k tokens whose surprise is ``least`` or more, by thing, then by place."""
    reach = _Reach(columns)
    nothing = np.zeros(0, np.int64)
    found = [Runs(nothing, nothing, nothing, np.zeros(0))]
    for left, right in _beginnings(columns, grams, common):
        length = reach.lengths(left, right, grams.k)
        runs = Runs(left, right, length, surprise.of(left, right, length))
        runs = runs.chosen(runs.bits >= least)
        # A length that was wrong becomes shorter, and so does the information.
        length = reach.checked(runs)
        runs = Runs(runs.left, runs.right, length, surprise.of(runs.left, runs.right, length))
        found.append(runs.chosen((runs.bits >= least) & (length >= grams.k)))
    return Runs(*(np.concatenate(columns) for columns in zip(*found, strict=True)))


def _beginnings(columns: TokenColumns, grams: Grams, common: int) -> Iterator[tuple[Numbers, Numbers]]:
    """Pairs of places with equal grams, of two things, where the tokens before differ. One batch for each distance between the two
    among the places of their gram, so that none is larger than all places together.
    """
    places, number = _few_places(columns, grams, common)
    owner = np.searchsorted(columns.thing_starts, places, side="right") - 1
    many = grams.things[number] > max(common, MOST_PARTNERS)
    at = np.arange(len(places))
    for step in range(1, len(places)):
        at = at[: np.searchsorted(at, len(places) - step)]
        at = at[number[at + step] == number[at]]
        if step > MOST_PARTNERS:
            at = at[~many[at]]
        if not at.size:
            return
        left, right = places[at], places[at + step]
        begins = (owner[at] != owner[at + step]) & ((left == 0) | (columns.words[left - 1] != columns.words[right - 1]))
        if begins.any():
            yield left[begins], right[begins]


def _few_places(columns: TokenColumns, grams: Grams, common: int) -> tuple[Numbers, Numbers]:
    """The places of grams that several things have, and the number of the gram of each: not too many in one thing."""
    number = np.repeat(np.arange(len(grams.things)), grams.counts())
    owner = np.searchsorted(columns.thing_starts, grams.places, side="right") - 1
    new = np.concatenate([[True], (number[1:] != number[:-1]) | (owner[1:] != owner[:-1])])[: len(number)]
    rank = np.arange(len(number)) - np.maximum.accumulate(np.where(new, np.arange(len(number)), 0)) if len(number) else number
    most = np.where(grams.things > max(common, MOST_PARTNERS), 1, MOST_PLACES)
    chosen = (grams.things[number] > 1) & (rank < most[number])
    return grams.places[chosen], number[chosen]


class _Reach:
    """How far runs go."""

    def __init__(self, columns: TokenColumns) -> None:
        self._words = columns.words
        self._powers = np.cumprod(np.full(len(self._words), ODD))
        self._sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed(self._words) * self._powers)])
        self._ends = np.repeat(columns.parts[1:], np.diff(columns.parts))

    def lengths(self, left: Numbers, right: Numbers, k: int) -> Numbers:
        """How many tokens have equal hashes from places on that have k of them; the left one comes first."""
        low = np.full(len(left), k, dtype=np.int64)
        high = np.minimum(self._ends[left] - left, self._ends[right] - right)
        shift = self._powers[right - left - 1]
        while (open_ := np.flatnonzero(low < high)).size:
            a, b = left[open_], right[open_]
            middle = (low[open_] + high[open_] + 1) // 2
            equal = (self._sums[a + middle] - self._sums[a]) * shift[open_] == self._sums[b + middle] - self._sums[b]
            low[open_] = np.where(equal, middle, low[open_])
            high[open_] = np.where(equal, high[open_], middle - 1)
        return low

    def checked(self, runs: Runs) -> Numbers:
        """The lengths of runs by the tokens themselves, whatever their hashes say: somebody may have made these collide."""
        length = runs.length.copy()
        for i, (a, b, n, _) in enumerate(runs.rows()):
            differs = self._words[a : a + n] != self._words[b : b + n]
            if differs.any():
                length[i] = int(differs.argmax())
        return length
