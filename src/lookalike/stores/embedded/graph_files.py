"""Graphs of the embedded store: ``NUMBER.graph`` beside the segment ``NUMBER.vector`` that it was made of.

A graph is a cache of a cache: where it is missing, damaged or of no use, all vectors are read, and a note says so.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import Corrupt
from lookalike.segments.container import Origin, read_segment, unchanged, write_segment
from lookalike.segments.graphs import GRAPH_NOTE, NO_USEARCH, VectorGraph, exact_note, graphs_can_be_made, search_through, worth_a_graph
from lookalike.segments.vectors import NearVectors, VectorSegment
from lookalike.stores.base import OnProgress
from lookalike.stores.embedded.database import Identity
from lookalike.stores.settings import Settings

KIND = "vector"  # of whose segments graphs are made
NO_GRAPH = "there is no graph; in a store on disk 'compact' makes one of many vectors"
NOT_WORTH_IT = "so many matches are wanted, or so much was removed, that all vectors are read"
_log = logging.getLogger("lookalike")


def graph_path(folder: Path, number: int) -> Path:
    return folder / f"{number:08d}.{VectorGraph.kind}"


def _origin(store: Identity, number: int) -> Origin:
    return Origin(store.id, number, may_be_unsigned=number <= store.unsigned)


def open_graph(folder: Path, number: int, store: Identity, segment: VectorSegment, settings: Settings) -> VectorGraph:
    """The graph of a segment from its file; ``Corrupt`` where anything about it is wrong, before usearch sees it."""
    path = graph_path(folder, number)
    sections = read_segment(path, VectorGraph.kind, settings.recipe_of(KIND), _origin(store, number))
    try:
        graph = VectorGraph.open(sections)
        graph.check_fits(segment)
    except ValueError as error:
        raise Corrupt(f"segment {path}: {error}") from error
    return graph


def make_graph(
    folder: Path, number: int, store: Identity, segment: VectorSegment, settings: Settings, progress: OnProgress | None = None
) -> None:
    """The graph of a segment that is large enough for one, unless there is a good one."""
    if not worth_a_graph(segment) or not graphs_can_be_made():
        return
    try:
        open_graph(folder, number, store, segment, settings)
    except (Corrupt, OSError):
        try:
            with unchanged(folder):
                made = VectorGraph.build(segment, progress)
            recipe = settings.recipe_of(KIND)
            write_segment(graph_path(folder, number), VectorGraph.kind, recipe, made.sections(), _origin(store, number))
        except OSError as error:
            _log.warning("a graph could not be written (%s); vectors are searched without it", error)


def check_graph(folder: Path, number: int, store: Identity, segment: VectorSegment, settings: Settings) -> list[str]:
    """What is wrong with a graph. That there is none is not."""
    path = graph_path(folder, number)
    try:
        if graphs_can_be_made():
            open_graph(folder, number, store, segment, settings)
        else:
            read_segment(path, VectorGraph.kind, settings.recipe_of(KIND), _origin(store, number))
    except FileNotFoundError:
        return []
    except Corrupt as error:
        return [str(error)]
    except OSError as error:
        return [f"segment {path}: {error.strerror}"]
    return []


class Graphs:
    """The graphs of a collection, opened when they are first asked for."""

    def __init__(self, folder: Path | None, settings: Settings) -> None:
        self._folder, self._settings = folder, settings
        self._opening = threading.Lock()
        self._opened: dict[int, tuple[tuple[int, ...], VectorGraph | str]] = {}  # which file it was; the graph, or why there is none

    def search(
        self,
        store: Identity,
        sealed: Mapping[int, VectorSegment],
        young: Sequence[VectorSegment],
        queries: NDArray[np.uint16],
        limit: int,
        workers: int,
        removed: NDArray[np.int64],
    ) -> tuple[list[NearVectors], str]:
        """What the segments have, through their graphs where they have some; and a note that says how."""
        found, through, reason = [], False, NO_GRAPH
        with self._opening:
            self._opened = {number: each for number, each in self._opened.items() if number in sealed}
            graphs = [self._open(store, number, segment) for number, segment in sealed.items()]
        for segment, graph in zip(sealed.values(), graphs, strict=True):
            near = None
            if isinstance(graph, VectorGraph):
                near = search_through(graph, segment, queries, limit, workers, removed)
                through, reason = through or near is not None, NOT_WORTH_IT
            else:
                reason = graph or reason
            found.append(segment.search(queries, 0.0, limit, workers, removed) if near is None else near)
        found += [segment.search(queries, 0.0, limit, workers, removed) for segment in young]
        return found, GRAPH_NOTE if through else exact_note(reason)

    def _open(self, store: Identity, number: int, segment: VectorSegment) -> VectorGraph | str:
        """The graph, or why it cannot be used; an empty reason where there is none."""
        if self._folder is None:
            return ""
        path = graph_path(self._folder, number)
        try:
            state = path.stat()
        except OSError:
            return ""
        if not graphs_can_be_made():
            return NO_USEARCH
        # A graph can be made, or made anew, while its segment stays the same.
        which = (state.st_ino, state.st_mtime_ns, state.st_size)
        if number not in self._opened or self._opened[number][0] != which:
            try:
                self._opened[number] = which, open_graph(self._folder, number, store, segment, self._settings)
            except (Corrupt, OSError) as error:
                _log.warning(
                    "%s; it is not used: run 'check --repair'", str(error)
                )  # not the error itself: whoever keeps the record would keep the mapped file
                self._opened[number] = which, "the graph is damaged: run 'check --repair' or 'compact'"
        return self._opened[number][1]
