"""Vectors of meaning: kept as halves of length 1, searched by their exact cosine (native/segments/vectors.hpp says why it is exact).

A segment is immutable: named arrays, in memory or mapped from a file. A text without meaning, such as an empty one, has the vector
of zeros, which is in no segment and is never found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.errors import InputError

if TYPE_CHECKING:
    from lookalike.embedders.base import Embedder
    from lookalike.segments.container import Sections

_SECTIONS = {"dimensions": "uint32", "rows": "int64", "halves": "uint16"}


class NearVectors(NamedTuple):
    """The matches of a batch of queries: those of query i are at ``offsets[i]:offsets[i + 1]``, best first, then by row."""

    offsets: NDArray[np.int64]
    rows: NDArray[np.int64]
    cosines: NDArray[np.float64]
    totals: NDArray[np.int64]  # how many each query had before the limit
    notes: tuple[str, ...] = ()  # what a reader should know: of an approximate search, what was searched how


def unit_halves(vectors: Any, dimensions: int, name: str = "vectors") -> NDArray[np.uint16]:
    """Vectors, a row each, as halves of length 1, one after the other; a vector of zeros stays one."""
    try:
        given = np.asarray(vectors)
        if given.dtype.kind not in "fiu":
            raise ValueError(f"of type {given.dtype}")
        array = np.ascontiguousarray(given, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: give an array of numbers, one row per vector ({error})") from error
    if array.ndim != 2:
        raise InputError(f"{name}: give two dimensions, one row per vector, not {array.ndim}")
    if array.shape[1] != dimensions:
        raise InputError(f"{name}: they have {array.shape[1]} dimensions, and those of the collection {dimensions}: use the same model")
    try:
        return np.asarray(_native.unit_halves(array.reshape(-1), dimensions))
    except ValueError as error:
        raise InputError(f"{name}: there are infinite values or NaN in them") from error


def encoded(model: Embedder, texts: Sequence[str], forms: tuple[str, ...] = ()) -> tuple[NDArray[np.uint16], list[str]]:
    """The vectors of texts, one after the other, and what a reader should know, such as that a text was read in windows.

    ``forms`` are those of the recipe, which do not count. A text that is empty or only white space has zeros, and the model is not asked.
    """
    from lookalike.embedders.encoding import encode
    from lookalike.text.forms import for_models

    halves = np.zeros((len(texts), model.dimensions), dtype=np.uint16)
    read = [for_models(text, forms) for text in texts]
    said = [place for place, text in enumerate(read) if text and not text.isspace()]
    found = encode([read[place] for place in said], model)
    halves[said] = unit_halves(found.vectors, model.dimensions, f"embedder {model.name!r}").reshape(len(said), model.dimensions)
    return halves.reshape(-1), found.notes


def has_direction(halves: NDArray[np.uint16], dimensions: int) -> NDArray[np.bool_]:
    """Which of the vectors are not all zeros."""
    return np.asarray((halves.reshape(-1, dimensions) & 0x7FFF).any(axis=1))


class VectorSegment:
    """Vectors by row. Rows ascend."""

    kind: ClassVar[str] = "vector"

    def __init__(self, rows: NDArray[np.int64], halves: NDArray[np.uint16], dimensions: int) -> None:
        if len(halves) != len(rows) * dimensions:
            raise ValueError(f"{len(rows)} rows and {len(halves)} numbers, {dimensions} a row were expected")
        if len(rows) > 1 and not (np.diff(rows) > 0).all():
            raise ValueError("rows: they do not ascend")
        self.dimensions, self._rows, self._halves = dimensions, rows, halves
        self._squares = np.asarray(_native.vector_squares(halves, dimensions))

    @classmethod
    def build(cls, rows: NDArray[np.int64], halves: NDArray[np.uint16], dimensions: int) -> Self:
        """``dimensions`` halves per row, one row after the other."""
        return cls(rows, halves, dimensions)

    @classmethod
    def open(cls, sections: Sections) -> Self:
        """The segment in these arrays, which are used in place; ``ValueError`` says what is wrong with them."""
        for name, dtype in _SECTIONS.items():
            if name not in sections or sections[name].dtype != dtype:
                raise ValueError(f"vector segment: section {name!r} is missing, or not of {dtype}")
        if sections.keys() != _SECTIONS.keys() or len(sections["dimensions"]) != 1:
            raise ValueError("vector segment: it has other sections than a vector segment has")
        return cls(sections["rows"], sections["halves"], int(sections["dimensions"][0]))

    @classmethod
    def merge(cls, segments: Sequence[Self], removed: NDArray[np.int64]) -> Self:
        """One segment of all vectors of these, whose rows follow one another, but for the removed rows, which ascend."""
        dimensions = segments[0].dimensions
        rows, halves = [], []
        for segment in segments:
            live = ~_among(segment._rows, removed)
            whole = bool(live.all())
            rows.append(segment._rows if whole else segment._rows[live])
            halves.append(segment._halves if whole else segment._halves.reshape(-1, dimensions)[live].reshape(-1))
        return cls(np.concatenate(rows), np.concatenate(halves), dimensions)

    def sections(self) -> dict[str, NDArray[Any]]:
        return {"dimensions": np.array([self.dimensions], dtype=np.uint32), "rows": self._rows, "halves": self._halves}

    def all_rows(self) -> NDArray[np.int64]:
        return self._rows

    def halves(self) -> NDArray[np.uint16]:
        return self._halves

    def places_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where these rows, which ascend, are in the segment; those that are not in it are left out."""
        places = np.searchsorted(self._rows, rows)
        inside = places < len(self._rows)
        here: NDArray[np.int64] = places[inside][self._rows[places[inside]] == rows[inside]]
        return here

    def only(self, places: NDArray[np.int64]) -> VectorSegment:
        """The vectors at these places, which ascend."""
        return VectorSegment(self._rows[places], self._halves.reshape(-1, self.dimensions)[places].reshape(-1), self.dimensions)

    def __len__(self) -> int:
        return len(self._rows)

    def search(self, queries: NDArray[np.uint16], least: float, limit: int, workers: int, removed: NDArray[np.int64]) -> NearVectors:
        """Of each query the rows with a cosine of at least ``least``, the best ``limit``, without the removed ones."""
        squares = self._squares
        if len(removed) and (gone := _among(self._rows, removed)).any():
            squares = np.where(gone, 0.0, squares)  # like vectors of zeros, which are never found
        asked = np.asarray(_native.vector_squares(queries, self.dimensions))
        found = _native.nearest_vectors(self._halves, squares, queries, asked, self.dimensions, least, limit, workers)
        offsets, places, cosines, totals = map(np.asarray, found)
        return NearVectors(offsets, self._rows[places], cosines, totals)


