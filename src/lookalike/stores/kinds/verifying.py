"""Features of texts: what makes two texts copies of each other, and how alike two texts are, exactly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.recipe import Recipe
from lookalike.text.columns import joined
from lookalike.text.features import is_native, secret_features, weighs_words, weighted_strings
from lookalike.text.shingle import shingles
from lookalike.text.tokenize import hash_strings, native_form


def content_digests(texts: Sequence[str], recipe: Recipe, workers: int = 1) -> NDArray[np.uint64]:
    """A digest of each text such that texts with equal digests have equal features."""
    if is_native(recipe):
        mode, folded, _, hashing = native_form(recipe)
        parts = [np.asarray(_native.content_digests(piece.data, piece.offsets, mode, folded, workers, hashing)) for piece in joined(texts)]
        return np.concatenate([np.zeros(0, np.uint64), *parts])
    return np.array([_native.checksum(features(text, recipe).view(np.uint8)) for text in texts], dtype=np.uint64)


def features(text: str, recipe: Recipe) -> NDArray[np.uint64]:
    """The distinct features of a text in ascending order: what fingerprints are made of."""
    if recipe.hash == "lookalike64" and not weighs_words(recipe):
        return np.asarray(shingles(text, recipe, unique=True))
    strings = list(weighted_strings(text, recipe))
    return np.unique(np.array(list(hash_strings(strings, recipe.hashing)), dtype=np.uint64)) if strings else np.zeros(0, np.uint64)


def verified_features(text: str, recipe: Recipe) -> NDArray[np.uint64]:
    """The distinct features of a text in ascending order: what the exact Jaccard similarity is taken of. Secret ones, of this process."""
    return np.frombuffer(secret_features(text, recipe), dtype=np.uint64)


def jaccards(query: NDArray[np.uint64], texts: Sequence[str], recipe: Recipe) -> list[float]:
    """The exact Jaccard similarity of the query's verified features with those of each text; two without features are alike."""
    unions = ((common, len(query) + size - common) for common, size in overlaps(query, texts, recipe))
    return [common / union if union else 1.0 for common, union in unions]


def overlaps(query: NDArray[np.uint64], texts: Sequence[str], recipe: Recipe) -> list[tuple[int, int]]:
    """How many of the query's verified features each text has, and how many features it has."""
    if is_native(recipe):
        found: list[tuple[int, int]] = []
        for piece in joined(texts):
            common, sizes = _native.feature_overlaps(query, piece.data, piece.offsets, *native_form(recipe)[:3], 1)
            found += zip(common, sizes, strict=True)
    else:
        sets = [verified_features(text, recipe) for text in texts]
        found = [(len(np.intersect1d(query, each, assume_unique=True)), len(each)) for each in sets]
    return found
