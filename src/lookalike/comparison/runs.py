"""Runs of tokens that two texts share: in the same order (kept), and elsewhere (moved).

A native kernel aligns the tokens. An alignment leaves choices open, and these are made here so that a reader finds them
natural: a gap slides to where a line or a sentence begins, and a kept fragment that is less than half of the changes on
both sides of it is chance and counts as changed.
"""

from __future__ import annotations

from array import array
from bisect import bisect
from collections.abc import Iterable
from itertools import accumulate
from operator import sub
from typing import NamedTuple

from lookalike import _native
from lookalike.model import Span
from lookalike.text.normalize import utf8

PIECES = 4  # the native mode: words, single ideographs, punctuation marks

# A move is a phrase or more: below this, equal fragments in other places are chance.
MOVED_TOKENS = 4
MOVED_CHARACTERS = 10
# A kept fragment stands if it has more than half as much text as the changes around it.
FRAGMENT_FACTOR = 2
MAX_SLIDE = 64  # tokens; bounds the work on repetitive texts
SENTENCE_ENDS = frozenset(".!?…。．！？；;")


class Run(NamedTuple):
    """Equal tokens on both sides: the first on each side, and how many."""

    left: int
    right: int
    length: int

    @property
    def left_end(self) -> int:
        return self.left + self.length

    @property
    def right_end(self) -> int:
        return self.right + self.length


class Side:
    """The tokens of one text: their spans, and how many characters come before each."""

    def __init__(self, text: str) -> None:
        self.hashes, self.starts, self.ends = _native.token_stream(utf8(text), PIECES, True)
        self.sizes = array("I", map(sub, self.ends, self.starts))
        self.before: list[int] = list(accumulate(self.sizes, initial=0))
        self.text = text

    def __len__(self) -> int:
        return len(self.hashes)

    def characters(self, first: int, last: int) -> int:
        return self.before[last] - self.before[first]

    def span(self, first: int, last: int) -> Span:
        return self.starts[first], self.ends[last - 1]

    def begins(self, token: int) -> int:
        """2 if a line begins with the token, 1 if a sentence does, else 0."""
        if token == 0 or token == len(self):
            return 2
        before = self.ends[token - 1]
        if "\n" in self.text[before : self.starts[token]]:
            return 2
        return int(self.text[before - 1] in SENTENCE_ENDS)


def shared_runs(a: Side, b: Side) -> tuple[list[Run], list[Run]]:
    """What was kept, in order, and what was moved. No token is in two runs."""
    aligned = [Run(*run) for run in _native.align_tokens(a.hashes, b.hashes, a.sizes)]
    kept = _without_fragments(_slid(aligned, a, b), a, b)
    # Only now: a fragment that was kept by chance would cut a move apart.
    moved = [
        Run(*run) for run in _native.moved_tokens(a.hashes, b.hashes, [(run.left, run.right, run.length) for run in kept], MOVED_TOKENS)
    ]
    return _in_place(kept, [run for run in moved if a.characters(run.left, run.left_end) >= MOVED_CHARACTERS])


def _slid(runs: list[Run], a: Side, b: Side) -> list[Run]:
    """The same alignment with every one-sided gap where it reads best.

    Where text was only deleted or only inserted, the gap often can move: ``one. [two. ]three.`` and ``one[. two]. three.`` are
    the same deletion. Best is where a run joins its neighbour, then where the gap begins a line, then a sentence.
    """
    joined: list[Run] = []
    for run in reversed(runs):  # backwards first: a stray token that was aligned early joins the run it belongs to
        while joined and (whole := _absorbed(run, joined[-1], a, b)):
            joined.pop()
            run = whole
        joined.append(run)
    placed: list[Run] = []
    for run in reversed(joined):
        if placed:
            shift = _shift(placed[-1], run, a, b)
            before = placed.pop()
            before, run = before._replace(length=before.length + shift), Run(run.left + shift, run.right + shift, run.length - shift)
            placed += [before] if before.length else []
            if not run.length:
                continue
        placed.append(run)
    return _joined(placed)


class _Gap(NamedTuple):
    """Tokens between two runs on one side, where the other side has none."""

    hashes: memoryview
    side: Side
    start: int
    end: int


