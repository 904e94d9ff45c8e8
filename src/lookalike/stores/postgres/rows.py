"""Documents as rows of the table, in both directions. They go in by COPY in its binary format, which ``copying`` writes."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format

from lookalike.model import ID_NUMBERS
from lookalike.stores.base import Additions, StoredDocument
from lookalike.stores.ids import Id
from lookalike.stores.kinds import column_named
from lookalike.stores.postgres.copying import NULL, bytes_field, integer_field, text_field
from lookalike.stores.settings import Settings

if TYPE_CHECKING:
    from lookalike.stores.postgres.connections import Connection

HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
TRAILER = b"\xff\xff"
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


def prepared(batch: Additions, collection: int, settings: Settings) -> list[Any]:
    """What the kinds work out before a transaction begins, in their order."""
    return [kind.prepared(batch, collection, settings) for kind in settings.stored]


class Copied:
    """A batch as COPY takes it: only the columns that its documents have."""

    def __init__(self, batch: Additions, collection: int, ordinals: Sequence[int], made: Sequence[Any], settings: Settings) -> None:
        self._batch, self._collection, self._ordinals = batch, collection, ordinals
        self._numbers = _only_numbers(batch, settings)
        self._fields: dict[str, Iterable[bytes]] = {}
        if self._numbers is None:
            for kind, each in zip(settings.stored, made, strict=True):
                self._fields |= kind.copied(batch, each, collection, settings)

    def write(self, connection: Connection) -> None:
        """One document by INSERT, which is one message, and can go together with others; more by COPY, which takes several."""
        if self.is_single:
            self._insert(connection)
            return
        with connection.cursor().copy(f"COPY lookalike.documents ({self._names()}) FROM STDIN (FORMAT binary)") as copy:
            for chunk in self._chunks():
                copy.write(chunk)

    @property
    def is_single(self) -> bool:
        return len(self._batch) == 1 and self._numbers is None

    def _names(self) -> str:
        own = ("id_number",) if self._numbers is not None else ("id_text", "id_number", "meta", "text", "raw")
        names = ("collection", "ordinal", *own, *(self._numbers if self._numbers is not None else self._fields))
        return ", ".join(f'"{name}"' for name in names)

    def _insert(self, connection: Connection) -> None:
        values = [None if (field := next(iter(each))) == NULL else _Field(field[len(NULL) :]) for each in self._columns()]
        marks = ", ".join(["%b"] * len(values))
        connection.execute(f"INSERT INTO lookalike.documents ({self._names()}) VALUES ({marks})", values)  # noqa: S608 (our own names)

    def _chunks(self) -> Iterator[bytes]:
        """In the order of the names, some rows at a time."""
        if self._numbers is not None:
            yield self._array(self._numbers)
            return
        columns = self._columns()
        rows = zip(repeat(struct.pack("!h", len(columns)), len(self._batch)), *columns, strict=False)
        yield HEADER
        while some := list(islice(rows, CHUNK_ROWS)):
            yield b"".join(chain.from_iterable(some))
        yield TRAILER

    def _columns(self) -> tuple[Iterable[bytes], ...]:
        return (
            repeat(struct.pack("!ii", 4, self._collection)),
            map(integer_field, self._ordinals),
            (text_field(id_ if isinstance(id_, str) else None) for id_ in self._batch.ids),
            (integer_field(id_ if isinstance(id_, int) else None) for id_ in self._batch.ids),
            map(text_field, self._batch.metas),
            *_texts(self._batch.texts),
            *self._fields.values(),
        )

    def _array(self, numbers: dict[str, Any]) -> bytes:
        """Documents that are nothing but numbers: all rows of a batch at once."""
        columns = {"ordinal": self._ordinals, "id_number": self._batch.ids, **numbers}
        fields = [("fields", ">i2"), ("collection length", ">i4"), ("collection", ">i4")]
        fields += [field for name in columns for field in ((f"{name} length", ">i4"), (name, ">i8"))]
        rows = np.empty(len(self._batch), dtype=fields)
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
