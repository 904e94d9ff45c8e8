"""SimHash (Charikar 2002; Manku, Jain, Das Sarma 2007): similar texts get fingerprints that differ in few bits.

Bit b is set if the features that have bit b set in their hash weigh more than those that have not. On long texts 3 of 64
bits is the usual bound for "the same"; on short texts a single changed word moves many bits.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

from lookalike import _native
from lookalike.bit_patterns import bit_pattern, signed
from lookalike.checks import check_workers, is_number, is_whole, refuse
from lookalike.errors import InputError
from lookalike.figures import shown_value
from lookalike.fingerprints.base import check_pair, field, pack, unpack
from lookalike.fingerprints.given_hashes import GIVEN, HashFunction, check_width, function_id, of_function, of_hashes
from lookalike.fingerprints.single import plan_for
from lookalike.recipe import Recipe, resolve
from lookalike.text.columns import column_length, in_place, joined
from lookalike.text.features import ROWS, is_native, shingles_words, sketched_rows, string_hash, weighted, weighted_strings
from lookalike.text.normalize import utf8
from lookalike.text.shingle import shingles
from lookalike.text.tokenize import native_form
from lookalike.text.word_columns import sketches_of_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WIDTHS = (32, 64, 128)
MIN_OTHER_BYTES = 16  # of a value with another width, in the compact form: so its length tells the two apart
_HEX = re.compile(r"0[xX][0-9A-Fa-f]+")
WeightedTokens = Iterable[tuple[str, float]]


@dataclass(frozen=True, slots=True)
class SimHash:
    """A SimHash: of a text 32, 64 or 128 bits, of hashes that somebody gave any number of them. A negative ``value``, as a
    database may have it, is taken as the pattern of its bits."""

    kind: ClassVar[str] = "simhash"

    value: int
    bits: int
    recipe: str

    def __post_init__(self) -> None:
        check_width(self.bits)
        object.__setattr__(self, "value", bit_pattern(self.value, self.bits, "simhash value"))

    def __int__(self) -> int:
        return self.value

    def __index__(self) -> int:
        return self.value

    @property
    def hex(self) -> str:
        return f"0x{self.value:0{-(-self.bits // 4)}x}"

    @property
    def signed(self) -> int:
        """The same bits as a signed number: of 64 bits a bigint of PostgreSQL."""
        return signed(self.value, self.bits)

    def distance(self, other: SimHash) -> int:
        """In how many bits the two differ."""
        check_pair(self, other)
        return (self.value ^ other.value).bit_count()

    def similarity(self, other: SimHash) -> float:
        """1 - distance / bits. Unrelated texts come out near 0.5, not near 0."""
        return 1 - self.distance(other) / self.bits

    def to_dict(self) -> dict[str, Any]:
        return {"value": self.hex, "bits": self.bits, "recipe": self.recipe}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        given = data.get("value") if isinstance(data, Mapping) else None
        value = given if isinstance(given, int) else _from_hex(field(data, "value", cls.kind, str))
        return cls(value, field(data, "bits", cls.kind, int), field(data, "recipe", cls.kind, str))

    def to_bytes(self) -> bytes:
        if self.bits in WIDTHS:
            return pack(self.kind, self.recipe, self.value.to_bytes(self.bits // 8, "little"))
        size = max(MIN_OTHER_BYTES, -(-self.bits // 8))
        return pack(self.kind, self.recipe, self.bits.to_bytes(2, "little") + self.value.to_bytes(size, "little"))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        recipe, payload = unpack(cls.kind, data)
        if len(payload) >= 2 + MIN_OTHER_BYTES:
            return cls(int.from_bytes(payload[2:], "little"), int.from_bytes(payload[:2], "little"), recipe)
        if len(payload) * 8 not in WIDTHS:
            raise InputError(f"simhash fingerprint: {len(payload)} bytes of value, expected 4, 8, 16, or 18 and more")
        return cls(int.from_bytes(payload, "little"), len(payload) * 8, recipe)


def _from_hex(text: str) -> int:
    if not _HEX.fullmatch(text):  # without 0x nobody can tell it from a decimal number
        raise InputError(f"simhash value {text!r:.60}: expected hexadecimal digits behind 0x such as '0xa7f48284b51a46bd', or an integer")
    return int(text, 16)


def check_bits(bits: int) -> None:
    if not is_whole(bits) or bits not in WIDTHS:
        raise refuse("bits", bits, "choose 32, 64 or 128")


def fingerprint_recipe(recipe: Recipe, bits: int) -> str:
    """The id that a SimHash carries: its own parameters and the recipe's."""
    return f"simhash-{bits}/{recipe.id}"


