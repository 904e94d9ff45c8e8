"""Which states a collection can be in: its row in the database, and its segments on disk."""

from __future__ import annotations

import sqlite3
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from lookalike.segments.container import Origin
from lookalike.stores.embedded.database import Identity, read_identity
from lookalike.stores.embedded.readings import Reads


class State(NamedTuple):
    """A collection's row in the database."""

    number: int
    settings: str
    documents: int
    next_row: int
    sealed_row: int
    generation: int
    version: int
    store: Identity
    further: tuple[str, ...]  # columns of the table of documents that only some kinds have, see row_checks


class Sealed(NamedTuple):
    """A segment on disk: its number, and the rows it covers."""

    number: int
    first_row: int
    end_row: int
    documents: int

    def origin(self, store: Identity) -> Origin:
        """What its files say of themselves."""
        return Origin(store.id, self.number, self.first_row, self.end_row, self.number <= store.unsigned)


_COLLECTION = "c.number, c.settings, c.documents, c.next_row, c.sealed_row, c.generation, c.version"
_FIRST = f"SELECT {_COLLECTION} FROM collections c WHERE c.number = ?"  # noqa: S608
_STORE = "s.id, s.unsigned, s.unchecked, s.changes, s.chain, s.before"
_WITH_STORE = f"SELECT {_COLLECTION}, {_STORE} FROM collections c LEFT JOIN store s WHERE c.number = ?"  # noqa: S608


def read_state(connection: Reads, collection: int, further: tuple[str, ...] = ()) -> State | None:
    try:
        row = connection.execute(_WITH_STORE, (collection,)).fetchone()
    except sqlite3.OperationalError:  # of the first format, or damaged: then this raises it again
        row = connection.execute(_FIRST, (collection,)).fetchone()
        return State._make((*row, read_identity(connection), further)) if row else None
    if row is None:
        return None
    return _state(row, further) if row[7] is not None else State._make((*row[:7], read_identity(connection), further))


@lru_cache(maxsize=16)  # every search asks for it, and mostly nothing has changed
def _state(row: tuple[Any, ...], further: tuple[str, ...]) -> State:
    return State._make((*row[:7], Identity(*row[7:]), further))


def read_sealed(connection: Reads, collection: int) -> list[Sealed]:
    rows = connection.execute(
        "SELECT number, first_row, end_row, documents FROM segments WHERE collection = ? ORDER BY first_row", (collection,)
    )
    return [Sealed(*row) for row in rows]


def segment_path(folder: Path, number: int, kind: str) -> Path:
    return folder / f"{number:08d}.{kind}"


def segment_number(path: Path) -> int | None:
    """The number in the name of a segment's file; None where it has none of ours."""
    return int(path.stem) if path.stem.isascii() and path.stem.isdigit() else None


def number_of(connection: Reads, name: str) -> int | None:
    """The number of the collection with this name or alias."""
    found = connection.execute("SELECT number FROM collections WHERE name = ?", (name,)).fetchone()
    if found is None and _has_table(connection, "aliases"):
        found = connection.execute("SELECT collection FROM aliases WHERE name = ?", (name,)).fetchone()
    return None if found is None else int(found[0])


def read_aliases(connection: Reads) -> dict[str, str]:
    """The collections that aliases lead to."""
    if not _has_table(connection, "aliases"):
        return {}
    found = connection.execute("SELECT a.name, c.name FROM aliases a JOIN collections c ON c.number = a.collection ORDER BY a.name")
    return dict(found.fetchall())


def new_number(connection: Reads) -> int:
    """A number that no collection had before: rows are numbered by it, and never used twice."""
    tables = ["SELECT max(number) FROM collections"]
    if _has_table(connection, "dropped"):
        tables.append("SELECT max(collection) FROM dropped")
    found = [connection.execute(query).fetchone()[0] for query in tables]
    return max((number for number in found if number is not None), default=-1) + 1


def _has_table(connection: Reads, name: str) -> bool:
    """Some tables are there only where they were needed."""
    return connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)).fetchone() is not None
