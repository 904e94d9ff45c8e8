"""The slow, obvious version of ``lookalike.pairing``: every document against every other, token by token."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, pairwise

Words = Sequence[str | None]  # None: a token that does not count
Run = tuple[int, int, int]
MU = 4.0


def covered(words: Words, grams: set[tuple[str | None, ...]], k: int) -> set[int]:
    return {i + j for i in range(len(words) - k + 1) if tuple(words[i : i + k]) in grams for j in range(k)}


def all_grams(words: Words, k: int) -> list[tuple[str | None, ...]]:
    return [gram for i in range(len(words) - k + 1) if None not in (gram := tuple(words[i : i + k]))]


def without_common(documents: Sequence[Words], k: int, bound: int, nothing_else: float = 0.9) -> list[list[str | None]]:
    """What more than ``bound`` documents have is blanked, except in documents that are almost nothing else."""
    holders = Counter(gram for words in documents for gram in set(all_grams(words, k)))
    common = {gram for gram, count in holders.items() if count > bound}
    rest = []
    for words in documents:
        places = covered(words, common, k)
        whole = sum(word is not None for word in words)
        keep = not whole or len(places) / whole >= nothing_else
        rest.append([word if keep or i not in places else None for i, word in enumerate(words)])
    return rest


def maximal_runs(left: Words, right: Words, k: int) -> list[Run]:
    """All runs of at least k equal tokens that go on neither before nor behind."""
    runs = []
    for i in range(len(left)):
        for j in range(len(right)):
            if left[i] is None or left[i] != right[j] or (i and j and left[i - 1] is not None and left[i - 1] == right[j - 1]):
                continue
            n = 0
            while i + n < len(left) and j + n < len(right) and left[i + n] is not None and left[i + n] == right[j + n]:
                n += 1
            if n >= k:
                runs.append((i, j, n))
    return runs


class Information:
    """The surprise of runs, by the formula in ``lookalike/pairing/surprise.py``."""

    def __init__(self, documents: Sequence[Words], k: int) -> None:
        self.documents, self.k = documents, k
        self.grams = Counter(gram for words in documents for gram in all_grams(words, k))
        self.single = Counter(word for words in documents for word in words if word is not None)
        self.total, self.kinds = sum(self.single.values()), len(self.single)
        self.double = Counter((a, b) for words in documents for a, b in pairwise(words) if a is not None and b is not None)
        self.accident = max(2 * math.log2(max(self.total, 1)) - 1, 0.0)

    def own(self, words: Words, i: int) -> int:
        around = range(max(0, i - self.k + 1), min(i, len(words) - self.k) + 1)
        return max((self.grams[tuple(words[j : j + self.k])] for j in around), default=0) or 1

    def alone(self, words: Words, i: int) -> float:
        own = self.own(words, i)
        share = (self.single[words[i]] - own + 0.5) / (self.total - own + 0.5 * self.kinds)
        return max(share, 0.5 / (self.total + 0.5 * self.kinds))

    def behind(self, words: Words, i: int) -> float:
        own = self.own(words, i)
        together = max(self.double[words[i - 1], words[i]] - own, 0)
        before = max(self.single[words[i - 1]] - own, together)
        return (together + MU * self.alone(words, i)) / (before + MU)

    def surprise(self, words: Words, start: int, length: int) -> float:
        bits = -math.log2(self.alone(words, start))
        bits -= sum(math.log2(self.behind(words, i)) for i in range(start + 1, start + length))
        return round(bits - self.accident, 3)


def pairs(documents: Sequence[Words], k: int, bound: int, least: float) -> dict[tuple[int, int], tuple[list[Run], float]]:
    """By pair of documents, the runs that are shown, the longest first, and the score."""
    rest = without_common(documents, k, bound)
    information = Information(rest, k)
    found = {}
    for a, b in combinations(range(len(rest)), 2):
        runs = [
            (i, j, n)
            for i, j, n in maximal_runs(rest[a], rest[b], k)
            if min(information.surprise(rest[a], i, n), information.surprise(rest[b], j, n)) >= least
        ]
        here: set[int] = set()
        there: set[int] = set()
        shown = []
        for i, j, n in sorted(runs, key=lambda run: (-run[2], run[0], run[1])):
            if set(range(i, i + n)) - here or set(range(j, j + n)) - there:
                here |= set(range(i, i + n))
                there |= set(range(j, j + n))
                shown.append((i, j, n))
        if shown:
            counted = sum(word is not None for words in (rest[a], rest[b]) for word in words)
            found[a, b] = shown, (len(here) + len(there)) / counted
    return found
