"""Columns of documents: how the values of one are kept in SQLite and in PostgreSQL, and what segments are built of.

In a batch a column is a list of one value for each document, a str, bytes or None, or an array of as many numbers for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.stores.postgres.copying import WORD, bytes_field, integer_field, pieces, text_field

if TYPE_CHECKING:
    Rows = NDArray[np.int64]


def present(rows: Rows, values: Sequence[Any]) -> tuple[Rows, Sequence[Any]]:
    """Of one value for each row, those that are there."""
    if None not in values:
        return rows, values
    there = [value is not None for value in values]
    return rows[np.array(there, dtype=bool)], [value for value in values if value is not None]


def as_bytes(values: Any, count: int) -> NDArray[np.uint8]:
    """An array of as many numbers for each document as a matrix of their bytes."""
    return np.ascontiguousarray(values).view(np.uint8).reshape(count, -1)


class Column:
    """One value for each document: a str where ``text``, otherwise bytes; None where there is none."""

    def __init__(self, name: str, *, text: bool = False, selected: tuple[str, ...] | None = None) -> None:
        self.name, self._text = name, text
        self.sqlite, self.postgres = ("TEXT", 'text COLLATE "C"') if text else ("BLOB", "bytea")
        self.selected = selected or (f'"{name}"',)  # of lookalike.documents in PostgreSQL: names or expressions

    def stored(self, values: Any, count: int) -> Sequence[Any]:
        """The values of a batch as SQLite takes them."""
        return values  # type: ignore[no-any-return]  # a list of them

    def packed(self, values: Any, count: int) -> Any:
        """The same as native code takes them: a list, an array of one number for each document, or a matrix of as many bytes for each.

        Of at least one document."""
        return list(self.stored(values, count))

    def read(self, value: Any) -> Any:
        """A value of SQLite, not NULL, as a ``StoredDocument`` has it."""
        return value

    def gathered(self, values: Sequence[Any]) -> Any:
        """Values of SQLite, none of them NULL, as segments are built of them."""
        return values

    def of_records(self, values: Sequence[Any]) -> Any:
        """The same from values as records have them."""
        return self.gathered(values)

    def present(self, rows: Rows, values: Any) -> tuple[Rows, Any]:
        """The documents of a batch that have one, and their values."""
        return present(rows, values)

    def copied(self, values: Any, count: int) -> Iterable[bytes]:
        """The values of a batch as COPY reads them, for the column of this name in PostgreSQL."""
        return map(text_field if self._text else bytes_field, values)

    def from_postgres(self, *values: Any) -> Any:
        """What was ``selected``, as a ``StoredDocument`` has it."""
        return values[0]


class Number(Column):
    """A whole number of 64 bits for each document, without a sign; databases keep it with one."""

    def __init__(self, name: str, *, selected: tuple[str, ...] | None = None) -> None:
        super().__init__(name, selected=selected)
        self.sqlite, self.postgres = "INTEGER", "bigint"

    def stored(self, values: Any, count: int) -> Sequence[Any]:
        return values.view(np.int64).tolist()  # type: ignore[no-any-return]  # of an array

    def packed(self, values: Any, count: int) -> Any:
        return np.ascontiguousarray(values).view(np.int64)

    def read(self, value: Any) -> Any:
        return value % WORD

    def gathered(self, values: Sequence[Any]) -> Any:
        return np.array(values, dtype=np.int64).view(np.uint64)

    def of_records(self, values: Sequence[Any]) -> Any:
        return np.array(values, dtype=np.uint64)

    def present(self, rows: Rows, values: Any) -> tuple[Rows, Any]:
        return rows, values

    def copied(self, values: Any, count: int) -> Iterable[bytes]:
        return map(integer_field, values.view(np.int64).tolist())

    def from_postgres(self, *values: Any) -> Any:
        return None if values[0] is None else values[0] % WORD


class Numbers(Column):
    """As many numbers for each document, kept as bytes."""

    def __init__(self, name: str, dtype: type[np.generic]) -> None:
        super().__init__(name)
        self._dtype = dtype

    def stored(self, values: Any, count: int) -> Sequence[Any]:
        """As bytearrays, which sqlite3 takes without looking for an adapter."""
        data = bytearray(values.tobytes())
        width = len(data) // max(count, 1)
        return [data[i : i + width] for i in range(0, len(data), width)] if count else []

    def packed(self, values: Any, count: int) -> Any:
        return as_bytes(values, count)

    def gathered(self, values: Sequence[Any]) -> Any:
        return np.frombuffer(b"".join(values), dtype=self._dtype)

    def present(self, rows: Rows, values: Any) -> tuple[Rows, Any]:
        return rows, values

    def copied(self, values: Any, count: int) -> Iterable[bytes]:
        return map(bytes_field, pieces(values, count))


class TextColumn(Column):
    """The texts of documents: what every store keeps, whatever kinds there are."""

    def __init__(self) -> None:
        super().__init__("text", text=True, selected=("text", "raw"))

    def stored(self, values: Any, count: int) -> Sequence[Any]:
        return _native.stored_texts(list(values))

    def read(self, value: Any) -> Any:
        return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value

    def gathered(self, values: Sequence[Any]) -> Any:
        return list(map(self.read, values))

    def from_postgres(self, *values: Any) -> Any:
        text, raw = values
        return raw.decode("utf-8", "surrogatepass") if raw is not None else text


TEXT = TextColumn()
