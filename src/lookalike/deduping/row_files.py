"""CSV, TSV and JSON files: read as values, written cell by cell as they were read."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Iterator, Sequence
from typing import IO, Any

from lookalike.corpus.files import Source
from lookalike.corpus.json_rows import numbered_lines
from lookalike.corpus.row import Problem
from lookalike.corpus.rows import rows
from lookalike.corpus.separated_rows import cells_of, next_row
from lookalike.corpus.streams import opened_again
from lookalike.deduping.batches import Batch, Columns, Report
from lookalike.deduping.problems import UNREADABLE, Refused
from lookalike.deduping.settings import ANNOTATIONS
from lookalike.deduping.value_rows import value_batches
from lookalike.deduping.verdicts import DocumentVerdicts
from lookalike.errors import InputError


class RowFile:
    """The rows of one CSV, TSV or JSON file."""

    size = None

    def __init__(self, source: Source, columns: Columns, encoding: str = "utf-8") -> None:
        self.source, self.columns, self.encoding = source, columns, encoding

    @property
    def name(self) -> str:
        return self.source.name

    def batches(self, report: Report, start: tuple[int, int] = (0, 1)) -> Iterator[Batch]:
        def header(names: Sequence[str]) -> None:
            check_header(names, self.columns, self.name)

        try:
            yield from value_batches(rows(self.source, header=header, encoding=self.encoding), self.columns, report)
        except Refused:
            raise
        except InputError as error:
            report(Problem(UNREADABLE, self.name, str(error).removeprefix(f"{self.name}: ")))


def check_header(names: Sequence[str], columns: Columns, name: str) -> None:
    shown = ", ".join(map(repr, names[:20])) or "none"
    for column in (columns.text, columns.id, columns.rank):
        if column is not None and (count := list(names).count(column)) > 1:
            raise InputError(f"{name}: {count} columns are called {column!r}: rename all but one; the columns here are {shown}")
    if columns.text not in names:
        raise InputError(f"{name}: no column {columns.text!r}: name the column of the text; the columns here are {shown}")
    if columns.rank and columns.rank not in names:
        raise InputError(f"{name}: no column {columns.rank!r}, which keep asks for; the columns here are {shown}")
    if taken := next((each for each in columns.reserved if each in names), None):
        raise InputError(f"{name}: there is a column {taken!r} already, which annotate adds: rename it")


def write_separated(
    source: Source, out: IO[bytes], reader: int, verdicts: DocumentVerdicts, encoding: str, annotate: bool, header: bool
) -> list[str]:
    """The rows that stay, or all of them with annotations; the answer is the header that was read."""
    separator = "," if source.format == "csv" else "\t"
    wanted = _by_row(reader, verdicts, annotate)
    text = io.TextIOWrapper(io.BufferedWriter(_Unclosed(out)), encoding=encoding, errors="surrogateescape", newline="")
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    with opened_again(source) as file, cells_of(file, separator, encoding) as cells:
        names = next_row(cells) or []
        if header:
            writer.writerow([*names, *(ANNOTATIONS if annotate else ())])
        for number, row in enumerate(_rows(cells), 1):
            document = wanted.pop(number, None)
            if row is None or document is None:
                continue
            if verdicts.edits and verdicts.edits.column in names[: len(row)]:
                place = names.index(verdicts.edits.column)
                row[place] = verdicts.edits.edited(document, row[place])
            added: list[Any] = []
            if annotate:
                row += [""] * (len(names) - len(row))
                added = [json.dumps(value) if isinstance(value, bool) else value for value in verdicts.annotation(document).values()]
            writer.writerow([*row, *added])
    text.detach().detach()  # flushes
    if wanted:
        raise InputError(f"{source.name!r} was changed while it was read: run again")
    return names


def write_json_array(source: Source, out: IO[bytes], reader: int, verdicts: DocumentVerdicts, encoding: str, annotate: bool) -> None:
    """The rows that stay as an array of objects."""
    wanted = _by_row(reader, verdicts, annotate)
    between = b"[\n"
    for row in rows(source, encoding=encoding):
        if isinstance(row, Problem) or row.number not in wanted:
            continue
        values = dict(row.values)
        if verdicts.edits and isinstance(text := values.get(verdicts.edits.column), str):
            values[verdicts.edits.column] = verdicts.edits.edited(wanted[row.number], text)
        values |= verdicts.annotation(wanted[row.number]) if annotate else {}
        out.write(between + json.dumps(values, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        between = b",\n"
    out.write(b"\n]\n" if between == b",\n" else b"[]\n")


def write_lines(source: Source, out: IO[bytes], reader: int, verdicts: DocumentVerdicts, encoding: str, annotate: bool) -> None:
    """The rows of JSON lines in another encoding than UTF-8: as the bytes they came in, unless something is added or cut."""
    wanted = _by_row(reader, verdicts, annotate)
    with opened_again(source) as file:
        for line in numbered_lines(file, source.name):
            document = None if isinstance(line, Problem) else wanted.pop(line.number, None)
            if isinstance(line, Problem) or document is None:
                continue
            edits = verdicts.edits if verdicts.edits and document in verdicts.edits.cuts else None
            data = line.data.removesuffix(b"\n")
            if edits or annotate:
                values = json.loads(data.decode(encoding))
                if edits:
                    values[edits.column] = edits.edited(document, values[edits.column])
                data = _encoded(values | (verdicts.annotation(document) if annotate else {}), encoding)
            out.write(data + b"\n")
    if wanted:
        raise InputError(f"{source.name!r} was changed while it was read: run again")


def _encoded(values: dict[str, Any], encoding: str) -> bytes:
    try:
        return json.dumps(values, ensure_ascii=False).encode(encoding)
    except UnicodeEncodeError:  # what the encoding lacks is written as an escape
        return json.dumps(values).encode(encoding)


def _by_row(reader: int, verdicts: DocumentVerdicts, every: bool) -> dict[int, int]:
    """The numbers of the documents that are written, by their rows."""
    span = verdicts.ledger.span(reader)
    numbers = itertools.count(span.start)
    pairs = zip(verdicts.ledger.rows()[span].tolist(), numbers, verdicts.kept_of(reader).tolist(), strict=False)
    return {row: number for row, number, kept in pairs if kept or every}


def _rows(cells: Any) -> Iterator[list[str] | None]:
    """The rows as lists; None for one that cannot be read."""
    while True:
        try:
            row = next_row(cells)
        except csv.Error:
            yield None
            continue
        if row is None:
            return
        yield row


class _Unclosed(io.RawIOBase):
    """A file that a text wrapper may not close."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._file.write(bytes(data))
        return len(data)
