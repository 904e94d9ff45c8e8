"""Every measure of a pair of texts, each computed once from what it needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from lookalike.errors import InputError
from lookalike.fingerprints.minhash import MinHash, minhash
from lookalike.fingerprints.simhash import SimHash, simhash
from lookalike.fingerprints.winnowing import Winnowing, winnow
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
from lookalike.text.shingle import shingle_set
from lookalike.text.tokenize import token_texts

if TYPE_CHECKING:
    from lookalike.embedders.opening import Model

# Edit distances take time with the product of the lengths. Beyond this a comparison leaves them out and says so; called
# by name, the measures go on to limits of their own.
MAX_EDIT_CELLS = 2_000_000_000  # some 0.1 s
MAX_DIFFLIB_CELLS = 4_000_000


class TextPair:
    """Two texts and what measures need of them, made on first use."""

    def __init__(self, left: str, right: str, recipe: Recipe = DEFAULT) -> None:
        self.left, self.right, self.recipe = left, right, recipe

    @cached_property
    def tokens(self) -> tuple[list[str], list[str]]:
        return token_texts(self.left), token_texts(self.right)

    @cached_property
    def shingles(self) -> tuple[set[int], set[int]]:
        return shingle_set(self.left, self.recipe), shingle_set(self.right, self.recipe)

    @cached_property
    def simhash(self) -> tuple[SimHash, SimHash]:
        return simhash(self.left, recipe=self.recipe), simhash(self.right, recipe=self.recipe)

    @cached_property
    def minhash(self) -> tuple[MinHash, MinHash]:
        return minhash(self.left, recipe=self.recipe), minhash(self.right, recipe=self.recipe)

    @cached_property
    def winnowing(self) -> tuple[Winnowing, Winnowing]:
        return winnow(self.left, recipe=self.recipe), winnow(self.right, recipe=self.recipe)

    def cells(self) -> int:
        return len(self.left) * len(self.right)


def _by_model(names: Sequence[str], pair: TextPair, model: Model) -> tuple[dict[str, float | None], list[str]]:
    """The measures among these that need a model, which reads each text once, and what is to be said of them."""
    found: dict[str, float | None] = {}
    notes: list[str] = []
    if "meaning" in names or "hybrid" in names:
        from lookalike.measures.by_model import compared

        values, said = compared(pair.left, pair.right, model)
        found |= values
        notes += said
    if "wmd" in names:
        try:
            found["wmd"] = (wmd if model is None else wmd_with(model)).similarity(pair.left, pair.right)
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


TEXT_MEASURES: dict[str, Callable[[TextPair], float]] = {
    "cosine": lambda pair: cosine.similarity(*pair.tokens),
    "tfidf": lambda pair: tfidf_cosine.similarity(*pair.tokens),
    "jaccard": lambda pair: jaccard.similarity(*pair.shingles),
    "dice": lambda pair: dice.similarity(*pair.shingles),
    "overlap": lambda pair: overlap.similarity(*pair.shingles),
    "containment": lambda pair: containment.similarity(*pair.shingles),
    "containment-reverse": lambda pair: containment.similarity(*reversed(pair.shingles)),
    "levenshtein": _within(MAX_EDIT_CELLS, lambda pair: levenshtein.similarity(pair.left, pair.right)),
    "ratio": _within(MAX_EDIT_CELLS, lambda pair: ratio.similarity(pair.left, pair.right)),
    "difflib": _within(MAX_DIFFLIB_CELLS, lambda pair: difflib.similarity(pair.left, pair.right)),
    "simhash": lambda pair: pair.simhash[0].similarity(pair.simhash[1]),
    "minhash": lambda pair: pair.minhash[0].similarity(pair.minhash[1]),
    "winnowing": lambda pair: pair.winnowing[0].similarity(pair.winnowing[1]),
    "euclidean": lambda pair: euclidean.similarity(*pair.tokens),
    "manhattan": lambda pair: manhattan.similarity(*pair.tokens),
    "chebyshev": lambda pair: chebyshev.similarity(*pair.tokens),
}

BY_MODEL = ("meaning", "hybrid", "wmd")  # computed when they are named: they load a model


def needs_model(names: list[str] | None) -> bool:
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
