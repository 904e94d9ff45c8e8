"""The index of fields in the database of an embedded store: a table that is there from the first collection on that wants one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lookalike.stores.embedded.database import ROWS
from lookalike.stores.embedded.readings import MemoryReads, Reads
from lookalike.stores.embedded.states import State
from lookalike.stores.fields import FieldRange, Key, entries_of

# WITHOUT ROWID: the table is its index. A key is a REAL or a BLOB; SQLite has all numbers before all blobs.
TABLE = """
CREATE TABLE IF NOT EXISTS fields (
  collection INTEGER NOT NULL,
  name TEXT NOT NULL,
  key NOT NULL,
  row INTEGER NOT NULL,
  PRIMARY KEY (collection, name, key, row)
) WITHOUT ROWID
"""
AT_A_TIME = 500  # parameters of a statement


def write_fields(connection: sqlite3.Connection, state: State, names: Sequence[str], metas: Sequence[str | None]) -> None:
    """For documents that were just written behind the last row."""
    entries = _entries(state.number, names, dict(enumerate(metas, state.next_row)))
    connection.executemany("INSERT OR IGNORE INTO fields VALUES (?, ?, ?, ?)", entries)


def remove_fields(connection: sqlite3.Connection, state: State, names: Sequence[str], rows: Sequence[int]) -> None:
    """Before documents are removed."""
    base = state.number * ROWS
    for first in range(0, len(rows), AT_A_TIME):
        part = [base + row for row in rows[first : first + AT_A_TIME]]
        listed = ",".join("?" * len(part))
        found = connection.execute(f"SELECT row - {base}, meta FROM documents WHERE row IN ({listed})", part).fetchall()  # noqa: S608
        entries = _entries(state.number, names, dict(found))
        connection.executemany("DELETE FROM fields WHERE collection = ? AND name = ? AND key = ? AND row = ?", entries)


def _entries(collection: int, names: Sequence[str], metas: Mapping[int, str | None]) -> Iterator[tuple[int, str, Key, int]]:
    return ((collection, name, key, row) for row, meta in metas.items() for name, key in entries_of(meta, names))


def read_within(connection: Reads, state: State, within: FieldRange, most: int) -> NDArray[np.int64] | None:
    """The rows of documents with a key in a range, ascending; None where there are more than ``most``."""
    condition, keys = _condition(within)
    query = f"SELECT row FROM fields WHERE collection = ? AND name = ? AND {condition} LIMIT ?"  # noqa: S608
    found = [row for (row,) in connection.execute(query, (state.number, within.name, *keys, most + 1)).fetchall()]
    if len(found) > most:
        return None
    if isinstance(connection, MemoryReads):  # the table has what was added since, and lacks what was removed
        found = [row for row in (*found, *connection.removed_since(state.number * ROWS, ROWS)) if row < state.next_row]
    return np.unique(np.array(found, dtype=np.int64))


def _condition(within: FieldRange) -> tuple[str, list[Key]]:
    """Between numbers, or between texts: without an end, up to where the others begin."""
    conditions, keys = [], []
    for sign, key in ((">=", within.low), ("<=", within.high)):
        if key is not None:
            conditions.append(f"key {sign} ?")
            keys.append(key)
    if within.of_texts and within.low is None:
        conditions.append("key >= x''")
    if not within.of_texts and within.high is None:
        conditions.append("key < x''")
    return " AND ".join(conditions), keys


def wrong_entries(connection: Reads, state: State, names: Sequence[str]) -> int:
    """How many documents have no entry where they should, and how many entries no document has."""
    missing = expected = 0
    base = state.number * ROWS
    there = "SELECT EXISTS (SELECT 1 FROM fields WHERE collection = ? AND name = ? AND key = ? AND row = ?)"
    documents = connection.execute(f"SELECT row - {base}, meta FROM documents WHERE row >= ? AND row < ?", (base, base + ROWS))  # noqa: S608
    for row, meta in documents:
        for name, key in entries_of(meta, names):
            expected += 1
            missing += not connection.execute(there, (state.number, name, key, row)).fetchone()[0]
    count = connection.execute("SELECT count(*) FROM fields WHERE collection = ?", (state.number,)).fetchone()[0]
    return int(missing + abs(count - (expected - missing)))


def rebuild_fields(connection: sqlite3.Connection, state: State, names: Sequence[str]) -> None:
    base = state.number * ROWS
    connection.execute("DELETE FROM fields WHERE collection = ?", (state.number,))
    documents = connection.execute(f"SELECT row - {base}, meta FROM documents WHERE row >= ? AND row < ?", (base, base + ROWS))  # noqa: S608
    while some := documents.fetchmany(AT_A_TIME):
        connection.executemany("INSERT OR IGNORE INTO fields VALUES (?, ?, ?, ?)", _entries(state.number, names, dict(some)))
