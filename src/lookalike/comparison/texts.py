"""Every measure of a pair of texts, each computed once from what it needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from lookalike.comparison.read_text import ReadText
from lookalike.errors import InputError
from lookalike.measures import (
    chebyshev,
    containment,
    cosine,
    dice,
    difflib,
    euclidean,
    jaccard,
    levenshtein,
    manhattan,
    overlap,
    ratio,
    tfidf_cosine,
    wmd,
    wmd_with,
)
from lookalike.measures import measures as registered
from lookalike.recipe import DEFAULT, Recipe

if TYPE_CHECKING:
    from lookalike.embedders.opening import Model

# Edit distances take time with the product of the lengths. Beyond this a comparison leaves them out and says so; called
# by name, the measures go on to limits of their own.
MAX_EDIT_CELLS = 2_000_000_000  # some 0.1 s
MAX_DIFFLIB_CELLS = 4_000_000


class TextPair:
    """Two texts that are compared by a recipe. ``for_model`` gives both as a model reads them, where that is different."""

    def __init__(self, left: str, right: str, recipe: Recipe = DEFAULT, for_model: Callable[[], tuple[str, str]] | None = None) -> None:
        self.left, self.right, self.recipe = left, right, recipe
        self.for_model = for_model or (lambda: (left, right))
        self.sides = ReadText(left, recipe), ReadText(right, recipe)

    def cells(self) -> int:
        return len(self.left) * len(self.right)


def _by_model(names: Sequence[str], pair: TextPair, model: Model) -> tuple[dict[str, float | None], list[str]]:
    """The measures among these that need a model, which reads each text once, and what is to be said of them."""
    found: dict[str, float | None] = {}
    notes: list[str] = []
    if not needs_model(names):
        return found, notes
    left, right = pair.for_model()
    if "meaning" in names or "hybrid" in names:
        from lookalike.measures.by_model import compared

        values, said = compared(left, right, model)
        found |= values
        notes += said
    if "wmd" in names:
        try:
            found["wmd"] = (wmd if model is None else wmd_with(model)).similarity(left, right)
        except InputError as error:  # a text without words has none
            found["wmd"] = None
            notes.append(f"wmd: {error}")
    return found, notes


def _within(limit: int, measure: Callable[[TextPair], float]) -> Callable[[TextPair], float]:
    def bounded(pair: TextPair) -> float:
        if pair.cells() > limit:
            raise InputError(
                f"not computed for texts of {len(pair.left)} and {len(pair.right)} characters: it takes time with their product"
            )
        return measure(pair)

    return bounded


def _of(read: Callable[[ReadText], Any], similarity: Callable[[Any, Any], float]) -> Callable[[TextPair], float]:
    """A measure of what is read of both sides."""
    return lambda pair: similarity(*map(read, pair.sides))


def _own(fingerprint: Any, other: Any) -> float:
    similarity: float = fingerprint.similarity(other)
    return similarity


_text, _counts, _features = attrgetter("text"), attrgetter("counts"), attrgetter("features")
TEXT_MEASURES: dict[str, Callable[[TextPair], float]] = {
    "cosine": _of(_counts, cosine.similarity_of),
    "tfidf": _of(_counts, tfidf_cosine.similarity_of),
    "jaccard": _of(_features, jaccard.similarity_of),
    "dice": _of(_features, dice.similarity_of),
    "overlap": _of(_features, overlap.similarity_of),
    "containment": _of(_features, containment.similarity_of),
    "containment-reverse": _of(_features, lambda left, right: containment.similarity_of(right, left)),
    "levenshtein": _within(MAX_EDIT_CELLS, _of(_text, levenshtein.similarity)),
    "ratio": _within(MAX_EDIT_CELLS, _of(_text, ratio.similarity)),
    "difflib": _within(MAX_DIFFLIB_CELLS, _of(_text, difflib.similarity)),
    "simhash": _of(attrgetter("simhash"), _own),
    "minhash": _of(attrgetter("minhash"), _own),
    "winnowing": _of(attrgetter("winnowing"), _own),
    "euclidean": _of(_counts, euclidean.similarity_of),
    "manhattan": _of(_counts, manhattan.similarity_of),
    "chebyshev": _of(_counts, chebyshev.similarity_of),
}

BY_MODEL = ("meaning", "hybrid", "wmd")  # computed when they are named: they load a model


def needs_model(names: Sequence[str] | None) -> bool:
    return any(name in BY_MODEL for name in names or ())


def text_measures(pair: TextPair, names: list[str] | None = None, model: Model = None) -> tuple[dict[str, float | None], list[str]]:
    """The similarities by name, and notes on those that were left out.

    A name that is not in the table above is looked up among the registered measures, and called with the two texts.
    """
    found: dict[str, float | None] = {}
    by_model, notes = _by_model(names or (), pair, model)
    for name in TEXT_MEASURES if names is None else names:
        if name in BY_MODEL:
            found[name] = by_model[name]
            continue
        if name not in TEXT_MEASURES:
            found[name] = registered.get(name).similarity(pair.left, pair.right)
            continue
        try:
            found[name] = TEXT_MEASURES[name](pair)
        except InputError as error:
            found[name] = None
            notes.append(f"{name}: {error}")
    return found, notes
