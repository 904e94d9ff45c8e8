"""Columns of Arrow as values that Python has."""

from __future__ import annotations

from typing import Any

from lookalike.errors import MissingExtra


def arrow(purpose: str = "reading Parquet") -> Any:
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra.for_extra(purpose, "parquet") from error
    return pa


class UnreadableValue:
    """In place of a value that Python cannot have: text that is not UTF-8, a time far away."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __repr__(self) -> str:
        return f"unreadable ({str(self.error)[:100]})"


def values_of(column: Any) -> list[Any]:
    """The values of a column of Arrow, each by itself where one of them cannot be had."""
    coarse = in_microseconds(column)
    try:
        return list(coarse.to_pylist())
    except (ValueError, OverflowError):
        return list(map(_value, coarse))


def _value(cell: Any) -> Any:
    try:
        return cell.as_py()
    except (ValueError, OverflowError) as error:
        return UnreadableValue(error)


def in_microseconds(column: Any) -> Any:
    """A column of Arrow in which no time is finer than Python's: nanoseconds are cut to microseconds, also within lists and structs."""
    wanted = _coarser(column.type, arrow())
    return column if wanted == column.type else column.cast(wanted, safe=False)


def _coarser(kind: Any, pa: Any) -> Any:
    types = pa.types
    if types.is_timestamp(kind) and kind.unit == "ns":
        return pa.timestamp("us", kind.tz)
    if types.is_duration(kind) and kind.unit == "ns":
        return pa.duration("us")
    if types.is_time64(kind) and kind.unit == "ns":
        return pa.time64("us")
    if types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_coarser(kind.value_type, pa)))
    if types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_coarser(kind.value_type, pa)))
    if types.is_struct(kind):
        return pa.struct([field.with_type(_coarser(field.type, pa)) for field in kind])
    return kind
