"""The index of fields in the database (``sql/fields.sql``): which documents a filter on meta can let through."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lookalike.stores.fields import FieldRange, Key, entries_of

if TYPE_CHECKING:
    from psycopg import Connection

AT_A_TIME = 1000  # documents
Entry = tuple[int, str, float | None, bytes | None, int]
META = "SELECT ordinal, meta FROM lookalike.documents WHERE collection = %s AND meta IS NOT NULL"
STORED = "SELECT name, number, beginning, ordinal FROM lookalike.fields WHERE collection = %s AND ordinal = ANY (%s)"


def write_fields(connection: Connection[Any], collection: int, names: Sequence[str], metas: Mapping[int, str | None]) -> None:
    """For documents that were just written, by ordinal."""
    entries = [entry for row, meta in metas.items() for entry in _entries(collection, names, row, meta)]
    if entries:
        with connection.cursor().copy("COPY lookalike.fields FROM STDIN") as copy:
            for entry in entries:
                copy.write_row(entry)


def _entries(collection: int, names: Sequence[str], row: int, meta: str | None) -> Iterable[Entry]:
    return ((collection, name, *_columns(key), row) for name, key in entries_of(meta, names))


def _columns(key: Key) -> tuple[float | None, bytes | None]:
    return (None, key) if isinstance(key, bytes) else (key, None)


def read_within(connection: Connection[Any], collection: int, within: FieldRange, most: int) -> NDArray[np.int64] | None:
    """The rows of documents with a key in a range, ascending; None where there are more than ``most``."""
    column = "beginning" if within.of_texts else "number"
    ends = [(f"{column} {sign} %s", key) for sign, key in ((">=", within.low), ("<=", within.high)) if key is not None]
    conditions = " AND ".join(condition for condition, _ in ends)
    query = f"SELECT ordinal FROM lookalike.fields WHERE collection = %s AND name = %s AND {conditions} LIMIT %s"  # noqa: S608
    found = connection.execute(query, (collection, within.name, *(key for _, key in ends), most + 1)).fetchall()
    return None if len(found) > most else np.unique(np.array([row for (row,) in found], dtype=np.int64))


def lacking(connection: Connection[Any], collection: int, names: Sequence[str], metas: Mapping[int, str | None]) -> dict[int, str | None]:
    """Those documents that the index does not have as they are."""
    stored: dict[int, set[Any]] = {}
    for *entry, row in connection.execute(STORED, (collection, list(metas))):
        stored.setdefault(row, set()).add(tuple(entry))
    wanted = {row: {(name, *_columns(key)) for name, key in entries_of(meta, names)} for row, meta in metas.items()}
    return {row: metas[row] for row, entries in wanted.items() if stored.get(row, set()) != entries}


def put_right(connection: Connection[Any], collection: int, names: Sequence[str], metas: Mapping[int, str | None]) -> None:
    connection.execute("DELETE FROM lookalike.fields WHERE collection = %s AND ordinal = ANY (%s)", (collection, list(metas)))
    write_fields(connection, collection, names, metas)


def fill(connection: Connection[Any]) -> None:
    """For collections that wanted an index before there was one."""
    for collection, settings in connection.execute("SELECT number, settings FROM lookalike.collections").fetchall():
        if names := json.loads(settings).get("indexed"):
            found = connection.execute(META, (collection,))
            while some := found.fetchmany(AT_A_TIME):
                write_fields(connection, collection, names, dict(some))
