"""What the collections of an embedded store are called: they are numbered, and names and aliases lead to the numbers.

A number is never given twice, so whoever has a collection open stays with it, whatever it is called meanwhile, and learns when it is gone.
The two tables are there from the first alias, or the first dropped collection on.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from lookalike.stores.embedded import database
from lookalike.stores.embedded.database import ROWS
from lookalike.stores.embedded.place import DatabasePlace
from lookalike.stores.embedded.readings import MemoryReadings, Reads
from lookalike.stores.embedded.states import number_of, read_aliases
from lookalike.stores.embedded.store import EmbeddedStore
from lookalike.stores.names import no_such_collection, require_free
from lookalike.stores.settings import Wanted

ALIASES = "CREATE TABLE IF NOT EXISTS aliases (name TEXT PRIMARY KEY, collection INTEGER NOT NULL)"
DROPPED = "CREATE TABLE IF NOT EXISTS dropped (collection INTEGER PRIMARY KEY)"


class EmbeddedNames:
    """See ``stores.base.Names``."""

    def __init__(self, place: DatabasePlace) -> None:
        self._place, self.name = place, place.name
        place.hold(self)

    def discarded(self) -> set[int]:
        return set()

    def collections(self) -> list[str]:
        return self._place.collections()

    def aliases(self) -> dict[str, str]:
        self._place.require_open()
        with database.sql_errors(self.name), self._place.readings.reading() as connection:
            return read_aliases(connection)

    def rename(self, collection: str, name: str) -> None:
        with self._place.writing() as connection:
            number = self._collection(connection, collection)
            require_free(name, self.name, self._collections(connection), read_aliases(connection))
            connection.execute("UPDATE collections SET name = ? WHERE number = ?", (name, number))
            self._chain(connection, "rename", collection, name)

    def alias(self, name: str, collection: str) -> None:
        with self._place.writing() as connection:
            number = number_of(connection, collection)
            if number is None:
                raise no_such_collection(collection, self.name, self._collections(connection))
            require_free(name, self.name, self._collections(connection), {})
            connection.execute(ALIASES)
            connection.execute("INSERT OR REPLACE INTO aliases VALUES (?, ?)", (name, number))
            self._chain(connection, "alias", name, collection)

    def drop(self, name: str) -> int:
        with self._place.writing() as connection:
            if name in read_aliases(connection):
                connection.execute("DELETE FROM aliases WHERE name = ?", (name,))
                self._chain(connection, "drop", name)
                return 0
            number = self._collection(connection, name)
            self._keep_for_readers(connection, number)
            gone = _delete(connection, number)
            self._chain(connection, "drop", name)
        if self._place.writer is not None:
            self._place.remove_orphans(self._place.writer.connection)
        return gone

    def _keep_for_readers(self, connection: sqlite3.Connection, number: int) -> None:
        """In memory, whoever reads the collection goes on until he has read it."""
        readings = self._place.readings
        if isinstance(readings, MemoryReadings):
            range_ = (number * ROWS, (number + 1) * ROWS)
            rows = [row for (row,) in connection.execute("SELECT row FROM documents WHERE row >= ? AND row < ?", range_)]
            readings.keep_for_readers(rows, 1 << 62)

    def _collections(self, connection: Reads) -> list[str]:
        return [name for (name,) in connection.execute("SELECT name FROM collections ORDER BY name").fetchall()]

    def _collection(self, connection: Reads, name: str) -> int:
        """The number of a collection, not of an alias."""
        found = connection.execute("SELECT number FROM collections WHERE name = ?", (name,)).fetchone()
        if found is None:
            raise no_such_collection(name, self.name, self._collections(connection), read_aliases(connection))
        return int(found[0])

    def _chain(self, connection: sqlite3.Connection, *what: str) -> None:
        self._place.chain(connection, database.read_identity(connection), repr(what).encode("utf-8", "surrogatepass"))

    def open(self, collection: str, wanted: Wanted, *, create: bool) -> EmbeddedStore:
        return EmbeddedStore(self._place, collection, wanted, create=create and not self._place.read_only)

    def close(self) -> None:
        if self._place.is_let_go_by(self):
            self._place.close()


def _delete(connection: sqlite3.Connection, number: int) -> int:
    """A collection with all that belongs to it; returns how many documents it had."""
    range_ = (number * ROWS, (number + 1) * ROWS)
    gone = connection.execute("DELETE FROM documents WHERE row >= ? AND row < ?", range_).rowcount
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table in {"members", "expiring"} & there:
        connection.execute(f"DELETE FROM {table} WHERE row >= ? AND row < ?", range_)  # noqa: S608
    for table in {"segments", "removed", "secrets", "aliases", "fields"} & there:
        connection.execute(f"DELETE FROM {table} WHERE collection = ?", (number,))  # noqa: S608
    connection.execute("DELETE FROM collections WHERE number = ?", (number,))
    connection.execute(DROPPED)
    connection.execute("INSERT INTO dropped VALUES (?)", (number,))
    return int(gone)


def names_in_folder(location: str, *, read_only: bool = False) -> EmbeddedNames:
    """The collections of a store that is there."""
    return EmbeddedNames(DatabasePlace(Path(location), Wanted(), read_only=read_only, create=False))
