"""Sealing: documents that were added since go into segments on disk, and small segments into larger ones."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import Corrupt, StoreError
from lookalike.segments.container import unchanged, write_segment
from lookalike.stores.base import OnProgress
from lookalike.stores.embedded.database import ROWS, Identity
from lookalike.stores.embedded.graph_files import KIND as GRAPHED
from lookalike.stores.embedded.graph_files import graph_path, make_graph
from lookalike.stores.embedded.snapshots import build_segment, open_segment
from lookalike.stores.embedded.states import Sealed, State, read_sealed, segment_path
from lookalike.stores.kinds import kind_named
from lookalike.stores.settings import Settings
from lookalike.stores.stretches import Stretch
from lookalike.system import give_back_memory

SEAL_ROWS = 65_536
SEAL_BYTES = 64 << 20  # of texts: long ones are sealed before there are so many. Building takes about as much memory again
# Documents that come a few at a time are searched meanwhile: until they are sealed, every process that searches has them in its own memory,
# some of them several times. Those that come in bulk are sealed in larger pieces, which need less merging.
BULK, BULK_BYTES = 4096, 4 << 20  # of one write: documents, or what they take
LIVE_ROWS = 8192
LIVE_BYTES = 16 << 20
RUN = 4  # segments of about the same size that are merged into one
MOST_MERGED_BYTES = 512 << 20  # of the largest file that is made by merging: it is made in memory
MOST_FRESH_BYTES = 256 << 20
JOINED = 256  # writes whose documents are put together
_log = logging.getLogger("lookalike")


def _run_to_merge(documents: Sequence[int]) -> int:
    """How many segments at the end are of about the size of the last. Merged four at a time, a document moves rarely."""
    run = 0
    while run < len(documents) and documents[-1 - run] < RUN * max(documents[-1], 1):
        run += 1
    return run


class Fresh:
    """What the writer added since the last sealing, as long as it fits: it need not be read from the database again."""

    def __init__(self) -> None:
        self._parts: list[Stretch] = []
        self._joined = 0  # how many of them are already some together
        self.in_bulk = False  # the last of them
        self._forget()

    def _forget(self) -> None:
        self._bytes = self.text_bytes = 0
        self._bulk_rows, self._live_bytes = 0, 0  # what came in bulk, and a few at a time

    def is_due(self, unsealed: int, most_bytes: int | None = None) -> bool:
        """Whether it is time to seal, where so many rows are in no segment, and texts may take so many bytes until then."""
        if unsealed >= SEAL_ROWS or self.text_bytes >= (SEAL_BYTES if most_bytes is None else most_bytes):
            return True
        return unsealed - self._bulk_rows >= LIVE_ROWS or self._live_bytes >= LIVE_BYTES

    def keep(self, stretch: Stretch) -> None:
        size = stretch.nbytes()
        self.in_bulk = len(stretch.rows) >= BULK or size >= BULK_BYTES
        if self.in_bulk:
            self._bulk_rows += len(stretch.rows)
        else:
            self._live_bytes += size
        self._bytes += size
        self.text_bytes += stretch.text_bytes()
        self._parts.append(stretch)
        if len(self._parts) - self._joined >= JOINED:
            # One document takes ten times as much memory alone as among others.
            self._parts[self._joined :] = [Stretch.joined(self._parts[self._joined :])]
            self._joined += 1
        if self._bytes > MOST_FRESH_BYTES:
            self._parts.clear()  # from now on there is a gap, and the database is read instead
            self._joined = 0

    def take(self, first: int, end: int) -> list[Stretch] | None:
        """The documents of exactly these rows, or None. They are given once."""
        parts, self._parts, self._joined = self._parts, [], 0
        self._forget()
        at = first
        for stretch in parts:
            begins, at = at, at + len(stretch.rows)
            if (int(stretch.rows[0]), int(stretch.rows[-1])) != (begins, at - 1):
                return None
        return parts if at == end and parts else None


class Sealer:
    """Works for the writer, between its transactions. Segments are written first and named in the database after."""

    def __init__(
        self,
        folder: Path | None,
        settings: Settings,
        fresh: Fresh,
        state: Callable[[sqlite3.Connection], State],
        writing: Callable[[], AbstractContextManager[sqlite3.Connection]],
        discard: Callable[[Iterable[int]], None],
        most_merged: int | None = None,  # bytes of the largest file that is made by merging
    ) -> None:
        self._folder, self._settings, self._fresh = folder, settings, fresh
        self._most_merged = MOST_MERGED_BYTES if most_merged is None else most_merged
        self._state, self._writing, self._discard = state, writing, discard

    def seal(self) -> None:
        """After an add. What cannot be written now is tried again later: the documents are safe and found without it."""
        if self._folder is None:
            return
        give_back_memory()  # building and merging take large pieces: what many small ones left behind is no use for them
        try:
            self._seal()
            give_back_memory()
            self._merge_neighbours()
        except (StoreError, OSError) as error:
            _log.warning("a segment could not be written (%s); its documents are stored, and searched without it", error)

    def compact(self, progress: OnProgress | None) -> None:
        """Everything in one segment."""
        if self._folder is None:
            return
        self._seal()
        with self._writing() as connection:
            state = self._state(connection)
            sealed = read_sealed(connection, state.number)
            gone = connection.execute("SELECT count(*) FROM removed WHERE collection = ?", (state.number,)).fetchone()[0]
        if len(sealed) > 1 or (sealed and gone):
            self._merge(sealed, progress)
        elif progress:
            progress(state.documents)
        if GRAPHED in self._settings.kinds:
            with self._writing() as connection:
                sealed = read_sealed(connection, state.number)
            for each in sealed:
                self._make_graph(each, state.store, progress)

    def _make_graph(self, sealed: Sealed, store: Identity, progress: OnProgress | None = None) -> None:
        """Takes minutes, and no transaction: readers use the segment already."""
        assert self._folder is not None  # noqa: S101
        path = segment_path(self._folder, sealed.number, GRAPHED)
        try:
            segment = open_segment(path, GRAPHED, self._settings, sealed.origin(store))
        except (Corrupt, OSError) as error:
            _log.warning(
                "%s; no graph is made of it: run 'check --repair'", str(error)
            )  # not the error itself: whoever keeps the record would keep the mapped file
        else:
            make_graph(self._folder, sealed.number, store, segment, self._settings, progress)

    def _seal(self) -> None:
        while self._seal_some():
            pass

    def _seal_some(self) -> bool:
        """As many of the documents that are in no segment as are built at a time; False where there are none."""
        with self._writing() as connection:
            state = self._state(connection)
            first = state.sealed_row
            if state.next_row == first:
                return False
            fresh = self._fresh.take(first, state.next_row)
            end = self._end_of_slice(connection, state) if fresh is None else state.next_row
            number = _next_number(connection)
            if fresh is None:
                new = Sealed(number, first, end, self._count(connection, state, first, end))
                self._build(state, new, connection)
            else:
                removed = _removed(connection, state, first, end)
                new = Sealed(number, first, end, end - first - len(removed))  # each row of these was added, by this writer
                self._build_fresh(state, new, Stretch.joined(fresh), removed)
            connection.execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?)", (number, state.number, *new[1:]))
            # What was removed before it was sealed is in no segment.
            connection.execute("DELETE FROM removed WHERE collection = ? AND row >= ? AND row < ?", (state.number, first, end))
            connection.execute(
                "UPDATE collections SET sealed_row = ?, generation = generation + 1, version = version + 1 WHERE number = ?",
                (end, state.number),
            )
            return True

    def _end_of_slice(self, connection: sqlite3.Connection, state: State) -> int:
        """Documents that somebody else wrote, or that were too many to keep: up to where their texts are as long as is built at a time."""
        base, total = state.number * ROWS, 0
        column = "text" if self._settings.keep_text else "winnowing" if "winnowing" in self._settings.kinds else "NULL"
        sizes = connection.execute(
            f"SELECT row - {base}, length({column}) FROM documents WHERE row >= ? AND row < ? ORDER BY row",  # noqa: S608 (our own names)
            (base + state.sealed_row, base + state.next_row),
        )
        for row, size in sizes:
            total += size or 0
            if total >= SEAL_BYTES:
                return int(row) + 1
        return state.next_row

    def _count(self, connection: sqlite3.Connection, state: State, first: int, end: int) -> int:
        base = state.number * ROWS
        found = connection.execute("SELECT count(*) FROM documents WHERE row >= ? AND row < ?", (base + first, base + end)).fetchone()
        return int(found[0])

    def _build(self, state: State, sealed: Sealed, connection: sqlite3.Connection) -> None:
        """Segments of all kinds, from the database."""
        for kind in self._settings.kinds:
            self._write(state, sealed, kind, build_segment(kind, sealed, connection, state, self._settings))

    def _build_fresh(self, state: State, sealed: Sealed, stretch: Stretch, removed: NDArray[np.int64]) -> None:
        """The same from what was just added, without those that were removed since."""
        for kind in self._settings.kinds:
            segment = kind_named(kind).build(stretch, self._settings)
            if len(removed):
                segment = kind_named(kind).segment.merge([segment], removed)
            self._write(state, sealed, kind, segment)

    def _write(self, state: State, sealed: Sealed, kind: str, segment: Any) -> None:
        assert self._folder is not None  # noqa: S101
        self._folder.mkdir(exist_ok=True)
        path, recipe = segment_path(self._folder, sealed.number, kind), self._settings.recipe_of(kind)
        write_segment(path, kind, recipe, segment.sections(), sealed.origin(state.store))

    def _merge_neighbours(self) -> None:
        while True:
            with self._writing() as connection:
                sealed = read_sealed(connection, self._state(connection).number)
            alike = _run_to_merge([each.documents for each in sealed])
            merged = self._fitting(sealed[-alike:]) if alike >= RUN else []
            if len(merged) < 2:
                return
            self._merge(merged)

    def _fitting(self, sealed: list[Sealed]) -> list[Sealed]:
        """The first of them, as many as are not too large together: what is left is merged with those that follow. Those that are too
        large for their neighbours stay as they are, and do not keep the others from being merged."""
        sizes = [self._largest_file(each) for each in sealed]
        first = next((at for at, (one, next_) in enumerate(pairwise(sizes)) if one + next_ <= self._most_merged), len(sealed))
        if len(sealed) - first < RUN:
            return []
        fitting = sum(total <= self._most_merged for total in accumulate(sizes[first:]))
        return sealed[first : first + fitting]

    def _largest_file(self, sealed: Sealed) -> int:
        assert self._folder is not None  # noqa: S101
        paths = (segment_path(self._folder, sealed.number, kind) for kind in self._settings.kinds)
        return max((path.stat().st_size for path in paths if path.exists()), default=0)

    def _merge(self, sealed: list[Sealed], progress: OnProgress | None = None) -> None:
        """Replace neighbouring segments by one without removed documents. Files are deleted when nothing names them."""
        assert self._folder is not None  # noqa: S101
        with self._writing() as connection:
            state = self._state(connection)
            number = _next_number(connection)
            first, end = sealed[0].first_row, sealed[-1].end_row
            removed = _removed(connection, state, first, end)
            documents = sum(each.documents for each in sealed) - len(removed)
            merged = Sealed(number, first, end, documents)
            for done, kind in enumerate(self._settings.kinds, 1):
                with unchanged(self._folder):
                    parts = list(self._parts(connection, state, kind, sealed))
                    self._write(state, merged, kind, kind_named(kind).segment.merge(parts, removed))
                if progress:
                    progress(documents * done // len(self._settings.kinds))
            connection.executemany("DELETE FROM segments WHERE number = ?", ((each.number,) for each in sealed))
            connection.execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?)", (number, state.number, first, end, documents))
            connection.execute("DELETE FROM removed WHERE collection = ? AND row >= ? AND row < ?", (state.number, first, end))
            connection.execute(
                "UPDATE collections SET generation = generation + 1, version = version + 1 WHERE number = ?", (state.number,)
            )
        self._discard(each.number for each in sealed)

    def _parts(self, connection: sqlite3.Connection, state: State, kind: str, sealed: list[Sealed]) -> Iterator[Any]:
        assert self._folder is not None  # noqa: S101
        for each in sealed:
            try:
                path = segment_path(self._folder, each.number, kind)
                yield open_segment(path, kind, self._settings, each.origin(state.store), read_once=True)
            except (Corrupt, OSError) as error:
                _log.warning(
                    "%s; it is rebuilt from the documents", str(error)
                )  # not the error itself: whoever keeps the record would keep the mapped file
                yield build_segment(kind, each, connection, state, self._settings)

    def rebuild(self, sealed: Sealed) -> None:
        """Write the segments of some rows anew, from the documents, under a new number."""
        assert self._folder is not None  # noqa: S101
        with self._writing() as connection:
            state = self._state(connection)
            first, end = sealed.first_row, sealed.end_row
            new = Sealed(_next_number(connection), first, end, self._count(connection, state, first, end))
            self._build(state, new, connection)
            connection.execute("UPDATE segments SET number = ?, documents = ? WHERE number = ?", (new.number, new.documents, sealed.number))
            connection.execute(
                "DELETE FROM removed WHERE collection = ? AND row >= ? AND row < ?", (state.number, sealed.first_row, sealed.end_row)
            )
            connection.execute(
                "UPDATE collections SET generation = generation + 1, version = version + 1 WHERE number = ?", (state.number,)
            )
        had_graph = graph_path(self._folder, sealed.number).exists()
        self._discard([sealed.number])
        if had_graph:
            self._make_graph(new, state.store)

    def remake_graph(self, sealed: Sealed) -> None:
        """In place of a damaged one; none, where none can be made."""
        assert self._folder is not None  # noqa: S101
        graph_path(self._folder, sealed.number).unlink(missing_ok=True)
        with self._writing() as connection:
            state = self._state(connection)
        self._make_graph(sealed, state.store)


def _removed(connection: sqlite3.Connection, state: State, first: int, end: int) -> NDArray[np.int64]:
    found = connection.execute(
        "SELECT row FROM removed WHERE collection = ? AND row >= ? AND row < ? ORDER BY row", (state.number, first, end)
    ).fetchall()
    return np.array([row for (row,) in found], dtype=np.int64)


def _next_number(connection: sqlite3.Connection) -> int:
    """A number that no segment had before: a file name always means the same contents."""
    connection.execute("UPDATE last_segment SET number = number + 1")
    return int(connection.execute("SELECT number FROM last_segment").fetchone()[0])
