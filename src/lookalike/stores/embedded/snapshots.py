"""What a reader sees: one state of a collection, made of the segments on disk and the documents that are not in them yet.

Everything is read inside one reading, so it is consistent; segments and what was built from newer documents are kept
from one snapshot to the next, and only what is new is read. What is kept never changes, so threads share it.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike.errors import Corrupt
from lookalike.fingerprints.winnowing import Winnowing
from lookalike.segments.container import Origin, read_segment
from lookalike.segments.graphs import ALL_ARE_READ, exact_note
from lookalike.segments.hamming import NO_LIMIT, Found
from lookalike.segments.shared import SharedResult, shared_documents
from lookalike.segments.vectors import NearVectors, merged
from lookalike.stores.base import FuzzyFound, Group, Groups, Id, Record
from lookalike.stores.columns import Columns
from lookalike.stores.embedded.database import Identity, read_identity
from lookalike.stores.embedded.graph_files import Graphs
from lookalike.stores.embedded.readings import Reads
from lookalike.stores.embedded.row_checks import Damaged
from lookalike.stores.embedded.rows import find_ids, read_columns, read_range, read_rows
from lookalike.stores.settings import Settings
from lookalike.stores.structures import STRUCTURES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

YOUNG_ROWS = 16_384  # newer documents that are built into a segment at a time
MERGE_RATIO = 4  # neighbouring segments within this ratio are merged
KEPT_STATES = 8  # for readings that began some batches ago
MOST_LISTS = 64  # of removed rows, before they are joined
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
    store: Identity


class Sealed(NamedTuple):
    """A segment on disk: its number, and the rows it covers."""

    number: int
    first_row: int
    end_row: int
    documents: int

    def origin(self, store: Identity) -> Origin:
        """What its files say of themselves."""
        return Origin(store.id, self.number, self.first_row, self.end_row, self.number <= store.unsigned)


_COLLECTION = "c.number, c.settings, c.documents, c.next_row, c.sealed_row, c.generation, c.version"
_FIRST = f"SELECT {_COLLECTION} FROM collections c WHERE c.name = ?"  # noqa: S608
_STORE = "s.id, s.unsigned, s.unchecked, s.changes, s.chain, s.before"
_WITH_STORE = f"SELECT {_COLLECTION}, {_STORE} FROM collections c LEFT JOIN store s WHERE c.name = ?"  # noqa: S608


def read_state(connection: Reads, name: str) -> State | None:
    try:
        row = connection.execute(_WITH_STORE, (name,)).fetchone()
    except sqlite3.OperationalError:  # of the first format, or damaged: then this raises it again
        row = connection.execute(_FIRST, (name,)).fetchone()
        return State(*row, read_identity(connection)) if row else None
    if row is None:
        return None
    return State(*row[:7], Identity(*row[7:]) if row[7] is not None else read_identity(connection))


def read_sealed(connection: Reads, collection: int) -> list[Sealed]:
    rows = connection.execute(
        "SELECT number, first_row, end_row, documents FROM segments WHERE collection = ? ORDER BY first_row", (collection,)
    )
    return [Sealed(*row) for row in rows]


def segment_path(folder: Path, number: int, kind: str) -> Path:
    return folder / f"{number:08d}.{kind}"


def segment_number(path: Path) -> int | None:
    """The number in the name of a segment's file; None where it has none of ours."""
    return int(path.stem) if path.stem.isascii() and path.stem.isdigit() else None


@dataclass(frozen=True, slots=True)
class Parts:
    """The segments of one kind, of all documents below ``next_row``, without those that were removed before ``version``."""

    generation: int
    version: int
    next_row: int
    sealed: Mapping[int, Any]
    young: tuple[Any, ...] = ()

    def all(self) -> list[Any]:
        return [*self.sealed.values(), *self.young]


@dataclass(slots=True)
class Removed:
    """Rows that segments may hold, and that a state does not have."""

    generation: int
    version: int
    last: int  # number of the last removal
    _lists: tuple[Any, ...] = ()
    _sorted: Any = field(default=None)

    def later(self, state: State, found: Sequence[tuple[int, int]]) -> Removed:
        """The same with what was removed since."""
        import numpy as np

        lists = self._lists if self._sorted is None else (self._sorted,)
        if found:
            lists = (*lists, np.array([row for _, row in found], dtype=np.int64))
        if len(lists) > MOST_LISTS:
            lists = (np.concatenate(lists),)
        return Removed(state.generation, state.version, found[-1][0] if found else self.last, lists, None if found else self._sorted)

    def rows(self) -> NDArray[np.int64]:
        """They ascend."""
        import numpy as np

        found = self._sorted
        if found is None:  # two threads may both do it, and find the same
            found = self._sorted = np.sort(np.concatenate([np.zeros(0, np.int64), *self._lists]))
        return found  # type: ignore[no-any-return]  # numpy is imported when it is needed


