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

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from os import getpid
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.errors import StoreError
from lookalike.keys import Key
from lookalike.lazy import cached_property
from lookalike.segments.container import verify_mapped
from lookalike.segments.graphs import VectorGraph
from lookalike.stores.base import Added, Additions, CheckReport, Names, OnProgress
from lookalike.stores.embedded import database
from lookalike.stores.embedded.beside import read_expired, remove_beside, write_beside
from lookalike.stores.embedded.checking import check_collection
from lookalike.stores.embedded.direct import DirectNear, DirectSimhash, Found
from lookalike.stores.embedded.discarded import Discarded
from lookalike.stores.embedded.fields import TABLE as FIELDS
from lookalike.stores.embedded.fields import remove_fields, write_fields
from lookalike.stores.embedded.graph_files import graph_path
from lookalike.stores.embedded.kept_secrets import keep_secret, read_secret
from lookalike.stores.embedded.making import DATABASE
from lookalike.stores.embedded.place import DatabasePlace
from lookalike.stores.embedded.readings import IDLE, Active, DiskReadings, MemoryReadings, MemoryReads, Reads
from lookalike.stores.embedded.row_checks import further_columns
from lookalike.stores.embedded.rows import add_missing_checks, find_ids, insert
from lookalike.stores.embedded.sealing import Fresh, Sealer
from lookalike.stores.embedded.snapshots import Cache, Snapshot
from lookalike.stores.embedded.states import State, new_number, number_of, read_state, segment_path
from lookalike.stores.ids import Id
from lookalike.stores.settings import Settings, Wanted

Answer = TypeVar("Answer")
AT_ONCE = 1024  # documents that are decided on together: they wait for one commit
SEAL_AT_CLOSE = 2048  # newer documents than these are built into segments in memory, in some milliseconds
SEAL_BYTES_AT_CLOSE = 16 << 20  # of texts: fewer documents, if they are long


