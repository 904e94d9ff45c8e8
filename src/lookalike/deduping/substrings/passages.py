"""The passages of a corpus that are cut, and those that stay for them, numbered one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.deduping.parts import Parts
from lookalike.deduping.run import Decisions

DOCUMENT, FIRST, LENGTH, SOURCE, SOURCE_FIRST = range(5)  # columns of what the kernel finds


@dataclass(frozen=True, slots=True)
class Passages(Parts):
    """First those that are cut, then those that stay; each has a document, its first unit and how many units it has."""

    owners: NDArray[np.int64]  # documents
    firsts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    leaders: NDArray[np.int64]  # of those that are cut, the number of the one that stays
    spans: NDArray[np.int64]  # begin, end, and where the next unit begins; in code points

    def part(self, number: int) -> tuple[int, int] | None:
        start, end, _ = self.spans[number].tolist()
        return start, end

    def owner(self, number: int) -> int:
        return int(self.owners[number])

    def decisions(self, compared: int, spilled: int) -> Decisions:
        leaders = np.full(len(self.owners), -1, np.int64)
        leaders[: len(self.leaders)] = self.leaders
        return Decisions(leaders, (leaders >= 0).astype(np.float64), compared=compared, spilled=spilled)

    def cut_units(self) -> int:
        """How many units are cut; passages that overlap share some."""
        count = len(self.leaders)
        owners, firsts, ends = self.owners[:count], self.firsts[:count], self.firsts[:count] + self.lengths[:count]
        # Within a document they come in order, and each ends behind the one before it.
        same = np.concatenate(([False], owners[1:] == owners[:-1])) if count else np.zeros(0, np.bool_)
        before = np.concatenate(([0], ends[:-1])) if count else ends
        return int((ends - np.where(same, np.maximum(firsts, before), firsts)).sum())

    def cuts(self) -> dict[int, list[tuple[int, int]]]:
        """By document what is cut: passages with what stands between them and the next unit, such as a full stop and a space."""
        count = len(self.leaders)
        found: dict[int, list[tuple[int, int]]] = {}
        for owner, (begin, _, behind) in zip(self.owners[:count].tolist(), self.spans[:count].tolist(), strict=True):
            spans = found.setdefault(owner, [])
            if spans and begin <= spans[-1][1]:
                spans[-1] = (spans[-1][0], max(behind, spans[-1][1]))
            else:
                spans.append((begin, behind))
        return found


class Placed:
    """Which units of which documents have to be found in the texts again."""

    def __init__(self, owners: NDArray[np.int64], firsts: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
        self._ends = np.stack((firsts, firsts + lengths - 1), axis=1)
        documents = np.repeat(owners, 2)
        units = self._ends.reshape(-1)
        order = np.lexsort((units, documents))
        self._documents, self._units, self._order = documents[order], units[order].astype(np.uint32), order
        self._found = np.zeros((len(units), 3), np.int64)

    @property
    def last(self) -> int:
        """The last document of which something is wanted; -1: nothing is."""
        return int(self._documents[-1]) if len(self._documents) else -1

    def wanted(self, first: int, count: int) -> tuple[slice, NDArray[np.uint32], NDArray[np.int64]]:
        """Of so many documents from the first on: where their wanted units stand here, the units, and where those of each begin."""
        edges = np.searchsorted(self._documents, np.arange(first, first + count + 1))
        taken = slice(int(edges[0]), int(edges[-1]))
        return taken, self._units[taken], (edges - edges[0]).astype(np.int64)

    def place(self, taken: slice, begins: Any, ends: Any, nexts: Any) -> None:
        self._found[self._order[taken]] = np.stack([np.asarray(each, dtype=np.int64) for each in (begins, ends, nexts)], axis=1)

    def spans(self) -> NDArray[np.int64]:
        """Of each passage where it begins and ends, and where the unit behind it begins."""
        pairs = self._found.reshape(-1, 2, 3)
        return np.stack((pairs[:, 0, 0], pairs[:, 1, 1], pairs[:, 1, 2]), axis=1)


def kept_passages(found: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The different passages that stay, as rows of document, first unit and units; and which of them each cut one points at."""
    triples = np.ascontiguousarray(found[:, [SOURCE, SOURCE_FIRST, LENGTH]])
    kept, places = np.unique(triples, axis=0, return_inverse=True)
    return kept.reshape(-1, 3), np.asarray(places, dtype=np.int64).reshape(-1)


def in_parts(count: int, at_a_time: int) -> list[tuple[int, int]]:
    """From where to where, for progress."""
    return list(pairwise([*range(0, count, at_a_time), count]))
