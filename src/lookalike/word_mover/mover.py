"""Word Mover's Distance of two texts: ``WordMover``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.checks import check_workers
from lookalike.errors import InputError
from lookalike.word_mover.loading import Source, word_vectors
from lookalike.word_mover.tables import WordVectors
from lookalike.word_mover.words import MIXED, words_of

if TYPE_CHECKING:
    Matrix = NDArray[np.float32]
    Numbers = NDArray[np.uint32]

MAX_PAIRS_OF_WORDS = 1 << 24
MAX_WORDS = 1 << 24
_PAIRS_TOGETHER = 256


@dataclass(frozen=True, slots=True, eq=False)
class Bag:
    """The distinct words of a text that have vectors, in order, how often each occurs, and how many had no vector."""

    words: tuple[str, ...]
    counts: Numbers = field(repr=False)
    vectors: Matrix = field(repr=False)
    unknown: int

    @property
    def tokens(self) -> int:
        """How many words the text has, repetitions and unknown ones included, stop words not."""
        return int(self.counts.sum()) + self.unknown

    @property
    def unknown_share(self) -> float:
        return self.unknown / self.tokens if self.tokens else 0.0


class LowerBounds(NamedTuple):
    """Two distances that are never above Word Mover's Distance: of the mean vectors, and with every word going to its nearest."""

    centroid: float
    relaxed: float


class Move(NamedTuple):
    """A share of the left text that goes from a word to one of the right text, and how far."""

    left: str
    right: str
    share: float
    distance: float


class WordMover:
    """How far the words of one text are from those of another, exactly.

    ``vectors`` is whatever ``word_vectors`` takes. With ``unit`` vectors are scaled to length 1 first, as gensim does, so that
    distances are from 0 to 2. A text is a ``str``; a list of words is taken as it is, stop words included.
    """

    def __init__(self, vectors: Source = None, *, stop_words: str | None = "default", tokenizer: str = MIXED, unit: bool = True) -> None:
        self._source: Source = vectors
        self._loaded: WordVectors | None = None
        self.stop_words, self.tokenizer, self.unit = stop_words, tokenizer, unit

    @property
    def vectors(self) -> WordVectors:
        if self._loaded is None:
            self._loaded = word_vectors(self._source)
        return self._loaded

    def bag(self, thing: str | Sequence[str], name: str = "text") -> Bag:
        """What is moved of a text. One without any known word is an error that names it."""
        return self.full_bags([thing], [name])[0]

    def bags(self, things: Sequence[str | Sequence[str]], *, names: Sequence[str] | None = None) -> list[Bag]:
        """The bags of many texts; a model encodes all their words at once. Here a bag may be empty."""
        counted = [self._count(thing, names[i] if names else f"texts[{i}]") for i, thing in enumerate(things)]
        everything = sorted({word for counts, _ in counted for word in counts})
        rows = {word: row for row, word in enumerate(everything)}
        matrix = self._matrix(everything)
        return [_bag(counts, unknown, rows, matrix) for counts, unknown in counted]

    def full_bags(self, things: Sequence[str | Sequence[str]], names: Sequence[str]) -> list[Bag]:
        """The bags of many texts, none of which may be empty."""
        bags = self.bags(things, names=names)
        for bag, name in zip(bags, names, strict=True):
            if not bag.words:
                raise InputError(f"{name}: {self._nothing_in(bag)}")
        return bags

    def distance(self, left: str | Sequence[str], right: str | Sequence[str]) -> float:
        a, b = self._pair(left, right)
        return float(distances_of([a], [b])[0])

    def similarity(self, left: str | Sequence[str], right: str | Sequence[str]) -> float:
        """1 / (1 + distance): 1 for the same words, however they are ordered."""
        return 1 / (1 + self.distance(left, right))

    def bounds(self, left: str | Sequence[str], right: str | Sequence[str]) -> LowerBounds:
        a, b = self._pair(left, right)
        centroid, relaxed = _native.wmd_bounds(*_joined([a]), *_joined([b]), a.vectors.shape[1], 1)
        return LowerBounds(centroid[0], relaxed[0])

    def moves(self, left: str | Sequence[str], right: str | Sequence[str]) -> list[Move]:
        """A cheapest plan, what costs most first; the sum of share x distance is the distance."""
        a, b = self._pair(left, right)
        plan = _native.wmd_moves(a.vectors.reshape(-1), a.counts, b.vectors.reshape(-1), b.counts, a.vectors.shape[1])
        moves = [Move(a.words[i], b.words[j], share, distance) for i, j, share, distance in zip(*plan, strict=True)]
        return sorted(moves, key=lambda move: (-move.share * move.distance, move.left, move.right))

    def _pair(self, left: str | Sequence[str], right: str | Sequence[str]) -> list[Bag]:
        pair = self.full_bags([left, right], ["left", "right"])
        check_size(*pair)
        return pair

    def _nothing_in(self, bag: Bag) -> str:
        if bag.unknown:
            return f"{self.vectors.name} has none of its {bag.unknown} words; give vectors of its language, or leave vectors out"
        return "there is no word in it, so nothing can be moved; give a text with words"

    def _count(self, thing: Any, name: str) -> tuple[Counter[str], int]:
        """How often each known word occurs, in the first of its forms that is known, and how many words are unknown."""
        known, counts, unknown = self.vectors, Counter[str](), 0
        for forms in self._words(thing, name):
            found = next((form for form in forms if form in known), None)
            if found is None:
                unknown += 1
            else:
                counts[found] += 1
        if counts.total() > MAX_WORDS:
            raise InputError(f"{name}: {counts.total():,} words; at most {MAX_WORDS:,} can be moved, so give a part of it")
        return counts, unknown

    def _words(self, thing: Any, name: str) -> Iterable[tuple[str, ...]]:
        if isinstance(thing, (str, bytes)):
            return words_of(thing, tokenizer=self.tokenizer, stop_words=self.stop_words)
        if not isinstance(thing, (list, tuple)) or not all(isinstance(word, str) for word in thing):
            raise InputError(f"{name} is a {type(thing).__name__}: give a text, or a list of words")
        return ((word,) for word in thing)

    def _matrix(self, words: list[str]) -> Matrix:
        found = np.ascontiguousarray(self.vectors.vectors(words), dtype=np.float32)
        if not self.unit:
            return found
        lengths = np.sqrt(np.einsum("ij,ij->i", found, found, dtype=np.float64, casting="safe"))
        lengths[lengths == 0] = 1  # a zero vector has no direction: it stays
        scaled: Matrix = (found / lengths[:, None]).astype(np.float32)
        return scaled


