"""SQLite without Python in between: native code calls the very library that Python's own module calls, or nothing.

Python's module makes a tuple of each row and gives up the interpreter's lock at each step of a statement: threads that read hinder each
other more than they help. So readers have connections of native code, which gives it up once for a statement or for many rows. A batch
of documents is written by one native call, over the connection of Python's module and in its transaction.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing, suppress
from functools import cache
from typing import Any

from lookalike import _native

_MARK = (1 << 50) + 7919  # a limit that no process reaches
_one_at_a_time = threading.Lock()


def _new_lock() -> None:
    """Whoever held it in the parent is not there in the child."""
    global _one_at_a_time
    _one_at_a_time = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)


def sqlite_library() -> _native.Sqlite | None:
    """The SQLite of Python's own module, for native code; None where it cannot be told for sure that it is the same one."""
    with _one_at_a_time:
        return _sqlite_library()


@cache
def _sqlite_library() -> _native.Sqlite | None:
    import _sqlite3

    try:
        found = _native.Sqlite(getattr(_sqlite3, "__file__", None) or "")
    except RuntimeError:
        return None
    # A library has one limit for all of its connections: what one sets, the other sees.
    with closing(sqlite3.connect(":memory:")) as connection:
        before = found.soft_heap_limit(_MARK)
        try:
            (seen,) = connection.execute("PRAGMA soft_heap_limit").fetchone()
        finally:
            found.soft_heap_limit(before)
    return found if seen == _MARK else None


def gathering_files() -> str:
    """For the address of a database with ``synchronous=FULL``: its small writes become large ones, where the library is known."""
    library = sqlite_library()
    name = library.gathering_files() if library is not None else ""
    return f"&vfs={name}" if name else ""


class PlainReader(sqlite3.Connection):
    """What ``_native.SqliteReader`` does, by Python's module alone."""

    def begin(self) -> None:
        self.execute("BEGIN")

    def end(self) -> None:
        if self.in_transaction:
            self.execute("ROLLBACK")


def connect_reader(address: str) -> _native.SqliteReader | PlainReader:
    """A connection that changes nothing. Threads may use it, and not only the one that opened it."""
    library = sqlite_library()
    if library is not None:
        with suppress(RuntimeError):  # Python's module says why it cannot be opened
            return _native.SqliteReader(library, address, _error)
    return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False, factory=PlainReader)


class BulkConnection(sqlite3.Connection):
    """A connection of Python's module that also inserts whole batches, where the library behind it is known."""

    _handle: _native.WriteHandle | None = None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        library = sqlite_library()
        if library is None:
            super().__init__(*arguments, **options)
            return
        with _one_at_a_time:  # of those who watch what is opened
            self._handle = library.opened_by(lambda: super(BulkConnection, self).__init__(*arguments, **options))

    @property
    def is_bulk(self) -> bool:
        return self._handle is not None

    def insert_rows(
        self,
        statement: str,
        first_row: int,
        first_checked: int,
        columns: list[Any],
        places: Sequence[int],
        count: int,
        cut: int | None = None,
    ) -> bytes:
        """Call a statement for each row, with its number, a value of each column, and the checks of these; returns all checks.

        A column is a list of values, an array of one number for each row, or a matrix of as many bytes for each. Checks are made with
        numbers from ``first_checked`` on, and are at these places, see ``row_checks``. In the column ``cut`` texts may have half a
        character (a lone surrogate): they are written as bytes.
        """
        assert self._handle is not None  # noqa: S101
        error, message, checks = self._handle.insert(statement, first_row, first_checked, columns, list(places), count, cut)
        if error:
            raise _error(error, message)
        return checks

    def watch_log(self) -> None:
        """Count the pages of the write-ahead log, in place of SQLite's automatic checkpoints."""
        if self._handle is not None:
            self._handle.watch_log()

    @property
    def log_pages(self) -> int | None:
        """How many pages the log had after the last commit; None where that is not known."""
        return None if self._handle is None else self._handle.log_pages

    def close(self) -> None:
        if self._handle is not None:
            self._handle.close()  # a connection stays open as long as it has statements
            self._handle = None
        super().close()


def _error(code: int, message: str) -> Exception:
    """As Python's module raises it."""
    primary = code & 0xFF
    if primary == sqlite3.SQLITE_NOMEM:
        return MemoryError()
    kinds: dict[int, type[sqlite3.Error]] = {
        sqlite3.SQLITE_CONSTRAINT: sqlite3.IntegrityError,
        sqlite3.SQLITE_MISMATCH: sqlite3.IntegrityError,
        sqlite3.SQLITE_TOOBIG: sqlite3.DataError,
        sqlite3.SQLITE_CORRUPT: sqlite3.DatabaseError,
        sqlite3.SQLITE_NOTADB: sqlite3.DatabaseError,
    }
    made = kinds.get(primary, sqlite3.OperationalError)(message)
    made.sqlite_errorcode = code
    return made
