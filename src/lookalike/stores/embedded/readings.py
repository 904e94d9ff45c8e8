"""Readings: each sees one state of the store, whatever happens meanwhile, and none waits for another or for the writer.

On disk a reading has a connection of its own, in a transaction: SQLite keeps its state. In memory there is one connection, whose
statements take turns; there a reading keeps its state because documents that are removed meanwhile are kept for it.

A reading may end in another thread than the one that began it, and also when the garbage collector finds it.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from lookalike.errors import StoreError
from lookalike.stores.embedded import database
from lookalike.stores.embedded.connections import ReadConnection

IDLE = 8  # connections that are kept for the next readings
PAGE_ROWS = 64  # documents that are read from memory at a time: texts may be long


class Reads(Protocol):
    """What a reading reads from: a connection, or what stands for it in memory."""

    def execute(self, statement: str, parameters: Any = ..., /) -> Any: ...


class Active:
    """Readings that are going on, by the state of the store that each of them sees."""

    def __init__(self) -> None:
        self._states: dict[object, int] = {}

    def enter(self) -> object:
        """A reading that does not know its state yet: it may be the oldest of all."""
        token = object()
        self._states[token] = -1
        return token

    def sees(self, token: object, state: int) -> None:
        self._states[token] = state

    def leave(self, token: object) -> None:
        self._states.pop(token, None)

    def oldest(self) -> int | None:
        """The oldest state that somebody sees; None where nobody reads."""
        return min(list(self._states.values()), default=None)


class _DiskReading:
    """A connection in a transaction. Every search passes here, so this is no generator."""

    __slots__ = ("_connection", "_held", "_readings")

    def __init__(self, readings: DiskReadings) -> None:
        self._readings = readings

    def __enter__(self) -> Reads:
        self._held = self._readings.take()
        try:
            self._connection = self._held.get()
            self._connection.begin()
        except BaseException:
            self._readings.give_back(self._held, False)
            raise
        return self._connection

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        good = False
        try:
            self._connection.end()
            good = kind is None or kind is GeneratorExit  # a reading that was given up is none that failed
        finally:
            self._readings.give_back(self._held, good)


class DiskReadings:
    """Connections that change nothing: as many as there are readings at once."""

    def __init__(self, path: Path, guard: Path) -> None:
        self._path, self._guard = path, guard
        self.idle: list[ReadConnection] = []  # at most so many; the newest is taken first
        self._closed = False

    def reading(self) -> AbstractContextManager[Reads]:
        return _DiskReading(self)

    def steady(self) -> AbstractContextManager[Any]:
        """Within it several statements see one state: in a transaction they do anyway."""
        return nullcontext()

    def take(self) -> ReadConnection:
        try:
            return self.idle.pop()
        except IndexError:
            return ReadConnection(self._path, self._guard)

    def give_back(self, held: ReadConnection, good: bool) -> None:
        # A connection that takes the database for immutable would keep a writer from moving its log into it.
        if not good or self._closed or len(self.idle) >= IDLE or held.is_stale():
            held.close()
        else:
            self.idle.append(held)
        self._end_if_closed()

    def keep(self, held: ReadConnection) -> None:
        """``give_back`` after a moment in which all went well."""
        if len(self.idle) >= IDLE:
            held.close()
        else:
            self.idle.append(held)
        if self._closed:  # somebody may have closed the store meanwhile
            self.let_go()

    def _end_if_closed(self) -> None:
        """Somebody may have closed the store meanwhile."""
        if self._closed:
            self.let_go()

    def let_go(self) -> None:
        """Close what nobody uses now: the writer's connection should be the last one, or the only one that may change the database."""
        with suppress(IndexError):
            while True:
                self.idle.pop().close()

    def close(self) -> None:
        """Readings that are going on end as they would have, and close their connections then."""
        self._closed = True
        self.let_go()