class Cache:
    """What is kept between the snapshots of a collection. Threads wait here only for one that makes what they need themselves."""

    def __init__(self, folder: Path | None, settings: Settings) -> None:
        self.folder, self.settings = folder, settings
        self.graphs = Graphs(folder, settings)
        self._kept: dict[str, tuple[Parts, ...]] = dict.fromkeys(STRUCTURES, ())  # newest first, of one generation
        self._making = {kind: threading.Lock() for kind in STRUCTURES}
        self._removed = Removed(-1, -1, 0)

    def removed(self, connection: Reads, state: State) -> Removed:
        """The rows that a state does not have. In a store in memory, to be asked for together with the state."""
        known = self._removed
        if (known.generation, known.version) == (state.generation, state.version):
            return known
        if known.generation != state.generation or known.version > state.version:
            known = Removed(-1, -1, 0)
        query = "SELECT number, row FROM removed WHERE collection = ? AND number > ? ORDER BY number"
        found = known.later(state, connection.execute(query, (state.number, known.last)).fetchall())
        if found.version > self._removed.version:
            self._removed = found  # of two threads the later may win with an older one: it is complemented again
        return found

    def up_to_date(self, kind: str, connection: Reads, state: State, removed: Removed) -> Parts:
        """All segments of a kind, with everything in them that the state has, and nothing newer."""
        known = self._best(kind, state)
        if known is not None and known.next_row == state.next_row:
            return known
        with self._making[kind]:
            known = self._best(kind, state)
            if known is not None and known.next_row == state.next_row:
                return known
            made = self._completed(kind, known or self._opened(kind, connection, state), connection, state, removed)
            kept = self._kept[kind]
            if not kept or kept[0].version <= made.version:
                self._kept[kind] = (made, *(each for each in kept if each.generation == made.generation))[:KEPT_STATES]
            return made

    def _best(self, kind: str, state: State) -> Parts | None:
        """The newest segments that hold nothing newer than the state, and lack nothing that it has but the newest documents."""
        fitting = (each for each in self._kept[kind] if each.generation == state.generation and each.version <= state.version)
        return next(fitting, None)

    def _opened(self, kind: str, connection: Reads, state: State) -> Parts:
        known = self._kept[kind][0].sealed if self._kept[kind] else {}
        sealed = read_sealed(connection, state.number)
        opened = {each.number: known[each.number] if each.number in known else self._open(kind, each, connection, state) for each in sealed}
        return Parts(state.generation, state.version, state.sealed_row, opened)

    def _completed(self, kind: str, parts: Parts, connection: Reads, state: State, removed: Removed) -> Parts:
        structure, young, next_row = STRUCTURES[kind], list(parts.young), parts.next_row
        while next_row < state.next_row:
            end = min(next_row + YOUNG_ROWS, state.next_row)
            for columns in read_columns(connection, state.store, state.number, next_row, end, structure.columns, self.settings.bits):
                young.append(structure.build(columns, self.settings))
                while len(young) > 1 and len(young[-2]) < MERGE_RATIO * max(len(young[-1]), 1):
                    young[-2:] = [structure.segment.merge(young[-2:], removed.rows())]
            next_row = end
        return Parts(state.generation, state.version, next_row, parts.sealed, tuple(young))

    def _open(self, kind: str, sealed: Sealed, connection: Reads, state: State) -> Any:
        if self.folder is not None:
            path = segment_path(self.folder, sealed.number, kind)
            try:
                return open_segment(path, kind, self.settings, sealed.origin(state.store))
            except (Corrupt, OSError) as error:
                # The database is the truth: a damaged file costs time, not answers. A writer, or check --repair, writes it anew.
                _log.warning("%s; it is rebuilt in memory: run 'check --repair'", error)
        return build_segment(kind, sealed, connection, state, self.settings)


