"""Documents as rows of the table, in both directions. They go in by COPY in its binary format, which ``copying`` writes."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format

from lookalike.model import ID_NUMBERS
from lookalike.stores.base import Additions, StoredDocument
from lookalike.stores.ids import Id
from lookalike.stores.kinds import column_named
from lookalike.stores.postgres.copying import HEADER, NULL, TRAILER, bytes_field, integer_field, text_field
from lookalike.stores.settings import Settings

if TYPE_CHECKING:
    from lookalike.stores.postgres.connections import Connection

CHUNK_ROWS = 256


class _Field(bytes):
    """A value in the server's own format, of whatever type the column has."""


class _Fields(Dumper):
    oid, format = 0, Format.BINARY

    def dump(self, obj: _Field) -> bytes:
        return obj


psycopg.adapters.register_dumper(_Field, _Fields)


def together(connection: Connection) -> AbstractContextManager[Any]:
    """Statements within it are sent without waiting for each other's answers, where the client's library can do that."""
    return connection.pipeline() if psycopg.Pipeline.is_supported() else nullcontext()


class Copied:
    """A batch as the database takes it, with only the columns that its documents have: all that takes time before a transaction begins.

    What depends on the transaction, the numbers of the rows, is put in front of each row when it is written.
    """

    def __init__(self, batch: Additions, collection: int, settings: Settings) -> None:
        self.batch, self._collection, self._kinds = batch, collection, settings.stored
        self._made = [kind.prepared(batch, collection, settings) for kind in self._kinds]
        self._numbers = _only_numbers(batch, settings)
        fields: dict[str, Iterable[bytes]] = {}
        if self._numbers is None:
            for kind, each in zip(self._kinds, self._made, strict=True):
                fields |= kind.copied(batch, each, collection, settings)
        own = ("id_number",) if self._numbers is not None else ("id_text", "id_number", "meta", "text", "raw")
        names = ("collection", "ordinal", *own, *(self._numbers if self._numbers is not None else fields))
        self._count, self._names = len(names), ", ".join(f'"{name}"' for name in names)
        columns = () if self._numbers is not None else self._columns(fields)
        self._single = [next(iter(each)) for each in columns] if self.is_single else []
        self._rows = [] if self.is_single else list(map(b"".join, zip(*columns, strict=False)))

    @property
    def is_single(self) -> bool:
        return len(self.batch) == 1 and self._numbers is None

    def write(self, connection: Connection, ordinals: Sequence[int]) -> None:
        """One document by INSERT, which is one message, and can go together with others; more by COPY, which takes several."""
        if self.is_single:
            self._insert(connection, ordinals[0])
            return
        with connection.cursor().copy(f"COPY lookalike.documents ({self._names}) FROM STDIN (FORMAT binary)") as copy:
            for chunk in self._chunks(ordinals):
                copy.write(chunk)

    @property
    def early_tables(self) -> list[str]:
        """Those of which ``add_rows`` can be done before the documents are there."""
        return [kind.early_table for kind in self._kinds if kind.early_table is not None]

    def add_rows(self, connection: Connection, ordinals: Sequence[int], *, early: bool | None = None) -> None:
        """What goes into further tables: into all of them, or only into those that are, or are not, among ``early_tables``."""
        for kind, each in zip(self._kinds, self._made, strict=True):
            if early is None or early == (kind.early_table is not None):
                kind.add_rows(connection, self._collection, ordinals, self.batch, each)

    def copy_early_rows(self, connection: Connection) -> None:
        """What ``add_rows`` writes into ``early_tables``, where nothing of it is there yet. If something is, the server says so."""
        for kind, each in zip(self._kinds, self._made, strict=True):
            if kind.early_table is not None:
                kind.copy_rows(connection, each)

    def _insert(self, connection: Connection, ordinal: int) -> None:
        fields = (struct.pack("!ii", 4, self._collection), integer_field(ordinal), *self._single)
        values = [None if field == NULL else _Field(field[len(NULL) :]) for field in fields]
        marks = ", ".join(["%b"] * len(values))
        connection.execute(f"INSERT INTO lookalike.documents ({self._names}) VALUES ({marks})", values)  # noqa: S608 (our own names)

    def _chunks(self, ordinals: Sequence[int]) -> Iterator[bytes]:
        """In the order of the names, some rows at a time."""
        if self._numbers is not None:
            yield self._array(self._numbers, ordinals)
            return
        yield HEADER
        begin = struct.pack("!hii", self._count, 4, self._collection)
        heads = (begin + integer_field(ordinal) for ordinal in ordinals)
        rows = zip(heads, self._rows, strict=True)
        while some := list(islice(rows, CHUNK_ROWS)):
            yield b"".join(chain.from_iterable(some))
        yield TRAILER

    def _columns(self, fields: dict[str, Iterable[bytes]]) -> tuple[Iterable[bytes], ...]:
        """Behind the collection and the ordinal."""
        return (
            [text_field(id_ if isinstance(id_, str) else None) for id_ in self.batch.ids],
            (integer_field(id_ if isinstance(id_, int) else None) for id_ in self.batch.ids),
            map(text_field, self.batch.metas),
            *_texts(self.batch.texts),
            *fields.values(),
        )

    def _array(self, numbers: dict[str, Any], ordinals: Sequence[int]) -> bytes:
        """Documents that are nothing but numbers: all rows of a batch at once."""
        columns = {"ordinal": ordinals, "id_number": self.batch.ids, **numbers}
        fields = [("fields", ">i2"), ("collection length", ">i4"), ("collection", ">i4")]
        fields += [field for name in columns for field in ((f"{name} length", ">i4"), (name, ">i8"))]
        rows = np.empty(len(self.batch), dtype=fields)
        rows["fields"], rows["collection length"], rows["collection"] = 1 + len(columns), 4, self._collection
        for name, values in columns.items():
            rows[f"{name} length"], rows[name] = 8, values
        return HEADER + rows.tobytes() + TRAILER


