"""Where embedded collections are: a folder or the memory, with who reads its database and who writes it.

Collections that were opened together share a place: one of them writes for all. The last one that lets go closes it.
"""

from __future__ import annotations

import os
import random
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from lookalike.errors import StoreBusy, StoreError
from lookalike.stores.embedded import database
from lookalike.stores.embedded.acknowledged import AcknowledgedFile, chained
from lookalike.stores.embedded.connections import WriteConnection
from lookalike.stores.embedded.locks import FileLock
from lookalike.stores.embedded.making import DATABASE, READER_LOCK, SEGMENTS, WRITER_LOCK, find_or_make
from lookalike.stores.embedded.readings import DiskReadings, MemoryReadings
from lookalike.stores.embedded.states import segment_number
from lookalike.stores.settings import Wanted

TURN_SECONDS = 30.0  # that somebody waits for others who decide
LENT_SECONDS = 0.25  # that the threads of a process decide one after the other before another process may


class Holder(Protocol):
    """A collection at a place."""

    def discarded(self) -> set[int]:
        """Segments that nothing names any more, while somebody may still open their files."""
        ...


class DatabasePlace:
    """A database on disk or in memory. Threads may share it: they read at the same time, and write in turn."""

    def __init__(self, folder: Path | None, wanted: Wanted, *, read_only: bool = False, create: bool = True) -> None:
        self.folder, self.read_only = folder, read_only
        self.name = f"store {str(folder)!r}" if folder else "memory://"
        self.turns = threading.RLock()  # of those who change something
        self.writer: WriteConnection | None = None
        self._lock: FileLock | None = None
        self.closed = False
        self.process = os.getpid()
        self.record = AcknowledgedFile(folder, self.name) if folder else None
        self._accepting = False
        self._unsaid: database.Identity | None = None  # committed, and not yet on record
        self.readings: DiskReadings | MemoryReadings
        self._holders: list[Holder] = []
        self._asking: set[object] = set()  # those who wait for their turn to decide
        self._lent_since: float | None = None  # the writer is one for a while only, for those who decide
        self._deciding = False
        if folder is None:
            self.readings = MemoryReadings(self.name)
        else:
            find_or_make(folder, self.name, wanted, create and not read_only)
            self.readings = DiskReadings(folder / DATABASE, folder / READER_LOCK)
            self._lock = FileLock(folder / WRITER_LOCK)
        self.segments = folder / SEGMENTS if folder else None

    def hold(self, holder: Holder) -> None:
        self._holders.append(holder)

    def is_let_go_by(self, holder: Holder) -> bool:
        """Whether this was the last of those who hold it."""
        self._holders = [each for each in self._holders if each is not holder]
        return not self._holders

    def discarded(self) -> set[int]:
        """Segments that nothing names any more, while somebody may still open their files."""
        return {number for holder in self._holders for number in holder.discarded()}

    @property
    def is_of_another_process(self) -> bool:
        return self.process != os.getpid() and self.folder is not None

    def require_open(self) -> None:
        if self.process != os.getpid() and self.is_of_another_process:  # every search passes here
            raise StoreError(
                f"{self.name} was opened by process {self.process}, and this process is a fork of it: open the store again here"
            )
        if self.closed:
            raise StoreError(f"{self.name} is closed: open it again")

    def collections(self) -> list[str]:
        """The names of all collections of the store."""
        self.require_open()
        with database.sql_errors(self.name), self.readings.reading() as connection:
            return [name for (name,) in connection.execute("SELECT name FROM collections ORDER BY name").fetchall()]

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction of the one writer. The first makes this process the writer, until the store is closed."""
        with self.turns, database.write_errors(self.name):
            self.require_open()
            if not self._deciding:
                self._lent_since = None  # from now on this process is the writer
            if self.read_only:
                raise StoreError(f"{self.name} was opened with read_only=True: open it without read_only to change it")
            if isinstance(self.readings, MemoryReadings):
                with self.readings.transaction() as connection:
                    yield connection
                return
            if self.writer is None:
                self._become_writer()
            assert self.writer is not None  # noqa: S101
            self._say()
            try:
                with self.writer.transaction() as connection:
                    yield connection
            except BaseException:
                self._unsaid = None
                raise
            self._say()
            if self.writer.has_long_log():
                self.readings.let_go()
                self.writer.checkpoint()

    def chain(self, connection: sqlite3.Connection, store: database.Identity, contents: bytes) -> None:
        """Number a change that is about to be committed."""
        if self.record is not None:
            changed = chained(store, contents)
            database.write_chain(connection, changed)
            self._unsaid = changed

    def _say(self) -> None:
        """Put what was committed on record. If that fails, it is done before anything else is committed."""
        if self._unsaid is not None and self.record is not None:
            self.record.write(self._unsaid, sync=False)
            self._unsaid = None

    def _become_writer(self) -> None:
        assert self.folder is not None  # noqa: S101 - memory has its writer from the start
        assert self._lock is not None  # noqa: S101
        try:
            acquired = self._lock.acquire()
        except OSError as error:
            raise StoreError(f"{self.name} cannot be written: {error.strerror}; open it with read_only=True to search") from error
        if not acquired:
            remedy = "wait until it closes the store, or open it with read_only=True"
            raise StoreBusy(f"{self.name} is being written by process {self._lock.holder()}: {remedy}")
        try:
            self._lock.sign()
            # Our own readers must not keep our own writer from moving the log into the database. They open again when they are needed.
            self._let_go_of_readers()
            self.writer = WriteConnection(self.folder / DATABASE, self.folder / READER_LOCK)
            database.bring_up_to_date(self.writer.connection)
            self._take_record(self.writer.connection)
            self.remove_orphans(self.writer.connection)
        except BaseException:
            self.stop_writing()
            raise

    @contextmanager
    def deciding(self) -> Iterator[None]:
        """A turn of one who decides: one at a time, of all threads and processes. Whoever was not the writer before lets others have it:
        at once where no other thread waits for its turn, otherwise after a while. To become the writer takes longer than to write.
        """
        token = object()
        self._asking.add(token)
        try:
            self.turns.acquire()
        finally:
            self._asking.discard(token)
        try:
            if self.folder is not None and self.writer is None:
                self.wait_for_turn()
                self._lent_since = time.monotonic()
            self._deciding = True
            try:
                yield
            finally:
                self._deciding = False
                if self._lent_since is not None and (not self._asking or time.monotonic() - self._lent_since > LENT_SECONDS):
                    self._lent_since = None
                    self.stop_writing()
        finally:
            self.turns.release()

    def wait_for_turn(self) -> None:
        """Become the writer, once nobody else is."""
        end = time.monotonic() + TURN_SECONDS
        while True:
            try:
                with self.writing():
                    return
            except StoreBusy:
                if time.monotonic() > end:
                    raise
            time.sleep(random.uniform(0.0005, 0.003))  # noqa: S311 - not for secrets

    def _take_record(self, connection: sqlite3.Connection) -> None:
        """Whoever wrote last may have been killed after a commit and before it was on record."""
        assert self.record is not None  # noqa: S101
        last, store = self.record.read(), database.read_identity(connection)
        if self._accepting:
            self.record.start_anew(store)
            return
        self.record.verify(last, store)
        if last is None or last.changes < store.changes:
            self.record.write(store)

    def record_problem(self) -> str | None:
        """Whether the database has less than was acknowledged."""
        if self.record is None:
            return None
        last = self.record.read()
        with database.sql_errors(self.name), self.readings.reading() as connection:
            return self.record.problem(last, database.read_identity(connection))

    def accept_state(self) -> None:
        """Go on with what the database has, whatever is on record."""
        self._accepting = True
        try:
            with self.writing():
                pass
        finally:
            self._accepting = False

    def _let_go_of_readers(self) -> None:
        if isinstance(self.readings, DiskReadings):
            self.readings.let_go()

    def stop_writing(self) -> None:
        self._let_go_of_readers()
        if self.writer is not None:
            if self.record is not None:
                self.record.sync()
            self.writer.close()
            self.writer = None
        if self._lock is not None:
            self._lock.release()

    def remove_orphans(self, connection: sqlite3.Connection) -> None:
        """Files that a writer left behind when it was killed: written, but never used, or no longer."""
        used = {number for (number,) in connection.execute("SELECT number FROM segments")} | self.discarded()
        for path in (self.folder or Path()).glob("segments/*"):
            if path.suffix == ".partial" or segment_number(path) not in used:
                path.unlink(missing_ok=True)

    def close(self) -> None:
        self.closed = True
        self.readings.close()
        self.stop_writing()
