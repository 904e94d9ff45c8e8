"""Shingles: the n-grams of tokens that fingerprints are made of, as 64-bit hashes.

A text of fewer than n tokens has one shingle, made of all its tokens; a text without tokens has none.
"""

from __future__ import annotations

from array import array

from lookalike import _native
from lookalike.checks import check_bool
from lookalike.errors import InputError
from lookalike.recipe import Recipe, resolve
from lookalike.text.normalize import utf8
from lookalike.text.tokenize import NATIVE_MODES, TokenStream, token_hashes


def shingles(text: str | bytes, recipe: Recipe | str | None = None, *, unique: bool = False) -> memoryview:
    """The shingle hashes of a text in order, or as a sorted set."""
    check_bool("unique", unique)
    chosen = resolve(recipe)
    if chosen.hash != "lookalike64":
        raise InputError(f"recipe hash={chosen.hash!r}: shingle hashes are made with 'lookalike64'")
    if chosen.tokenizer in NATIVE_MODES and chosen.normalize in ("fold", "none"):
        data = utf8(text)
        offsets = array("q", (0, len(data)))
        mode, folded = NATIVE_MODES[chosen.tokenizer], chosen.normalize == "fold"
        return _native.shingle_texts(data, offsets, mode, folded, chosen.ngram, chosen.seed, unique, 1)[0]
    return hash_shingles(token_hashes(text, chosen), chosen.ngram, chosen.seed, unique=unique)


def stream_shingles(tokens: TokenStream, ngram: int, seed: int, *, unique: bool = False) -> memoryview:
    return hash_shingles(tokens.hashes, ngram, seed, unique=unique)


def hash_shingles(hashes: memoryview, ngram: int, seed: int, *, unique: bool = False) -> memoryview:
    return _native.shingle_tokens(hashes, array("q", (0, len(hashes))), ngram, seed, unique)[0]


def shingle_set(text: str, recipe: Recipe | str | None = None) -> set[int]:
    """The distinct shingle hashes of a text."""
    return set(shingles(text, recipe, unique=True))
