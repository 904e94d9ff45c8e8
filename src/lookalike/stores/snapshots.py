"""What a reader sees: one state of a collection, made of the segments on disk and the documents that are not in them yet.

Everything is read inside one transaction, so it is consistent; segments and what was built from newer documents are kept
from one snapshot to the next, and only what is new is read.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike.errors import Corrupt
from lookalike.fingerprints.winnowing import Winnowing
from lookalike.search.graphs import ALL_ARE_READ, exact_note
from lookalike.search.hamming import NO_LIMIT, Found
from lookalike.search.segments import read_segment
from lookalike.search.shared import SharedResult, shared_documents
from lookalike.search.vectors import NearVectors, merged
from lookalike.stores.base import FuzzyFound, Group, Groups, Id, Record
from lookalike.stores.graph_files import Graphs
from lookalike.stores.rows import find_ids, read_columns, read_range, read_rows
from lookalike.stores.settings import Settings
from lookalike.stores.structures import STRUCTURES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

YOUNG_ROWS = 16_384  # newer documents that are built into a segment at a time
MERGE_RATIO = 4  # neighbouring segments within this ratio are merged
_log = logging.getLogger("lookalike")


class State(NamedTuple):
    """A collection's row in the database."""

    number: int
    settings: str
    documents: int
    next_row: int
    sealed_row: int
    generation: int
    version: int


class Sealed(NamedTuple):
    """A segment on disk: its number, and the rows it covers."""

    number: int
    first_row: int
    end_row: int
    documents: int


def read_state(connection: sqlite3.Connection, name: str) -> State | None:
    row = connection.execute(
        "SELECT number, settings, documents, next_row, sealed_row, generation, version FROM collections WHERE name = ?", (name,)
    ).fetchone()
    return State(*row) if row else None


def read_sealed(connection: sqlite3.Connection, collection: int) -> list[Sealed]:
    rows = connection.execute(
        "SELECT number, first_row, end_row, documents FROM segments WHERE collection = ? ORDER BY first_row", (collection,)
    )
    return [Sealed(*row) for row in rows]


def segment_path(folder: Path, number: int, kind: str) -> Path:
    return folder / f"{number:08d}.{kind}"


@dataclass(slots=True)
class Parts:
    """The segments of one kind."""

    generation: int = -1
    sealed: dict[int, Any] = field(default_factory=dict)
    young: list[Any] = field(default_factory=list)
    next_row: int = 0

    def all(self) -> list[Any]:
        return [*self.sealed.values(), *self.young]


class Cache:
    """What is kept between the snapshots of a collection."""

    def __init__(self, folder: Path | None, settings: Settings) -> None:
        self.folder, self.settings = folder, settings
        self.parts: dict[str, Parts] = {}
        self.graphs = Graphs(folder, settings)
        self.generation = self.version = -1
        self.last_removed = 0
        self.removed: list[int] = []
        self._removed_rows: NDArray[np.int64] | None = None

    def update_removed(self, connection: sqlite3.Connection, state: State) -> None:
        if state.version == self.version:
            return
        if state.generation != self.generation:
            self.removed, self.last_removed = [], 0
        new = connection.execute(
            "SELECT number, row FROM removed WHERE collection = ? AND number > ? ORDER BY number", (state.number, self.last_removed)
        ).fetchall()
        if new or state.generation != self.generation:
            self.removed += [row for _, row in new]
            self.last_removed = new[-1][0] if new else self.last_removed
            self._removed_rows = None
        self.generation, self.version = state.generation, state.version

    def removed_rows(self) -> NDArray[np.int64]:
        import numpy as np

        if self._removed_rows is None:
            self._removed_rows = np.array(sorted(self.removed), dtype=np.int64)
        return self._removed_rows

    def up_to_date(self, kind: str, connection: sqlite3.Connection, state: State) -> Parts:
        """All segments of a kind, with everything in them that the state has."""
        parts = self.parts.setdefault(kind, Parts())
        if parts.generation != state.generation:
            sealed = {each.number: each for each in read_sealed(connection, state.number)}
            opened = {n: parts.sealed.get(n) or self._open(kind, each, connection, state) for n, each in sealed.items()}
            parts = self.parts[kind] = Parts(state.generation, opened, [], state.sealed_row)
        structure = STRUCTURES[kind]
        while parts.next_row < state.next_row:
            end = min(parts.next_row + YOUNG_ROWS, state.next_row)
            for columns in read_columns(connection, state.number, parts.next_row, end, structure.columns, self.settings.bits):
                parts.young.append(structure.build(columns, self.settings))
                while len(parts.young) > 1 and len(parts.young[-2]) < MERGE_RATIO * max(len(parts.young[-1]), 1):
                    parts.young[-2:] = [structure.segment.merge(parts.young[-2:], self.removed_rows())]
            parts.next_row = end
        return parts

    def _open(self, kind: str, sealed: Sealed, connection: sqlite3.Connection, state: State) -> Any:
        if self.folder is not None:
            path = segment_path(self.folder, sealed.number, kind)
            try:
                return open_segment(path, kind, self.settings)
            except (Corrupt, OSError) as error:
                # The database is the truth: a damaged file costs time, not answers. A writer, or check --repair, writes it anew.
                _log.warning("%s; it is rebuilt in memory: run 'check --repair'", error)
        return build_segment(kind, sealed, connection, state.number, self.settings)


