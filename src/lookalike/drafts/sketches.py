"""Summaries of a stream that stay small however long it gets."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

from lookalike.text.normalize import fold

T = TypeVar("T")


class Spread:
    """The distribution of numbers from 0 on, most of them up to 1, to three decimals, and their exact mean."""

    STEPS = 1000

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0
        self.steps: Counter[int] = Counter()

    def add(self, value: float) -> None:
        self.count += 1
        self.total += value
        self.steps[round(value * self.STEPS)] += 1

    def merge(self, other: Spread) -> None:
        self.count += other.count
        self.total += other.total
        self.steps.update(other.steps)

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0

    @property
    def median(self) -> float:
        if not self.count:
            return 0.0
        low, high = self._ranked((self.count - 1) // 2), self._ranked(self.count // 2)
        return (low + high) / 2 / self.STEPS

    def _ranked(self, rank: int) -> int:
        for step in sorted(self.steps):
            rank -= self.steps[step]
            if rank < 0:
                return step
        return 0


class Top(Generic[T]):
    """The items with the largest keys; of equal keys the earlier item."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._order = 0
        self._heap: list[tuple[Any, int, T]] = []

    def add(self, key: Any, item: T) -> None:
        self._order -= 1
        entry = (key, self._order, item)
        if len(self._heap) < self.size:
            heapq.heappush(self._heap, entry)
        elif entry[:2] > self._heap[0][:2]:
            heapq.heapreplace(self._heap, entry)

    def items(self) -> list[T]:
        return [item for _, _, item in sorted(self._heap, key=lambda entry: entry[:2], reverse=True)]


@dataclass(frozen=True, slots=True)
class Frequent:
    """A passage and how often it was removed: at least ``count`` times, at most ``count + unsure`` times."""

    text: str
    count: int
    unsure: int
    deleted: int
    reworded: int
    ids: list[str]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class FrequentPassages:
    """The most frequent passages of a stream: the Misra–Gries summary, decremented in batches.

    Passages are counted exactly until there are more than twice ``capacity`` different ones. Then the count of the
    (capacity + 1)-th most frequent is taken off all counts, and passages without a count are forgotten. Whatever was
    removed more often than 1 / capacity of all removals is still there, and no count is too high.
    """

    MOST_IDS = 5

    def __init__(self, capacity: int = 2048) -> None:
        self.capacity = capacity
        self.taken_off = 0
        self._entries: dict[str, list[Any]] = {}  # folded text -> count, deleted, reworded, text as first seen, ids

    def add(self, passages: Iterable[tuple[str, str]], pair_id: str) -> None:
        """The (text, kind) of one pair; a passage counts once per pair."""
        for key, (text, kind) in {fold(text): (text, kind) for text, kind in passages}.items():
            entry = self._entries.setdefault(key, [0, 0, 0, text, []])
            entry[0] += 1
            entry[1 if kind == "deleted" else 2] += 1
            if len(entry[4]) < self.MOST_IDS:
                entry[4].append(pair_id)
        if len(self._entries) > 2 * self.capacity:
            self._decrement()

    def _decrement(self) -> None:
        cut = heapq.nlargest(self.capacity + 1, (entry[0] for entry in self._entries.values()))[-1]
        self.taken_off += cut
        self._entries = {key: entry for key, entry in self._entries.items() if entry[0] > cut}
        for entry in self._entries.values():
            entry[0] -= cut

    def most(self, size: int) -> list[Frequent]:
        """The passages removed at least twice. A part of a longer passage with the same count is not repeated."""
        ranked = sorted(self._entries.items(), key=lambda item: (-item[1][0], -len(item[0]), item[0]))
        found: list[tuple[str, Frequent]] = []
        for key, (count, deleted, reworded, text, ids) in ranked:
            if count < 2 or len(found) == size:
                break
            if not any(key in longer and count <= entry.count for longer, entry in found):
                found.append((key, Frequent(text, count, self.taken_off, deleted, reworded, ids)))
        return [entry for _, entry in found]
