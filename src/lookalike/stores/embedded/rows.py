"""Documents as rows of the database, in both directions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from lookalike.segments.vectors import has_direction
from lookalike.stores.base import Batch, Id, Record
from lookalike.stores.columns import Columns
from lookalike.stores.embedded import row_checks
from lookalike.stores.embedded.database import ROWS, Identity, read_identity
from lookalike.stores.embedded.readings import MemoryReads, Reads, documents_of
from lookalike.stores.embedded.row_checks import Verifier
from lookalike.stores.settings import Settings

WORD = 1 << 64
AT_A_TIME = 10_000
COLUMN_BYTES = 64 << 20  # of documents that are held in memory at once
PARAMETERS = 16  # rows that are asked for by parameters of a statement
RECORDS, RECORD_BYTES = 256, 1 << 20  # that are verified together


def insert(connection: sqlite3.Connection, collection: int, first_row: int, batch: Batch, settings: Settings) -> tuple[Columns, bytes]:
    """Write a batch; returns the columns that segments are built from, and a checksum of all that was written."""
    columns = Columns.added(first_row, batch, settings)
    count = len(batch)
    given: dict[str, Sequence[Any] | None] = {
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
        "text": list(map(_stored_text, batch.texts)) if any(text is not None for text in batch.texts) else None,
    }
    # Columns without values are left out: sqlite3 takes half a microsecond to look for an adapter of each None.
    there = {name: values for name, values in given.items() if values is not None}
    checks = row_checks.packed({"id": batch.ids} | there, first_row)
    there["checks"] = checks
    rows = range(collection * ROWS + first_row, collection * ROWS + first_row + count)
    statement = f"INSERT INTO documents (collection, row, id{''.join(f', {name}' for name in there)})"
    connection.executemany(
        f"{statement} VALUES ({collection}, ?, ?{', ?' * len(there)})",
        zip(rows, batch.ids, *there.values(), strict=True),
    )
    return columns, b"".join(checks)


def _blobs(array: Any, count: int) -> list[bytearray]:
    """The parts of an array as bytearrays, which sqlite3 takes without looking for an adapter."""
    data = bytearray(array.tobytes())
    width = len(data) // max(count, 1)
    return [data[i : i + width] for i in range(0, len(data), width)] if count else []


def _vector_blobs(halves: Any, count: int) -> list[bytearray | None]:
    there = has_direction(halves, len(halves) // max(count, 1)).tolist() if count else []
    return [blob if directed else None for blob, directed in zip(_blobs(halves, count), there, strict=True)]


def _stored_simhashes(words: Any, bits: int) -> list[Any]:
    return words.view("i8").tolist() if bits <= 64 else _blobs(words, len(words) // 2)  # type: ignore[no-any-return]  # of numbers


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


def _record(columns: Sequence[str], values: Sequence[Any]) -> Record:
    """From a row as it was read: its number, its id, these columns, and perhaps more."""
    found: dict[str, Any] = dict(zip(columns, values[2:], strict=False))
    if "text" in found:
        found["text"] = _read_text(found["text"])
    if (digest := found.get("digest")) is not None:
        found["digest"] = digest % WORD
    simhash = found.get("simhash")
    if simhash is not None:
        found["simhash"] = int.from_bytes(simhash, "little") if isinstance(simhash, bytes) else simhash % WORD
    return Record(values[0], values[1], **found)


class _Wanted(NamedTuple):
    """What is asked of the table of documents: columns behind the number of the row, and checks behind them where the store has some."""

    columns: str
    count: int
    verifier: Verifier | None

    def verified(self, held: list[Sequence[Any]]) -> list[Sequence[Any]]:
        """The rows as they came: ``checks`` may be the last column."""
        if self.verifier is not None:
            self.verifier.verify(held)
        return held


def _wanted_of(store: Identity, names: tuple[str, ...]) -> _Wanted:
    return _wanted(names, bool(store.id), not store.unchecked)


@lru_cache(maxsize=256)
def _wanted(names: tuple[str, ...], stored: bool, all_checked: bool) -> _Wanted:
    columns = "".join(f", {column}" for column in (*names, *(("checks",) if stored else ())))
    return _Wanted(columns, len(names), Verifier(names, all_checked) if stored else None)


def _select(
    connection: Reads, wanted: _Wanted, collection: int, first: int, end: int, most: int, most_bytes: int
) -> Iterator[list[Sequence[Any]]]:
    base = collection * ROWS
    statement = f"SELECT row - {base}{wanted.columns} FROM {documents_of(connection)} WHERE row >= ? AND row < ? ORDER BY row"  # noqa: S608
    cursor: Iterator[Sequence[Any]]
    if isinstance(connection, MemoryReads):
        cursor = connection.walk(statement, base, first, end)
    else:
        cursor = connection.execute(statement, (base + first, base + end))
    held: list[Sequence[Any]] = []
    size = 0
    for values in cursor:
        held.append(values)
        for value in values:
            if isinstance(value, (str, bytes)):
                size += len(value)
        if size >= most_bytes or len(held) >= most:
            yield wanted.verified(held)
            held, size = [], 0
    if held:
        yield wanted.verified(held)


def read_range(connection: Reads, store: Identity, collection: int, first: int, end: int, columns: Sequence[str]) -> Iterator[Record]:
    """The documents with rows from ``first`` up to ``end``, in order."""
    wanted = _wanted_of(store, ("id", *columns))
    for held in _select(connection, wanted, collection, first, end, RECORDS, RECORD_BYTES):
        for values in held:
            yield _record(columns, values)


def read_columns(
    connection: Reads, store: Identity, collection: int, first: int, end: int, columns: Sequence[str], bits: int
) -> Iterator[Columns]:
    """The same as columns, some thousand documents or megabytes at a time."""
    wanted = _wanted_of(store, tuple(columns))
    for held in _select(connection, wanted, collection, first, end, ROWS, COLUMN_BYTES):
        rows, *values = tuple(zip(*held, strict=True))[: 1 + wanted.count]
        yield _columns(rows, values, columns, bits)


def _columns(rows: Sequence[int], values: Sequence[Sequence[Any]], names: Sequence[str], bits: int) -> Columns:
    found: dict[str, Sequence[Any]] = dict(zip(names, values, strict=True))
    if "text" in found:
        found["text"] = list(map(_read_text, found["text"]))
    return Columns.stored(rows, found, bits)


def read_rows(connection: Reads, store: Identity, collection: int, rows: Sequence[int], columns: Sequence[str]) -> dict[int, Record]:
    """The documents with these rows, those that are there."""
    base = collection * ROWS
    wanted = _wanted_of(store, ("id", *columns))
    found = {}
    for first in range(0, len(rows), AT_A_TIME):
        some = [base + int(row) for row in rows[first : first + AT_A_TIME]]
        # A statement of few is known from the last time. Many are written into it: numbers of our own need no limit on parameters.
        few = len(some) <= PARAMETERS
        listed = ",".join("?" * len(some) if few else map(str, some))
        statement = f"SELECT row - {base}{wanted.columns} FROM {documents_of(connection)} WHERE row IN ({listed})"  # noqa: S608
        for values in wanted.verified(connection.execute(statement, some if few else ()).fetchall()):
            found[values[0]] = _record(columns, values)
    return found


# As bytes: a text that was damaged need not be one any more.
_RAW = {name: f"CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) ELSE {name} END" for name in row_checks.COLUMNS}


def damaged(connection: Reads, collection: int) -> Iterator[tuple[int, dict[str, Any], set[str]]]:
    """Rows that are not what was written: each with its raw values and with what is wrong of them."""
    store, base = read_identity(connection), collection * ROWS
    if not store.id:
        return
    names = _stored_columns(connection)
    places = [row_checks.PLACES[name] for name in names]
    wanted = "".join(f", {_RAW[name]}" for name in names)
    cursor = connection.execute(
        f"SELECT row - {base}{wanted}, checks FROM documents WHERE row >= ? AND row < ? ORDER BY row",  # noqa: S608
        (base, base + ROWS),
    )
    rest = iter(cursor)
    while held := list(islice(rest, RECORDS)):
        found: dict[int, set[str]] = {}
        for place, column in row_checks.wrong(held, places, not store.unchecked):
            found.setdefault(place, set()).add((*names, "checks")[column])
        for place, wrong in sorted(found.items()):
            yield held[place][0], dict(zip(names, held[place][1:-1], strict=True)), wrong


def add_missing_checks(connection: sqlite3.Connection) -> None:
    """Give rows of the first format their checks."""
    names = _stored_columns(connection)
    query = (
        f"SELECT row{''.join(f', {name}' for name in names)} FROM documents WHERE checks IS NULL AND row > ? ORDER BY row LIMIT {RECORDS}"  # noqa: S608
    )
    last = -1
    while held := connection.execute(query, (last,)).fetchall():
        checks = [
            (row_checks.packed({name: [value] for name, value in zip(names, values, strict=True)}, row % ROWS)[0], row)
            for row, *values in held
        ]
        connection.executemany("UPDATE documents SET checks = ? WHERE row = ?", checks)
        last = held[-1][0]
    connection.execute("UPDATE store SET unchecked = 0")


def _stored_columns(connection: Reads) -> list[str]:
    there = {name for _, name, *_ in connection.execute("PRAGMA table_info(documents)")}
    return [name for name in row_checks.COLUMNS if name in there]


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
