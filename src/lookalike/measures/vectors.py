"""Distances of vectors and of token counts: euclidean, manhattan, chebyshev, cosine.

A vector is a sequence of numbers, a 1-D numpy array, or a sparse one: a mapping of keys to numbers, a list of tokens
(their counts) or a text (the counts of its tokens). Sparse forms may be mixed, a key that is missing counts as 0;
a sparse and a dense vector cannot be compared. NaN and infinity are refused.

Two zero vectors are identical: their cosine is 1. A zero vector and another have the cosine 0.

A pair is computed without numpy, exactly for whole numbers and with correctly rounded sums for others, so that the
order of the elements has no effect. Batches of numbers are summed by native code, element after element, not by BLAS:
a pair's value does not depend on its place in the batch, on the other rows, nor on the machine.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from lookalike import _native
from lookalike.errors import InputError
from lookalike.measures.base import Measure, Things, Want, by_similarity, finite, is_array, items_of, refuse_nan, tokens_of, total

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lookalike.measures.base import FloatArray

Vector: TypeAlias = list[float] | dict[Hashable, float]

EXACT = 2**53  # the whole numbers that float64 holds exactly
TILE = 32_768  # elements of a temporary array: 256 KB stay in the second-level cache
PRODUCTS, ROOT_OF_SQUARES, DIFFERENCES, LARGEST_DIFFERENCE = range(4)  # native/base/row_pairs.hpp
SMALLEST_ROOT, LARGEST_ROOT = 1e-140, 1e140  # the same as there: beyond, squares may have vanished or overflowed


def read_vector(thing: Any, name: str) -> Vector:
    """A dense vector as a list, a sparse one as a dict; their values are ints and finite floats."""
    if isinstance(thing, str):
        return dict(Counter(tokens_of(thing)))
    if isinstance(thing, Mapping):
        refuse_nan(thing, name)
        return {key: finite(value, name) for key, value in thing.items()}
    items = items_of(thing, name, "numbers, tokens, a mapping to numbers, or a text")
    if items and all(isinstance(item, str) for item in items):
        return dict(Counter(items))
    if not set(map(type, items)) <= {int}:
        items = [finite(item, name) for item in items]
    return items


def _aligned(a: Vector, b: Vector) -> tuple[list[float], list[float]]:
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            raise InputError(f"a has {len(a)} dimensions and b has {len(b)}: give vectors of the same length")
        return a, b
    if (isinstance(a, list) and a) or (isinstance(b, list) and b):
        raise InputError("one is a vector of numbers, the other a text, tokens or a mapping: give two of one kind")
    left, right = (side if isinstance(side, dict) else {} for side in (a, b))  # an empty list may be one of tokens
    keys = dict.fromkeys([*left, *right])
    return [left.get(key, 0) for key in keys], [right.get(key, 0) for key in keys]


def _kernel(compute: Callable[[list[float], list[float]], float]) -> Callable[[Vector, Vector], float]:
    """A function of aligned numbers as one of vectors, whose result is a finite float or an error."""

    @functools.wraps(compute)
    def of(a: Vector, b: Vector) -> float:
        try:
            value = float(compute(*_aligned(a, b)))
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            raise InputError("the values are too large, the result does not fit a float: scale the vectors")
        return value

    return of


def _differences(a: Iterable[float], b: Iterable[float]) -> list[float]:
    return [abs(x - y) for x, y in zip(a, b, strict=True)]


def _scaled(values: list[float]) -> tuple[list[float], int]:
    """The values divided by the power of two next to the largest, so that squares neither overflow nor vanish."""
    if float not in map(type, values):
        return values, 0
    exponent = math.frexp(max(map(abs, values)))[1]
    return [math.ldexp(value, -exponent) for value in values], exponent


@_kernel
def _euclidean(a: list[float], b: list[float]) -> float:
    scaled, exponent = _scaled(_differences(a, b))
    return math.ldexp(math.sqrt(total(x * x for x in scaled)), exponent)


@_kernel
def _manhattan(a: list[float], b: list[float]) -> float:
    return total(_differences(a, b))


@_kernel
def _chebyshev(a: list[float], b: list[float]) -> float:
    return max(_differences(a, b), default=0.0)


@_kernel
def cosine_of(a: list[float], b: list[float]) -> float:
    a, b = _scaled(a)[0], _scaled(b)[0]
    squares_a, squares_b = total(x * x for x in a), total(y * y for y in b)
    if not squares_a or not squares_b:
        return 1.0 if squares_a == squares_b else 0.0
    cosine = total(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(squares_a * squares_b)
    return max(-1.0, min(1.0, cosine))


def _closeness(distance: Any) -> Any:
    return 1 / (1 + distance)


def _complement(similarity: Any) -> Any:
    return 1 - similarity


class _Sums(NamedTuple):
    """``sure``: all are finite, and of squares none may have vanished or overflowed."""

    values: FloatArray
    sure: bool


@dataclass(frozen=True, slots=True)
class _Dense:
    """Batches of numbers: ``kind`` says what native code sums over the elements of two rows, ``finish`` makes the measure of the sums.

    Where native code is sure of all sums, what is made of them is finite.
    """

    kind: int
    prepare: Callable[[FloatArray], FloatArray]
    finish: Callable[[_Sums, FloatArray, FloatArray], FloatArray]
    gives: Want
    other: Callable[[Any], Any]

    def rows(self, left: Things, right: Things, want: Want) -> FloatArray | None:
        return self._of(left, right, want, _row_sums)

    def matrix(self, left: Things, right: Things, want: Want) -> FloatArray | None:
        return self._of(left, right, want, _pair_sums)

    def _of(self, left: Things, right: Things, want: Want, sums: Callable[[int, FloatArray, FloatArray], _Sums]) -> FloatArray | None:
        import numpy as np

        pair = _dense_pair(left, right)
        if pair is None:
            return None
        a, b = map(self.prepare, pair)
        found = sums(self.kind, a, b)
        values = self.finish(found, a, b)
        if not found.sure and not np.isfinite(values).all():
            raise InputError("the values are too large, the result does not fit a float: scale the vectors")
        converted: FloatArray = values if want == self.gives else self.other(values)
        return converted


def _dense_pair(left: Things, right: Things) -> tuple[FloatArray, FloatArray] | None:
    a = _dense(left, "a")
    b = a if right is left else _dense(right, "b")
    if a is None or b is None:
        return None
    if a.shape[1] != b.shape[1]:
        raise InputError(f"a has {a.shape[1]} dimensions and b has {b.shape[1]}: give vectors of the same length")
    return a, b


def _dense(batch: Things, name: str) -> FloatArray | None:
    """The rows as float64, or None when they are no numbers or would lose digits."""
    import numpy as np

    if not len(batch) or not (is_array(batch) or _has_numbers(batch[0])):
        return None
    try:
        array = np.asarray(batch)
    except ValueError as error:
        raise InputError(f"the rows of {name} differ in length: give vectors of the same length") from error
    if array.dtype.kind not in "biuf":
        return None
    if array.ndim != 2:
        raise InputError(f"{name} has {array.ndim} dimensions: give a 2-D array whose rows are vectors")
    if array.dtype.kind in "iu" and array.size and (array.max() > EXACT or array.min() < -EXACT):
        return None
    rows = np.ascontiguousarray(array, dtype=np.float64)
    if not np.isfinite(rows).all():
        raise InputError(f"{name} holds NaN or infinity: give finite numbers")
    return rows


def _has_numbers(row: Any) -> bool:
    return is_array(row) or (isinstance(row, (list, tuple)) and bool(row) and not isinstance(row[0], str))


def _row_sums(kind: int, a: FloatArray, b: FloatArray) -> _Sums:
    import numpy as np

    if not a.size:
        return _Sums(np.zeros(len(a)), sure=True)
    found, sure = _native.row_sums(kind, a.reshape(-1), b.reshape(-1), a.shape[1])
    return _Sums(np.asarray(found), sure)


def _pair_sums(kind: int, a: FloatArray, b: FloatArray) -> _Sums:
    import numpy as np

    if not a.size or not b.size:
        return _Sums(np.zeros((len(a), len(b))), sure=True)
    found, sure = _native.pair_sums(kind, a.reshape(-1), b.reshape(-1), a.shape[1])
    return _Sums(np.asarray(found).reshape(len(a), len(b)), sure)


def _as_they_are(a: FloatArray) -> FloatArray:
    return a


def _summed(sums: _Sums, a: FloatArray, b: FloatArray) -> FloatArray:
    return sums.values


def _roots(sums: _Sums, a: FloatArray, b: FloatArray) -> FloatArray:
    """Distances, those of which squares may have vanished or overflowed computed once more."""
    import numpy as np

    found = sums.values
    if sums.sure:
        return found
    unsure = np.argwhere(~((found > SMALLEST_ROOT) & (found < LARGEST_ROOT)))
    step = max(1, TILE // max(1, a.shape[1]))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # an infinite difference is reported by the caller
        for start in range(0, len(unsure), step):
            places = unsure[start : start + step]
            scaled, exponent = _scaled_rows(a[places[:, 0]] - b[places[:, -1]])
            found[tuple(places.T)] = np.ldexp(np.sqrt(_row_sums(PRODUCTS, scaled, scaled).values), exponent)
    return found


def _scaled_rows(a: FloatArray) -> tuple[FloatArray, NDArray[np.int32]]:
    """Each row divided by the power of two next to its largest value, and the exponents."""
    import numpy as np

    exponent: NDArray[np.int32] = np.frexp(np.abs(a).max(axis=-1, initial=0.0))[1]
    return np.ldexp(a, -exponent[:, None]), exponent


def _cosines(sums: _Sums, a: FloatArray, b: FloatArray) -> FloatArray:
    import numpy as np

    squares_a, squares_b = _row_sums(PRODUCTS, a, a).values, _row_sums(PRODUCTS, b, b).values
    if sums.values.ndim == 2:
        squares_a = squares_a[:, None]
    product = squares_a * squares_b
    empty = product == 0 if not (squares_a.all() and squares_b.all()) else None
    if empty is not None:
        product[empty] = 1.0
    np.sqrt(product, out=product)
    found: FloatArray = np.divide(sums.values, product, out=product)
    np.clip(found, -1.0, 1.0, out=found)
    if empty is not None:
        found[empty] = np.broadcast_to(squares_a == squares_b, found.shape)[empty]
    return found


def _metric(name: str, about: str, kernel: Callable[[Vector, Vector], float], kind: int) -> Measure:
    return Measure(
        name=name,
        about=f"{about}; the similarity is 1 / (1 + distance)",
        read=read_vector,
        distance_of=kernel,
        similarity_of=lambda a, b: _closeness(kernel(a, b)),
        fast=_Dense(kind, _as_they_are, _roots if kind == ROOT_OF_SQUARES else _summed, "distance", _closeness),
    )


euclidean = _metric("euclidean", "the square root of the sum of the squared differences", _euclidean, ROOT_OF_SQUARES)
manhattan = _metric("manhattan", "the sum of the absolute differences", _manhattan, DIFFERENCES)
chebyshev = _metric("chebyshev", "the largest absolute difference", _chebyshev, LARGEST_DIFFERENCE)
cosine = by_similarity(
    "cosine",
    "the cosine of the angle between two vectors: -1 to 1, from 0 where no value is negative; the distance is 1 - cosine",
    read_vector,
    cosine_of,
    _Dense(PRODUCTS, lambda a: _scaled_rows(a)[0], _cosines, "similarity", _complement),
)