def _one_sided(first: Run, second: Run, a: Side, b: Side) -> _Gap | None:
    if first.right_end == second.right:
        return _Gap(a.hashes, a, first.left_end, second.left)
    if first.left_end == second.left:
        return _Gap(b.hashes, b, first.right_end, second.right)
    return None


def _absorbed(first: Run, second: Run, a: Side, b: Side) -> Run | None:
    """Both runs as one, if all of the first can stand directly before the second."""
    gap, size = _one_sided(first, second, a, b), first.length
    if gap is None or size > MAX_SLIDE or gap.hashes[gap.end - size : gap.end] != gap.hashes[gap.start - size : gap.start]:
        return None
    return Run(second.left - size, second.right - size, size + second.length)


def _shift(first: Run, second: Run, a: Side, b: Side) -> int:
    """By how many tokens the gap between two runs should slide: to the right if positive, to the left if negative."""
    gap = _one_sided(first, second, a, b)
    if gap is None:
        return 0
    right = left = 0
    while right < min(MAX_SLIDE, second.length) and gap.hashes[gap.start + right] == gap.hashes[gap.end + right]:
        right += 1
    if right == second.length:
        return right
    while left < min(MAX_SLIDE, first.length - 1) and gap.hashes[gap.start - left - 1] == gap.hashes[gap.end - left - 1]:
        left += 1
    return max(range(-left, right + 1), key=lambda shift: (gap.side.begins(gap.start + shift), -abs(shift)))


def _without_fragments(runs: list[Run], a: Side, b: Side) -> list[Run]:
    """The kept runs that are more than chance agreement inside a rewritten stretch."""
    edges = [*runs, Run(len(a), len(b), 0), Run(0, 0, 0)]  # the end has index len(runs), the start -1
    before, after = list(range(-1, len(runs))), [*range(1, len(runs) + 1), 0]

    def gap(first: int, second: int) -> int:
        x, y = edges[first], edges[second]
        return max(a.characters(x.left_end, y.left), b.characters(x.right_end, y.right))

    def is_fragment(i: int) -> bool:
        size = a.characters(runs[i].left, runs[i].left_end)
        return FRAGMENT_FACTOR * size <= min(gap(before[i], i), gap(i, after[i]))

    stays = bytearray(b"\1") * len(runs)
    suspects: Iterable[int] = range(len(runs))
    while suspects:
        dropped: list[int] = []
        for i in suspects:
            # Of neighbouring fragments only every second is dropped at a time: dropping one enlarges the gaps of the other.
            if is_fragment(i) and not (dropped and dropped[-1] == before[i]):
                dropped.append(i)
        for i in dropped:
            stays[i] = 0
            after[before[i]], before[after[i]] = after[i], before[i]
        suspects = sorted({k for i in dropped for k in (before[i], after[i]) if 0 <= k < len(runs) and stays[k]})
    return [run for run, stay in zip(runs, stays, strict=True) if stay]


def _joined(runs: list[Run]) -> list[Run]:
    """Runs that follow each other without a gap on both sides are one."""
    joined: list[Run] = []
    for run in sorted(runs):
        last = joined[-1] if joined else None
        if last and (last.left_end, last.right_end) == (run.left, run.right):
            joined[-1] = Run(last.left, last.right, last.length + run.length)
        else:
            joined.append(run)
    return joined


def _in_place(kept: list[Run], moved: list[Run]) -> tuple[list[Run], list[Run]]:
    """A run that stands between the same kept runs on both sides was not moved, unless it crosses a longer one there."""
    lefts, rights = [run.left for run in kept], [run.right for run in kept]
    gaps: dict[int, list[Run]] = {}  # what stays, by gap, in order
    elsewhere: list[Run] = []
    for run in sorted(moved, key=lambda run: (-run.length, run)):
        gap = bisect(lefts, run.left)
        here = gaps.setdefault(gap, [])
        at = bisect(here, run)
        follows = at == 0 or here[at - 1].right_end <= run.right
        precedes = at == len(here) or run.right_end <= here[at].right
        if gap == bisect(rights, run.right) and follows and precedes:
            here.insert(at, run)
        else:
            elsewhere.append(run)
    return _joined([*kept, *(run for here in gaps.values() for run in here)]), elsewhere
