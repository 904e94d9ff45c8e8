"""One text of a comparison. Score, measures and passages take from it what they need of it; each thing is made once, on first use."""

from __future__ import annotations

from lookalike import _native
from lookalike.fingerprints.minhash import MinHash, minhash_of_shingles
from lookalike.fingerprints.simhash import SimHash, simhash_of_shingles
from lookalike.fingerprints.winnowing import WinnowedTokens, winnowed_tokens
from lookalike.lazy import cached_property
from lookalike.measures.sets import TextFeatures
from lookalike.text.blending import TextWords
from lookalike.text.shingle import shingles


class ReadText(TextWords):
    """A text with its tokens, and its fingerprints by a recipe."""

    @cached_property
    def features(self) -> TextFeatures:
        return TextFeatures(_native.sort_hashes(self.runs(self.recipe.ngram), unique=True))

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
    def winnowing(self) -> WinnowedTokens:
        return winnowed_tokens(self.tokens, self.shingles, self.recipe)
