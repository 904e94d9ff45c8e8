"""Documents as rows of the database, in both directions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from lookalike.search.vectors import has_direction
from lookalike.stores.base import Batch, Id, Record
from lookalike.stores.columns import Columns
from lookalike.stores.database import ROWS
from lookalike.stores.readings import MemoryReads, Reads, documents_of
from lookalike.stores.settings import Settings

WORD = 1 << 64
AT_A_TIME = 10_000
COLUMN_BYTES = 64 << 20  # of documents that are held in memory at once


def insert(connection: sqlite3.Connection, collection: int, first_row: int, batch: Batch, settings: Settings) -> Columns:
    """Write a batch; returns the columns that segments are built from."""
    columns = Columns.added(first_row, batch, settings)
    count = len(batch)
    given: dict[str, Iterable[Any] | None] = {
        "digest": None if batch.digests is None else batch.digests.view("i8").tolist(),
        "simhash": None if batch.simhash is None else _stored_simhashes(batch.simhash, settings.bits),
        "ssdeep": batch.ssdeep,
        "tlsh": batch.tlsh,
        "bands": None if batch.minhash is None or columns.sketches is None else _blobs(columns.sketches[2], count),
        "minhash": None if batch.minhash is None or None not in batch.texts else _blobs(batch.minhash, count),
        "winnowing": batch.winnowing,
        "vector": None if batch.vector is None else _vector_blobs(batch.vector, count),
        "structure": batch.structure,
        "meta": batch.metas if any(batch.metas) else None,
        "text": map(_stored_text, batch.texts) if any(text is not None for text in batch.texts) else None,
    }
    # Columns without values are left out: sqlite3 takes half a microsecond to look for an adapter of each None.
    there = {name: values for name, values in given.items() if values is not None}
    rows = range(collection * ROWS + first_row, collection * ROWS + first_row + count)
    statement = f"INSERT INTO documents (collection, row, id{''.join(f', {name}' for name in there)})"
    connection.executemany(
        f"{statement} VALUES ({collection}, ?, ?{', ?' * len(there)})",
        zip(rows, batch.ids, *there.values(), strict=True),
    )
    return columns


def _blobs(array: Any, count: int) -> Iterable[bytearray]:
    """The parts of an array as bytearrays, which sqlite3 takes without looking for an adapter."""
    data = bytearray(array.tobytes())
    width = len(data) // max(count, 1)
    return (data[i : i + width] for i in range(0, len(data), width)) if count else ()


def _vector_blobs(halves: Any, count: int) -> Iterable[bytearray | None]:
    there = has_direction(halves, len(halves) // max(count, 1)).tolist() if count else []
    return (blob if directed else None for blob, directed in zip(_blobs(halves, count), there, strict=True))


def _stored_simhashes(words: Any, bits: int) -> Iterable[Any]:
    return words.view("i8").tolist() if bits <= 64 else _blobs(words, len(words) // 2)


def _stored_text(text: str | None) -> str | bytes | None:
    if text is None or text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def _read_text(text: str | bytes | None) -> str | None:
    return text.decode("utf-8", "surrogatepass") if isinstance(text, bytes) else text


def _record(row: int, id_: Id, columns: Sequence[str], values: Sequence[Any]) -> Record:
    found: dict[str, Any] = dict(zip(columns, values, strict=True))
    if "text" in found:
        found["text"] = _read_text(found["text"])
    if (digest := found.get("digest")) is not None:
        found["digest"] = digest % WORD
    simhash = found.get("simhash")
    if simhash is not None:
        found["simhash"] = int.from_bytes(simhash, "little") if isinstance(simhash, bytes) else simhash % WORD
    return Record(row, id_, **found)


def _select(connection: Reads, collection: int, first: int, end: int, columns: str) -> Iterator[Sequence[Any]]:
    base = collection * ROWS
    statement = f"SELECT row - {base}{columns} FROM {documents_of(connection)} WHERE row >= ? AND row < ? ORDER BY row"  # noqa: S608
    if isinstance(connection, MemoryReads):
        return connection.walk(statement, base, first, end)
    found: Iterator[Sequence[Any]] = connection.execute(statement, (base + first, base + end))
    return found


def read_range(connection: Reads, collection: int, first: int, end: int, columns: Sequence[str]) -> Iterator[Record]:
    """The documents with rows from ``first`` up to ``end``, in order."""
    for row, id_, *values in _select(connection, collection, first, end, "".join(f", {column}" for column in ("id", *columns))):
        yield _record(row, id_, columns, values)


def read_columns(connection: Reads, collection: int, first: int, end: int, columns: Sequence[str], bits: int) -> Iterator[Columns]:
    """The same as columns, some thousand documents or megabytes at a time."""
    cursor = _select(connection, collection, first, end, "".join(f", {column}" for column in columns))
    held: list[Sequence[Any]] = []
    size = 0
    for values in cursor:
        held.append(values)
        size += sum(len(value) for value in values if isinstance(value, (str, bytes)))
        if size >= COLUMN_BYTES:
            yield _columns(held, columns, bits)
            held, size = [], 0
    if held:
        yield _columns(held, columns, bits)


def _columns(held: list[Sequence[Any]], names: Sequence[str], bits: int) -> Columns:
    rows, *values = zip(*held, strict=True)
    found: dict[str, Sequence[Any]] = dict(zip(names, values, strict=True))
    if "text" in found:
        found["text"] = list(map(_read_text, found["text"]))
    return Columns.stored(rows, found, bits)


def read_rows(connection: Reads, collection: int, rows: Sequence[int], columns: Sequence[str]) -> dict[int, Record]:
    """The documents with these rows, those that are there."""
    base = collection * ROWS
    wanted = "".join(f", {column}" for column in columns)
    found = {}
    for first in range(0, len(rows), AT_A_TIME):
        # Numbers of our own, not values from outside: written into the statement they need no limit on parameters.
        listed = ",".join([str(base + int(row)) for row in rows[first : first + AT_A_TIME]])
        statement = f"SELECT row, id{wanted} FROM {documents_of(connection)} WHERE row IN ({listed})"  # noqa: S608
        for row, id_, *values in connection.execute(statement).fetchall():
            found[row - base] = _record(row - base, id_, columns, values)
    return found


def find_ids(connection: Reads, collection: int, ids: Iterable[Id], end: int = ROWS) -> dict[Id, int]:
    """The rows of those ids that are there, below ``end``."""
    found: dict[Id, int] = {}
    base = collection * ROWS
    statement = f"SELECT row FROM {documents_of(connection)} WHERE collection = ? AND id = ? AND row < ?"  # noqa: S608
    for id_ in ids:
        row = connection.execute(statement, (collection, id_, base + end)).fetchone()
        if row is not None:
            found[id_] = row[0] - base
    return found
