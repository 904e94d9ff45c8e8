"""Runs of tokens that stand in both texts in the same order: what was kept.

A native kernel aligns the tokens. An alignment leaves choices open, and these are made here so that a reader finds them
natural: a gap slides to where a line or a sentence begins; a kept fragment that is less than half of the changes on both
sides of it is chance and counts as changed; and no bits are kept of a line, sentence or clause that stands whole elsewhere.
"""

from __future__ import annotations

from bisect import bisect, bisect_left
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from lookalike import _native
from lookalike.comparison.sides import Run, Side, gaps, joined

# A kept fragment stands if it has more than half as much text as the changes around it.
FRAGMENT_FACTOR = 2
MAX_SLIDE = 64  # tokens; bounds the work on repetitive texts
MAX_REACH = 64  # tokens from a gap to the beginning or the end of the sentence it is in
MAX_BROKEN = 10_000  # runs: with more, bits are not looked for, which would take longer than everything else


def kept_runs(a: Side, b: Side) -> list[Run]:
    """What was kept, in order."""
    aligned = [Run(*run) for run in _native.align_tokens(a.hashes, b.hashes, a.sizes)]
    return _without_bits(_without_fragments(_slid(aligned, a, b), a, b), a, b)


def _slid(runs: list[Run], a: Side, b: Side) -> list[Run]:
    """The same alignment with every one-sided gap where it reads best.

    Where text was only deleted or only inserted, the gap often can move: ``one. [two. ]three.`` and ``one[. two]. three.`` are
    the same deletion. Best is where a run joins its neighbour, then where the gap begins a line, then a sentence.
    """
    absorbed: list[Run] = []
    for run in reversed(runs):  # backwards first: a stray token that was aligned early joins the run it belongs to
        while absorbed and (whole := _absorbed(run, absorbed[-1], a, b)):
            absorbed.pop()
            run = whole
        absorbed.append(run)
    placed: list[Run] = []
    for run in reversed(absorbed):
        if placed:
            shift = _shift(placed[-1], run, a, b)
            before = placed.pop()
            before, run = before._replace(length=before.length + shift), Run(run.left + shift, run.right + shift, run.length - shift)
            placed += [before] if before.length else []
            if not run.length:
                continue
        placed.append(run)
    return joined(placed)


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
    if not (left or right):
        return 0
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


def _without_bits(runs: list[Run], a: Side, b: Side) -> list[Run]:
    """The runs without bits of lines, sentences and clauses of which less than half was kept, and which stand whole elsewhere."""
    if len(runs) > MAX_BROKEN:
        return runs
    for places_a, places_b in ((a.beginnings, b.beginnings), (a.edges, b.edges)):
        mirrored = [Run(run.right, run.left, run.length) for run in runs]
        ours, theirs = _broken(runs, a, b, places_a), _broken(mirrored, b, a, places_b)
        released = [bit for key, bits in ours.items() if key in theirs for bit in bits]
        released += [Run(left, right, length) for key, bits in theirs.items() if key in ours for right, left, length in bits]
        if released:
            runs = _split(runs, released)
    return runs


def _broken(runs: list[Run], a: Side, b: Side, places: list[int]) -> dict[bytes, list[Run]]:
    """The units around and in gaps of which less than half was kept, by their tokens: the kept bits of them. They begin at ``places``."""
    found: dict[bytes, list[Run]] = {}
    lefts = [run.left for run in runs]
    done = 0
    for first, last, _, _ in gaps(runs, a, b):
        first = max(first, done)
        if first >= last:
            continue  # nothing here, or in the unit of the gap before
        start, end = max(done, first - MAX_REACH), min(len(a), last + MAX_REACH)
        inner, outer = bisect(places, first), bisect_left(places, last)
        edges = [places[inner - 1] if inner and places[inner - 1] >= start else first]
        edges += places[inner:outer]
        edges += [places[outer] if outer < len(places) and places[outer] <= end else last]
        done = edges[-1]
        for unit in pairwise(edges):
            # Only a unit that reaches beyond the gap can have kept bits.
            bits = list(_inside(runs, lefts, *unit)) if unit[0] < first or unit[1] > last else []
            if not bits or 2 * sum(a.characters(bit.left, bit.left_end) for bit in bits) <= a.characters(*unit):
                found.setdefault(a.hashes[unit[0] : unit[1]].tobytes(), []).extend(bits)
    return found


def _inside(runs: list[Run], lefts: list[int], first: int, last: int) -> Iterator[Run]:
    """The parts of runs between two left tokens."""
    at = max(bisect(lefts, first) - 1, 0)
    while at < len(runs) and runs[at].left < last:
        left, end = max(runs[at].left, first), min(runs[at].left_end, last)
        if left < end:
            yield Run(left, runs[at].right + left - runs[at].left, end - left)
        at += 1


def _split(runs: list[Run], released: list[Run]) -> list[Run]:
    """The runs without some parts of them."""
    bits = sorted(set(released))
    kept: list[Run] = []
    at = 0
    for run in runs:
        left = run.left
        while at < len(bits) and bits[at].left < run.left_end:
            if bits[at].left > left:
                kept.append(Run(left, run.right + left - run.left, bits[at].left - left))
            left = max(left, bits[at].left_end)
            at += 1
        if left < run.left_end:
            kept.append(Run(left, run.right + left - run.left, run.left_end - left))
    return kept
