"""``SetIndex``: which sets contain most of a set, which it contains, and which are nearest to it. All answers are exact."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.checks import check_share
from lookalike.errors import InputError
from lookalike.segments.hamming import NO_LIMIT, check_limit
from lookalike.stores.ids import Id, check_id
from lookalike.stores.matches import Match, Matches


class SetIndex:
    """Sets in memory, by their elements: strings, numbers, or whatever can be in a Python set.

    A set that shares nothing with the query is never found. ``score`` of a match is the share or the Jaccard similarity.
    """

    def __init__(self, sets: Mapping[Id, Iterable[Hashable]]) -> None:
        if not isinstance(sets, Mapping):
            raise InputError(f"sets is a {type(sets).__name__}: give a mapping of ids to sets")
        self._numbers: dict[Hashable, int] = {}
        self._ids: list[Id] = []
        members: list[int] = []
        sizes: list[int] = []
        for id_, elements in sets.items():
            check_id(id_)
            unique = _elements(elements, f"sets[{id_!r:.60}]")
            members += [self._numbers.setdefault(element, len(self._numbers)) for element in unique]
            sizes.append(len(unique))
            self._ids.append(id_)
        self._sizes: NDArray[np.int64] = np.array(sizes, dtype=np.int64)
        elements_of: NDArray[np.int64] = np.array(members, dtype=np.int64)
        order = np.argsort(elements_of, kind="stable")  # of each element its sets, ascending
        self._sets: NDArray[np.int64] = np.repeat(np.arange(len(sizes)), self._sizes)[order]
        self._offsets: NDArray[np.int64] = np.searchsorted(elements_of[order], np.arange(len(self._numbers) + 1))

    def __len__(self) -> int:
        return len(self._ids)

    def contains(self, query: Iterable[Hashable], *, threshold: float = 0.8, limit: int | None = 10) -> Matches:
        """Sets that contain at least this share of the query, the largest share first.

        Such a set has one of any few elements that are more than the query may lack: so the rarest of the query lead to all of them.
        """
        known, size, most = self._asked(query, threshold, limit)
        needed = max(1, ceil(threshold * size - 1e-9))
        lists = sorted((self._having(number) for number in known), key=len)
        lacking = size - len(known)
        first = max(0, size - needed - lacking + 1)
        if needed > len(known) or not first:
            return Matches().on("share of query")
        candidates = np.unique(np.concatenate(lists[:first]))
        common = np.zeros(len(candidates), dtype=np.int64)
        for having in lists:
            common += _are_in(candidates, having)
        return self._best(candidates, common, common / max(1, size), threshold, most).on("share of query")

    def contained(self, query: Iterable[Hashable], *, threshold: float = 0.8, limit: int | None = 10) -> Matches:
        """Sets of which the query contains at least this share, the largest share first."""
        known, _, most = self._asked(query, threshold, limit)
        candidates, common = self._common(known)
        return self._best(candidates, common, common / self._sizes[candidates], threshold, most).on("share of set")

    def nearest(self, query: Iterable[Hashable], *, threshold: float = 0.0, limit: int | None = 10) -> Matches:
        """The sets with the largest Jaccard similarity to the query, of at least the threshold."""
        known, size, most = self._asked(query, threshold, limit)
        candidates, common = self._common(known)
        unions = size + self._sizes[candidates] - common
        return self._best(candidates, common, common / unions, threshold, most).on("jaccard")

    def _asked(self, query: object, threshold: float, limit: int | None) -> tuple[list[int], int, int]:
        """The elements of the query that some set has, how many it has in all, and how many sets are wanted."""
        check_share("threshold", threshold, "choose 0 to 1")
        elements = _elements(query, "query")
        most = NO_LIMIT if limit is None else check_limit(limit)
        return [self._numbers[element] for element in elements if element in self._numbers], len(elements), most

    def _having(self, number: int) -> NDArray[np.int64]:
        return self._sets[self._offsets[number] : self._offsets[number + 1]]

    def _common(self, known: list[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The sets that share something with the query, and how much."""
        found: NDArray[np.int64] = np.concatenate([np.zeros(0, np.int64), *(self._having(number) for number in known)])
        candidates, counts = np.unique(found, return_counts=True)
        return candidates, counts

    def _best(self, sets: NDArray[np.int64], common: NDArray[np.int64], scores: NDArray[Any], threshold: float, most: int) -> Matches:
        passed = np.flatnonzero((scores >= threshold) & (common > 0))
        order = passed[np.lexsort((sets[passed], -scores[passed]))]
        found = ((self._ids[int(sets[place])], float(scores[place])) for place in order[: min(most, len(order))])
        return Matches((Match(id_, score, 1 - score) for id_, score in found), len(order))


def _are_in(candidates: NDArray[np.int64], having: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of the candidates are in a list; both ascend."""
    places = np.minimum(np.searchsorted(having, candidates), len(having) - 1)
    found: NDArray[np.bool_] = having[places] == candidates
    return found


def _elements(given: object, name: str) -> list[Hashable]:
    """The elements, each once, in a steady order."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise InputError(f"{name} is a {type(given).__name__}: give a set or a list of elements")
    try:
        return list(dict.fromkeys(given))
    except TypeError as error:
        raise InputError(f"{name}: {error}; give strings, numbers or tuples of them") from error
