"""Documents as rows of the database, in both directions."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from lookalike import _native
from lookalike.stores.base import NO_COLUMNS, Additions, StoredDocument
from lookalike.stores.embedded import row_checks
from lookalike.stores.embedded.database import ROWS, read_identity, table_columns
from lookalike.stores.embedded.library import BulkConnection
from lookalike.stores.embedded.readings import MemoryReads, Reads, documents_of
from lookalike.stores.embedded.row_checks import Verifier
from lookalike.stores.embedded.states import State
from lookalike.stores.ids import Id
from lookalike.stores.kinds import column_named
from lookalike.stores.kinds.base import Kind
from lookalike.stores.kinds.columns import TEXT
from lookalike.stores.settings import Settings
from lookalike.stores.stretches import Stretch

AT_A_TIME = 10_000
COLUMN_BYTES = 64 << 20  # of documents that are held in memory at once
PARAMETERS = 16  # rows that are asked for by parameters of a statement
RECORDS, RECORD_BYTES = 256, 1 << 20  # that are verified together


def insert(connection: sqlite3.Connection, state: State, batch: Additions, settings: Settings) -> tuple[Stretch, bytes]:
    """Write a batch behind the last row; returns what segments are built from, and a checksum of all of it."""
    kinds = settings.stored
    if isinstance(connection, BulkConnection) and connection.is_bulk:
        checks = _insert_at_once(connection, state, batch, kinds)
    else:
        checks = _insert_each(connection, state, batch, kinds)
    return Stretch.added(state.next_row, batch, kinds), checks


def _insert_at_once(connection: BulkConnection, state: State, batch: Additions, kinds: Sequence[Kind]) -> bytes:
    """By native code, from where the values are."""
    there = {"id": list(batch.ids)} | _texts_and_metas(batch)
    for kind in kinds:
        there |= kind.packed(batch)
    places = row_checks.places_of(there, state.further)
    first = state.number * ROWS + state.next_row
    cut = list(there).index("text") if "text" in there else None
    return connection.insert_rows(_statement(state, there), first, state.next_row, list(there.values()), places, len(batch), cut)


def _insert_each(connection: sqlite3.Connection, state: State, batch: Additions, kinds: Sequence[Kind]) -> bytes:
    """The same by Python's module alone: where it is not known which library that has."""
    there = {"id": list(batch.ids)} | _texts_and_metas(batch)
    if "text" in there:
        there["text"] = list(TEXT.stored(there["text"], len(batch)))
    for kind in kinds:
        there |= kind.stored(batch)
    checks = row_checks.check_bytes(there, state.next_row, state.further)
    first = state.number * ROWS + state.next_row
    rows = zip(range(first, first + len(batch)), *there.values(), checks, strict=True)
    connection.executemany(_statement(state, there), rows)
    return b"".join(checks)


def _texts_and_metas(batch: Additions) -> dict[str, list[Any]]:
    """Those that are there: a column without values is left out, since a value that is None takes as long to store as another."""
    there: dict[str, list[Any]] = {}
    if any(batch.metas):
        there["meta"] = list(batch.metas)
    if any(text is not None for text in batch.texts):
        there["text"] = list(batch.texts)
    return there


def _statement(state: State, columns: Iterable[str]) -> str:
    """For one document: the number of its row, what it has in these columns, and its checks."""
    names = (*columns, "checks")
    return f"INSERT INTO documents (collection, row{_listed(names)}) VALUES ({state.number}, ?{', ?' * len(names)})"  # noqa: S608 (our own names)


def _listed(names: Iterable[str]) -> str:
    """Columns behind others, in brackets: where there is no such column, SQLite takes what is in quotes for a text."""
    return "".join(f", [{name}]" for name in names)


class _Read(NamedTuple):
    """How a row becomes a record: where text and meta are in it, and which column of a kind is where."""

    text: int | None
    meta: int | None
    others: tuple[tuple[int, str, Callable[[Any], Any]], ...]

    def record(self, values: Sequence[Any]) -> StoredDocument:
        """From a row as it was read: its number, its id, the columns, and perhaps more."""
        text = None if self.text is None else values[self.text]
        if isinstance(text, bytes):
            text = TEXT.read(text)
        columns = NO_COLUMNS
        if self.others:
            columns = {name: None if (value := values[at]) is None else read(value) for at, name, read in self.others}
        return StoredDocument(values[0], values[1], text, None if self.meta is None else values[self.meta], columns)


@lru_cache(maxsize=256)
def _read(columns: tuple[str, ...]) -> _Read:
    places = {name: at for at, name in enumerate(columns, 2)}
    others = tuple((at, name, column_named(name).read) for name, at in places.items() if name not in ("text", "meta"))
    return _Read(places.get("text"), places.get("meta"), others)


