"""The embedded store: a folder with an SQLite database, which is the truth, and segments, which are a cache of it.

    NAME.lookalike/
      store.sqlite   documents, texts, fingerprints; which segments there are
      writer.lock    held by the one process that writes
      reader.lock    see stores.database
      segments/      NUMBER.KIND, immutable files; anything can be rebuilt from the database. NUMBER.graph is of NUMBER.vector

``memory://`` is the same over a database in memory, without files.
"""

from __future__ import annotations

import itertools
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from lookalike.errors import StoreBusy, StoreError
from lookalike.search.graphs import VectorGraph
from lookalike.stores import database
from lookalike.stores.base import Added, Batch, CheckReport, Id, Progress
from lookalike.stores.checking import check_collection
from lookalike.stores.graph_files import graph_path
from lookalike.stores.locks import FileLock
from lookalike.stores.rows import find_ids, insert
from lookalike.stores.sealing import SEAL_ROWS, Fresh, Sealer
from lookalike.stores.settings import Settings, Wanted
from lookalike.stores.snapshots import Cache, Snapshot, State, read_sealed, read_state, segment_path

DATABASE = "store.sqlite"
SEAL_AT_CLOSE = 2048  # newer documents than these are built into segments in memory, in some milliseconds


class EmbeddedStore:
    """One collection of a store on disk or in memory."""

    def __init__(self, folder: Path | None, collection: str, wanted: Wanted, *, read_only: bool = False, create: bool = True) -> None:
        self.folder, self.collection, self._read_only = folder, collection, read_only
        self.name = f"store {str(folder)!r}" if folder else "memory://"
        self._guard = threading.RLock()
        self._writer: database.WriteConnection | _MemoryWriter | None = None
        self._reader: database.ReadConnection | None = None
        self._lock: FileLock | None = None
        self._closed = False
        self._fresh = Fresh()
        if folder is None:
            self._writer = _MemoryWriter()
        else:
            self._find(folder, wanted, create and not read_only)
            self._reader = database.ReadConnection(folder / DATABASE, folder / "reader.lock")
            self._lock = FileLock(folder / "writer.lock")
        try:
            self.settings = self._open_collection(wanted, create and not read_only)
        except BaseException:
            self.close()
            raise
        self._segments = folder / "segments" if folder else None
        self._cache = Cache(self._segments, self.settings)

    def _find(self, folder: Path, wanted: Wanted, create: bool) -> None:
        try:
            if (folder / DATABASE).is_file():
                return
            if not create:
                raise StoreError(f"{self.name} does not exist: add documents to create it")
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                raise StoreError(f"{str(folder)!r} is no store, and there is something else: choose another path")
            wanted.new().with_dimensions()  # a model that cannot be had should be said before anything is made
            (folder / "segments").mkdir(parents=True)
            for lock in ("writer.lock", "reader.lock"):
                (folder / lock).touch()
        except (OSError, ValueError) as error:
            raise StoreError(f"{self.name} cannot be made or opened: {getattr(error, 'strerror', None) or error}") from error
        with database.sql_errors(self.name):
            writer = database.WriteConnection(folder / DATABASE, folder / "reader.lock")
            try:
                database.create_schema(writer.connection)
            finally:
                writer.close()

    def _open_collection(self, wanted: Wanted, create: bool) -> Settings:
        with database.sql_errors(self.name):
            connection = self._connection()
            database.check_format(connection, self.name)
            state = read_state(connection, self.collection)
        if state is None:
            if not create:
                raise StoreError(f"{self.name} has no collection {self.collection!r}; it has {', '.join(self.collections()) or 'none'}")
            settings = wanted.new().with_dimensions()
            with self._writing() as writer:
                database.add_columns(writer, settings.kinds)
                writer.execute(
                    "INSERT INTO collections VALUES ((SELECT coalesce(max(number), -1) + 1 FROM collections), ?, ?, 0, 0, 0, 0, 0)",
                    (self.collection, settings.to_json()),
                )
            if self.folder:
                self._stop_writing()  # the lock is for those who add something
            return settings
        where = f"{self.name}, collection {self.collection!r}"
        return Settings.from_json(state.settings, where, wanted)

    def collections(self) -> list[str]:
        """The names of all collections of the store."""
        with self._guard, database.sql_errors(self.name):
            return [name for (name,) in self._connection().execute("SELECT name FROM collections ORDER BY name")]

    def _connection(self) -> sqlite3.Connection:
        if self._closed:
            raise StoreError(f"{self.name} is closed: open it again")
        if self._reader is not None:
            return self._reader.get()
        assert isinstance(self._writer, _MemoryWriter)  # noqa: S101 - a store has one or the other
        return self._writer.connection

    @contextmanager
    def reading(self) -> Iterator[Snapshot]:
        """A consistent state of the collection."""
        with self._guard, database.sql_errors(self.name):
            # Inside another reading, as when somebody searches while going through all documents, the state is the same one. In
            # memory nobody else could change it, and the one connection must be free for writing.
            connection = self._connection()
            begins = self.folder is not None and not connection.in_transaction
            if begins:
                connection.execute("BEGIN")
            try:
                yield Snapshot(connection, self._cache, self._state(connection))
            finally:
                if begins:
                    connection.execute("ROLLBACK")

    def _state(self, connection: sqlite3.Connection) -> State:
        state = read_state(connection, self.collection)
        if state is None:
            raise StoreError(f"{self.name} has no collection {self.collection!r} any more")
        return state

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction of the one writer. The first makes this process the writer, until the store is closed."""
        with self._guard, database.sql_errors(self.name):
            if self._closed:
                raise StoreError(f"{self.name} is closed: open it again")
            if self._read_only:
                raise StoreError(f"{self.name} was opened with read_only=True: open it without to change it")
            if self._writer is None:
                self._become_writer()
            assert self._writer is not None  # noqa: S101
            with self._writer.transaction() as connection:
                yield connection
            self._writer.checkpoint()

    def _become_writer(self) -> None:
        assert self.folder is not None  # noqa: S101 - memory has its writer from the start
        assert self._lock is not None  # noqa: S101
        try:
            acquired = self._lock.acquire()
        except OSError as error:
            raise StoreError(f"{self.name} may not be written: {error.strerror}; open it with read_only=True to search") from error
        if not acquired:
            raise StoreBusy(f"{self.name} is being written by process {self._lock.holder()}: wait until it closes the store, or read only")
        try:
            self._lock.sign()
            self._let_go_of_reader()
            self._writer = database.WriteConnection(self.folder / DATABASE, self.folder / "reader.lock")
            self._remove_orphans(self._writer.connection)
        except BaseException:
            self._stop_writing()
            raise

    def _let_go_of_reader(self) -> None:
        """Our own reader must not keep our own writer from moving the log into the database. It opens again when it is needed."""
        if self._reader is not None and (self._closed or not self._reader.reading):
            self._reader.close()

    def _stop_writing(self) -> None:
        self._let_go_of_reader()
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        if self._lock is not None:
            self._lock.release()

    def _remove_orphans(self, connection: sqlite3.Connection) -> None:
        """Files that a writer left behind when it was killed: written, but never used, or no longer."""
        used = {number for (number,) in connection.execute("SELECT number FROM segments")}
        for path in itertools.chain((self.folder or Path()).glob("segments/*")):
            if path.suffix == ".partial" or not path.stem.isdigit() or int(path.stem) not in used:
                path.unlink(missing_ok=True)

    def write(self, batch: Batch) -> Added:
        if len(batch) == 0:
            return Added(0, 0)
        with self._guard:
            with self._writing() as connection:
                state = self._state(connection)
                connection.execute("SAVEPOINT fresh")
                try:
                    columns = insert(connection, state.number, state.next_row, batch, self.settings)
                    updated, count = 0, len(batch)
                except sqlite3.IntegrityError:  # some ids are there already
                    connection.execute("ROLLBACK TO fresh")
                    batch = batch.last_of_each()
                    updated, count = self._remove_rows(connection, state, find_ids(connection, state.number, batch.ids)), len(batch)
                    columns = insert(connection, state.number, state.next_row, batch, self.settings)
                connection.execute(
                    "UPDATE collections SET documents = documents + ?, next_row = next_row + ?, version = version + 1 WHERE number = ?",
                    (count - updated, count, state.number),
                )
            if self._segments is not None:
                self._fresh.keep(columns)
            if state.next_row + count - state.sealed_row >= SEAL_ROWS:
                self._sealer().seal()
        return Added(count - updated, updated)

    def _remove_rows(self, connection: sqlite3.Connection, state: State, found: dict[Id, int]) -> int:
        base = state.number * database.ROWS
        connection.executemany("DELETE FROM documents WHERE row = ?", ((base + row,) for row in found.values()))
        connection.executemany("INSERT INTO removed (collection, row) VALUES (?, ?)", ((state.number, row) for row in found.values()))
        return len(found)

    def remove(self, ids: Sequence[Id]) -> int:
        with self._guard, self._writing() as connection:
            state = self._state(connection)
            removed = self._remove_rows(connection, state, find_ids(connection, state.number, dict.fromkeys(ids)))
            connection.execute(
                "UPDATE collections SET documents = documents - ?, version = version + 1 WHERE number = ?", (removed, state.number)
            )
        return removed

    def _seal_tail(self) -> None:
        """Before closing: whoever opens the store next should not have to build this again and again."""
        with self._writing() as connection:
            state = self._state(connection)
        if state.next_row - state.sealed_row >= SEAL_AT_CLOSE:
            self._sealer().seal()

    def _sealer(self) -> Sealer:
        return Sealer(self._segments, self.settings, self._fresh, self._state, self._writing)

    def compact(self, progress: Progress = None) -> dict[str, Any]:
        """One segment of each kind, without removed documents, and a database without holes."""
        with self._guard:
            before = self._bytes()
            self._sealer().compact(progress)
            if self.folder is not None and self._writer is not None:
                with database.sql_errors(self.name):
                    self._writer.connection.execute("VACUUM")
                    self._stop_writing()  # moves the log into the database
            return {"bytes_before": before, "bytes_after": self._bytes()}

    def check(self, repair: bool, progress: Progress = None) -> CheckReport:
        with self._guard:
            return check_collection(self, self._segments, self.settings, repair, progress)

    def _bytes(self) -> int:
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file()) if self.folder else 0

    def stats(self) -> dict[str, Any]:
        with self._guard, self.reading() as snapshot:
            state = snapshot.state
            segments = read_sealed(self._connection(), state.number)
            sizes = {
                kind: sum(_size(segment_path(self._segments, each.number, kind)) for each in segments) if self._segments else 0
                for kind in self.settings.kinds
            }
            graphs = [_size(graph_path(self._segments, each.number)) for each in segments] if self._segments else []
            if any(graphs):
                sizes[VectorGraph.kind] = sum(graphs)
            found = {"documents": state.documents, "collections": self.collections(), "bytes": self._bytes(), "segments": len(segments)}
            return found | {"unsealed": state.next_row - state.sealed_row, "removed": len(self._cache.removed), "segment_bytes": sizes}

    def close(self) -> None:
        with self._guard, database.sql_errors(self.name):
            if self._closed:
                return
            if isinstance(self._writer, database.WriteConnection):
                self._seal_tail()
            self._closed = True
            self._stop_writing()


class _MemoryWriter:
    """The one connection of a store in memory."""

    def __init__(self) -> None:
        self.connection = database.connect_memory()
        database.create_schema(self.connection)

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        return database.transaction(self.connection)

    def checkpoint(self) -> None:
        """Nothing to do: there is no log."""

    def close(self) -> None:
        self.connection.close()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