def _among(rows: NDArray[np.int64], removed: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which rows are among the removed ones, which ascend."""
    if len(removed) == 0:
        return np.zeros(len(rows), dtype=np.bool_)
    places = np.minimum(np.searchsorted(removed, rows), len(removed) - 1)
    found: NDArray[np.bool_] = removed[places] == rows
    return found


def merged(found: Sequence[NearVectors], queries: int, limit: int) -> NearVectors:
    """What several segments found, as if they were one."""
    if len(found) == 1:
        return found[0]
    query = np.concatenate([np.zeros(0, np.int64), *(np.repeat(np.arange(queries), np.diff(each.offsets)) for each in found)])
    rows = np.concatenate([np.zeros(0, np.int64), *(each.rows for each in found)])
    cosines = np.concatenate([np.zeros(0, np.float64), *(each.cosines for each in found)])
    order = np.lexsort((rows, -cosines, query))
    query, rows, cosines = query[order], rows[order], cosines[order]
    offsets = np.searchsorted(query, np.arange(queries + 1))
    keep = np.arange(len(query)) - offsets[query] < limit
    kept = np.concatenate([[0], np.cumsum(np.minimum(np.diff(offsets), limit))]).astype(np.int64)
    totals = np.zeros(queries, dtype=np.int64)
    for each in found:
        totals += each.totals
    return NearVectors(kept, rows[keep], cosines[keep], totals)


def joined(found: Sequence[NearVectors]) -> NearVectors:
    """The answers to queries, one after the other."""
    sizes = [len(each.rows) for each in found]
    return NearVectors(
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([np.zeros(0, np.int64), *(each.rows for each in found)]),
        np.concatenate([np.zeros(0, np.float64), *(each.cosines for each in found)]),
        np.concatenate([np.zeros(0, np.int64), *(each.totals for each in found)]),
    )
