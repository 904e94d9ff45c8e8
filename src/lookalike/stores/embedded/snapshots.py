"""What a reader sees: one state of a collection, made of the segments on disk and the documents that are not in them yet.

Everything is read inside one reading, so it is consistent; segments and what was built from newer documents are kept
from one snapshot to the next, and only what is new is read. What is kept never changes, so threads share it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import Corrupt
from lookalike.segments.bands import BandSegment
from lookalike.segments.container import Origin, forget_segment, read_segment, search_here_and_there
from lookalike.segments.simhashes import SimhashSegment
from lookalike.stores.base import Question, StoredDocument
from lookalike.stores.embedded.beside import read_expirations, read_expired, read_linked, read_links
from lookalike.stores.embedded.fields import read_within
from lookalike.stores.embedded.graph_files import Graphs
from lookalike.stores.embedded.readings import Reads
from lookalike.stores.embedded.row_checks import Damaged
from lookalike.stores.embedded.rows import find_ids, read_range, read_rows, read_stretches
from lookalike.stores.embedded.states import Sealed, State, read_sealed, segment_path
from lookalike.stores.fields import FieldRange
from lookalike.stores.ids import Id
from lookalike.stores.kinds import kind_named
from lookalike.stores.settings import Settings
from lookalike.stores.stretches import Stretch

Answer = TypeVar("Answer")
YOUNG_ROWS = 16_384  # newer documents that are built into a segment at a time
MERGE_RATIO = 4  # neighbouring segments within this ratio are merged
KEPT_STATES = 8  # for readings that began some batches ago
KEPT_BYTES = 8 << 20  # of segments in memory that only such states have; a reading without one builds them again
MOST_LISTS = 64  # of removed rows, before they are joined
SCATTERED = (SimhashSegment, BandSegment)  # of which a search reads a few entries in many places
_log = logging.getLogger("lookalike")


@dataclass(frozen=True, slots=True)
class SegmentParts:
    """The segments of one kind, of all documents below ``next_row``, without those that were removed before ``version``."""

    generation: int
    version: int
    next_row: int
    sealed: Mapping[int, Any]
    young: tuple[Any, ...] = ()

    def all(self) -> list[Any]:
        return [*self.sealed.values(), *self.young]


@dataclass(slots=True)
class RemovedRows:
    """Rows that segments may hold, and that a state does not have."""

    generation: int
    version: int
    last: int  # number of the last removal
    _lists: tuple[Any, ...] = ()
    _sorted: Any = field(default=None)

    def later(self, state: State, found: Sequence[tuple[int, int]]) -> RemovedRows:
        """The same with what was removed since."""
        lists = self._lists if self._sorted is None else (self._sorted,)
        if found:
            lists = (*lists, np.array([row for _, row in found], dtype=np.int64))
        if len(lists) > MOST_LISTS:
            lists = (np.concatenate(lists),)
        return RemovedRows(state.generation, state.version, found[-1][0] if found else self.last, lists, None if found else self._sorted)

    def rows(self) -> NDArray[np.int64]:
        """They ascend."""
        found = self._sorted
        if found is None:  # two threads may both do it, and find the same
            found = self._sorted = np.sort(np.concatenate([np.zeros(0, np.int64), *self._lists]))
        return found  # type: ignore[no-any-return]  # numpy is imported when it is needed


class Expired(NamedTuple):
    """Rows of documents that have expired, and as long as what time it is is not known better."""

    generation: int
    version: int
    since: int
    until: int
    rows: NDArray[np.int64]


class Cache:
    """What is kept between the snapshots of a collection. Threads wait here only for one that makes what they need themselves."""

    def __init__(self, folder: Path | None, settings: Settings) -> None:
        self.folder, self.settings = folder, settings
        self.graphs = Graphs(folder, settings)
        self._kept: dict[str, tuple[SegmentParts, ...]] = dict.fromkeys(settings.kinds, ())  # newest first, of one generation
        self._making = {kind: threading.Lock() for kind in settings.kinds}
        self._removed = RemovedRows(-1, -1, 0)
        self._expired = Expired(-1, -1, 0, 0, np.zeros(0, np.int64))

    def removed(self, connection: Reads, state: State) -> RemovedRows:
        """The rows that a state does not have. In a store in memory, to be asked for together with the state."""
        known = self._removed
        if (known.generation, known.version) == (state.generation, state.version):
            return known
        if known.generation != state.generation or known.version > state.version:
            known = RemovedRows(-1, -1, 0)
        query = "SELECT number, row FROM removed WHERE collection = ? AND number > ? ORDER BY number"
        found = known.later(state, connection.execute(query, (state.number, known.last)).fetchall())
        if found.version > self._removed.version:
            self._removed = found  # of two threads the later may win with an older one: it is complemented again
        return found

    def expired(self, connection: Reads, state: State) -> Expired:
        """The rows of documents that have expired, ascending, and how long that is so."""
        now, known = round(time.time() * 1000), self._expired
        if (known.generation, known.version) != (state.generation, state.version) or not known.since <= now < known.until:
            rows, following = read_expired(connection, state.number, now)
            until = 1 << 62 if following is None else following
            known = self._expired = Expired(state.generation, state.version, now, until, np.array(rows, dtype=np.int64))
        return known

    def up_to_date(self, kind: str, connection: Reads, state: State, removed: RemovedRows) -> SegmentParts:
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
                self._kept[kind] = _worth_keeping(made, [each for each in kept if each.generation == made.generation])
            return made

    def _best(self, kind: str, state: State) -> SegmentParts | None:
        """The newest segments that hold nothing newer than the state, and lack nothing that it has but the newest documents."""
        fitting = (each for each in self._kept[kind] if each.generation == state.generation and each.version <= state.version)
        return next(fitting, None)

    def _opened(self, kind: str, connection: Reads, state: State) -> SegmentParts:
        known = self._kept[kind][0].sealed if self._kept[kind] else {}
        sealed = read_sealed(connection, state.number)
        opened = {each.number: known[each.number] if each.number in known else self._open(kind, each, connection, state) for each in sealed}
        return SegmentParts(state.generation, state.version, state.sealed_row, opened)

    def _completed(self, kind: str, parts: SegmentParts, connection: Reads, state: State, removed: RemovedRows) -> SegmentParts:
        of, young, next_row = kind_named(kind), list(parts.young), parts.next_row
        while next_row < state.next_row:
            end = min(next_row + YOUNG_ROWS, state.next_row)
            for stretch in read_stretches(connection, state, next_row, end, of.built_from):
                young.append(of.build(stretch, self.settings))
                while len(young) > 1 and len(young[-2]) < MERGE_RATIO * max(len(young[-1]), 1):
                    young[-2:] = [of.segment.merge(young[-2:], removed.rows())]
            next_row = end
        return SegmentParts(state.generation, state.version, next_row, parts.sealed, tuple(young))

    def _open(self, kind: str, sealed: Sealed, connection: Reads, state: State) -> Any:
        if self.folder is not None:
            path = segment_path(self.folder, sealed.number, kind)
            try:
                return open_segment(path, kind, self.settings, sealed.origin(state.store))
            except (Corrupt, OSError) as error:
                # The database is the truth: a damaged file costs time, not answers. A writer, or check --repair, writes it anew.
                _log.warning(
                    "%s; it is rebuilt in memory: run 'check --repair'", str(error)
                )  # not the error itself: whoever keeps the record would keep the mapped file
        return build_segment(kind, sealed, connection, state, self.settings)


def _worth_keeping(newest: SegmentParts, older: Sequence[SegmentParts]) -> tuple[SegmentParts, ...]:
    """The newest state, and those before it, as long as they are few and what only they hold is small."""
    kept, known, room = [newest], {id(segment) for segment in newest.young}, KEPT_BYTES
    for each in older[: KEPT_STATES - 1]:
        own = [segment for segment in each.young if id(segment) not in known]
        room -= sum(array.nbytes for segment in own for array in segment.sections().values())
        if room < 0:
            break
        known.update(map(id, own))
        kept.append(each)
    return tuple(kept)


def build_segment(
    kind: str, sealed: Sealed, connection: Reads, state: State, settings: Settings, told: Callable[[int], object] | None = None
) -> Any:
    """A segment from the documents themselves. ``told`` gets the number of documents that were read, again and again."""
    of = kind_named(kind)
    parts = read_stretches(connection, state, sealed.first_row, sealed.end_row, of.built_from)
    return of.build_all(_counted(parts, told) if told else parts, settings)


def _counted(parts: Iterator[Stretch], told: Callable[[int], object]) -> Iterator[Stretch]:
    for stretch in parts:
        yield stretch
        told(len(stretch.rows))


def open_segment(path: Path, kind: str, settings: Settings, origin: Origin, *, read_once: bool = False) -> Any:
    """A segment from its file; ``Corrupt`` where anything about it is wrong, or it is another one."""
    sections, segment = read_segment(path, kind, settings.recipe_of(kind), origin, read_once), kind_named(kind).segment
    try:
        opened = segment.open(sections)
    except ValueError as error:
        raise Corrupt(f"segment {path}: {error}") from error
    if read_once:
        forget_segment(sections)  # opening it looked at all of it
    elif segment in SCATTERED:
        search_here_and_there(sections)
    return opened


class Snapshot:
    """One state of a collection; see ``stores.base.Reader``."""

    stores_all_columns = True

    def __init__(self, connection: Reads, cache: Cache, state: State, require_open: Callable[[], None]) -> None:
        self._connection, self._cache, self.state, self._require_open = connection, cache, state, require_open
        self._removed = cache.removed(connection, state)
        self.expired = cache.expired(connection, state)
        self._expired = self.expired.rows
        self._gone: NDArray[np.int64] | None = None
        self._parts: dict[str, SegmentParts] = {}

    def parts_of(self, kind: str) -> SegmentParts:
        self._cache.settings.require(kind)
        if kind not in self._parts:
            self._parts[kind] = self._cache.up_to_date(kind, self._connection, self.state, self._removed)
        return self._parts[kind]

    def find(self, question: Question[Answer]) -> Answer:
        return question.in_segments(SnapshotSegments(self, self.parts_of(question.kind)))

    def sealed(self) -> list[Sealed]:
        return read_sealed(self._connection, self.state.number)

    def removed_rows(self) -> NDArray[np.int64]:
        """They ascend; expired ones are among them."""
        if not len(self._expired):
            return self._removed.rows()
        if self._gone is None:
            self._gone = np.union1d(self._removed.rows(), self._expired)
        return self._gone

    @property
    def last_removal(self) -> int:
        """Its number; later ones have larger numbers as long as the generation is the same."""
        return self._removed.last

    def rows_within(self, within: FieldRange, most: int) -> NDArray[np.int64] | None:
        return read_within(self._connection, self.state, within, most)

    def hidden(self) -> tuple[int, ...]:
        return ()  # of segments they are left out like removed ones

    def _is_expired(self, row: int) -> bool:
        place = int(np.searchsorted(self._expired, row))
        return place < len(self._expired) and bool(self._expired[place] == row)

    def links(self, rows: Sequence[int]) -> dict[int, tuple[int, float]]:
        return read_links(self._connection, self.state.number, rows)

    def linked_to(self, rows: Sequence[int] | None) -> list[tuple[int, int, float]]:
        found = read_linked(self._connection, self.state.number, rows)
        return [each for each in found if not len(self._expired) or not self._is_expired(each[1])]

    def expirations(self, rows: Sequence[int]) -> dict[int, int]:
        return read_expirations(self._connection, self.state.number, rows)

    def count(self) -> int:
        return self.state.documents - len(self._expired)

    def rows_of(self, ids: Sequence[Id]) -> dict[Id, int]:
        found = find_ids(self._connection, self.state.number, ids, self.state.next_row)
        return {id_: row for id_, row in found.items() if not self._is_expired(row)} if len(self._expired) else found

    def ids_of(self, rows: Sequence[int]) -> dict[int, Id]:
        found = read_rows(self._connection, self.state, rows, ())
        return {row: record.id for row, record in found.items() if not len(self._expired) or not self._is_expired(row)}

    def records(self, rows: Sequence[int], columns: Sequence[str]) -> dict[int, StoredDocument]:
        found = read_rows(self._connection, self.state, rows, columns)
        # Rows come from segments or from the index of ids, without what was removed.
        if len(found) != len(rows) and (lost := next((row for row in rows if row not in found), None)) is not None:
            raise Damaged(f"store.sqlite: row {lost} is not there, though it was never removed; restore it from a copy or an export")
        return found

    def scan(self, columns: Sequence[str], first: int = 0) -> Iterator[StoredDocument]:
        for record in read_range(self._connection, self.state, first, self.state.next_row, columns):
            self._require_open()  # whoever goes through all documents may have been away for long
            if not len(self._expired) or not self._is_expired(record.row):
                yield record


class SnapshotSegments:
    """The segments of one kind; see ``stores.base.Segments``."""

    def __init__(self, snapshot: Snapshot, parts: SegmentParts) -> None:
        self._snapshot, self._parts = snapshot, parts
        self.settings, self.documents = snapshot._cache.settings, snapshot.state.documents

    @property
    def all(self) -> list[Any]:
        return self._parts.all()

    @property
    def removed(self) -> NDArray[np.int64]:
        return self._snapshot.removed_rows()

    def live(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        removed = self.removed
        if len(removed) == 0:
            return np.ones(len(rows), dtype=bool)
        place = np.minimum(np.searchsorted(removed, rows), len(removed) - 1)
        live: NDArray[np.bool_] = removed[place] != rows
        return live

    def through_graphs(self, queries: NDArray[np.uint16], limit: int, workers: int) -> tuple[list[Any], str]:
        graphs, store = self._snapshot._cache.graphs, self._snapshot.state.store
        return graphs.search(store, self._parts.sealed, self._parts.young, queries, limit, workers, self.removed)
