"""The embedded store: a folder with an SQLite database, which is the truth, and segments, which are a cache of it.

    NAME.lookalike/
      store.sqlite   documents, texts, fingerprints; which segments there are
      acknowledged   what was acknowledged, see stores.acknowledged
      writer.lock    held by the one process that writes
      reader.lock    see stores.database
      segments/      NUMBER.KIND, immutable files; anything can be rebuilt from the database. NUMBER.graph is of NUMBER.vector

``memory://`` is the same over a database in memory, without files.
"""

from __future__ import annotations

import copy
import logging
import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import StoreBusy, StoreError
from lookalike.keys import Key
from lookalike.segments.container import verify_mapped
from lookalike.segments.graphs import VectorGraph
from lookalike.stores.base import Added, Batch, CheckReport, Progress
from lookalike.stores.embedded import database
from lookalike.stores.embedded.acknowledged import MANY, Record, chained
from lookalike.stores.embedded.beside import read_expired, remove_beside, write_beside
from lookalike.stores.embedded.checking import check_collection
from lookalike.stores.embedded.dropping import drop_rows
from lookalike.stores.embedded.graph_files import graph_path
from lookalike.stores.embedded.kept_secrets import keep_secret, read_secret
from lookalike.stores.embedded.locks import FileLock
from lookalike.stores.embedded.making import DATABASE, READER_LOCK, SEGMENTS, WRITER_LOCK, find_or_make
from lookalike.stores.embedded.readings import Active, DiskReadings, MemoryReadings, MemoryReads, Reads
from lookalike.stores.embedded.row_checks import further_columns
from lookalike.stores.embedded.rows import add_missing_checks, find_ids, insert
from lookalike.stores.embedded.sealing import SEAL_ROWS, Fresh, Sealer
from lookalike.stores.embedded.snapshots import Cache, Snapshot
from lookalike.stores.embedded.states import State, read_sealed, read_state, segment_number, segment_path
from lookalike.stores.ids import Id
from lookalike.stores.settings import Settings, Wanted

_log = logging.getLogger("lookalike")
Answer = TypeVar("Answer")
AT_ONCE = 1024  # documents that are decided on together: they wait for one commit
TURN_SECONDS = 30.0  # that somebody waits for others who decide
SEAL_AT_CLOSE = 2048  # newer documents than these are built into segments in memory, in some milliseconds


class Office:
    """What the collections share that a process writes together: the one writer's connection, and what it has yet to put on record."""

    def __init__(self) -> None:
        self.writer: database.WriteConnection | None = None
        self.unsaid: tuple[database.Identity, int] | None = None  # committed, and not yet on record; of how many documents
        self.accepting = False
        self.members: list[EmbeddedStore] = []  # those that are open


