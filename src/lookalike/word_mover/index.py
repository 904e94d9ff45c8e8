"""The texts of a collection that are nearest to a given one by Word Mover's Distance: ``WmdIndex``.

Exact, without solving every text: native/word_mover/word_mover_search.hpp says how bounds leave most of them out.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.checks import check_int, check_workers
from lookalike.errors import InputError
from lookalike.word_mover.loading import Source
from lookalike.word_mover.mover import MAX_PAIRS_OF_WORDS, Bag, WordMover
from lookalike.word_mover.words import MIXED

_TEXTS_TOGETHER = 4096
_ROUNDING = 1e-5  # of the longest vector: what float32 centroids and distances may be off, ten times over


class WmdMatch(NamedTuple):
    """A text of the collection: its id (or its position), and its Word Mover's Distance to the query."""

    id: Any
    distance: float

    @property
    def score(self) -> float:
        """The similarity, 1 / (1 + distance)."""
        return 1 / (1 + self.distance)


class Pruning(NamedTuple):
    """What became of the texts with words: left out by the bound of the centroids, by the relaxed bound, or solved."""

    texts: int
    by_centroid: int
    by_relaxed: int
    solved: int


class WmdMatches(list[WmdMatch]):
    """Matches, nearest first, of equal ones the one that was added first; ``pruning`` says how much work it was."""

    def __init__(self, matches: Iterable[WmdMatch], pruning: Pruning) -> None:
        super().__init__(matches)
        self.pruning = pruning


class WmdIndex:
    """Texts as bags of words, with one table of the vectors of all their words.

    ``texts`` are texts (or lists of words); ``ids`` are what matches are called, positions where there are none. The other options are
    those of ``WordMover``. ``without_words`` names the texts that have no word with a vector: they are never found.
    ``unknown_share`` is the share of all words that have none. Searches may run in several threads.
    """

    def __init__(
        self,
        texts: Sequence[str | Sequence[str]],
        ids: Sequence[Any] | None = None,
        *,
        vectors: Source = None,
        stop_words: str | None = "default",
        tokenizer: str = MIXED,
        unit: bool = True,
    ) -> None:
        if isinstance(texts, (str, bytes)) or not isinstance(texts, Sequence):
            raise InputError(f"texts is a {type(texts).__name__}: give a list of texts")
        if ids is not None and len(ids) != len(texts):
            raise InputError(f"ids: {len(ids)} ids for {len(texts)} texts")
        self.mover = WordMover(vectors, stop_words=stop_words, tokenizer=tokenizer, unit=unit)
        self._ids = list(ids) if ids is not None else list(range(len(texts)))
        collected = _Collected(self.mover.vectors.dimensions)
        for first in range(0, len(texts), _TEXTS_TOGETHER):
            piece = texts[first : first + _TEXTS_TOGETHER]
            for bag in self.mover.bags(piece, names=[f"texts[{first + i}]" for i in range(len(piece))]):
                collected.add(bag)
        self._texts = collected.finish()
        self.without_words = [self._ids[i] for i in np.nonzero(np.diff(self._texts.offsets) == 0)[0]]
        self.unknown_share = collected.unknown / collected.tokens if collected.tokens else 0.0

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def nbytes(self) -> int:
        """Memory of the vectors, the bags and the centroids."""
        return sum(column.nbytes for column in self._texts if hasattr(column, "nbytes"))

    def search(self, query: str | Sequence[str], k: int = 10, *, workers: int = 1) -> WmdMatches:
        """The ``k`` nearest texts, exactly: the same as by computing the distance to each."""
        check_int("k", k, 1, remedy="give the number of texts to find, 1 or more")
        check_workers(workers)
        bag = self.mover.bag(query, "query")
        if len(bag.words) * self._texts.most_words > MAX_PAIRS_OF_WORDS:
            raise InputError(
                f"query: {len(bag.words):,} distinct words, and a text of the collection has {self._texts.most_words:,}: "
                f"more than {MAX_PAIRS_OF_WORDS:,} pairs; search for a part of it"
            )
        positions, distances, counts = _native.wmd_nearest(
            self._texts.vectors, self._texts.dimensions, self._texts.words, self._texts.counts, self._texts.offsets, self._texts.centroids,
            self._texts.slack, bag.vectors.reshape(-1), bag.counts, min(k, 2**62), workers,
        )  # fmt: skip
        matches = (WmdMatch(self._ids[position], distance) for position, distance in zip(positions, distances, strict=True))
        return WmdMatches(matches, Pruning(*counts))


class _NativeTexts(NamedTuple):
    """The collection as the native code reads it."""

    vectors: NDArray[np.float32]
    dimensions: int
    words: NDArray[np.uint32]
    counts: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    centroids: NDArray[np.float32]
    slack: float
    most_words: int


class _Collected:
    """Bags one after the other; each word's vector is kept once."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._rows: dict[str, int] = {}
        self._vectors: list[Any] = []
        self._words = array("I")
        self._counts: list[Any] = []
        self._offsets = array("q", [0])
        self._centroids: list[Any] = []
        self.unknown = self.tokens = 0

    def add(self, bag: Bag) -> None:
        for word, vector in zip(bag.words, bag.vectors, strict=True):
            if word not in self._rows:
                self._rows[word] = len(self._rows)
                self._vectors.append(vector.copy())  # a copy: the row alone, not the batch that it is a view of
            self._words.append(self._rows[word])
        self._counts.append(bag.counts)
        self._offsets.append(len(self._words))
        weights = bag.counts / max(1, int(bag.counts.sum()))
        self._centroids.append((weights @ bag.vectors.astype(np.float64)).astype(np.float32))
        self.unknown += bag.unknown
        self.tokens += bag.tokens

    def finish(self) -> _NativeTexts:
        vectors = np.concatenate(self._vectors) if self._vectors else np.zeros(0, dtype=np.float32)
        lengths = np.linalg.norm(vectors.reshape(-1, self._dimensions), axis=1)
        return _NativeTexts(
            vectors=vectors,
            dimensions=self._dimensions,
            words=np.array(self._words, dtype=np.uint32),
            counts=np.concatenate(self._counts) if self._counts else np.zeros(0, dtype=np.uint32),
            offsets=np.array(self._offsets, dtype=np.int64),
            centroids=np.concatenate(self._centroids) if self._centroids else np.zeros(0, dtype=np.float32),
            slack=_ROUNDING * float(lengths.max(initial=0.0)),
            most_words=int(np.diff(self._offsets).max(initial=0)),
        )
