"""Which tokenizers and recipes are native, and how the kernels take them. Whoever needs no more than this imports nothing more."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lookalike.recipe import Recipe

if TYPE_CHECKING:
    from lookalike import _native

NATIVE_MODES = {"auto": 0, "words": 1, "chars": 2, "symbols": 4}  # 3 makes no tokens
NATIVE_NORMALIZERS = ("fold", "none")


class NativeForm(NamedTuple):
    """A recipe as the kernels take it: what a text becomes tokens and shingles by."""

    mode: int
    folded: bool
    ngram: int
    hashing: int | _native.Hashing


def tokenizer_version(name: str) -> str:
    """What stands for a tokenizer in the id of a recipe."""
    if name in NATIVE_MODES:
        return f"{name}@1"
    from lookalike.text.segment import segmenter_version

    # Without the argument of "fmm:FILE": the version is the digest of what is in the file.
    return f"{name.partition(':')[0]}@{segmenter_version(name)}"


def native_form(recipe: Recipe) -> NativeForm:
    """Of a recipe whose tokens are made natively."""
    return NativeForm(NATIVE_MODES[recipe.tokenizer], recipe.normalize == "fold", recipe.ngram, recipe.hashing)


def is_native(recipe: Recipe) -> bool:
    """Whether native code makes the fingerprint straight from the text."""
    return (
        not weighs_words(recipe)
        and recipe.hash == "lookalike64"
        and recipe.tokenizer in NATIVE_MODES
        and recipe.normalize in NATIVE_NORMALIZERS
    )


def weighs_words(recipe: Recipe) -> bool:
    """Whether features are single words, ranked and weighed, and not shingles."""
    return recipe.weights == "tfidf" or recipe.keywords is not None or recipe.stop_words is not None