class EmbeddedStore:
    """One collection of a store on disk or in memory. Threads may share it: they read at the same time, and write in turn."""

    def __init__(self, folder: Path | None, collection: str, wanted: Wanted, *, read_only: bool = False, create: bool = True) -> None:
        self.folder, self._read_only = folder, read_only
        self.name = f"store {str(folder)!r}" if folder else "memory://"
        self._turns = threading.RLock()  # of those who change something
        self._office = Office()
        self._lock: FileLock | None = None
        self._process = os.getpid()
        self._record = Record(folder, self.name) if folder else None
        self._readings: DiskReadings | MemoryReadings
        if folder is None:
            self._readings = MemoryReadings(self.name)
        else:
            find_or_make(folder, self.name, wanted, create and not read_only)
            self._readings = DiskReadings(folder / DATABASE, folder / READER_LOCK)
            self._lock = FileLock(folder / WRITER_LOCK)
        self._segments = folder / SEGMENTS if folder else None
        self._begin(collection, wanted, create and not read_only)

    def _begin(self, collection: str, wanted: Wanted, create: bool) -> None:
        """Open the collection: all that is of this one alone."""
        self.collection, self.wanted, self._closed = collection, wanted, False
        self._fresh = Fresh()
        self._active = Active()  # readings, by the generation of segments that they see
        self._discarded: dict[int, int] = {}  # segments that nothing names any more, by the first generation without them
        self._office.members.append(self)
        try:
            self.settings = self._open_collection(wanted, create)
        except BaseException:
            with suppress(StoreError):  # the first error is the one to tell
                self._let_go()
            raise
        self._cache = Cache(self._segments, self.settings)

    def sibling(self, collection: str, wanted: Wanted, *, create: bool) -> EmbeddedStore:
        """Another collection of the same store, written over the same connection: to write them in turn costs no more than to write one."""
        with self._turns:
            self._require_open()
            other = copy.copy(self)
            other._begin(collection, wanted, create and not self._read_only)
            return other

    def _open_collection(self, wanted: Wanted, create: bool) -> Settings:
        last = self._record.read() if self._record else None
        with database.sql_errors(self.name), self._readings.reading() as connection:
            database.check_format(connection, self.name)
            state = read_state(connection, self.collection)
            self._further = further_columns(database.table_columns(connection))
            if self._record and state is None:
                self._record.verify(last, database.read_identity(connection))
            secret = None if state is None else read_secret(connection, state.number)
        if state is None:
            if not create:
                raise StoreError(f"{self.name} has no collection {self.collection!r}; it has {', '.join(self.collections()) or 'none'}")
            settings = wanted.made()
            with self._writing() as writer:
                self._add_columns(writer, settings)
                # Generations and versions begin at the time, in microseconds: beyond those of a dropped collection of this name, which
                # others may still have open and in their caches.
                now = time.time_ns() // 1000
                writer.execute(
                    "INSERT INTO collections VALUES ((SELECT coalesce(max(number), -1) + 1 FROM collections), ?, ?, 0, 0, 0, ?, ?)",
                    (self.collection, settings.to_json(), now, now),
                )
                self._keep_secret(writer, settings)
                self._chain(writer, database.read_identity(writer), settings.to_json().encode())
            if self.folder:
                self._stop_writing()  # the lock is for those who add something
            self._stored_settings = settings.to_json()
            return settings
        where = f"{self.name}, collection {self.collection!r}"
        self._stored_settings = state.settings
        return Settings.from_json(state.settings, where, wanted, lambda check: Key.stored(check, secret, where))

    def _add_columns(self, connection: sqlite3.Connection, settings: Settings) -> None:
        database.add_columns(connection, settings.stored)
        self._further = further_columns(database.table_columns(connection))

    def _keep_secret(self, connection: sqlite3.Connection, settings: Settings) -> None:
        if settings.recipe.key is not None:
            keep_secret(connection, self.collection, settings.recipe.key, self.folder / DATABASE if self.folder else None)

    def collections(self) -> list[str]:
        """The names of all collections of the store."""
        self._require_open()
        with database.sql_errors(self.name), self._readings.reading() as connection:
            return [name for (name,) in connection.execute("SELECT name FROM collections ORDER BY name").fetchall()]

    def _require_open(self) -> None:
        if self._process != os.getpid() and self.folder is not None:
            raise StoreError(
                f"{self.name} was opened by process {self._process}, and this process is a fork of it: open the store again here"
            )
        if self._closed:
            raise StoreError(f"{self.name} is closed: open it again")

    def reading(self, *, on_record: bool = True) -> AbstractContextManager[Snapshot]:
        """A consistent state of the collection, whatever is written meanwhile. It may end in another thread than it began in.

        It has all that was acknowledged, unless ``on_record`` is False: then whoever asks looks after that.
        """
        return _Reading(self, on_record)

    def _begin_reading(self, reading: AbstractContextManager[Reads], token: object, on_record: bool) -> Snapshot:
        last = self._record.read() if self._record else None  # before the transaction begins: the database is never behind it
        with database.sql_errors(self.name):
            connection = reading.__enter__()
            try:
                with self._readings.steady():
                    state = self._state(connection)
                    if self._record and on_record:
                        self._record.verify(last, state.store)
                    if isinstance(connection, MemoryReads):
                        connection.sees(state.version)
                    snapshot = Snapshot(connection, self._cache, state, self._require_open)
                self._active.sees(token, state.generation)
                if self._segments is not None:
                    verify_mapped(self._segments)
            except BaseException as error:
                reading.__exit__(type(error), error, error.__traceback__)
                raise
        return snapshot

    def _state(self, connection: Reads) -> State:
        state = read_state(connection, self.collection, self._further)
        if state is None:
            raise StoreError(f"{self.name} has no collection {self.collection!r} any more")
        if state.settings != self._stored_settings:
            raise StoreError(f"{self.name}: another process has changed what collection {self.collection!r} is made with: open it again")
        return state

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction of the one writer. The first makes this process the writer, until the store is closed."""
        with self._turns, database.write_errors(self.name):
            self._require_open()
            if self._read_only:
                raise StoreError(f"{self.name} was opened with read_only=True: open it without read_only to change it")
            if isinstance(self._readings, MemoryReadings):
                with self._readings.transaction() as connection:
                    yield connection
                return
            if self._office.writer is None:
                self._become_writer()
            assert self._office.writer is not None  # noqa: S101
            self._say()
            try:
                with self._office.writer.transaction() as connection:
                    yield connection
            except BaseException:
                self._office.unsaid = None
                raise
            self._say()
            if self._office.writer.has_long_log():
                self._readings.let_go()
                self._office.writer.checkpoint()

    def _chain(self, connection: sqlite3.Connection, store: database.Identity, contents: bytes, count: int = MANY) -> None:
        """Number a change that is about to be committed."""
        if self._record is not None:
            changed = chained(store, contents)
            database.write_chain(connection, changed)
            self._office.unsaid = changed, count

    def _say(self) -> None:
        """Put what was committed on record. If that fails, it is done before anything else is committed."""
        if self._office.unsaid is not None and self._record is not None:
            store, count = self._office.unsaid
            self._record.write(store, sync=count >= MANY)
            self._office.unsaid = None

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
            self._office.writer = database.WriteConnection(self.folder / DATABASE, self.folder / READER_LOCK)
            database.bring_up_to_date(self._office.writer.connection)
            self._take_record(self._office.writer.connection)
            self._remove_orphans(self._office.writer.connection)
        except BaseException:
            self._stop_writing()
            raise

    def _take_record(self, connection: sqlite3.Connection) -> None:
        """Whoever wrote last may have been killed after a commit and before it was on record."""
        assert self._record is not None  # noqa: S101
        last, store = self._record.read(), database.read_identity(connection)
        if self._office.accepting:
            self._record.start_anew(store)
            return
        self._record.verify(last, store)
        if last is None or last.changes < store.changes:
            self._record.write(store)

    def record_problem(self) -> str | None:
        """Whether the database has less than was acknowledged."""
        if self._record is None:
            return None
        last = self._record.read()
        with database.sql_errors(self.name), self._readings.reading() as connection:
            return self._record.problem(last, database.read_identity(connection))

    def accept_state(self) -> None:
        """Go on with what the database has, whatever is on record."""
        self._office.accepting = True
        try:
            with self._writing():
                pass
        finally:
            self._office.accepting = False

    def _let_go_of_readers(self) -> None:
        if isinstance(self._readings, DiskReadings):
            self._readings.let_go()

    def _stop_writing(self) -> None:
        self._let_go_of_readers()
        if self._office.writer is not None:
            if self._record is not None:
                self._record.sync()
            self._office.writer.close()
            self._office.writer = None
        if self._lock is not None:
            self._lock.release()

    def _remove_orphans(self, connection: sqlite3.Connection) -> None:
        """Files that a writer left behind when it was killed: written, but never used, or no longer."""
        used = {number for (number,) in connection.execute("SELECT number FROM segments")}
        used |= {number for each in self._office.members for number in each.discarded()}
        for path in (self.folder or Path()).glob("segments/*"):
            if path.suffix == ".partial" or segment_number(path) not in used:
                path.unlink(missing_ok=True)

    def discarded(self) -> set[int]:
        """Segments that nothing names any more, while somebody may still open their files."""
        return set(self._discarded)

    def _discard(self, numbers: Iterable[int]) -> None:
        with self._writing() as connection:
            generation = self._state(connection).generation
        self._discarded |= dict.fromkeys(numbers, generation)
        self._delete_discarded()

    def _delete_discarded(self, every: bool = False) -> None:
        if not self._discarded or self._segments is None:
            return
        oldest = self._active.oldest()
        for number, generation in list(self._discarded.items()):
            if every or oldest is None or oldest >= generation:
                try:
                    for path in self._segments.glob(f"{number:08d}.*"):
                        path.unlink(missing_ok=True)
                except OSError as error:  # nothing names it: it costs room, and is tried again
                    _log.warning("segment %d could not be deleted (%s); the next writer deletes it", number, error.strerror)
                else:
                    self._discarded.pop(number, None)

    @property
    def at_once(self) -> int:
        return AT_ONCE

    def decide(self, keys: NDArray[np.int64] | None, choose: Callable[[Snapshot], tuple[Batch, Answer]]) -> Answer:
        """One decides at a time, of all threads and processes: there is one writer. Whoever was not it before lets others have a turn."""
        with self._turns:
            passing = self.folder is not None and self._office.writer is None
            if passing:
                self._wait_for_turn()
            try:
                with self.reading() as snapshot:
                    batch, answer = choose(snapshot)
                self.write(batch)
            finally:
                if passing:
                    self._stop_writing()
                    self._fresh = Fresh()  # others write next
        return answer

    def _wait_for_turn(self) -> None:
        """Become the writer, once nobody else is."""
        end = time.monotonic() + TURN_SECONDS
        while True:
            try:
                with self._writing():
                    return
            except StoreBusy:
                if time.monotonic() > end:
                    raise
            time.sleep(random.uniform(0.0005, 0.003))  # noqa: S311 - not for secrets

    def write(self, batch: Batch) -> Added:
        if len(batch) == 0:
            return Added(0, 0)
        with self._turns:
            with self._writing() as connection:
                state = self._state(connection)
                connection.execute("SAVEPOINT fresh")
                try:
                    stretch, checks = insert(connection, state, batch, self.settings)
                    updated, count = 0, len(batch)
                except sqlite3.IntegrityError:  # some ids are there already
                    connection.execute("ROLLBACK TO fresh")
                    batch = batch.last_of_each()
                    updated, count = self._remove_rows(connection, state, find_ids(connection, state.number, batch.ids)), len(batch)
                    stretch, checks = insert(connection, state, batch, self.settings)
                write_beside(connection, state, batch)
                connection.execute(
                    "UPDATE collections SET documents = documents + ?, next_row = next_row + ?, version = version + 1 WHERE number = ?",
                    (count - updated, count, state.number),
                )
                self._chain(connection, state.store, checks, count)
            if self._segments is not None:
                self._fresh.keep(stretch)
            if state.next_row + count - state.sealed_row >= SEAL_ROWS:
                self._sealer().seal()
        return Added(count - updated, updated)

    def _remove_rows(self, connection: sqlite3.Connection, state: State, found: Mapping[Id, int]) -> int:
        base = state.number * database.ROWS
        if isinstance(self._readings, MemoryReadings):
            self._readings.keep_for_readers([base + row for row in found.values()], state.version + 1)
        connection.executemany("DELETE FROM documents WHERE row = ?", ((base + row,) for row in found.values()))
        connection.executemany("INSERT INTO removed (collection, row) VALUES (?, ?)", ((state.number, row) for row in found.values()))
        remove_beside(connection, [base + row for row in found.values()])
        return len(found)

    def remove(self, ids: Sequence[Id]) -> int:
        with self._writing() as connection:
            state = self._state(connection)
            found = find_ids(connection, state.number, dict.fromkeys(ids))
            return self._removed_from(connection, state, found)

    def _removed_from(self, connection: sqlite3.Connection, state: State, found: Mapping[Id, int]) -> int:
        removed = self._remove_rows(connection, state, found)
        connection.execute(
            "UPDATE collections SET documents = documents - ?, version = version + 1 WHERE number = ?", (removed, state.number)
        )
        self._chain(connection, state.store, repr(sorted(found.values())).encode(), removed)
        return removed

    def drop(self) -> int:
        """Remove the collection with all that belongs to it, in one transaction; returns how many documents it had. It is closed then."""
        with self._turns:
            with self._writing() as connection:
                state = self._state(connection)
                dropped = [segment.number for segment in read_sealed(connection, state.number)]
                drop_rows(connection, state.number)
                self._chain(connection, state.store, repr((self.collection, state.documents)).encode())
            # Readers of other processes that have not opened a file yet build from the database what they still see there.
            self._discarded |= dict.fromkeys(dropped, state.generation + 1)
            self._let_go()
        return state.documents

    def adopt(self, settings: Settings) -> bool:
        with self._turns:
            with self._writing() as connection:
                state = self._state(connection)
                if state.next_row:
                    return False
                self._add_columns(connection, settings)
                self._keep_secret(connection, settings)
                self._chain(connection, state.store, settings.to_json().encode())
                connection.execute(
                    "UPDATE collections SET settings = ?, generation = generation + 1, version = version + 1 WHERE number = ?",
                    (settings.to_json(), state.number),
                )
                if isinstance(self._readings, MemoryReadings):
                    self._readings.columns_changed()
            self.settings, self._stored_settings = settings, settings.to_json()
            self._cache = Cache(self._segments, settings)
        return True

    def _seal_tail(self) -> None:
        """Before closing: whoever opens the store next should not have to build this again and again."""
        with self._writing() as connection:
            state = self._state(connection)
        if state.next_row - state.sealed_row >= SEAL_AT_CLOSE:
            self._sealer().seal()

    def _sealer(self) -> Sealer:
        return Sealer(self._segments, self.settings, self._fresh, self._state, self._writing, self._discard)

    def compact(self, progress: Progress = None) -> dict[str, Any]:
        """One segment of each kind, without removed documents, and a database without holes."""
        with self._turns:
            before = self._bytes()
            self._drop_expired()
            self._sealer().compact(progress)
            with self._writing() as connection:
                if self._state(connection).store.unchecked:
                    add_missing_checks(connection)
            if self.folder is None and progress:
                progress(self._documents())
            if self.folder is not None and self._office.writer is not None:
                with database.write_errors(self.name):
                    self._office.writer.connection.execute("VACUUM")
                    self._stop_writing()  # moves the log into the database
            return {"bytes_before": before, "bytes_after": self._bytes()}

    def _drop_expired(self) -> None:
        with self._writing() as connection:
            state = self._state(connection)
            rows, _ = read_expired(connection, state.number, round(time.time() * 1000))
            if rows:
                self._removed_from(connection, state, dict(enumerate(rows)))

    def check(self, repair: bool, progress: Progress = None) -> CheckReport:
        with self._turns:  # files that are being written are not yet named
            return check_collection(self, self._segments, self.settings, repair, progress)

    def _documents(self) -> int:
        with self.reading() as snapshot:
            return snapshot.count()

    def _bytes(self) -> int:
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file()) if self.folder else 0

    def stats(self) -> dict[str, Any]:
        with self.reading() as snapshot:
            state = snapshot.state
            segments = snapshot.sealed()
            sizes = {
                kind: sum(_size(segment_path(self._segments, each.number, kind)) for each in segments) if self._segments else 0
                for kind in self.settings.kinds
            }
            graphs = [_size(graph_path(self._segments, each.number)) for each in segments] if self._segments else []
            if any(graphs):
                sizes[VectorGraph.kind] = sum(graphs)
            found = {"documents": state.documents, "collections": self.collections(), "bytes": self._bytes(), "segments": len(segments)}
            removed = len(snapshot.removed_rows())
            return found | {"unsealed": state.next_row - state.sealed_row, "removed": removed, "segment_bytes": sizes}

    def close(self) -> None:
        if self._process != os.getpid() and self.folder is not None:
            return  # all of it is the parent's
        with self._turns, database.write_errors(self.name):
            if self._closed:
                return
            if self._office.writer is not None:
                self._seal_tail()
            self._let_go()

    def _let_go(self) -> None:
        with self._turns, database.write_errors(self.name):
            self._closed = True
            if self in self._office.members:
                self._office.members.remove(self)
            if not self._office.members:
                self._readings.close()
                self._stop_writing()
            self._delete_discarded(every=True)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


class _Reading:
    """From the beginning of a reading to its end. Every search passes here, so this is no generator."""

    __slots__ = ("_inner", "_on_record", "_store", "_token")

    def __init__(self, store: EmbeddedStore, on_record: bool) -> None:
        self._store, self._on_record = store, on_record

    def __enter__(self) -> Snapshot:
        store = self._store
        store._require_open()
        self._token = store._active.enter()
        try:
            self._inner: AbstractContextManager[Reads] = store._readings.reading()
            return store._begin_reading(self._inner, self._token, self._on_record)
        except BaseException:
            self._leave()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        store = self._store
        try:
            errors = database.sql_errors(store.name)
            with errors:
                self._inner.__exit__(kind, error, trace)
            # Whatever was found, or went wrong: if a file was cut meanwhile, that is why.
            if store._segments is not None and (error is None or isinstance(error, Exception)):
                verify_mapped(store._segments)
            errors.__exit__(kind, error, trace)
        finally:
            self._leave()

    def _leave(self) -> None:
        self._store._active.leave(self._token)
        self._store._delete_discarded()
