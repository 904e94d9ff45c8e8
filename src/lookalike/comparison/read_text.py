"""One text of a comparison. Score, measures and passages take from it what they need of it; each thing is made once, on first use."""

from __future__ import annotations

from array import array
from collections import Counter
from functools import cached_property

from lookalike import _native
from lookalike.fingerprints.minhash import MinHash, minhash_of_shingles
from lookalike.fingerprints.simhash import SimHash, simhash_of_shingles
from lookalike.fingerprints.winnowing import Winnowing, winnow, winnow_tokens
from lookalike.measures.sets import TextFeatures
from lookalike.recipe import DEFAULT, Recipe
from lookalike.text.normalize import fold
from lookalike.text.shingle import shingles
from lookalike.text.tokenize import TokenStream, stream, token_texts


class ReadText:
    """A text and its tokens: as words, and by a recipe as hashes with places."""

    def __init__(self, text: str, recipe: Recipe = DEFAULT) -> None:
        self.text, self.recipe = text, recipe

    @cached_property
    def visible(self) -> str:
        """The normal form without white space."""
        return "".join(fold(self.text).split())

    @cached_property
    def words(self) -> list[str]:
        return token_texts(self.text)

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(self.words)

    @cached_property
    def tokens(self) -> TokenStream:
        return stream(self.text, self.recipe)

    def runs(self, size: int, *, unique: bool) -> memoryview:
        """The runs of so many tokens as secret hashes, all in order of place or each once and ascending."""
        return _native.shingle_tokens(self.tokens.hashes, array("q", (0, len(self.tokens.hashes))), size, 0, unique)[0]

    @cached_property
    def features(self) -> TextFeatures:
        return TextFeatures(self.runs(self.recipe.ngram, unique=True))

    @cached_property
    def shingles(self) -> memoryview:
        """The hashes that fingerprints are made of."""
        return shingles(self.text, self.recipe)

    @cached_property
    def simhash(self) -> SimHash:
        return simhash_of_shingles(self.shingles, self.recipe)

    @cached_property
    def minhash(self) -> MinHash:
        return minhash_of_shingles(self.shingles, self.recipe)

    @cached_property
    def winnowing(self) -> Winnowing:
        if self.recipe.hash != "lookalike64":
            return winnow(self.text, recipe=self.recipe)
        return winnow_tokens(self.tokens, self.shingles, self.recipe)
