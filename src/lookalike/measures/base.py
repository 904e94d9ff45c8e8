"""The grammar that every measure follows, and how they read what they are given.

A measure is two functions of a pair, ``distance(a, b)`` and ``similarity(a, b)``, and their batch forms, which return
float64 arrays: ``distances`` and ``similarities`` take two batches row by row, ``pairwise`` and ``pairwise_similarity``
every item of one with every item of the other. A batch is a list, a tuple or a numpy array of the things that the
measure compares: the rows of a 2-D array are vectors, the elements of a 1-D array of integers are bit patterns.
"""

from __future__ import annotations

import math
import numbers
import operator
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeGuard, TypeVar

from lookalike.errors import InputError
from lookalike.figures import shown_value

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatArray: TypeAlias = NDArray[np.float64]

T = TypeVar("T")
Want = Literal["distance", "similarity"]
Things: TypeAlias = "list[Any] | NDArray[Any]"


class Fast(Protocol):
    """Whole batches at once; ``None`` stands for a batch of another kind, which is then taken pair by pair."""

    def rows(self, left: Things, right: Things, want: Want, /) -> FloatArray | None: ...
    def matrix(self, left: Things, right: Things, want: Want, /) -> FloatArray | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A named pair of functions over things that are read once.

    ``read`` checks a thing and turns it into what the two functions take; its second argument is the thing's name for
    error messages. ``about`` states the formula and the range of the similarity, 0 to 1 where nothing else is said.
    """

    name: str
    about: str
    read: Callable[[Any, str], Any] = field(repr=False)
    distance_of: Callable[[Any, Any], float] = field(repr=False)
    similarity_of: Callable[[Any, Any], float] = field(repr=False)
    fast: Fast | None = field(default=None, repr=False)

    def distance(self, a: Any, b: Any, /) -> float:
        return self.distance_of(self.read(a, "a"), self.read(b, "b"))

    def similarity(self, a: Any, b: Any, /) -> float:
        return self.similarity_of(self.read(a, "a"), self.read(b, "b"))

    def ignoring_form(self, forms: Iterable[str]) -> Measure:
        """The same measure of texts in which these forms do not count (``lookalike.text.forms``); what is no text stays as it is."""
        from lookalike.text.forms import check_forms, rewrite

        chosen = check_forms(forms, name="forms")

        def formed(thing: Any) -> Any:
            return rewrite(thing, chosen).text if isinstance(thing, str) else thing

        return replace(
            self,
            about=f"{self.about}; without {', '.join(chosen) or 'nothing'}",
            read=lambda thing, name: self.read(formed(thing), name),
            fast=None if self.fast is None else _Formed(self.fast, formed),
        )

    def distances(self, a: Any, b: Any, /) -> FloatArray:
        """The distance of each row of ``a`` to the same row of ``b``."""
        return self._rows(a, b, "distance")

    def similarities(self, a: Any, b: Any, /) -> FloatArray:
        """The similarity of each row of ``a`` to the same row of ``b``."""
        return self._rows(a, b, "similarity")

    def pairwise(self, a: Any, b: Any = None, /) -> FloatArray:
        """The distance of every item of ``a`` (a row of the result) to every item of ``b`` (a column), or of ``a`` itself."""
        return self._matrix(a, b, "distance")

    def pairwise_similarity(self, a: Any, b: Any = None, /) -> FloatArray:
        """The similarity of every item of ``a`` (a row of the result) to every item of ``b`` (a column), or of ``a`` itself."""
        return self._matrix(a, b, "similarity")

    def _rows(self, a: Any, b: Any, want: Want) -> FloatArray:
        import numpy as np

        left, right = as_batch(a, "a"), as_batch(b, "b")
        if len(left) != len(right):
            raise InputError(f"a has {len(left)} rows and b has {len(right)}: give the same number, or use pairwise")
        found = self.fast.rows(left, right, want) if self.fast else None
        if found is None:
            score = self._score(want)
            pairs = zip(self._read_all(left, "a"), self._read_all(right, "b"), strict=True)
            found = np.array([score(x, y) for x, y in pairs], dtype=np.float64)
        return found

    def _matrix(self, a: Any, b: Any, want: Want) -> FloatArray:
        import numpy as np

        left = as_batch(a, "a")
        right = left if b is None else as_batch(b, "b")
        found = self.fast.matrix(left, right, want) if self.fast else None
        if found is None:
            score = self._score(want)
            rows = self._read_all(left, "a")
            columns = rows if right is left else self._read_all(right, "b")
            found = np.empty((len(rows), len(columns)), dtype=np.float64)
            for i, row in enumerate(rows):
                found[i] = [score(row, column) for column in columns]
        return found

    def _score(self, want: Want) -> Callable[[Any, Any], float]:
        return self.distance_of if want == "distance" else self.similarity_of

    def _read_all(self, batch: Things, name: str) -> list[Any]:
        return [self.read(item, f"{name}[{i}]") for i, item in enumerate(batch)]


def by_similarity(
    name: str, about: str, read: Callable[[Any, str], Any], similarity: Callable[[Any, Any], float], fast: Fast | None = None
) -> Measure:
    """A measure whose distance is 1 - similarity."""
    return Measure(name=name, about=about, read=read, distance_of=lambda a, b: 1 - similarity(a, b), similarity_of=similarity, fast=fast)


class _Formed:
    """Batches of texts without some forms."""

    def __init__(self, fast: Fast, formed: Callable[[Any], Any]) -> None:
        self._fast, self._formed = fast, formed

    def rows(self, left: Things, right: Things, want: Want, /) -> FloatArray | None:
        return self._fast.rows(self._batch(left), self._batch(right), want)

    def matrix(self, left: Things, right: Things, want: Want, /) -> FloatArray | None:
        formed = self._batch(left)
        return self._fast.matrix(formed, formed if right is left else self._batch(right), want)

    def _batch(self, batch: Things) -> Things:
        return [self._formed(item) for item in batch] if isinstance(batch, list) else batch


@dataclass(frozen=True, slots=True)
class Delegate:
    """A fingerprint: it compares itself with another, and checks that both have the same recipe."""

    fingerprint: Any

    def distance(self, other: Delegate) -> float:
        found: float = self.fingerprint.distance(other.fingerprint)
        return found

    def similarity(self, other: Delegate) -> float:
        found: float = self.fingerprint.similarity(other.fingerprint)
        return found


def is_fingerprint(thing: object) -> bool:
    # By its methods, not by isinstance with a Protocol: that takes 10 µs, more than the rest of a comparison.
    return hasattr(thing, "to_dict") and hasattr(thing, "distance") and hasattr(thing, "similarity")


def delegate(thing: object, kinds: tuple[str, ...], measure: str) -> Delegate:
    """A fingerprint, unless it says that it is of a kind whose numbers are not this measure's."""
    kind = getattr(thing, "kind", None)
    if isinstance(kind, str) and not any(known in kind for known in kinds):
        raise InputError(f"a {kind} fingerprint has no {measure} distance: use its own .similarity() and .distance()")
    return Delegate(thing)


