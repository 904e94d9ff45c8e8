"""CSV, TSV and JSON files: read as values, written cell by cell as they were read."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Iterator, Sequence
from typing import IO, Any

from lookalike.corpus.files import Source
from lookalike.corpus.row import MAX_LINE_BYTES, Problem
from lookalike.corpus.rows import rows
from lookalike.corpus.streams import opened
from lookalike.deduping.batches import Batch, Columns, Report
from lookalike.deduping.problems import Refused
from lookalike.deduping.value_rows import value_batches
from lookalike.deduping.verdicts import ANNOTATIONS, DocumentVerdicts
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
            report(Problem("unreadable file", self.name, str(error)))


def check_header(names: Sequence[str], columns: Columns, name: str) -> None:
    shown = ", ".join(map(repr, names[:20])) or "none"
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
    with opened(source) as file:
        codec = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
        lines = io.TextIOWrapper(file, encoding=codec, errors="surrogateescape", newline="")
        cells = _cells(csv.reader(lines, delimiter=separator))
        names = next(cells, None) or []
        if header:
            writer.writerow([*names, *(ANNOTATIONS if annotate else ())])
        for number, row in enumerate(cells, 1):
            if row is None or number not in wanted:
                continue
            if verdicts.edits and verdicts.edits.column in names[: len(row)]:
                place = names.index(verdicts.edits.column)
                row[place] = verdicts.edits.edited(wanted[number], row[place])
            added: list[Any] = []
            if annotate:
                row += [""] * (len(names) - len(row))
                added = [json.dumps(value) if isinstance(value, bool) else value for value in verdicts.annotation(wanted[number]).values()]
            writer.writerow([*row, *added])
        lines.detach()
    text.detach().detach()  # flushes
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


def _by_row(reader: int, verdicts: DocumentVerdicts, every: bool) -> dict[int, int]:
    """The numbers of the documents that are written, by their rows."""
    span = verdicts.ledger.span(reader)
    numbers = itertools.count(span.start)
    pairs = zip(verdicts.ledger.rows()[span].tolist(), numbers, verdicts.kept_of(reader).tolist(), strict=False)
    return {row: number for row, number, kept in pairs if kept or every}


def _cells(reader: Any) -> Iterator[list[str] | None]:
    """The rows as lists; None for one that cannot be read."""
    while True:
        limit = csv.field_size_limit(MAX_LINE_BYTES)
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:
            row = None
        finally:
            csv.field_size_limit(limit)
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