def check_size(left: Bag, right: Bag) -> None:
    if len(left.words) * len(right.words) > MAX_PAIRS_OF_WORDS:
        raise InputError(
            f"texts of {len(left.words):,} and {len(right.words):,} distinct words: more than {MAX_PAIRS_OF_WORDS:,} pairs; "
            "compare parts of them"
        )


def distances_of(left: Sequence[Bag], right: Sequence[Bag], *, workers: int = 1) -> NDArray[np.float64]:
    """The distances of bags row by row; none is empty."""
    check_workers(workers)
    for a, b in zip(left, right, strict=True):
        check_size(a, b)
    found = np.empty(len(left), dtype=np.float64)
    for first in range(0, len(left), _PAIRS_TOGETHER):
        rows = slice(first, first + _PAIRS_TOGETHER)
        dimensions = left[first].vectors.shape[1]
        found[rows] = _native.wmd_distances(*_joined(left[rows]), *_joined(right[rows]), dimensions, workers)
    return found


def _joined(bags: Sequence[Bag]) -> tuple[Any, Any, Any]:
    if len(bags) == 1:
        return bags[0].vectors.reshape(-1), bags[0].counts, np.array([0, len(bags[0].counts)], dtype=np.int64)
    offsets = np.zeros(len(bags) + 1, dtype=np.int64)
    np.cumsum([len(bag.counts) for bag in bags], out=offsets[1:])
    return np.concatenate([bag.vectors.reshape(-1) for bag in bags]), np.concatenate([bag.counts for bag in bags]), offsets


def _bag(counts: Counter[str], unknown: int, rows: dict[str, int], matrix: Matrix) -> Bag:
    words = sorted(counts)  # an order of our own, so that the same words give the same bits
    picked = matrix[[rows[word] for word in words]] if words else matrix[:0]
    return Bag(tuple(words), np.array([counts[word] for word in words], dtype=np.uint32), picked, unknown)