def is_array(thing: Any) -> TypeGuard[NDArray[Any]]:
    """A numpy array, told without importing numpy."""
    return hasattr(thing, "dtype") and hasattr(thing, "tolist") and hasattr(thing, "ndim")


def as_batch(thing: Any, name: str) -> Things:
    if is_array(thing):
        unfit = thing.ndim == 0
    else:  # a table of pandas or Polars would be taken for the list of its columns
        unfit = isinstance(thing, (str, bytes, bytearray, memoryview, Mapping, Set)) or is_fingerprint(thing) or hasattr(thing, "columns")
    if unfit or not isinstance(thing, Collection):
        raise InputError(f"{name}={shown_value(thing)} is not a batch: give a list or a numpy array, or use distance() for one pair")
    return thing if is_array(thing) else list(thing)


def items_of(thing: Any, name: str, wanted: str) -> list[Any]:
    """The elements of a list, a tuple, another sequence, or a 1-D array; anything else is not ``wanted``."""
    if is_array(thing):
        if thing.ndim != 1:
            raise InputError(f"{name} is an array of {thing.ndim} dimensions: give a 1-D array, or for batches distances() or pairwise()")
        return list(thing.tolist())
    if not isinstance(thing, Sequence) or isinstance(thing, (str, bytes, bytearray, memoryview)):
        raise InputError(f"{name}={shown_value(thing)} is a {type(thing).__name__}: give {wanted}")
    return list(thing)


def tokens_of(text: str) -> list[str]:
    """The normalised tokens of a text by the default tokenizer."""
    from lookalike.text.tokenize import token_texts

    tokens: list[str] = token_texts(text)
    return tokens


def finite(value: Any, name: str) -> float:
    """An int or a finite float, from any real number."""
    if isinstance(value, numbers.Integral):
        return int(value)
    if not isinstance(value, numbers.Real):
        raise InputError(f"{name} holds {shown_value(value)}, which is not a number")
    try:
        number = float(value)
    except OverflowError as error:
        raise InputError(f"{name} holds {shown_value(value)}, which does not fit a float: scale it") from error
    if not math.isfinite(number):
        raise InputError(f"{name} holds {number}: give finite numbers")
    return number


def weights_of(mapping: Mapping[Any, Any], name: str) -> dict[Hashable, float]:
    """Elements and their weights: finite and not negative; an element of weight 0 is absent."""
    weights = {key: finite(value, name) for key, value in mapping.items()}
    for key, weight in weights.items():
        if weight < 0:
            raise InputError(f"{name} gives {shown_value(key)} the negative weight {weight}: weights start at 0")
    refuse_nan(weights, name)
    return {key: weight for key, weight in weights.items() if weight}


def counts_of(thing: Any, name: str) -> dict[Hashable, float]:
    """How often each element occurs, in a text (its tokens), a sequence, a set, an array, or a mapping to counts."""
    if isinstance(thing, Mapping):
        return weights_of(thing, name)
    if isinstance(thing, str):
        return dict(Counter(tokens_of(thing)))
    elements = list(thing) if isinstance(thing, Set) else items_of(thing, name, "a text, a list, a set, an array, or a mapping to counts")
    counts = dict(hashed(Counter, elements, name))
    refuse_nan(counts, name)
    return counts


def hashed(collect: Callable[[list[Any]], T], elements: list[Any], name: str) -> T:
    """``collect(elements)``, with a clear error for elements that cannot be hashed."""
    try:
        return collect(elements)
    except TypeError as error:
        raise InputError(f"{name} holds elements that cannot be hashed ({error}): use strings, numbers or tuples") from error


def refuse_nan(elements: Collection[Any], name: str) -> None:
    """NaN differs from itself, so nothing that holds it would be equal to itself."""
    try:
        unequal = any(map(operator.ne, elements, elements))
    except (TypeError, ValueError) as error:  # numpy arrays have no single answer
        raise InputError(f"{name} holds elements that cannot be compared ({error}): use strings, numbers or tuples") from error
    if unequal:
        raise InputError(f"{name} holds NaN, which equals nothing: remove it")


def total(weights: Iterable[float]) -> float:
    """The exact sum of ints, or the correctly rounded one of floats: in either case the order has no effect."""
    values = list(weights)
    return sum(values) if float not in map(type, values) else math.fsum(values)
