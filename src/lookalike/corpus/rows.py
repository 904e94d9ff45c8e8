"""The rows of a table: JSON lines, JSON arrays, CSV, TSV and Parquet, read one after the other.

What is wrong with a row is a ``Problem`` with a place; the rows behind it are read all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import IO

from lookalike.checks import check_str
from lookalike.corpus.files import Source
from lookalike.corpus.json_rows import array_rows, line_rows
from lookalike.corpus.parquet_rows import parquet_rows
from lookalike.corpus.row import Header as Header
from lookalike.corpus.row import Problem as Problem
from lookalike.corpus.row import Row as Row
from lookalike.corpus.separated_rows import separated_rows
from lookalike.corpus.streams import opened
from lookalike.errors import InputError


def rows(
    source: Source, *, columns: Sequence[str] | None = None, header: Header | None = None, encoding: str = "utf-8", objects: bool = True
) -> Iterator[Row | Problem]:
    """The rows of a source. See ``stream_rows``."""
    with opened(source) as file:
        yield from stream_rows(file, source.name, source.format, columns=columns, header=header, encoding=encoding, objects=objects)


def stream_rows(
    file: IO[bytes],
    name: str,
    format: str,
    *,
    columns: Sequence[str] | None = None,
    header: Header | None = None,
    encoding: str = "utf-8",
    objects: bool = True,
) -> Iterator[Row | Problem]:
    """The rows of an open file.

    ``columns`` are all that is wanted of a Parquet file, where leaving out the others saves time; ``header`` gets the names
    of the columns of a CSV, TSV or Parquet file before the first row. With ``objects=False`` a JSON line may hold anything.
    """
    if format == "parquet":
        return parquet_rows(file, name, columns, header)
    check_encoding(encoding)
    if format in ("csv", "tsv"):
        return separated_rows(file, name, "," if format == "csv" else "\t", header, encoding)
    if format not in ("jsonl", "json"):
        raise InputError(f"{name!r} holds {format}, not rows: choose another format=")
    found = (line_rows if format == "jsonl" else array_rows)(file, name, encoding)
    return map(_object, found) if objects else found


def check_encoding(encoding: str) -> None:
    """An ``InputError``, unless a line ends with the byte of a line feed in this encoding."""
    check_str("encoding", encoding, "the name of an encoding, such as utf-8")
    try:
        fits = "{}\n".encode(encoding) == b"{}\n"
    except (LookupError, ValueError) as error:  # of a name with a NUL ValueError, otherwise UnicodeError
        raise InputError(f"encoding={encoding!r} is not one that Python knows: try utf-8 or gb18030") from error
    if not fits:
        raise InputError(
            f"encoding={encoding!r}: lines are read in encodings that contain ASCII, such as utf-8 or gb18030: convert the file"
        )


def _object(row: Row | Problem) -> Row | Problem:
    if isinstance(row, Problem) or isinstance(row.values, Mapping):
        return row
    return Problem("not an object", row.place, f"of type {type(row.values).__name__}: expected an object, such as {{…}}")
