"""The connections of readers and of the writer of an embedded store.

A reader of a database that nobody writes opens it as immutable, because SQLite would otherwise leave two auxiliary files
behind. That is safe because nothing but a checkpoint changes the database file, the writer makes checkpoints only while it
holds the guard exclusively, and such a reader holds it shared; it looks for a write-ahead log before every transaction.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from lookalike import _native
from lookalike.stores.embedded.database import PAGE_BYTES, connect, connect_writer, transaction
from lookalike.stores.embedded.library import PlainReader, connect_reader
from lookalike.stores.embedded.locks import FileLock

CHECKPOINT_BYTES = 32 << 20  # no slower than 128 MB where many are added, and a smaller file beside the database


class ReadConnection:
    """A connection that changes nothing: immutable while nobody writes, otherwise read-only."""

    def __init__(self, path: Path, guard: Path) -> None:
        self._path, self._log = path, f"{path}-wal"
        self._guard = FileLock(guard)
        self._address: str | None = None
        self._connection: _native.SqliteReader | PlainReader | None = None
        self.opened: _native.StoredRows | None = None  # for native code, where ``rows`` was asked for it

    def is_stale(self) -> bool:
        """Whether it takes the database for immutable, which it no longer is."""
        return self._guard.held and self._logged()

    def get(self) -> _native.SqliteReader | PlainReader:
        """The connection, before a transaction begins."""
        address = self._begin()
        if self._connection is None:
            self._connection = connect_reader(address)
        return self._connection

    def rows(self, opened: Callable[[str, str], _native.StoredRows]) -> _native.StoredRows:
        """The same for native code, which looks for the log before every transaction itself. ``opened`` gets the address, and the log that
        must not be there."""
        if self.opened is None:
            address = self._begin()
            self.opened = opened(address, self._log if self._guard.held else "")
        return self.opened

    def _begin(self) -> str:
        """The address of the database as it is now."""
        if self._address is not None and self.is_stale():
            self.close()
        if self._address is None:
            immutable = self._guard.acquire(shared=True) and not self._logged()
            if not immutable:
                self._guard.release()
            # Found to be immutable under the guard: no writer can begin to change the file as long as that is held.
            self._address = f"{self._path.absolute().as_uri()}?mode=ro{'&immutable=1' if immutable else ''}"
        return self._address

    def _logged(self) -> bool:
        try:
            stamp = _native.file_stamp(self._log)
        except OSError:
            return False
        return stamp is not None and stamp[2] > 0

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self.opened is not None:
            self.opened.close()
            self.opened = None
        self._address = None
        self._guard.release()


class WriteConnection:
    """The writer's connection. It moves the log into the database when that hurts no reader."""

    def __init__(self, path: Path, guard: Path) -> None:
        self._guard = FileLock(guard)
        self._log = f"{path}-wal"
        self.connection = connect_writer(path)
        # SQLite makes a checkpoint when the last connection is closed, unless that one is read-only.
        self._last = connect(f"{path.absolute().as_uri()}?mode=ro")
        self._last.execute("SELECT count(*) FROM sqlite_master").fetchone()

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        return transaction(self.connection)

    def has_long_log(self) -> bool:
        """Whether what the log has is worth moving. Its file stays as long as it once was, and is written from its start again."""
        size = os.stat(self._log).st_size  # one that is missing is an error: the commit went nowhere
        pages = self.connection.log_pages
        return (size if pages is None else pages * PAGE_BYTES) >= CHECKPOINT_BYTES

    def checkpoint(self) -> None:
        """After a commit: keep the log short."""
        if not self._guard.acquire_if_possible():
            return
        try:
            self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        except sqlite3.Error:
            pass  # the log holds everything; the next commit tries again
        finally:
            self._guard.release()

    def forget_pages(self) -> None:
        """Give up what it keeps of the database in memory: after so many documents that hardly any of it is of use again."""
        self.connection.execute("PRAGMA shrink_memory")

    def close(self) -> None:
        if self._guard.acquire_if_possible():
            self._last.close()
            self.connection.close()  # the last one: moves the log into the database and removes it
            self._guard.release()
        else:
            self.connection.close()
            self._last.close()