class EmbeddedStore:
    """One collection of a store on disk or in memory. Threads may share it: they read at the same time, and write in turn."""

    def __init__(self, place: DatabasePlace, collection: str, wanted: Wanted, *, create: bool = True) -> None:
        self.place, self.folder, self.collection = place, place.folder, collection
        self.name, self._segments, self._record, self._readings = place.name, place.segments, place.record, place.readings
        self._turns = place.turns
        self._closed = False
        self.usual: _native.UsualSearches | None = None
        self._fresh = Fresh()
        # Where somebody wants less: bytes of the largest file that is made by merging, in memory, and of texts that are sealed at a time.
        self.most_merged_bytes: int | None = None
        self.most_sealed_bytes: int | None = None
        self._active = Active()  # readings, by the generation of segments that they see
        self._discarded = Discarded(self._segments, self._active)
        self.wanted = wanted
        place.hold(self)
        try:
            self._number, self._stored_settings, self.settings = self._open_collection(wanted, create)
        except BaseException:
            with suppress(StoreError):  # the first error is the one to tell
                self._let_go()
            raise
        self._cache = Cache(self._segments, self.settings)
        readings = self._readings
        # Of searches that ask for nothing special: ``Index.search`` asks it first.
        self.usual = _native.UsualSearches(readings.idle, readings.give_back, IDLE) if isinstance(readings, DiskReadings) else None

    def _open_collection(self, wanted: Wanted, create: bool) -> tuple[int, str, Settings]:
        """Its number, and its settings as they are stored and as they are read. The number stays the same whatever it is called."""
        last = self._record.read() if self._record else None
        with database.sql_errors(self.name), self._readings.reading() as connection:
            database.check_format(connection, self.name)
            number = number_of(connection, self.collection)
            state = None if number is None else read_state(connection, number)
            self._further = further_columns(database.table_columns(connection))
            if self._record and state is None:
                self._record.verify(last, database.read_identity(connection))
            secret = None if state is None else read_secret(connection, state.number)
        if state is None:
            if not create:
                there = ", ".join(self.place.collections()) or "none"
                raise StoreError(f"{self.name} has no collection {self.collection!r}; it has {there}")
            return self._make_collection(wanted.made())
        where = f"{self.name}, collection {self.collection!r}"
        settings = Settings.from_json(state.settings, where, wanted, lambda check: Key.stored(check, secret, where))
        return state.number, state.settings, settings

    def _make_collection(self, settings: Settings) -> tuple[int, str, Settings]:
        was_writer = self.place.writer is not None
        with self._writing() as writer:
            self._add_columns(writer, settings)
            number = new_number(writer)
            writer.execute("INSERT INTO collections VALUES (?, ?, ?, 0, 0, 0, 0, 0)", (number, self.collection, settings.to_json()))
            self._keep_secret(writer, number, settings)
            self.place.chain(writer, database.read_identity(writer), settings.to_json().encode())
        if not was_writer:
            self.place.stop_writing()  # the lock is for those who add something
        return number, settings.to_json(), settings

    def _add_columns(self, connection: sqlite3.Connection, settings: Settings) -> None:
        database.add_columns(connection, settings.stored)
        if settings.indexed:
            connection.execute(FIELDS)
        self._further = further_columns(database.table_columns(connection))

    def _keep_secret(self, connection: sqlite3.Connection, number: int, settings: Settings) -> None:
        if settings.recipe.key is not None:
            keep_secret(connection, number, settings.recipe.key, self.folder / DATABASE if self.folder else None)

    def _require_open(self) -> None:
        self.place.require_open()
        if self._closed:
            raise StoreError(f"{self.name} is closed: open it again")

    def _writing(self) -> AbstractContextManager[sqlite3.Connection]:
        """A transaction, see ``DatabasePlace.writing``; the place may be open where this collection is closed."""
        self._require_open()
        return self.place.writing()

    def reading(self, *, on_record: bool = True) -> AbstractContextManager[Snapshot]:
        """A consistent state of the collection, whatever is written meanwhile. It may end in another thread than it began in.

        It has all that was acknowledged, unless ``on_record`` is False: then whoever asks looks after that.
        """
        return _Reading(self, on_record)

    # By the first search: a secret that is missing is told when it is needed.
    @cached_property
    def _direct_near(self) -> DirectNear | None:
        return DirectNear.of(self)

    @cached_property
    def _direct_simhash(self) -> DirectSimhash | None:
        return DirectSimhash.of(self)

    def near(self, text: str, threshold: float, limit: int, with_text: bool) -> Found | None:
        """What ``DirectNear`` finds; None where that is not to be had."""
        if self._closed or self.place.closed or self.place.process != getpid():  # without a call: every search passes here
            self._require_open()
        direct = self._direct_near
        return None if direct is None else direct.find(self, text, threshold, limit, with_text)

    def within(self, text: str, k: int, limit: int, with_text: bool) -> Found | None:
        """What ``DirectSimhash`` finds; None where that is not to be had."""
        self._require_open()
        direct = self._direct_simhash
        return None if direct is None else direct.find(self, text, k, limit, with_text)

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
        state = read_state(connection, self._number, self._further)
        if state is None:
            raise StoreError(f"{self.name} has no collection {self.collection!r} any more")
        if state.settings != self._stored_settings:
            raise StoreError(f"{self.name}: another process has changed what collection {self.collection!r} is made with: open it again")
        return state

    def discarded(self) -> set[int]:
        """Segments that nothing names any more, while somebody may still open their files."""
        return self._discarded.numbers()

    def _discard(self, numbers: Iterable[int]) -> None:
        with self._writing() as connection:
            generation = self._state(connection).generation
        self._discarded.add(numbers, generation)

    @property
    def at_once(self) -> int:
        return AT_ONCE

    def decide(self, keys: NDArray[np.int64] | None, choose: Callable[[Snapshot], tuple[Additions, Answer]]) -> Answer:
        """One decides at a time, of all threads and processes: there is one writer. Whoever was not it before lets others have a turn."""
        self._require_open()
        with self.place.deciding():
            with self.reading() as snapshot:
                batch, answer = choose(snapshot)
            self.write(batch)
        if self.place.writer is None:
            self._fresh = Fresh()  # others write next
        return answer

    def write(self, batch: Additions) -> Added:
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
                if self.settings.indexed:
                    write_fields(connection, state, self.settings.indexed, batch.metas)
                connection.execute(
                    "UPDATE collections SET documents = documents + ?, next_row = next_row + ?, version = version + 1 WHERE number = ?",
                    (count - updated, count, state.number),
                )
                self.place.chain(connection, state.store, checks)
            if self._segments is not None:
                self._fresh.keep(stretch)
                if self._fresh.is_due(state.next_row + count - state.sealed_row, self.most_sealed_bytes):
                    self._sealer().seal()
                    # More that comes in bulk would fill the same pages, and to have them made again takes longer than to keep them.
                    if self.place.writer is not None and not self._fresh.in_bulk:
                        self.place.writer.forget_pages()
        return Added(count - updated, updated)

    def _remove_rows(self, connection: sqlite3.Connection, state: State, found: Mapping[Id, int]) -> int:
        base = state.number * database.ROWS
        if isinstance(self._readings, MemoryReadings):
            self._readings.keep_for_readers([base + row for row in found.values()], state.version + 1)
        if self.settings.indexed:
            remove_fields(connection, state, self.settings.indexed, list(found.values()))
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
        self.place.chain(connection, state.store, repr(sorted(found.values())).encode())
        return removed

    def adopt(self, settings: Settings) -> bool:
        with self._turns:
            with self._writing() as connection:
                state = self._state(connection)
                if state.next_row:
                    return False
                self._add_columns(connection, settings)
                self._keep_secret(connection, state.number, settings)
                self.place.chain(connection, state.store, settings.to_json().encode())
                connection.execute(
                    "UPDATE collections SET settings = ?, generation = generation + 1, version = version + 1 WHERE number = ?",
                    (settings.to_json(), state.number),
                )
                if isinstance(self._readings, MemoryReadings):
                    self._readings.columns_changed()
            self.settings, self._stored_settings = settings, settings.to_json()
            self._cache = Cache(self._segments, settings)
            self.__dict__.pop("_direct", None)
        return True

    def _seal_tail(self) -> None:
        """Before closing: whoever opens the store next should not have to build this again and again."""
        with self._writing() as connection:
            state = read_state(connection, self._number)
        if state is None:  # somebody may have dropped the collection
            return
        if state.next_row - state.sealed_row >= SEAL_AT_CLOSE or self._fresh.text_bytes >= SEAL_BYTES_AT_CLOSE:
            self._sealer().seal()

    def _sealer(self) -> Sealer:
        return Sealer(self._segments, self.settings, self._fresh, self._state, self._writing, self._discard, self.most_merged_bytes)

    def compact(self, progress: OnProgress | None = None) -> dict[str, Any]:
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
            if self.folder is not None and self.place.writer is not None:
                with database.write_errors(self.name):
                    self.place.writer.connection.execute("VACUUM")
                    self.place.stop_writing()  # moves the log into the database
            return {"bytes_before": before, "bytes_after": self._bytes()}

    def _drop_expired(self) -> None:
        with self._writing() as connection:
            state = self._state(connection)
            rows, _ = read_expired(connection, state.number, round(time.time() * 1000))
            if rows:
                self._removed_from(connection, state, dict(enumerate(rows)))

    def check(self, repair: bool, progress: OnProgress | None = None) -> CheckReport:
        with self._turns:  # files that are being written are not yet named
            return check_collection(self, self._segments, self.settings, repair, progress)

    def _documents(self) -> int:
        with self.reading() as snapshot:
            return snapshot.count()

    def _bytes(self) -> int:
        if self.folder is None:
            return 0
        # A file that is gone by now was being written, or is no longer needed.
        return sum(_size(Path(folder, name)) for folder, _, names in os.walk(self.folder) for name in names)

    def names(self) -> Names:
        from lookalike.stores.embedded.names import EmbeddedNames

        return EmbeddedNames(self.place)

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
            found = {"documents": state.documents, "collections": self.place.collections(), "bytes": self._bytes()}
            found["segments"] = len(segments)
            removed = len(snapshot.removed_rows())
            return found | {"unsealed": state.next_row - state.sealed_row, "removed": removed, "segment_bytes": sizes}

    def close(self, progress: OnProgress | None = None) -> None:
        if self.place.is_of_another_process:
            return  # all of it is the parent's
        with self._turns, database.write_errors(self.name):
            if self._closed:
                return
            if self.place.writer is not None:
                self._seal_tail()
            self._let_go()

    def _let_go(self) -> None:
        with self._turns, database.write_errors(self.name):
            self._closed = True
            if self.usual is not None:
                self.usual.close()
            if self.place.is_let_go_by(self):
                self.place.close()
            self._discarded.delete(every=True)


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
        self._store._discarded.delete()
