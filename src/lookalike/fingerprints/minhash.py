"""MinHash (Broder 1997): the share of equal values estimates the Jaccard similarity of two sets of features.

Our own recipe sketches by fast similarity sketching: exactly unbiased at every set size, with at most binomial variance,
at one step a feature instead of one a feature and value (see docs/format.md). The ``datasketch`` recipe reproduces that
package's values, version 1 and version 2's ``scheme="legacy"``.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

from lookalike import _native
from lookalike.checks import check_int, check_several, check_workers, is_number, is_whole, refuse
from lookalike.errors import InputError
from lookalike.figures import shown_value
from lookalike.fingerprints.base import check_pair, field, pack, pack_words, unpack, unpack_words
from lookalike.fingerprints.single import plan_for
from lookalike.recipe import Recipe, resolve
from lookalike.text.columns import column_length, in_place, joined
from lookalike.text.features import (
    ROWS,
    distinct_features,
    feature_hashes,
    is_native,
    shingles_words,
    sketched_rows,
    weighted,
    weighted_strings,
)
from lookalike.text.normalize import utf8
from lookalike.text.shingle import shingles
from lookalike.text.tokenize import native_form
from lookalike.text.word_columns import sketches_of_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lookalike._native import Buffer

MAX_SIZE = 65536
_SIZES = f"choose 1 to {MAX_SIZE} values"
EMPTY = 0xFFFFFFFF  # every value of the sketch of an empty set
PERMUTED_HASHES = ("sha1-first4", "sha1-first4-mixed")  # of datasketch 1.x and 2.x
Elements = Iterable[str] | Iterable[bytes] | Iterable[int]


class _Made:
    """What a kernel has made needs no checks, and no Python numbers before somebody asks for them: they take longer than the sketch."""

    __slots__ = ("_made",)
    _made: bytes

    if not TYPE_CHECKING:  # a type checker would take every name for one of its

        def __getattr__(self, name: str) -> Any:
            if name != "values":
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
            values = struct.unpack(f"<{len(self._made) // 4}I", self._made)
            object.__setattr__(self, "values", values)
            return values


@dataclass(frozen=True, slots=True)
class _Sketch(_Made):
    """Values that agree in as large a share as the sets are alike."""

    kind: ClassVar[str]

    values: tuple[int, ...]
    recipe: str

    def __post_init__(self) -> None:
        _check_values(self.kind, self.values, 32)

    def __len__(self) -> int:
        return len(self.values)

    def similarity(self, other: Self) -> float:
        """The share of equal values. Two empty sets are alike."""
        check_pair(self, other)
        return _share_equal(self.values, other.values)

    def distance(self, other: Self) -> float:
        return 1 - self.similarity(other)

    def to_dict(self) -> dict[str, Any]:
        return {"values": list(self.values), "recipe": self.recipe}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        return cls(tuple(field(data, "values", cls.kind, list, tuple)), field(data, "recipe", cls.kind, str))

    def to_bytes(self) -> bytes:
        return pack_words(self.kind, self.recipe, self.values)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        recipe, values = unpack_words(cls.kind, data)
        return cls(values, recipe)


@dataclass(frozen=True, slots=True)
class MinHash(_Sketch):
    """A MinHash: one 32-bit value for each of its bins; ``similarity`` estimates the Jaccard similarity."""

    kind: ClassVar[str] = "minhash"

    def merge(self, other: MinHash) -> MinHash:
        """The sketch of the union of both sets."""
        check_pair(self, other)
        return MinHash(tuple(map(min, self.values, other.values)), self.recipe)

    def compact(self, b: int = 8) -> BBitMinHash:
        """The lowest b bits of each value: b/32 of the space, a little more variance."""
        if not is_whole(b) or b not in (1, 2, 4, 8, 16):
            raise refuse("b", b, "keep 1, 2, 4, 8 or 16 bits of each value")
        return BBitMinHash(tuple(value & (1 << b) - 1 for value in self.values), b, self.recipe)


@dataclass(frozen=True, slots=True)
class WeightedMinHash(_Sketch):
    """A sketch of a weighted set; ``similarity`` estimates sum(min) / sum(max) of the weights."""

    kind: ClassVar[str] = "weighted-minhash"


@dataclass(frozen=True, slots=True)
class BBitMinHash:
    """The lowest b bits of a MinHash's values (Li, König 2010)."""

    kind: ClassVar[str] = "minhash-bbit"

    values: tuple[int, ...]
    b: int
    recipe: str

    def __post_init__(self) -> None:
        _check_values(self.kind, self.values, self.b)

    def similarity(self, other: BBitMinHash) -> float:
        """The estimate, corrected for the 1 in 2^b values that are equal by chance; never below 0."""
        check_pair(self, other)
        if self.b != other.b:
            raise InputError(f"cannot compare {self.b} bits per value with {other.b}: compact both with the same b")
        chance = 0.5**self.b
        return max(0.0, (_share_equal(self.values, other.values) - chance) / (1 - chance))

    def distance(self, other: BBitMinHash) -> float:
        return 1 - self.similarity(other)

    def to_dict(self) -> dict[str, Any]:
        return {"values": list(self.values), "b": self.b, "recipe": self.recipe}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        values, b = field(data, "values", cls.kind, list, tuple), field(data, "b", cls.kind, int)
        return cls(tuple(values), b, field(data, "recipe", cls.kind, str))

    def to_bytes(self) -> bytes:
        """b/8 bytes per value, behind the number of values and b."""
        number = sum(value << index * self.b for index, value in enumerate(self.values))
        size = (len(self.values) * self.b + 7) // 8
        return pack(self.kind, self.recipe, struct.pack("<IB", len(self.values), self.b) + number.to_bytes(size, "little"))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        recipe, payload = unpack(cls.kind, data)
        if len(payload) < 5:
            raise InputError(f"{cls.kind} fingerprint: truncated")
        count, b = struct.unpack_from("<IB", payload)
        if b not in (1, 2, 4, 8, 16) or len(payload) != 5 + (count * b + 7) // 8:
            raise InputError(f"{cls.kind} fingerprint: {len(payload) - 5} bytes do not hold {count} values of {b} bits")
        number = int.from_bytes(payload[5:], "little")
        return cls(tuple(number >> index * b & (1 << b) - 1 for index in range(count)), b, recipe)