def simhash(
    text: str | bytes | Iterable[str] | WeightedTokens | Mapping[str, float] | None = None,
    *,
    bits: int = 64,
    recipe: Recipe | str | None = None,
    hashes: Iterable[int] | None = None,
    weights: Iterable[float] | None = None,
    hash: HashFunction | None = None,
) -> SimHash:
    """The SimHash of a text, of tokens, or of (token, weight) pairs; or of ``hashes`` that were made elsewhere, with their ``weights``.

    Tokens and pairs are features as they are: they are neither normalised nor shingled. A text without features (empty, or
    nothing but white space) has the value 0. With ``hash``, a function of bytes that gives a whole number, features are hashed by it. With
    ``hash`` or ``hashes`` there may be any number of ``bits``.

    >>> simhash("北京增值税电子普通发票.pdf", recipe="simhash-py").hex
    '0xa7f48284b51a46bd'
    >>> f"{int(simhash(hashes=[0b10011111, 0b01001011, 0b01001011], weights=[2, 1, 4], bits=8)):08b}"
    '01001011'
    """
    if hashes is not None:
        if text is not None or recipe is not None or hash is not None:
            raise InputError("hashes=: leave out text, recipe and hash, which have made them")
        return SimHash(of_hashes(hashes, weights, check_width(bits)), bits, f"simhash-{bits}/{GIVEN}")
    if weights is not None:
        raise InputError("weights= belongs to hashes=; give tokens with their weights as pairs, or as a mapping")
    if text is None:
        raise InputError("nothing to make a SimHash of: give a text, tokens, or hashes=")
    chosen = resolve(recipe)
    if hash is not None:
        return _by_function(text, check_width(bits), chosen, hash)
    check_bits(bits)
    if isinstance(text, (str, bytes)) and (plan := plan_for(chosen, "simhash", bits)):
        return _known(plan.sketcher.simhash(text, bits, plan.unique), bits, plan.identity)
    identity = fingerprint_recipe(chosen, bits)
    if isinstance(text, (str, bytes)):
        return SimHash(_of_text(text, bits, chosen), bits, identity)
    return SimHash(_of_tokens(text, bits, chosen), bits, identity)


def _known(value: int, bits: int, recipe: str) -> SimHash:
    """From a value that a kernel has made: nothing about it needs to be checked."""
    made = object.__new__(SimHash)
    _set_value(made, value)
    _set_bits(made, bits)
    _set_recipe(made, recipe)
    return made


# A frozen object refuses assignments; its slots do not. They take a third of the time of object.__setattr__.
_set_value, _set_bits, _set_recipe = (SimHash.__dict__[name].__set__ for name in ("value", "bits", "recipe"))


def _by_function(text: object, bits: int, recipe: Recipe, hash: HashFunction) -> SimHash:
    if not callable(hash):
        raise refuse("hash", hash, "give a function that takes bytes and gives a whole number")
    strings = weighted_strings(text, recipe) if isinstance(text, (str, bytes)) else _token_weights(text)
    return SimHash(of_function(strings, hash, bits), bits, f"{fingerprint_recipe(recipe, bits)}+{function_id(hash)}")


def _of_text(text: str | bytes, bits: int, recipe: Recipe) -> int:
    if is_native(recipe):
        data = utf8(text)
        offsets = array("q", (0, len(data)))
        return _join(_native.simhash_texts(data, offsets, *native_form(recipe), bits, recipe.weights == "one", 1))
    if shingles_words(recipe):  # a segmenter's words: shingled natively
        return simhash_of_shingles(shingles(text, recipe), recipe, bits).value
    return _of_strings(weighted_strings(text, recipe), bits, recipe)


def simhash_of_shingles(hashes: memoryview, recipe: Recipe, bits: int = 64) -> SimHash:
    """The SimHash of a text that is shingles already."""
    found = _native.simhash_features(hashes, array("q", (0, len(hashes))), bits, recipe.weights == "one", 1)
    return SimHash(_join(found), bits, fingerprint_recipe(recipe, bits))


