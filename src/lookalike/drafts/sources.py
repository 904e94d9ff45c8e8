"""Where pairs come from: JSON lines, CSV and Parquet files, data frames, and any iterable. Read one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from lookalike.checks import check_choice, check_path, check_str
from lookalike.corpus import formats
from lookalike.corpus.arrow_values import values_of
from lookalike.corpus.files import Source
from lookalike.corpus.rows import Problem, Row, rows, stream_rows
from lookalike.drafts.pairs import PairColumns
from lookalike.errors import InputError

BATCH_ROWS = 256


Check = Callable[[Iterable[str], str], None]
"""Gets the columns of a table before its rows, and its name; may refuse them."""


def records_of(source: Any, columns: PairColumns, format: str | None, encoding: str, check: Check | None = None) -> Iterator[Row | Problem]:
    """The records of a path, a binary file, a data frame, or an iterable of mappings and (draft, final) tuples."""
    check = check or columns.check_header
    if format is not None:
        check_choice("format", format, formats.names("table"))
    check_str("encoding", encoding, "the name of an encoding, such as utf-8")
    if isinstance(source, (str, Path)):
        return _file_records(check_path("pairs", source), columns, format, encoding, check)
    if hasattr(source, "read"):
        name = "standard input"
        header = _header_check(check, name)
        return stream_rows(source, name, format or "jsonl", columns=columns.names, header=header, encoding=encoding, objects=False)
    library = type(source).__module__.partition(".")[0]
    if library in _FRAMES:
        return (Row(f"row {number}", number, row) for number, row in enumerate(_FRAMES[library](source, columns, check), 1))
    if isinstance(source, (Mapping, bytes)) or not isinstance(source, Iterable):
        raise InputError(
            f"pairs is a {type(source).__name__}: expected a path, a data frame, or a list of mappings or (draft, final) tuples"
        )
    return (Row(f"item {number}", number, value) for number, value in enumerate(source, 1))


def _file_records(path: Path, columns: PairColumns, format: str | None, encoding: str, check: Check) -> Iterator[Row | Problem]:
    source = Source.of(path, format)
    if not source.is_table:
        raise InputError(
            f"{str(path)!r}: the format is not clear from the name: choose one with format= ({', '.join(formats.names('table'))})"
        )
    header = _header_check(check, source.name)
    return rows(source, columns=columns.names, header=header, encoding=encoding, objects=False)


def _header_check(check: Check, name: str) -> Callable[[Iterable[str]], None]:
    return lambda header: check(header, name)


def _arrow_rows(table: Any, columns: PairColumns, check: Check) -> Iterator[dict[str, Any]]:
    if not hasattr(table, "schema"):
        raise InputError(f"pairs is a pyarrow {type(table).__name__}: give a Table with the columns draft and final")
    names = list(table.schema.names)
    check(names, "the table")
    wanted = [name for name in columns.names if name in names]
    if type(table).__name__ == "Table":
        batches = table.to_batches(max_chunksize=BATCH_ROWS)
    else:
        batches = [table] if hasattr(table, "num_rows") else table
    for batch in batches:
        columns_of = {name: values_of(batch.column(name)) for name in wanted}
        yield from (dict(zip(wanted, values, strict=True)) for values in zip(*columns_of.values(), strict=True))


def _polars_rows(frame: Any, columns: PairColumns, check: Check) -> Iterator[dict[str, Any]]:
    if not hasattr(frame, "iter_rows"):
        raise InputError(f"pairs is a polars {type(frame).__name__}: give a DataFrame (collect() a LazyFrame first)")
    check(frame.columns, "the frame")
    return cast("Iterator[dict[str, Any]]", frame.select([name for name in columns.names if name in frame.columns]).iter_rows(named=True))


def _pandas_rows(frame: Any, columns: PairColumns, check: Check) -> Iterator[dict[str, Any]]:
    if not hasattr(frame, "itertuples") or not hasattr(frame, "columns"):
        raise InputError(f"pairs is a pandas {type(frame).__name__}: give a DataFrame with the columns draft and final")
    check(map(str, frame.columns), "the frame")
    names = [name for name in columns.names if name in frame.columns]
    for row in frame[names].itertuples(index=False, name=None):
        yield dict(zip(names, row, strict=True))


_FRAMES: dict[str, Callable[[Any, PairColumns, Check], Iterator[dict[str, Any]]]] = {
    "pyarrow": _arrow_rows,
    "polars": _polars_rows,
    "pandas": _pandas_rows,
}