def _check_values(kind: str, values: tuple[int, ...], bits: int) -> None:
    if not 1 <= len(values) <= MAX_SIZE:
        raise InputError(f"{kind} fingerprint of {len(values)} values: expected 1 to {MAX_SIZE}")
    if set(map(type, values)) == {int} and min(values) >= 0 and max(values) < 1 << bits:
        return  # the loop below, which finds the culprit, takes ten times as long
    for value in values:
        if not is_whole(value) or not 0 <= value < 1 << bits:
            raise InputError(f"{kind} value {value!r}: expected an integer of {bits} bits")


def _share_equal(left: tuple[int, ...], right: tuple[int, ...]) -> float:
    return sum(map(int.__eq__, left, right)) / len(left)


def check_size(size: int) -> None:
    check_int("size", size, 1, MAX_SIZE, _SIZES)


def fingerprint_recipe(recipe: Recipe, size: int, kind: str = "minhash") -> str:
    """The id that a sketch carries: its own parameters and the recipe's."""
    return f"{kind}-{size}/{recipe.id}"


def minhash(text: str | bytes | AbstractSet[str] | Elements, *, size: int = 128, recipe: Recipe | str | None = None) -> MinHash:
    """The MinHash of a text, or of a set (any iterable) of str, bytes or int, taken as they are.

    >>> minhash({"apple", "banana", "orange", "grape"}, recipe="datasketch").values[:2]
    (200169630, 1298872416)
    """
    chosen = resolve(recipe)
    check_size(size)
    if isinstance(text, (str, bytes)) and (plan := plan_for(chosen, "minhash", size)):
        return _known(plan.sketcher.minhash(text, size), plan.identity)
    values, identity = _values(text, size, chosen), fingerprint_recipe(chosen, size)
    return _known(bytes(values), identity) if isinstance(values, memoryview) else MinHash(tuple(values), identity)


def _known(made: bytes, recipe: str) -> MinHash:
    """From values that a kernel has made."""
    sketch = object.__new__(MinHash)
    _set_made(sketch, made)
    _set_recipe(sketch, recipe)
    return sketch


# A frozen object refuses assignments; its slots do not. They take a third of the time of object.__setattr__.
_set_made, _set_recipe = _Made.__dict__["_made"].__set__, _Sketch.__dict__["recipe"].__set__


def minhash_of_shingles(hashes: memoryview, recipe: Recipe, size: int = 128) -> MinHash:
    """The MinHash of a text that is shingles already; it makes no difference how often each is among them."""
    found = _native.minhash_features(hashes, array("q", (0, len(hashes))), size, 1)
    return _known(bytes(found), fingerprint_recipe(recipe, size))


def _values(text: object, size: int, recipe: Recipe) -> memoryview | tuple[int, ...]:
    if recipe.hash in PERMUTED_HASHES:
        from lookalike.fingerprints.permutations import permuted_sketch  # needs numpy

        return permuted_sketch(_strings(text, recipe), size, recipe)
    if recipe.hash != "lookalike64":
        raise InputError(f"recipe hash={recipe.hash!r}: a MinHash needs 'lookalike64', {' or '.join(map(repr, PERMUTED_HASHES))}")
    if isinstance(text, (str, bytes)) and is_native(recipe):
        data = utf8(text)
        offsets = array("q", (0, len(data)))
        return _native.minhash_texts(data, offsets, *native_form(recipe), size, 1)
    if not isinstance(text, (str, bytes)):
        hashes: Buffer = feature_hashes(_elements(text), recipe)
    elif shingles_words(recipe):
        hashes = shingles(text, recipe)  # one that comes twice changes no minimum
    else:
        hashes = distinct_features(text, recipe)
    return _native.minhash_features(hashes, array("q", (0, len(hashes))), size, 1)