def _token_weights(tokens: object) -> dict[str, float]:
    """Tokens or (token, weight) pairs as weights a token; a token that comes twice counts twice."""
    if not isinstance(tokens, Iterable):
        raise InputError(f"cannot make a SimHash of a {type(tokens).__name__}: give a text, tokens, or (token, weight) pairs")
    weights: dict[str, float] = {}
    for item in tokens.items() if isinstance(tokens, Mapping) else tokens:
        token, weight = item if isinstance(item, tuple) and len(item) == 2 else (item, 1.0)
        if not isinstance(token, str):
            raise InputError(f"token {token!r:.60} is a {type(token).__name__}: expected str")
        if not is_number(weight) or not abs(weight) <= sys.float_info.max:
            raise InputError(f"weight {shown_value(weight)} of token {token!r:.60}: give a finite number that fits a float")
        weights[token] = weights.get(token, 0.0) + weight
    return weights


def _of_tokens(tokens: object, bits: int, recipe: Recipe) -> int:
    return _of_strings(_token_weights(tokens), bits, recipe)


def _of_strings(strings: Mapping[str, float], bits: int, recipe: Recipe) -> int:
    if recipe.hash == "lookalike64":
        features = weighted(strings, recipe)
        return _join(_native.simhash_weighted(features.hashes, features.weights, bits))
    hash_of = string_hash(recipe.hash)
    width = {"md5": 128, "sha1-first4": 32, "sha1-first4-mixed": 32, "sha1-last2": 16}[recipe.hash]
    if bits > width:
        raise InputError(f"recipe hash={recipe.hash!r} has {width} bits, too few for a SimHash of {bits}")
    sums = [0.0] * bits
    for string in sorted(strings):  # sums of floats depend on their order
        value, weight = hash_of(utf8(string)), strings[string]
        for bit in range(bits):
            sums[bit] += weight if value >> bit & 1 else -weight
    return sum(1 << bit for bit in range(bits) if sums[bit] > 0)


def _join(words: memoryview) -> int:
    return words[0] | words[1] << 64 if len(words) == 2 else words[0]


def simhashes(texts: object, *, bits: int = 64, recipe: Recipe | str | None = None, workers: int = 1) -> NDArray[np.unsignedinteger[Any]]:
    """The SimHashes of a column of texts: uint32, uint64, or for 128 bits rows of two uint64, the low half first.

    Takes lists, Arrow string arrays (read in place), Polars and pandas columns; and lists of lists (or of sets, or tuples) of tokens, or
    of (token, weight) pairs, taken as they are. The bytes do not depend on ``workers``.
    """
    import numpy as np

    check_bits(bits)
    check_workers(workers)
    chosen = resolve(recipe)
    values = np.empty(column_length(texts) * (2 if bits == 128 else 1), dtype=np.uint64)
    done = 0
    given = isinstance(texts, (list, tuple)) and texts and isinstance(texts[0], ROWS)
    for found in _rows(texts, bits, chosen, workers) if given else _columns(texts, bits, chosen, workers):
        words = np.asarray(found, dtype=np.uint64)
        values[done : done + len(words)] = words
        done += len(words)
    if bits == 128:
        return values.reshape(-1, 2)
    return values.astype(np.uint32) if bits == 32 else values


def _rows(rows: Any, bits: int, recipe: Recipe, workers: int) -> Iterator[Any]:
    """The words of the values of some rows of tokens after the other. One that comes twice counts twice."""
    many = partial(_native.simhash_features, bits=bits, unique=False, workers=workers)
    for _, found in sketched_rows(rows, recipe, many, lambda row: _words(_of_tokens(row, bits, recipe), bits), strings=True):
        yield found


def _columns(texts: object, bits: int, recipe: Recipe, workers: int) -> Iterator[Any]:
    """The words of the values of one piece of a column after the other."""
    unique = recipe.weights == "one"
    if is_native(recipe):
        for piece in in_place(texts):
            yield _native.simhash_texts(*piece, *native_form(recipe), bits, unique, workers)
    elif shingles_words(recipe):
        yield from sketches_of_words(
            texts,
            recipe,
            lambda hashes, offsets: _native.simhash_tokens(hashes, offsets, recipe.ngram, recipe.hashing, bits, unique),
            workers,
        )
    else:
        for piece in joined(texts):
            yield [word for text in piece.texts() for word in _words(_of_text(text, bits, recipe), bits)]


def _words(value: int, bits: int) -> Sequence[int]:
    return [value & 0xFFFFFFFFFFFFFFFF, value >> 64] if bits == 128 else [value]