def build_segment(kind: str, sealed: Sealed, connection: sqlite3.Connection, collection: int, settings: Settings) -> Any:
    """A segment from the documents themselves."""
    structure = STRUCTURES[kind]
    parts = read_columns(connection, collection, sealed.first_row, sealed.end_row, structure.columns, settings.bits)
    return structure.build_all(parts, settings)


def open_segment(path: Path, kind: str, settings: Settings) -> Any:
    """A segment from its file; ``Corrupt`` where anything about it is wrong."""
    sections = read_segment(path, kind, settings.recipe_of(kind))
    try:
        return STRUCTURES[kind].segment.open(sections)
    except ValueError as error:
        raise Corrupt(f"segment {path}: {error}") from error


class Snapshot:
    """One state of a collection; see ``stores.base.Reader``."""

    def __init__(self, connection: sqlite3.Connection, cache: Cache, state: State) -> None:
        self._connection, self._cache, self.state = connection, cache, state
        cache.update_removed(connection, state)

    def _segments(self, kind: str) -> list[Any]:
        self._cache.settings.require(kind)
        return self._cache.up_to_date(kind, self._connection, self.state).all()

    def _live(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        import numpy as np

        removed = self._cache.removed_rows()
        if len(removed) == 0:
            return np.ones(len(rows), dtype=bool)
        place = np.minimum(np.searchsorted(removed, rows), len(removed) - 1)
        live: NDArray[np.bool_] = removed[place] != rows
        return live

    def count(self) -> int:
        return self.state.documents

    def rows_of(self, ids: Sequence[Id]) -> dict[Id, int]:
        return find_ids(self._connection, self.state.number, ids)

    def records(self, rows: Sequence[int], columns: Sequence[str]) -> dict[int, Record]:
        return read_rows(self._connection, self.state.number, rows, columns)

    def scan(self, columns: Sequence[str]) -> Iterator[Record]:
        return read_range(self._connection, self.state.number, 0, self.state.next_row, columns)

    def near_simhashes(self, words: NDArray[np.uint64], k: int, limit: int, workers: int) -> Found:
        import numpy as np

        # Removed rows are among what a segment finds, so a limit can only be set after they are left out.
        whole = len(self._cache.removed_rows()) == 0
        inner = limit if whole else NO_LIMIT
        found = [segment.search(words, k, inner, workers) for segment in self._segments("simhash")]
        queries = len(words) // (2 if self._cache.settings.bits == 128 else 1)
        if len(found) == 1 and whole:
            only: Found = found[0]
            return only
        query = np.concatenate([np.zeros(0, np.int64), *(np.repeat(np.arange(queries), np.diff(each.offsets)) for each in found)])
        rows = np.concatenate([np.zeros(0, np.int64), *(each.ids for each in found)])
        distances = np.concatenate([np.zeros(0, np.uint8), *(each.distances for each in found)])
        live = self._live(rows)
        query, rows, distances = query[live], rows[live], distances[live]
        totals = np.bincount(query, minlength=queries).astype(np.int64)
        if whole:
            totals = np.sum([each.totals for each in found], axis=0, dtype=np.int64) if found else totals
        order = np.lexsort((rows, distances, query))
        query, rows, distances = query[order], rows[order], distances[order]
        offsets = np.searchsorted(query, np.arange(queries + 1))
        keep = np.arange(len(query)) - offsets[query] < limit
        kept = np.concatenate([[0], np.cumsum(np.minimum(np.diff(offsets), limit))]).astype(np.int64)
        return Found(kept, rows[keep], distances[keep], totals)

    def sharing_bands(self, keys: NDArray[np.uint32], limit: int, rows: int, kind: str = "minhash") -> Groups:
        groups: list[Group] = []
        total = 0
        gone = len(self._cache.removed_rows())
        for segment in self._segments(kind):
            found = segment.candidates(keys, limit)
            total += int(found.totals[0])
            if not len(found.groups):
                continue
            # Of a group, as many rows are read as are wanted when all of its removed ones are left out.
            offsets, members = segment.rows(found.groups, rows + gone)
            live = self._live(members)
            sizes, digests = segment.sizes(found.groups), segment.digests(found.groups)
            for i in range(len(found.groups)):
                here = members[offsets[i] : offsets[i + 1]]
                alive = here[live[offsets[i] : offsets[i + 1]]]
                if len(alive):
                    size = int(sizes[i]) - (len(here) - len(alive))
                    groups.append(Group(int(digests[i]), alive[:rows].tolist(), size, int(found.shared[i])))
        groups.sort(key=lambda group: (-group.shared, group.rows[0]))
        return Groups(groups[:limit], total)

    def may_share_bands(self, keys: NDArray[np.uint32]) -> NDArray[np.bool_]:
        import numpy as np

        found = np.zeros(len(keys) // self._cache.settings.banding.bands, dtype=np.bool_)
        for segment in self._segments("minhash"):
            found |= segment.candidates(keys, 1).totals > 0
        return found

    def sharing_passages(self, query: Winnowing, limit: int) -> SharedResult:
        return shared_documents(
            self._segments("winnowing"), query, documents=self.state.documents, removed=self._cache.removed_rows(), limit=limit
        )

    def near_tlsh(self, digest: str, max_distance: int, limit: int) -> FuzzyFound:
        return self._fuzzy([segment.search(digest, max_distance, NO_LIMIT) for segment in self._segments("tlsh")], limit, best_first=1)

    def near_ssdeep(self, digest: str, min_score: int, limit: int) -> FuzzyFound:
        return self._fuzzy([segment.search(digest, min_score, NO_LIMIT) for segment in self._segments("ssdeep")], limit, best_first=-1)

    def near_vectors(self, halves: NDArray[np.uint16], least: float, limit: int, workers: int, approximate: bool = False) -> NearVectors:
        segments, removed, note = self._segments("vector"), self._cache.removed_rows(), ""
        if approximate and least <= 0 and limit != NO_LIMIT:
            parts = self._cache.parts["vector"]
            found, note = self._cache.graphs.search(parts.sealed, parts.young, halves, limit, workers, removed)
        else:
            found = [segment.search(halves, least, limit, workers, removed) for segment in segments]
            note = exact_note(ALL_ARE_READ) if approximate else ""
        whole = merged(found, len(halves) // (self._cache.settings.dimensions or 1), limit)
        return whole._replace(notes=(note,) if note else ())

    def _fuzzy(self, found: Sequence[Any], limit: int, best_first: int) -> FuzzyFound:
        import numpy as np

        rows = np.concatenate([np.zeros(0, np.int64), *(each[0] for each in found)])
        values = np.concatenate([np.zeros(0, np.int64), *(each[1] for each in found)]).astype(np.int64)
        live = self._live(rows)
        rows, values = rows[live], values[live]
        order = np.lexsort((rows, best_first * values))[:limit]
        return FuzzyFound(rows[order], values[order], len(rows))