def _elements(elements: object) -> Iterable[str | bytes | int]:
    if isinstance(elements, Mapping) or not isinstance(elements, Iterable):
        raise InputError(f"cannot make a MinHash of a {type(elements).__name__}: give a text, or a set of str, bytes or int")
    return elements


def _strings(text: object, recipe: Recipe) -> Iterable[bytes]:
    if isinstance(text, (str, bytes)):
        return (utf8(string) for string in weighted_strings(text, recipe))
    return (str(element).encode() if isinstance(element, int) else utf8(element) for element in _elements(text))


def minhashes(texts: object, *, size: int = 128, recipe: Recipe | str | None = None, workers: int = 1) -> NDArray[np.uint32]:
    """The MinHashes of a column of texts, one row of ``size`` values each.

    Takes lists, Arrow string arrays (read in place), Polars and pandas columns; and lists of sets (or of lists, or tuples) of str, bytes
    or int, taken as they are. The bytes do not depend on ``workers``.
    """
    import numpy as np

    check_size(size)
    check_workers(workers)
    chosen = resolve(recipe)
    values = np.empty((column_length(texts), size), dtype=np.uint32)  # of which no page is touched if all come in one piece
    done = 0
    if isinstance(texts, (list, tuple)) and texts and isinstance(texts[0], ROWS):
        many, one = partial(_native.minhash_features, size=size, workers=workers), partial(_values, size=size, recipe=chosen)
        for count, found in sketched_rows(texts, chosen, many, one):
            values[done : done + count] = np.asarray(found).reshape(count, size)
            done += count
        return values
    for found in _columns(texts, size, chosen, workers):
        rows = np.asarray(found, dtype=np.uint32).reshape(-1, size)
        if len(rows) == len(values):  # all in one piece, as most are: no copy
            return rows
        values[done : done + len(rows)] = rows
        done += len(rows)
    return values


def _columns(texts: object, size: int, recipe: Recipe, workers: int) -> Iterator[Any]:
    """The values of one piece of a column after the other."""
    if is_native(recipe):
        for piece in in_place(texts):
            yield _native.minhash_texts(*piece, *native_form(recipe), size, workers)
    elif shingles_words(recipe):
        yield from sketches_of_words(
            texts, recipe, lambda hashes, offsets: _native.minhash_tokens(hashes, offsets, recipe.ngram, recipe.hashing, size), workers
        )
    else:
        for piece in joined(texts):
            yield [_values(text, size, recipe) for text in piece.texts()]


def weighted_minhash(weights: str | bytes | Mapping[str, float], *, size: int = 128, recipe: Recipe | str | None = None) -> WeightedMinHash:
    """A sketch of a weighted set (feature → positive weight), or of a text with its features weighted as the recipe says."""
    check_size(size)
    chosen = resolve(recipe)
    if chosen.hash != "lookalike64":
        raise InputError(f"recipe hash={chosen.hash!r}: a weighted MinHash needs 'lookalike64'")
    strings = weighted_strings(weights, chosen) if isinstance(weights, (str, bytes)) else _weight_table(weights)
    features = weighted(strings, chosen)
    values = _native.minhash_weighted(features.hashes, features.weights, size, chosen.seed)
    return WeightedMinHash(tuple(values), fingerprint_recipe(chosen, size, WeightedMinHash.kind))


def weighted_minhashes(
    items: Iterable[str | bytes | Mapping[str, float]], *, size: int = 128, recipe: Recipe | str | None = None
) -> list[WeightedMinHash]:
    """The sketches of several weighted sets or texts."""
    several = check_several("items", items, "a list of texts, or of mappings of features to weights")
    return [weighted_minhash(item, size=size, recipe=recipe) for item in several]


def _weight_table(weights: object) -> Mapping[str, float]:
    if not isinstance(weights, Mapping):
        raise InputError(f"cannot make a weighted MinHash of a {type(weights).__name__}: give a text or a mapping of features to weights")
    for feature, weight in weights.items():
        if not isinstance(feature, str):
            raise InputError(f"feature {feature!r:.60} is a {type(feature).__name__}: expected str")
        if not is_number(weight) or not 0 < weight <= sys.float_info.max:
            raise InputError(f"weight {shown_value(weight)} of feature {feature!r:.60}: give a positive float; leave out what weighs 0")
    return weights