class _Wanted(NamedTuple):
    """What is asked of the table of documents: columns behind the number of the row, and checks behind them where the store has some."""

    columns: str
    width: int
    verifier: Verifier | None

    def verified(self, held: list[Sequence[Any]]) -> list[Sequence[Any]]:
        """The rows as they came: ``checks`` may be the last column."""
        if self.verifier is not None:
            self.verifier.verify(held)
        return held


def _wanted_of(state: State, names: tuple[str, ...]) -> _Wanted:
    return _wanted(names, bool(state.store.id), not state.store.unchecked, state.further)


@lru_cache(maxsize=256)
def _wanted(names: tuple[str, ...], stored: bool, all_checked: bool, further: tuple[str, ...]) -> _Wanted:
    columns = _listed((*names, *(("checks",) if stored else ())))
    return _Wanted(columns, len(names), Verifier(names, all_checked, further) if stored else None)


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


def read_range(connection: Reads, state: State, first: int, end: int, columns: Sequence[str]) -> Iterator[StoredDocument]:
    """The documents with rows from ``first`` up to ``end``, in order."""
    wanted, read = _wanted_of(state, ("id", *columns)), _read(tuple(columns))
    for held in _select(connection, wanted, state.number, first, end, RECORDS, RECORD_BYTES):
        for values in held:
            yield read.record(values)


def read_stretches(connection: Reads, state: State, first: int, end: int, columns: Sequence[str]) -> Iterator[Stretch]:
    """The same as columns, some thousand documents or megabytes at a time."""
    wanted = _wanted_of(state, tuple(columns))
    for held in _select(connection, wanted, state.number, first, end, ROWS, COLUMN_BYTES):
        rows, *values = tuple(zip(*held, strict=True))[: 1 + wanted.width]
        yield Stretch.stored(rows, dict(zip(columns, values, strict=True)))


def read_rows(connection: Reads, state: State, rows: Sequence[int], columns: Sequence[str]) -> dict[int, StoredDocument]:
    """The documents with these rows, those that are there."""
    base = state.number * ROWS
    wanted, read = _wanted_of(state, ("id", *columns)), _read(tuple(columns))
    found = {}
    statement = f"SELECT row - {base}{wanted.columns} FROM {documents_of(connection)} WHERE row"  # noqa: S608
    for first in range(0, len(rows), AT_A_TIME):
        for values in _at(connection, wanted, statement, base, rows[first : first + AT_A_TIME]):
            found[values[0]] = read.record(values)
    return found


def _at(connection: Reads, wanted: _Wanted, statement: str, base: int, rows: Sequence[int]) -> list[Sequence[Any]]:
    """What a statement that ends before its condition finds of these rows, counted from ``base``."""
    if isinstance(connection, _native.SqliteReader):
        places, all_checked = (wanted.verifier.places, wanted.verifier.all_checked) if wanted.verifier else ([], False)
        found, whole = connection.each(f"{statement} = ?", base, rows, places, all_checked)
        return found if whole else wanted.verified(found)  # which says what is wrong
    some = [base + int(row) for row in rows]
    # A statement of few is known from the last time. Many are written into it: numbers of our own need no limit on parameters.
    few = len(some) <= PARAMETERS
    listed = ",".join("?" * len(some) if few else map(str, some))
    return wanted.verified(connection.execute(f"{statement} IN ({listed})", some if few else ()).fetchall())


# As bytes: a text that was damaged need not be one any more.
_RAW = "CASE typeof([{0}]) WHEN 'text' THEN CAST([{0}] AS BLOB) ELSE [{0}] END"


def damaged(connection: Reads, collection: int) -> Iterator[tuple[int, dict[str, Any], set[str]]]:
    """Rows that are not what was written: each with its raw values and with what is wrong of them."""
    store, base = read_identity(connection), collection * ROWS
    if not store.id:
        return
    names, further = _stored_columns(connection)
    places = row_checks.places_of(names, further)
    wanted = "".join(f", {_RAW.format(name)}" for name in names)
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
    names, further = _stored_columns(connection)
    query = f"SELECT row{_listed(names)} FROM documents WHERE checks IS NULL AND row > ? ORDER BY row LIMIT {RECORDS}"  # noqa: S608
    last = -1
    while held := connection.execute(query, (last,)).fetchall():
        checks = [
            (row_checks.check_bytes({name: [value] for name, value in zip(names, values, strict=True)}, row % ROWS, further)[0], row)
            for row, *values in held
        ]
        connection.executemany("UPDATE documents SET checks = ? WHERE row = ?", checks)
        last = held[-1][0]
    connection.execute("UPDATE store SET unchecked = 0")


def _stored_columns(connection: Reads) -> tuple[list[str], tuple[str, ...]]:
    """The columns with checks, and which of them are of further kinds."""
    table = table_columns(connection)
    further = row_checks.further_columns(table)
    return [name for name in (*row_checks.COLUMNS, *further) if name in table], further


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
