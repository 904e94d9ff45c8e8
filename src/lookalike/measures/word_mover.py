"""Word Mover's Distance of two texts: what it costs to move the words of one onto those of the other.

Every text weighs 1, shared by its words as often as they occur, without stop words; the way between two words is the Euclidean
distance of their vectors, scaled to length 1; the distance is that of the cheapest plan, exactly. The similarity is 1 / (1 + distance).
A text without known words has no distance to anything: that is an error.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookalike.measures.base import Measure, Things, Want

# Nothing of lookalike.word_mover is imported before a comparison asks for it: most programs never do.
if TYPE_CHECKING:
    from lookalike.measures.base import FloatArray
    from lookalike.word_mover.loading import Source
    from lookalike.word_mover.mover import Bag, WordMover


@dataclass(frozen=True, slots=True)
class _Batches:
    """Whole batches: a model encodes all words at once, and all pairs are one call."""

    mover: Callable[[], WordMover]
    workers: int

    def rows(self, left: Things, right: Things, want: Want) -> FloatArray:
        return self._distances(self._read(left, "a"), self._read(right, "b"), want)

    def matrix(self, left: Things, right: Things, want: Want) -> FloatArray:
        import numpy as np

        rows = self._read(left, "a")
        columns = rows if right is left else self._read(right, "b")
        found = np.empty((len(rows), len(columns)), dtype=np.float64)
        for i, row in enumerate(rows):
            found[i] = self._distances([row] * len(columns), columns, want)
        return found

    def _distances(self, left: list[Bag], right: list[Bag], want: Want) -> FloatArray:
        from lookalike.word_mover.mover import distances_of

        distances = distances_of(left, right, workers=self.workers)
        return distances if want == "distance" else _closeness(distances)

    def _read(self, batch: Things, name: str) -> list[Bag]:
        return self.mover().full_bags(list(batch), [f"{name}[{i}]" for i in range(len(batch))])


def _closeness(distance: Any) -> Any:
    return 1 / (1 + distance)


def _distance(left: Bag, right: Bag) -> float:
    from lookalike.word_mover.mover import distances_of

    return float(distances_of([left], [right])[0])


def wmd_with(
    vectors: Source = None, *, stop_words: str | None = "default", tokenizer: str = "mixed", unit: bool = True, workers: int = 1
) -> Measure:
    """The measure with vectors of your own: a file, a dict, gensim's KeyedVectors, or a model (``word_vectors`` says which).

    They are read at the first comparison. ``stop_words`` is the name of a list, a file, or None; ``tokenizer`` is "mixed" (Chinese words
    and words of other scripts) or the name of a tokenizer; ``unit=False`` takes vectors as they are. Batches use ``workers`` threads.
    """

    @functools.cache
    def mover() -> WordMover:
        from lookalike.word_mover.mover import WordMover

        return WordMover(vectors, stop_words=stop_words, tokenizer=tokenizer, unit=unit)

    return Measure(
        name="wmd",
        about="Word Mover's Distance, the cheapest way to move the words of a onto those of b; the similarity is 1 / (1 + distance)",
        read=lambda thing, name: mover().full_bags([thing], [name])[0],
        distance_of=_distance,
        similarity_of=lambda a, b: _closeness(_distance(a, b)),
        fast=_Batches(mover, workers),
    )


wmd = wmd_with()
