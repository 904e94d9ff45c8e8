"""Graphs of vectors (HNSW, made by usearch): what is near is reached in some hundred steps instead of reading every vector.

A graph may miss some of the nearest, so it is used only where somebody asks for it. It only names candidates: whatever is reported is
compared exactly with the vectors of the segment that the graph was made of.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.segments.vectors import NearVectors, VectorSegment, has_direction, joined

if TYPE_CHECKING:
    from lookalike.segments.container import Sections

GRAPH_FROM = 50_000  # vectors of a segment: below, reading all of them takes some milliseconds, and a graph minutes to make
NEIGHBOURS = 16  # of a vector in the graph
BREADTH_OF_MAKING = 128
SPARE = 190  # candidates beyond the limit, which are then compared exactly; benchmarks/vectors.py measures what that finds
MOST_SHARE = 8  # more candidates than one of so many vectors are not worth a graph
AT_A_TIME = 4096  # vectors that are put into a graph before progress is told
GRAPH_NOTE = "approximate: a graph was used, which may miss some of the nearest"
NO_USEARCH = "graphs need usearch: pip install 'lookalike[meaning]'"
ALL_ARE_READ = "with a threshold, or without a limit or with a large one, all vectors are read"
_SECTIONS = {"dimensions": "uint32", "vectors": "uint64", "usearch": "uint8"}


def graphs_can_be_made() -> bool:
    """Whether usearch is installed."""
    return find_spec("usearch") is not None


def worth_a_graph(segment: VectorSegment) -> bool:
    return len(segment) >= GRAPH_FROM


def exact_note(reason: str) -> str:
    """What somebody is told who asked for an approximate search and got an exact one."""
    return f"exact, though approximate would have done: {reason}"


class VectorGraph:
    """A graph of the vectors of one segment, by their places in it."""

    kind: ClassVar[str] = "graph"

    def __init__(self, data: NDArray[np.uint8], vectors: int, dimensions: int) -> None:
        """``data`` is as usearch wrote it, used in place; whoever calls has made sure that it is undamaged."""
        from usearch.index import Index

        found = Index.metadata(data) or {}
        of = (found.get("count_present"), found.get("count_deleted"), found.get("dimensions"))
        if of != (vectors, 0, dimensions):
            raise ValueError(f"it is a graph of other vectors than {vectors:,} of {dimensions} dimensions")
        self._data, self.vectors, self.dimensions = data, vectors, dimensions
        self._graph = Index.restore(data, view=True)
        self._turns = threading.Lock()  # a search sets how broad it is, and uses working memory that the graph has

    @classmethod
    def build(cls, segment: VectorSegment, progress: Callable[[int], object] | None = None) -> Self:
        """Vectors are put in by one thread, in order: on one machine the same vectors make the same graph."""
        from usearch.index import Index

        made = Index(
            ndim=segment.dimensions, metric="cos", dtype="i8", connectivity=NEIGHBOURS, expansion_add=BREADTH_OF_MAKING, multi=False
        )
        halves = _as_floats(segment.halves(), segment.dimensions)
        for start in range(0, len(segment), AT_A_TIME):
            part = halves[start : start + AT_A_TIME]
            made.add(np.arange(start, start + len(part), dtype=np.uint64), part, threads=1)
            if progress:
                progress(start + len(part))
        return cls(np.frombuffer(made.save(), dtype=np.uint8), len(segment), segment.dimensions)

    @classmethod
    def open(cls, sections: Sections) -> Self:
        """The graph in these arrays; ``ValueError`` says what is wrong with them."""
        for name, dtype in _SECTIONS.items():
            if name not in sections or sections[name].dtype != dtype:
                raise ValueError(f"graph: section {name!r} is missing, or not of {dtype}")
        if sections.keys() != _SECTIONS.keys() or len(sections["dimensions"]) != 1 or len(sections["vectors"]) != 1:
            raise ValueError("graph: it has other sections than a graph has")
        try:
            return cls(sections["usearch"], int(sections["vectors"][0]), int(sections["dimensions"][0]))
        except RuntimeError as error:  # from usearch: a version that it does not read
            raise ValueError(f"graph: {error}") from error

    def check_fits(self, segment: VectorSegment) -> None:
        """A graph names vectors by their places: it is of use for its own segment only."""
        if (self.vectors, self.dimensions) != (len(segment), segment.dimensions):
            raise ValueError(f"a graph of {self.vectors:,} vectors, not of the segment beside it, which has {len(segment):,}")

    def sections(self) -> dict[str, NDArray[Any]]:
        dimensions, vectors = np.array([self.dimensions], dtype=np.uint32), np.array([self.vectors], dtype=np.uint64)
        return {"dimensions": dimensions, "vectors": vectors, "usearch": self._data}

    def __len__(self) -> int:
        return self.vectors

    def candidates(self, queries: NDArray[np.uint16], wanted: int, workers: int) -> list[NDArray[np.int64]]:
        """Of each query the places of about the nearest vectors; they ascend."""
        asked = _as_floats(queries, self.dimensions)
        with self._turns:
            self._graph.expansion_search = wanted
            found = self._graph.search(asked, wanted, threads=workers)
        keys, counts = (found.keys, found.counts) if len(asked) > 1 else (found.keys[None], [len(found.keys)])
        return [np.sort(each[:count]).astype(np.int64) for each, count in zip(keys, counts, strict=True)]


def _as_floats(halves: NDArray[np.uint16], dimensions: int) -> NDArray[np.float16]:
    return np.ascontiguousarray(halves).view(np.float16).reshape(-1, dimensions)


def search_through(
    graph: VectorGraph, segment: VectorSegment, queries: NDArray[np.uint16], limit: int, workers: int, removed: NDArray[np.int64]
) -> NearVectors | None:
    """About the nearest ``limit`` of each query with a cosine of at least 0, without the removed ones, with exact cosines.

    None where a graph would be of no use: where so many are wanted, or so many were removed, that reading all vectors is as good.
    """
    gone = segment.places_of(removed)
    live = len(segment) - len(gone)
    wanted = (limit + SPARE) * len(segment) // max(live, 1)
    if wanted * MOST_SHARE > len(segment):
        return None
    each = queries.reshape(-1, segment.dimensions)
    places = graph.candidates(queries, wanted, workers)
    directed = has_direction(queries, segment.dimensions).tolist()
    found = []
    for query, near, asks in zip(each, places, directed, strict=True):
        part = segment.only(near) if asks else segment.only(near[:0])
        # Where a whole neighbourhood was removed, the graph leads to too few of the others.
        short = asks and len(near) - len(part.places_of(removed)) < min(limit, live)
        found.append((segment if short else part).search(query, 0.0, limit, 1, removed))
    return joined(found)
