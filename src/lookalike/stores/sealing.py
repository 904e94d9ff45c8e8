"""Sealing: documents that were added since go into segments on disk, and small segments into larger ones."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from lookalike.errors import Corrupt, StoreError
from lookalike.search.segments import write_segment
from lookalike.stores.rows import read_range
from lookalike.stores.settings import Settings
from lookalike.stores.snapshots import MERGE_RATIO, Sealed, State, open_segment, read_sealed, segment_path
from lookalike.stores.structures import STRUCTURES

SEAL_ROWS = 65_536
_log = logging.getLogger("lookalike")


class Sealer:
    """Works for the writer, between its transactions. Segments are written first and named in the database after."""

    def __init__(
        self,
        folder: Path | None,
        settings: Settings,
        state: Callable[[sqlite3.Connection], State],
        writing: Callable[[], AbstractContextManager[sqlite3.Connection]],
    ) -> None:
        self._folder, self._settings, self._state, self._writing = folder, settings, state, writing

    def seal(self) -> None:
        """After an add. What cannot be written now is tried again later: the documents are safe and found without it."""
        if self._folder is None:
            return
        try:
            self._seal()
            self._merge_neighbours()
        except (StoreError, OSError) as error:
            _log.warning("a segment could not be written (%s); its documents are stored, and searched without it", error)

    def compact(self) -> None:
        """Everything in one segment."""
        if self._folder is None:
            return
        self._seal()
        with self._writing() as connection:
            state = self._state(connection)
            sealed = read_sealed(connection, state.number)
            gone = connection.execute("SELECT count(*) FROM removed WHERE collection = ?", (state.number,)).fetchone()[0]
        if len(sealed) > 1 or (sealed and gone):
            self._merge(sealed)

    def _seal(self) -> None:
        with self._writing() as connection:
            state = self._state(connection)
            if state.next_row == state.sealed_row:
                return
            number = _next_number(connection)
            written = self._build(connection, state, number, state.sealed_row, state.next_row)
            connection.execute(
                "INSERT INTO segments VALUES (?, ?, ?, ?, ?)", (number, state.number, state.sealed_row, state.next_row, written)
            )
            # What was removed before it was sealed is in no segment.
            connection.execute("DELETE FROM removed WHERE collection = ? AND row >= ?", (state.number, state.sealed_row))
            connection.execute(
                "UPDATE collections SET sealed_row = next_row, generation = generation + 1, version = version + 1 WHERE number = ?",
                (state.number,),
            )

    def _build(self, connection: sqlite3.Connection, state: State, number: int, first: int, end: int) -> int:
        """Segments of all kinds from the documents themselves; how many documents there were."""
        columns = sorted({column for kind in self._settings.kinds for column in STRUCTURES[kind].columns})
        records = list(read_range(connection, state.number, first, end, columns))
        for kind in self._settings.kinds:
            self._write(number, kind, STRUCTURES[kind].build(records, self._settings))
        return len(records)

    def _write(self, number: int, kind: str, segment: Any) -> None:
        assert self._folder is not None  # noqa: S101
        self._folder.mkdir(exist_ok=True)
        write_segment(segment_path(self._folder, number, kind), kind, self._settings.recipe_of(kind), segment.sections())

    def _merge_neighbours(self) -> None:
        while True:
            with self._writing() as connection:
                sealed = read_sealed(connection, self._state(connection).number)
            if len(sealed) < 2 or sealed[-2].documents >= MERGE_RATIO * sealed[-1].documents:
                return
            self._merge(sealed[-2:])

    def _merge(self, sealed: list[Sealed]) -> None:
        """Replace neighbouring segments by one without removed documents. Files are deleted when nothing names them."""
        import numpy as np

        assert self._folder is not None  # noqa: S101
        with self._writing() as connection:
            state = self._state(connection)
            number = _next_number(connection)
            first, end = sealed[0].first_row, sealed[-1].end_row
            gone = connection.execute(
                "SELECT row FROM removed WHERE collection = ? AND row >= ? AND row < ? ORDER BY row", (state.number, first, end)
            ).fetchall()
            removed = np.array([row for (row,) in gone], dtype=np.int64)
            for kind in self._settings.kinds:
                parts = list(self._parts(connection, state, kind, sealed))
                self._write(number, kind, STRUCTURES[kind].segment.merge(parts, removed))
            connection.executemany("DELETE FROM segments WHERE number = ?", ((each.number,) for each in sealed))
            documents = sum(each.documents for each in sealed) - len(gone)
            connection.execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?)", (number, state.number, first, end, documents))
            connection.execute("DELETE FROM removed WHERE collection = ? AND row >= ? AND row < ?", (state.number, first, end))
            connection.execute(
                "UPDATE collections SET generation = generation + 1, version = version + 1 WHERE number = ?", (state.number,)
            )
        for each in sealed:
            for kind in self._settings.kinds:
                segment_path(self._folder, each.number, kind).unlink(missing_ok=True)

    def _parts(self, connection: sqlite3.Connection, state: State, kind: str, sealed: list[Sealed]) -> Iterator[Any]:
        assert self._folder is not None  # noqa: S101
        for each in sealed:
            try:
                yield open_segment(segment_path(self._folder, each.number, kind), kind, self._settings)
            except (Corrupt, OSError) as error:
                _log.warning("%s; it is rebuilt from the documents", error)
                records = list(read_range(connection, state.number, each.first_row, each.end_row, STRUCTURES[kind].columns))
                yield STRUCTURES[kind].build(records, self._settings)

    def rebuild(self, sealed: Sealed) -> None:
        """Write the segments of some rows anew, from the documents, under a new number."""
        assert self._folder is not None  # noqa: S101
        with self._writing() as connection:
            state = self._state(connection)
            number = _next_number(connection)
            written = self._build(connection, state, number, sealed.first_row, sealed.end_row)
            connection.execute("UPDATE segments SET number = ?, documents = ? WHERE number = ?", (number, written, sealed.number))
            connection.execute(
                "DELETE FROM removed WHERE collection = ? AND row >= ? AND row < ?", (state.number, sealed.first_row, sealed.end_row)
            )
            connection.execute(
                "UPDATE collections SET generation = generation + 1, version = version + 1 WHERE number = ?", (state.number,)
            )
        for kind in self._settings.kinds:
            segment_path(self._folder, sealed.number, kind).unlink(missing_ok=True)


def _next_number(connection: sqlite3.Connection) -> int:
    """A number that no segment had before: a file name always means the same contents."""
    connection.execute("UPDATE last_segment SET number = number + 1")
    return int(connection.execute("SELECT number FROM last_segment").fetchone()[0])
