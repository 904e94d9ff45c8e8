"""From runs to pairs: which runs are shown, how much of both sides they cover, and who is more alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, product
from typing import NamedTuple

import numpy as np

from lookalike.pairing.columns import COPY, COUNTED, Flags, Numbers, TokenColumns
from lookalike.pairing.report import Pair, SharedPassage
from lookalike.pairing.runs import Run, Runs
from lookalike.pairing.surprise import Surprise
from lookalike.pairing.things import Thing


class RankedPair(NamedTuple):
    """A pair of things by their numbers: how alike they are, and the runs that are shown, the longest first."""

    score: float
    left: int
    right: int
    covered: tuple[int, int]
    runs: tuple[Run, ...]


def found_pairs(columns: TokenColumns, runs: Runs) -> list[RankedPair]:
    """All pairs of things that share runs, the most alike first."""
    edges = columns.thing_starts
    left, right = (np.searchsorted(edges, side, side="right") - 1 for side in (runs.left, runs.right))
    order = np.lexsort((runs.right, runs.left, -runs.length, right, left))
    left, right = left[order], right[order]
    rows = Runs(*(column[order] for column in runs)).rows()  # type: ignore[arg-type]
    breaks = np.flatnonzero(np.concatenate([[True], (left[1:] != left[:-1]) | (right[1:] != right[:-1]), [True]])[: len(rows) + 1])
    if not rows:
        return []
    counted = columns.sums(columns.state == COUNTED)
    pairs = []
    for begin, stop in zip(breaks[:-1].tolist(), breaks[1:].tolist(), strict=True):
        a, b = int(left[begin]), int(right[begin])
        shown, covered = cover(rows[begin:stop], (int(edges[a]), int(edges[a + 1])), (int(edges[b]), int(edges[b + 1])))
        pairs.append(RankedPair(sum(covered) / int(counted[a] + counted[b]), a, b, covered, shown))
    return sorted(pairs, key=lambda pair: (-pair.score, pair.left, pair.right))


def cover(runs: Sequence[Run], left: tuple[int, int], right: tuple[int, int]) -> tuple[tuple[Run, ...], tuple[int, int]]:
    """Of runs, the longest first, those that cover a token which no longer one covers, on either side; and how many tokens they cover."""
    if len(runs) == 1:
        return (runs[0],), (runs[0][2], runs[0][2])
    here, there = np.zeros(left[1] - left[0], np.bool_), np.zeros(right[1] - right[0], np.bool_)
    shown = []
    for run in runs:
        a, b = here[run[0] - left[0] :][: run[2]], there[run[1] - right[0] :][: run[2]]
        if not (a.all() and b.all()):
            a[:], b[:] = True, True
            shown.append(run)
    return tuple(shown), (int(here.sum()), int(there.sum()))


class EqualThings:
    """Things whose tokens are the same, and count the same, as those of an earlier one: they are looked for once."""

    def __init__(self, columns: TokenColumns) -> None:
        self.of: dict[int, list[int]] = {}  # the earlier one, and those like it
        seen: dict[bytes, int] = {}
        edges = columns.thing_starts.tolist()
        words = np.where(columns.state == COUNTED, columns.words, -1)
        self._is_copy = np.zeros(len(edges) - 1, np.bool_)
        for thing, (start, end) in enumerate(pairwise(edges)):
            if not (columns.state[start:end] == COUNTED).any():
                continue
            first = seen.setdefault(words[start:end].tobytes(), thing)
            self._is_copy[thing] = first != thing
            self.of.setdefault(first, []).append(thing)

    def hide(self, columns: TokenColumns) -> None:
        columns.drop(self.tokens(columns), COPY)

    def tokens(self, columns: TokenColumns) -> Flags:
        return np.repeat(self._is_copy, np.diff(columns.thing_starts))

    def restore(self, columns: TokenColumns) -> None:
        """What does not count in a thing does not count in those like it."""
        edges = columns.thing_starts
        for first, *others in self.of.values():
            for other in others:
                columns.state[edges[other] : edges[other + 1]] = columns.state[edges[first] : edges[first + 1]]

    def pairs(self, columns: TokenColumns, surprise: Surprise) -> Iterator[RankedPair]:
        """Each of the same with each."""
        edges = columns.thing_starts
        for group in self.of.values():
            start, end = (int(edges[group[0] + more]) for more in (0, 1))
            runs = whole(columns, start, end, surprise) if len(group) > 1 else []
            tokens = sum(run[2] for run in runs)
            for a, b in combinations(group, 2) if tokens else ():
                yield self._moved(RankedPair(1.0, group[0], group[0], (tokens, tokens), tuple(runs)), a, b, edges)

    def count(self) -> int:
        return sum(len(group) * (len(group) - 1) // 2 for group in self.of.values())

    def expanded(self, pair: RankedPair, edges: Numbers) -> Iterator[RankedPair]:
        """The pair, and the same pair of those that are like one or the other."""
        for a, b in product(self.of[pair.left], self.of[pair.right]):
            yield self._moved(pair, a, b, edges)

    def _moved(self, pair: RankedPair, a: int, b: int, edges: Numbers) -> RankedPair:
        """The pair of things that are the same as its sides."""
        here, there = int(edges[a] - edges[pair.left]), int(edges[b] - edges[pair.right])
        runs = [(x + here, y + there, length, bits) for x, y, length, bits in pair.runs]
        if a < b:
            return RankedPair(pair.score, a, b, pair.covered, tuple(runs))
        return RankedPair(pair.score, b, a, pair.covered[::-1], tuple((y, x, length, bits) for x, y, length, bits in runs))

    def times(self, pair: RankedPair) -> int:
        return len(self.of[pair.left]) * len(self.of[pair.right])


def whole(columns: TokenColumns, start: int, end: int, surprise: Surprise) -> list[Run]:
    """The stretches of tokens that count as runs of a thing with itself, the longest first, none across the end of a part."""
    counts = np.concatenate([[False], columns.state[start:end] == COUNTED, [False]])
    edges = np.flatnonzero(counts[1:] != counts[:-1]) + start
    first, length = edges[::2], edges[1::2] - edges[::2]
    runs = Runs(first, first, length, surprise.of(first, first, length)).rows()
    return sorted(runs, key=lambda run: (-run[2], run[0]))


def shown_pair(found: RankedPair, things: Sequence[Thing], columns: TokenColumns, counted: Numbers) -> Pair:
    """A pair with places in texts instead of tokens."""
    return Pair(
        things[found.left].id,
        things[found.right].id,
        found.score,
        min(found.covered),
        (found.covered[0] / int(counted[found.left]), found.covered[1] / int(counted[found.right])),
        tuple(_passage(run, found, columns) for run in found.runs),
    )


def _passage(run: Run, found: RankedPair, columns: TokenColumns) -> SharedPassage:
    left, right, length, bits = run
    parts = [columns.part_at(side) - int(columns.part_of[thing]) for side, thing in ((left, found.left), (right, found.right))]
    spans = [(int(columns.starts[side]), int(columns.ends[side + length - 1])) for side in (left, right)]
    return SharedPassage(spans[0], spans[1], length, bits, parts[0], parts[1])
