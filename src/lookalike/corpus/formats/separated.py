"""CSV and TSV files: read as values, written cell by cell as they were read."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from lookalike.corpus import row
from lookalike.corpus.formats.base import Format, Kept, RowsWanted, RowWriter
from lookalike.corpus.row import Header, Problem, Row, damaged
from lookalike.corpus.rows import is_utf8
from lookalike.corpus.streams import damage, opened_again, packed
from lookalike.errors import InputError

_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")


class Separated(Format):
    has_header = True

    def __init__(self, separator: str) -> None:
        self.separator = separator

    def rows(self, file: IO[bytes], name: str, wanted: RowsWanted) -> Iterator[Row | Problem]:
        encoding = wanted.encoding or "utf-8"
        with cells_of(file, self.separator, encoding) as cells:
            yield from _read(cells, name, wanted.header, encoding)

    def write(self, parts: Sequence[Kept], file: IO[bytes], packing: str | None) -> None:
        out = packed(file, packing)
        header: list[str] | None = None
        for part in parts:
            found = self._write(part, out, header is None)
            if header is not None and found != header:
                first = parts[0].source.name
                raise InputError(f"{part.source.name} has other columns than {first}: write them to a folder, or make them the same")
            header = found
        out.close()

    def write_kept(self, part: Kept, out: IO[bytes]) -> None:
        self._write(part, out, True)

    def _write(self, part: Kept, out: IO[bytes], with_header: bool) -> list[str]:
        """The rows that stay, or all of them with annotations; the answer is the header that was read."""
        wanted = part.written()
        text = _text_over(out, part.encoding, "surrogateescape")
        writer = csv.writer(text, delimiter=self.separator, lineterminator="\n")
        with opened_again(part.source) as file, cells_of(file, self.separator, part.encoding) as cells:
            names = next_row(cells) or []
            if with_header:
                writer.writerow([*names, *part.reader.columns.reserved])
            for number, found in enumerate(_rows(cells), 1):
                document = wanted.pop(number, None)
                if not isinstance(found, csv.Error) and document is not None:
                    writer.writerow(_written(part, document, names, found))
        text.detach().detach()  # flushes
        if wanted:
            raise part.was_changed()
        return names

    def row_writer(self, path: Path, names: Sequence[str] = ()) -> SeparatedWriter:
        return SeparatedWriter(path, names, self.separator)


CSV, TSV = Separated(","), Separated("\t")


def _written(part: Kept, document: int, names: list[str], cells: list[str]) -> list[Any]:
    """A row, whose cells are not all named nor all there, as it is written."""
    if part.edits and part.edits.column in names[: len(cells)]:
        place = names.index(part.edits.column)
        cells[place] = part.edits.edited(document, cells[place])
    if not part.annotation:
        return cells
    added = part.annotation(document).values()
    shown = (json.dumps(value, ensure_ascii=False) if isinstance(value, bool | list) else value for value in added)
    return [*cells, *[""] * (len(names) - len(cells)), *shown]


@contextmanager
def cells_of(file: IO[bytes], separator: str, encoding: str) -> Iterator[Any]:
    """A csv.reader over a file, which stays open. ``next_row`` takes its rows."""
    codec = "utf-8-sig" if is_utf8(encoding) else encoding
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
    place = f"{name}:{reader.line_num + 1}"
    try:
        for number, cells in enumerate(_rows(reader), 1):
            if isinstance(cells, csv.Error):
                yield Problem("invalid CSV", place, str(cells))
            elif any(map(_ESCAPED_BYTE.search, cells)):
                yield Problem("wrong encoding", place, f"the row has bytes that are not {encoding}; name the encoding")
            elif cells:
                yield Row(place, number, dict(zip(names, cells, strict=False)))
            place = f"{name}:{reader.line_num + 1}"
    except damage() as error:
        yield damaged(place, error)


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


def _rows(reader: Any) -> Iterator[list[str] | csv.Error]:
    """The rows; an error in place of one that cannot be read."""
    while True:
        try:
            cells = next_row(reader)
        except csv.Error as error:
            yield error
            continue
        if cells is None:
            return
        yield cells


def _text_over(out: IO[bytes], encoding: str, errors: str) -> Any:
    return io.TextIOWrapper(io.BufferedWriter(_Unclosed(out)), encoding=encoding, errors=errors, newline="")


class _Unclosed(io.RawIOBase):
    """A file that a text wrapper may not close."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._file.write(bytes(data))
        return len(data)


class SeparatedWriter(RowWriter):
    """Rows as CSV, with the columns of the first one; ``names`` are those of a file without rows."""

    def __init__(
        self, path: Path, names: Sequence[str], separator: str = ",", cell: Callable[[Any], Any] | None = None, line_end: str = "\n"
    ) -> None:
        super().__init__(path)
        self._names, self._cell, self._begun = names, cell, False
        self._options: dict[str, Any] = {"delimiter": separator, "lineterminator": line_end}

    def begin(self, out: IO[bytes]) -> None:
        # What UTF-8 cannot carry, a lone surrogate, is written as its escape.
        self._text = _text_over(out, "utf-8", "backslashreplace")
        self._rows = csv.writer(self._text, **self._options)

    def write(self, row: Mapping[str, Any]) -> None:
        if not self._begun:
            self._write_cells(row)
        self._write_cells(row.values())

    def _write_cells(self, cells: Iterable[Any]) -> None:
        self._begun = True
        self._rows.writerow(map(self._cell, cells) if self._cell else cells)

    def finish(self, complete: bool) -> None:
        if complete and not self._begun:
            self._write_cells(self._names)
        self._text.detach().detach()  # flushes
