"""Runs of k tokens across all things: which stand in a template, which many share, and where each stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.pairing.columns import COMMON, COUNTED, IGNORED, Flags, Numbers, TokenColumns

TEMPLATE_TOKENS = 5  # a run of so many that stands in an ignored text does not count, as in ``compare``
TEMPLATE_TOKENS_OF_CODE = 8
FEW = 10  # things that share a run may be so many, however few there are in all: what Moss has stood by since 1994
FEWEST = 3
SHARE_OF_FEW = 2  # … but not more than one in two
SHARE_OF_MANY = 100  # … and in a large collection one in so many
NOTHING_ELSE = 0.9  # of a thing: one that is this much what many share is a copy of them, and not a filled-in form

ODD = np.uint64(0x9E3779B97F4A7C15)


def mixed(words: Numbers) -> NDArray[np.uint64]:
    """Numbers of words, spread over 64 bits."""
    x = (words.astype(np.uint64) + np.uint64(1)) * ODD
    x ^= x >> np.uint64(32)
    x *= np.uint64(0xD6E8FEB86659FD93)
    return x ^ (x >> np.uint64(32))


def gram_hashes(words: Numbers, k: int) -> NDArray[np.uint64]:
    """The hash of the k tokens from each token on; of the last k - 1 tokens there is none."""
    values = mixed(words)
    count = max(len(words) - k + 1, 0)
    found = np.zeros(count, dtype=np.uint64)
    for i in range(k):
        found = found * ODD + values[i : i + count]
    return found


def covered(starts: Flags, k: int, size: int) -> Flags:
    """Which tokens are part of a gram that is chosen."""
    edges = np.zeros(size + 1, dtype=np.int64)
    at = np.flatnonzero(starts)
    edges[at] += 1
    edges[np.minimum(at + k, size)] -= 1
    return np.asarray(np.cumsum(edges)[:size] > 0)


@dataclass(slots=True)
class Grams:
    """All grams of k tokens that stand in at least two places, sorted: ``places[first[i]:first[i + 1]]`` are those of one gram."""

    k: int
    places: Numbers  # ascending within each gram
    first: Numbers
    things: Numbers  # in how many things each gram stands
    size: int  # tokens in all

    @classmethod
    def of(cls, columns: TokenColumns, k: int) -> Grams:
        hashes = gram_hashes(columns.words, k)
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
        return cls._of(columns, k, order, ordered)

    @classmethod
    def _of(cls, columns: TokenColumns, k: int, places: Numbers, values: NDArray[Any]) -> Grams:
        """From places and the values of their grams, sorted by these; what stands in one place alone is left out."""
        same = np.concatenate([[False], values[1:] == values[:-1], [False]])[: len(values) + 1]
        repeated = same[1:] | same[:-1] if len(values) else np.zeros(0, np.bool_)
        places, values = places[repeated], values[repeated]
        begins = np.concatenate([[True], values[1:] != values[:-1]])[: len(values)]
        first = np.append(np.flatnonzero(begins), len(places))
        owner = np.searchsorted(columns.thing_starts, places, side="right") - 1
        new = begins | np.concatenate([[True], owner[1:] != owner[:-1]])[: len(places)]
        sums = np.concatenate([[0], np.cumsum(new)])
        return cls(k, places, first, sums[first[1:]] - sums[first[:-1]], len(columns.words))

    def among(self, columns: TokenColumns) -> Grams:
        """Those whose tokens all count still."""
        gone = np.concatenate([[0], np.cumsum(columns.state != COUNTED)])
        stays = gone[self.places + self.k] == gone[self.places]
        number = np.repeat(np.arange(len(self.things)), self.counts())[stays]
        return self._of(columns, self.k, self.places[stays], number)

    def counts(self) -> Numbers:
        """In how many places each gram stands."""
        return np.diff(self.first)

    def at(self, chosen: Flags) -> Flags:
        """Which tokens begin a gram that is chosen."""
        found = np.zeros(self.size, dtype=np.bool_)
        found[self.places[np.repeat(chosen, self.counts())]] = True
        return found

    def highest(self) -> Numbers:
        """For each token, in how many places that one of its grams stands that has the most; 1 where all are unique."""
        own = np.ones(self.size, dtype=np.int64)
        own[self.places] = np.repeat(self.counts(), self.counts())
        most = own.copy()
        for i in range(1, self.k):
            np.maximum(most[i:], own[:-i], out=most[i:])
        return most


def common_bound(things: int) -> int:
    """A passage that more things than this have is common: it does not count."""
    return max(min(FEW, things // SHARE_OF_FEW), FEWEST, things // SHARE_OF_MANY)


def drop_templates(columns: TokenColumns, first: int, k: int) -> TokenColumns:
    """The columns without the things from ``first`` on, which are ignored texts: a run of k tokens that they have counts nowhere."""
    border = int(columns.thing_starts[first])
    hashes = gram_hashes(columns.words, k)
    found = np.isin(hashes[:border], hashes[border:])
    rest = columns.without_last(first)
    rest.drop(covered(found, k, border), IGNORED)
    return rest


@dataclass(frozen=True, slots=True)
class CommonStretch:
    """Tokens that many things share: where they stand first, and in how many things."""

    start: int
    end: int
    things: int


def drop_common(columns: TokenColumns, grams: Grams, bound: int) -> list[CommonStretch]:
    """What more than ``bound`` things share counts nowhere, except in things that are nothing else."""
    chosen = grams.things > bound
    if not chosen.any():
        return []
    found = covered(grams.at(chosen), grams.k, grams.size) & (columns.state == COUNTED)
    share = columns.sums(found) / np.maximum(columns.sums(columns.state == COUNTED), 1)
    found &= np.repeat(share < NOTHING_ELSE, np.diff(columns.thing_starts))
    columns.drop(found, COMMON)
    return list(_stretches(grams, chosen))


def _stretches(grams: Grams, chosen: Flags) -> Iterator[CommonStretch]:
    """Neighbouring grams, each at the place where it stands first, are one stretch."""
    order = np.argsort(grams.places[grams.first[:-1][chosen]])
    firsts, things = grams.places[grams.first[:-1][chosen]][order], grams.things[chosen][order]
    breaks = np.concatenate([[0], np.flatnonzero(np.diff(firsts) > grams.k) + 1, [len(firsts)]])
    for begin, stop in zip(breaks[:-1].tolist(), breaks[1:].tolist(), strict=True):
        yield CommonStretch(int(firsts[begin]), int(firsts[stop - 1]) + grams.k, int(things[begin:stop].max()))
