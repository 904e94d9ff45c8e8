"""How surprising it is that two things share a run of tokens: its information in bits, beyond what accidents reach.

The information of a run is Σ -log₂ P(token | the token before it), by the counts of all things that are compared::

    P(t | s) = (c(s t) - o + MU · P(t)) / (c(s) - o + MU)        P(t) = (c(t) - o + ½) / (T - o + ½ V)

of T tokens with V different ones. ``o`` is in how many places the run itself stands: the largest count of a gram of k tokens around the
token. So a run does not testify for itself, however many copied it; a phrase that stands elsewhere among other words does. The first
token of a run has -log₂ P(t).

Among T tokens there are about T²/2 pairs of places where a run could begin, and an accident of b bits is expected at T²/2 · 2^-b of them.
The **surprise** is b - log₂(T²/2): above 0 there is less than one such accident to be expected among all things together.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lookalike.pairing.columns import COUNTED, Numbers, TokenColumns
from lookalike.pairing.grams import Grams

PLACES = 3  # of a bit: sums of millions of numbers differ behind them, with the order of the things
MU = 4.0  # tokens: how much has to be seen behind a word before that counts as much as the words in general


class Surprise:
    """The information of all runs, as sums."""

    def __init__(self, columns: TokenColumns, grams: Grams) -> None:
        alone, behind = information(columns, grams.highest())
        self._alone = alone
        self._sums = np.concatenate([[0.0], np.cumsum(behind)])
        counted = int((columns.state == COUNTED).sum())
        self.accident = max(2 * math.log2(max(counted, 1)) - 1, 0.0)
        """the information that an accident may have"""

    def of(self, left: Numbers, right: Numbers, lengths: Numbers) -> NDArray[np.float64]:
        """The surprise of runs, in bits: that of the side where it is less."""
        sides = (self._alone[side] + self._sums[side + lengths] - self._sums[side + 1] for side in (left, right))
        return np.asarray(np.round(np.minimum(*sides) - self.accident, PLACES))


def information(columns: TokenColumns, own: Numbers) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The bits of each token by itself, and behind the one before it. ``own`` is in how many places its run stands."""
    words = columns.words
    known = np.where(words < columns.vocabulary, words, columns.vocabulary)
    single = np.bincount(known, minlength=columns.vocabulary + 1)
    total, kinds = int(single[:-1].sum()), int((single[:-1] > 0).sum())
    alone = (single[known] - own + 0.5) / (total - own + 0.5 * kinds)
    alone = np.where(known < columns.vocabulary, np.maximum(alone, 0.5 / max(total + 0.5 * kinds, 1)), 1.0)
    pairs = np.append(-1, known[:-1] * (columns.vocabulary + 1) + known[1:])
    _, number, seen = np.unique(pairs, return_inverse=True, return_counts=True)
    together = np.maximum(seen[number] - own, 0)
    before = np.maximum(np.append(0, single[known[:-1]]) - own, together)
    behind = (together + MU * alone) / (before + MU)
    return -np.log2(alone), -np.log2(behind)