def _only_numbers(batch: Additions, settings: Settings) -> dict[str, Any] | None:
    """The columns of a batch where every document is an id, an integer, and numbers; otherwise None."""
    found: dict[str, Any] = {}
    for kind in settings.stored:
        numbers = kind.numbers(batch, settings)
        if numbers is None:
            return None
        found |= numbers
    plain = all(type(id_) is int for id_ in batch.ids) and not any(value is not None for value in (*batch.texts, *batch.metas))
    return found if found and plain else None


def _texts(texts: Sequence[str | None]) -> tuple[Iterable[bytes], Iterable[bytes]]:
    """The columns ``text`` and ``raw``."""
    plain: list[bytes] = []
    raw: list[bytes] = []
    for text in texts:
        data = None if text is None else text.encode("utf-8", "surrogatepass")
        allowed = text is not None and "\0" not in text and (text.isascii() or _is_utf8(text))
        plain.append(bytes_field(data if allowed else None))
        raw.append(bytes_field(None if allowed else data))
    return plain, raw


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def split_ids(ids: Iterable[Id]) -> tuple[list[str], list[int]]:
    """Texts and numbers, without those that no document can have."""
    texts, numbers = [], []
    for id_ in dict.fromkeys(ids):
        if isinstance(id_, int):
            if id_ in ID_NUMBERS:
                numbers.append(id_)
        elif "\0" not in id_ and _is_utf8(id_):
            texts.append(id_)
    return texts, numbers


def selected(columns: Sequence[str]) -> str:
    """The list of a SELECT whose rows ``record`` reads."""
    own = {"meta": ("meta",)}
    fields = (field for name in columns for field in own.get(name) or column_named(name).selected)
    return ", ".join(("ordinal", "id_text", "id_number", *fields))


def record(values: Sequence[Any], columns: Sequence[str]) -> StoredDocument:
    ordinal, id_text, id_number, *rest = values
    text = meta = None
    found: dict[str, Any] = {}
    fields = iter(rest)
    for name in columns:
        if name == "meta":
            meta = next(fields)
            continue
        column = column_named(name)
        value = column.from_postgres(*(next(fields) for _ in column.selected))
        if name == "text":
            text = value
        else:
            found[name] = value
    return StoredDocument(ordinal, id_number if id_text is None else id_text, text, meta, found)
