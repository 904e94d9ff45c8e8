"""Shingles: the n-grams of tokens that fingerprints are made of, as 64-bit hashes.

A text of fewer than n tokens has one shingle, made of all its tokens; a text without tokens has none.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from lookalike import _native
from lookalike.checks import check_bool
from lookalike.errors import InputError
from lookalike.recipe import Recipe, resolve
from lookalike.text.normalize import utf8
from lookalike.text.tokenize import NATIVE_MODES, NATIVE_NORMALIZERS, native_form, secret_token_hashes, token_hashes

if TYPE_CHECKING:
    from lookalike._native import Buffer, Hashing


def shingles(text: str | bytes, recipe: Recipe | str | None = None, *, unique: bool = False) -> memoryview:
    """The shingle hashes of a text in order, or as a sorted set."""
    check_bool("unique", unique)
    chosen = resolve(recipe)
    if chosen.hash != "lookalike64":
        raise InputError(f"recipe hash={chosen.hash!r}: shingle hashes are made with 'lookalike64'")
    if chosen.tokenizer in NATIVE_MODES and chosen.normalize in NATIVE_NORMALIZERS:
        data = utf8(text)
        offsets = array("q", (0, len(data)))
        return _native.shingle_texts(data, offsets, *native_form(chosen), unique, 1)[0]
    return _shingled(token_hashes(text, chosen), chosen.ngram, chosen.hashing, unique=unique)


def secret_shingles(text: str | bytes, recipe: Recipe, *, key: Buffer | None = None) -> memoryview:
    """The distinct shingles of a text as secret hashes, ascending: to be compared with others of this process, or of the same key.

    Two texts share as many as they share shingles, also where somebody made their shingle hashes collide.
    """
    if recipe.tokenizer in NATIVE_MODES and recipe.normalize in NATIVE_NORMALIZERS:
        data = utf8(text)
        return _native.secret_features(data, array("q", (0, len(data))), *native_form(recipe)[:3], True, 1, key)[0]
    return _shingled(secret_token_hashes(text, recipe, key), recipe.ngram, 0, unique=True)


def _shingled(hashes: Buffer, ngram: int, seed: int | Hashing, *, unique: bool) -> memoryview:
    return _native.shingle_tokens(hashes, array("q", (0, len(hashes))), ngram, seed, unique)[0]


def shingle_set(text: str, recipe: Recipe | str | None = None) -> set[int]:
    """The distinct shingles of a text, to be compared with those of another: secret hashes, of this process."""
    chosen = resolve(recipe)
    if chosen.hash != "lookalike64":
        raise InputError(f"recipe hash={chosen.hash!r}: shingles are compared with 'lookalike64'")
    return set(secret_shingles(text, chosen))
