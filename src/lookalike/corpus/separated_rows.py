"""The rows of CSV and TSV files."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

from lookalike.corpus import row
from lookalike.corpus.row import Header, Problem, Row, damaged
from lookalike.corpus.streams import damage
from lookalike.errors import InputError

_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")


def separated_rows(file: IO[bytes], name: str, separator: str, header: Header | None, encoding: str) -> Iterator[Row | Problem]:
    with cells_of(file, separator, encoding) as reader:
        yield from _read(reader, name, header, encoding)


@contextmanager
def cells_of(file: IO[bytes], separator: str, encoding: str) -> Iterator[Any]:
    """A csv.reader over a file, which stays open. ``next_row`` takes its rows."""
    codec = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    # A byte that does not fit becomes a lone surrogate, so that one bad row does not end the reading.
    text = io.TextIOWrapper(file, encoding=codec, errors="surrogateescape", newline="")
    try:
        yield csv.reader(_Lines(text), delimiter=separator)
    finally:
        text.detach()  # otherwise it would close standard input


class _Lines:
    """The lines of a text, none longer than a row may be: a file without line ends must not fill the memory."""

    def __init__(self, text: IO[str]) -> None:
        self._text = text

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._text.readline(row.MAX_LINE_BYTES)
        if not line:
            raise StopIteration
        if len(line) == row.MAX_LINE_BYTES and line[-1] not in "\r\n":
            while line and line[-1] not in "\r\n":
                line = self._text.readline(1 << 20)
            raise csv.Error(f"the line has more than {row.MAX_LINE_BYTES:,} characters")
        return line


def _read(reader: Any, name: str, header: Header | None, encoding: str) -> Iterator[Row | Problem]:
    names = _header(reader, name)
    if header:
        header(names)
    for number in itertools.count(1):
        place = f"{name}:{reader.line_num + 1}"
        try:
            cells = next_row(reader)
        except csv.Error as error:
            yield Problem("invalid CSV", place, str(error))
            continue
        except damage() as error:
            yield damaged(place, error)
            return
        if cells is None:
            return
        if any(map(_ESCAPED_BYTE.search, cells)):
            yield Problem("wrong encoding", place, f"the row has bytes that are not {encoding}; name the encoding")
        elif cells:
            yield Row(place, number, dict(zip(names, cells, strict=False)))


def _header(reader: Any, name: str) -> list[str]:
    try:
        names = next_row(reader)
    except csv.Error as error:
        raise InputError(f"{name}: the header is not a row of column names: {error}") from error
    except damage() as error:
        raise InputError(f"{name} is damaged and cannot be read: {str(error)[:200]}") from error
    if names is None:
        raise InputError(f"{name} is empty: expected a header with the names of the columns")
    return names


def next_row(reader: Any) -> list[str] | None:
    """The next row; None at the end, and a csv.Error for one that cannot be read, behind which reading goes on."""
    # The limit belongs to the whole process: it is raised for this call only.
    limit = csv.field_size_limit(row.MAX_LINE_BYTES)
    try:
        return cast("list[str] | None", next(reader, None))
    finally:
        csv.field_size_limit(limit)
