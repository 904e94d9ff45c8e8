"""What a SimHash or MinHash is made of: hashed features, with weights where the recipe weighs them.

Three ways lead here. A recipe with our own hash and plain counts is native from text to fingerprint. Recipes of other
packages hash each shingle's string with MD5 or SHA-1, as those packages do. Recipes with keywords or TF-IDF weigh words.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike import _native
from lookalike.checks import is_whole
from lookalike.errors import InputError
from lookalike.recipe import Recipe
from lookalike.text.idf import idf_table
from lookalike.text.keywords import rank
from lookalike.text.native_form import NATIVE_MODES
from lookalike.text.native_form import is_native as is_native
from lookalike.text.native_form import weighs_words as weighs_words
from lookalike.text.normalize import as_str, utf8
from lookalike.text.shingle import secret_shingles, shingles
from lookalike.text.stopwords import normal_stop_words
from lookalike.text.tokenize import secret_strings, token_texts, tokenize

if TYPE_CHECKING:
    from lookalike._native import Buffer, Hashing

ROWS = (set, frozenset, list, tuple)  # what a row of many may be, if it is no text
ELEMENTS_AT_A_TIME = 1 << 18  # enough for threads to be worth their start, few enough for Ctrl-C to be heard
# What the `simhash` package keeps of a text. Its \w is Python's own, so this recipe follows Python's Unicode data.
_SIMHASH_PY = re.compile(r"[\w\u4e00-\u9fcc]+")


def _murmur3_final(value: int) -> int:
    """The last step of MurmurHash3 of 32 bits: a bijection in which every bit reaches every other."""
    value = (value ^ value >> 16) * 0x85EBCA6B % 2**32
    value = (value ^ value >> 13) * 0xC2B2AE35 % 2**32
    return value ^ value >> 16


_STRING_HASHES: dict[str, Callable[[bytes], int]] = {
    "md5": lambda data: int.from_bytes(hashlib.md5(data, usedforsecurity=False).digest(), "big"),
    "sha1-first4": lambda data: int.from_bytes(hashlib.sha1(data, usedforsecurity=False).digest()[:4], "little"),
    "sha1-first4-mixed": lambda data: _murmur3_final(_STRING_HASHES["sha1-first4"](data)),
    "sha1-last2": lambda data: int.from_bytes(hashlib.sha1(data, usedforsecurity=False).digest()[-2:], "big"),
}


class Features(NamedTuple):
    """Hashed features, in ascending order of hash, and their weights."""

    hashes: array[int]
    weights: array[float]


def shingles_words(recipe: Recipe) -> bool:
    """Whether features are shingles of words of a segmenter, or of texts without some forms: native but for these."""
    made_here = recipe.tokenizer not in NATIVE_MODES or bool(recipe.forms)
    return not weighs_words(recipe) and recipe.hash == "lookalike64" and made_here


def string_hash(name: str) -> Callable[[bytes], int]:
    return _STRING_HASHES[name]


def shingle_strings(text: str | bytes, recipe: Recipe) -> list[str]:
    """The shingles as strings: characters are joined as they are, words with a space between."""
    if recipe.normalize == "simhash-py":
        content = "".join(_SIMHASH_PY.findall(as_str(text).lower()))
        # An empty text has one empty shingle there.
        return [content[i : i + recipe.ngram] for i in range(max(len(content) - recipe.ngram + 1, 1))]
    tokens = [token.text for token in tokenize(text, recipe.tokenizer, recipe.normalize)]
    glue = "" if recipe.tokenizer == "chars" else " "
    n = min(recipe.ngram, len(tokens))
    return [glue.join(tokens[i : i + n]) for i in range(len(tokens) - n + 1)] if tokens else []


def word_weights(text: str | bytes, recipe: Recipe) -> dict[str, float]:
    """Words and their weights under a recipe with keywords, stop words or TF-IDF."""
    if recipe.normalize == "fold":
        words = token_texts(as_str(text), recipe.tokenizer)
    else:
        words = [token.text for token in tokenize(text, recipe.tokenizer, recipe.normalize)]
    stop = normal_stop_words(recipe.stop_words) if recipe.stop_words is not None else frozenset()
    if recipe.weights == "tfidf" and recipe.idf is not None:
        ranked = rank(words, recipe.keywords, weights="tfidf", idf=idf_table(recipe.idf), stop=stop)
    else:
        ranked = rank(words, recipe.keywords, weights="count", stop=stop)
    return {word: 1.0 if recipe.weights == "one" else weight for word, weight in ranked}


def weighted_strings(text: str | bytes, recipe: Recipe) -> dict[str, float]:
    """Feature strings and weights, for recipes that are not native."""
    if weighs_words(recipe):
        return word_weights(text, recipe)
    counts = Counter(shingle_strings(text, recipe))
    return {shingle: 1.0 if recipe.weights == "one" else float(count) for shingle, count in counts.items()}


def feature_hashes(elements: Iterable[str | bytes | int], recipe: Recipe) -> memoryview:
    """Elements as features of their own: what a one-token shingle of each would hash to, in their order.

    A string and its UTF-8 bytes are the same element, an integer is another.
    """
    given = list(elements)
    found = _native.hash_elements([given], 0, len(given), False, recipe.hashing)
    return found[0] if found is not None else _unusual_features(given, recipe.hashing)


def sketched_rows(
    given: Sequence[object],
    recipe: Recipe,
    many: Callable[[Buffer, Buffer], Any],
    one: Callable[[Any], Any],
    *,
    strings: bool = False,
) -> Iterator[tuple[int, Any]]:
    """What ``many`` makes of rows of elements, given as features and offsets, and how many rows these were, in order.

    ``one`` makes it of a single row that only Python understands. ``strings``: elements are str, and nothing else is understood.
    """
    kinds = "str" if strings else "str, bytes or int"
    for row, elements in enumerate(given):
        if not isinstance(elements, ROWS):
            raise InputError(f"row {row} is a {type(elements).__name__}: expected a set, or a list, of {kinds}, as the first row is")
    rows = list(given)  # which nobody shortens meanwhile
    done = 0
    while done < len(rows):
        found = _native.hash_elements(rows, done, ELEMENTS_AT_A_TIME, strings, recipe.hashing) if recipe.hash == "lookalike64" else None
        count = 1 if found is None else len(found[1]) - 1
        yield count, one(rows[done]) if found is None else many(*found)
        done += count


def _unusual_features(elements: list[str | bytes | int], hashing: int | Hashing) -> memoryview:
    """Where an integer has more than 64 bits, or a class is derived from that of an element."""
    hashes = array("Q")
    for element in elements:
        if not isinstance(element, (str, bytes)) and not is_whole(element):
            raise InputError(f"set element {element!r:.60} is a {type(element).__name__}: expected str, bytes or int")
        if isinstance(element, int):
            data = element.to_bytes(8 * (element.bit_length() // 64 + 1), "little", signed=True)
        else:
            data = utf8(element)
        hashes.extend(_native.hash_strings(data, array("q", (0, len(data))), isinstance(element, int), hashing))
    return _native.shingle_tokens(hashes, array("q", (0, len(hashes))), 1, hashing, False)[0]


def weighted(strings: Mapping[str, float], recipe: Recipe) -> Features:
    """Weighted strings under our own hash, in the order that makes sums of weights reproducible."""
    names = list(strings)
    pairs = sorted(zip(feature_hashes(names, recipe), (float(strings[name]) for name in names), strict=True))
    return Features(array("Q", (pair[0] for pair in pairs)), array("d", (pair[1] for pair in pairs)))


def distinct_features(text: str | bytes, recipe: Recipe) -> array[int] | memoryview:
    """The distinct feature hashes of a text under our own hash, whatever hash the recipe's fingerprints are made with."""
    if weighs_words(recipe) or recipe.hash != "lookalike64":
        return feature_hashes(weighted_strings(text, recipe), recipe)
    return shingles(text, recipe, unique=True)


def secret_features(text: str | bytes, recipe: Recipe, key: Buffer | None = None) -> array[int] | memoryview:
    """The distinct features of a text as secret hashes, ascending, with a key of one's own or that of the process.

    What ``distinct_features`` are to fingerprints, these are to decisions: two texts share as many as they share features, whoever
    wrote them.
    """
    if weighs_words(recipe) or recipe.hash != "lookalike64":
        strings = list(weighted_strings(text, recipe))
        return array("Q", sorted(secret_strings(strings, key))) if strings else array("Q")
    return secret_shingles(text, recipe, key=key)