def build_segment(
    kind: str, sealed: Sealed, connection: Reads, state: State, settings: Settings, told: Callable[[int], object] | None = None
) -> Any:
    """A segment from the documents themselves. ``told`` gets the number of documents that were read, again and again."""
    structure = STRUCTURES[kind]
    parts = read_columns(connection, state.store, state.number, sealed.first_row, sealed.end_row, structure.columns, settings.bits)
    return structure.build_all(_counted(parts, told) if told else parts, settings)


def _counted(parts: Iterator[Columns], told: Callable[[int], object]) -> Iterator[Columns]:
    for columns in parts:
        yield columns
        told(len(columns.rows))


def open_segment(path: Path, kind: str, settings: Settings, origin: Origin) -> Any:
    """A segment from its file; ``Corrupt`` where anything about it is wrong, or it is another one."""
    sections = read_segment(path, kind, settings.recipe_of(kind), origin)
    try:
        return STRUCTURES[kind].segment.open(sections)
    except ValueError as error:
        raise Corrupt(f"segment {path}: {error}") from error


class Snapshot:
    """One state of a collection; see ``stores.base.Reader``."""

    def __init__(self, connection: Reads, cache: Cache, state: State, require_open: Callable[[], None]) -> None:
        self._connection, self._cache, self.state, self._require_open = connection, cache, state, require_open
        self._removed = cache.removed(connection, state)
        self._parts: dict[str, Parts] = {}

    def _parts_of(self, kind: str) -> Parts:
        self._cache.settings.require(kind)
        if kind not in self._parts:
            self._parts[kind] = self._cache.up_to_date(kind, self._connection, self.state, self._removed)
        return self._parts[kind]

    def _segments(self, kind: str) -> list[Any]:
        return self._parts_of(kind).all()

    def sealed(self) -> list[Sealed]:
        return read_sealed(self._connection, self.state.number)

    def removed_rows(self) -> NDArray[np.int64]:
        return self._removed.rows()

    def _live(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        import numpy as np

        removed = self.removed_rows()
        if len(removed) == 0:
            return np.ones(len(rows), dtype=bool)
        place = np.minimum(np.searchsorted(removed, rows), len(removed) - 1)
        live: NDArray[np.bool_] = removed[place] != rows
        return live

    def count(self) -> int:
        return self.state.documents

    def rows_of(self, ids: Sequence[Id]) -> dict[Id, int]:
        return find_ids(self._connection, self.state.number, ids, self.state.next_row)

    def records(self, rows: Sequence[int], columns: Sequence[str]) -> dict[int, Record]:
        found = read_rows(self._connection, self.state.store, self.state.number, rows, columns)
        # Rows come from segments or from the index of ids, without what was removed.
        if len(found) != len(rows) and (lost := next((row for row in rows if row not in found), None)) is not None:
            raise Damaged(f"store.sqlite: row {lost} is not there, though it was never removed; restore it from a copy or an export")
        return found

    def scan(self, columns: Sequence[str]) -> Iterator[Record]:
        for record in read_range(self._connection, self.state.store, self.state.number, 0, self.state.next_row, columns):
            self._require_open()  # whoever goes through all documents may have been away for long
            yield record

    def near_simhashes(self, words: NDArray[np.uint64], k: int, limit: int, workers: int) -> Found:
        import numpy as np

        # Removed rows are among what a segment finds, so a limit can only be set after they are left out.
        whole = len(self.removed_rows()) == 0
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
        gone = len(self.removed_rows())
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
            self._segments("winnowing"), query, documents=self.state.documents, removed=self.removed_rows(), limit=limit
        )

    def near_tlsh(self, digest: str, max_distance: int, limit: int) -> FuzzyFound:
        return self._fuzzy([segment.search(digest, max_distance, NO_LIMIT) for segment in self._segments("tlsh")], limit, best_first=1)

    def near_ssdeep(self, digest: str, min_score: int, limit: int) -> FuzzyFound:
        return self._fuzzy([segment.search(digest, min_score, NO_LIMIT) for segment in self._segments("ssdeep")], limit, best_first=-1)

    def near_vectors(self, halves: NDArray[np.uint16], least: float, limit: int, workers: int, approximate: bool = False) -> NearVectors:
        parts, removed, note = self._parts_of("vector"), self.removed_rows(), ""
        if approximate and least <= 0 and limit != NO_LIMIT:
            found, note = self._cache.graphs.search(self.state.store, parts.sealed, parts.young, halves, limit, workers, removed)
        else:
            found = [segment.search(halves, least, limit, workers, removed) for segment in parts.all()]
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