class MemoryReadings:
    """The one connection of a store in memory, for the writer and for all readings.

    ``ghosts`` are documents that were removed while somebody reads who has to see them; ``gone`` is the version of the collection
    that is without them.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.connection = database.connect_memory()
        self._turns = threading.RLock()
        self._active = Active()
        self._closed = self._has_ghosts = False
        self._columns = ""
        database.create_schema(self.connection)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        with self._turns, database.transaction(self.connection) as connection:
            yield connection

    def steady(self) -> AbstractContextManager[Any]:
        return self._turns

    @contextmanager
    def reading(self) -> Iterator[MemoryReads]:
        token = self._active.enter()
        try:
            yield MemoryReads(self, token)
        finally:
            self._active.leave(token)
            self._forget_ghosts()

    def _make_ghosts(self) -> None:
        if not self._columns and not self._closed:
            self._columns = ", ".join(f"[{name}]" for name in database.table_columns(self.connection))
            self.connection.execute("CREATE TABLE ghosts AS SELECT *, 0 AS gone FROM documents LIMIT 0")
            self.connection.execute("CREATE INDEX ghosts_by_row ON ghosts (row)")

    def columns_changed(self) -> None:
        """The table of documents, which has no rows, got other columns."""
        if self._columns:
            self.connection.execute("DROP TABLE ghosts")
            self._columns, self._has_ghosts = "", False
            self._make_ghosts()

    def keep_for_readers(self, rows: Sequence[int], gone: int) -> None:
        """Before documents are removed, in the same transaction."""
        if rows and self._columns and self._active.oldest() is not None:
            self._has_ghosts = True
            self.connection.executemany(
                f"INSERT INTO ghosts SELECT {self._columns}, {gone} FROM documents WHERE row = ?",  # noqa: S608
                ((row,) for row in rows),
            )

    def _forget_ghosts(self) -> None:
        if not self._has_ghosts:
            return
        with self._turns:
            oldest = self._active.oldest()
            if self._closed or self.connection.in_transaction:  # the next reading that ends does it
                return
            self.connection.execute("DELETE FROM ghosts WHERE ? IS NULL OR gone <= ?", (oldest, oldest))
            self._has_ghosts = bool(self.connection.execute("SELECT EXISTS (SELECT 1 FROM ghosts)").fetchone()[0])

    def sees(self, token: object, version: int) -> None:
        self._make_ghosts()
        self._active.sees(token, version)

    def documents_at(self, version: int) -> str:
        """A table of the documents that a version of the collection has; later ones may be among them."""
        return f"(SELECT {self._columns} FROM documents UNION ALL SELECT {self._columns} FROM ghosts WHERE gone > {version})"  # noqa: S608

    def ghosts_at(self, version: int, first: int, end: int) -> list[int]:
        """Rows that a version of the collection has and that were removed since, counted from the first."""
        query = "SELECT row FROM ghosts WHERE gone > ? AND row >= ? AND row < ?"
        return [row - first for (row,) in self.execute(query, (version, first, end))] if self._columns else []

    def execute(self, statement: str, parameters: Any) -> list[tuple[Any, ...]]:
        with self._turns:
            if self._closed:
                raise StoreError(f"{self._name} is closed: open it again")
            return self.connection.execute(statement, parameters).fetchall()

    def close(self) -> None:
        with self._turns:
            self._closed = True
            self.connection.close()


class FoundRows(list[tuple[Any, ...]]):
    """What a statement found, as a cursor gives it."""

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self

    def fetchone(self) -> tuple[Any, ...] | None:
        return self[0] if self else None


class MemoryReads:
    """One reading of a store in memory. A statement is done when it returns: nothing is left open on the one connection."""

    def __init__(self, readings: MemoryReadings, token: object) -> None:
        self._readings, self._token = readings, token
        self.documents = "documents"

    def sees(self, version: int) -> None:
        """Once the version is known, documents are those that it has. To be called while nothing changes."""
        self._readings.sees(self._token, version)
        self._version = version
        self.documents = self._readings.documents_at(version)

    def removed_since(self, base: int, rows: int) -> list[int]:
        """Rows of a collection, counted from ``base``, that this reading has and the tables do not."""
        return self._readings.ghosts_at(self._version, base, base + rows)

    def execute(self, statement: str, parameters: Any = (), /) -> FoundRows:
        return FoundRows(self._readings.execute(statement, parameters))

    def walk(self, statement: str, base: int, first: int, end: int) -> Iterator[tuple[Any, ...]]:
        """What a statement finds between two rows, some at a time. Its first column is the row, counted from ``base``.

        It looks at a window of rows each time: what it would have to sort grows with the window, and the window where few rows are left.
        """
        width = PAGE_ROWS
        while first < end:
            last = min(first + width, end)
            rows = self._readings.execute(f"{statement} LIMIT {PAGE_ROWS}", (base + first, base + last))
            yield from rows
            full = len(rows) == PAGE_ROWS
            first = rows[-1][0] + 1 if full else last
            width = PAGE_ROWS if full or 2 * len(rows) > width else 2 * width


def documents_of(reads: Reads) -> str:
    """What stands behind FROM for the documents that a reading sees."""
    return reads.documents if isinstance(reads, MemoryReads) else "documents"
