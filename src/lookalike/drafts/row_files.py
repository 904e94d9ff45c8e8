"""Rows as files: JSON lines, or CSV that is safe to open in a spreadsheet.

A spreadsheet takes a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return for a formula. Such a cell,
and one that begins with an apostrophe, gets an apostrophe in front; whoever reads the file back takes one off.
"""

from __future__ import annotations

import csv
import io
import json
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from lookalike.corpus.writing import atomic_file
from lookalike.drafts.judge import Row
from lookalike.errors import InputError

FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
# The full-width forms too: spreadsheets in East Asian locales read them as the plain ones.
_RISKY = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")


def safe_cell(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula; numbers stay numbers."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_RISKY) else value


def plain_cell(cell: str) -> str:
    """The inverse of ``safe_cell``."""
    return cell[1:] if cell.startswith("'") else cell


class RowWriter:
    """Writes rows one by one. The file appears, with its header, when ``with`` ends without an error."""

    def __init__(self, path: Path, groups: tuple[str, ...], format: str | None = None) -> None:
        found = format or FORMATS.get(path.suffix.lower())
        if found is None:
            raise InputError(f"{str(path)!r}: rows are written as .jsonl or .csv: choose one of these endings")
        self._path, self._groups, self._format = path, groups, found

    def write(self, row: Row) -> None:
        if self._csv:
            self._csv.writerow([safe_cell(value) for value in row.to_dict().values()])
        else:
            self._file.write(json.dumps(row.to_dict(), ensure_ascii=False) + "\n")

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            data = stack.enter_context(atomic_file(self._path))
            # What UTF-8 cannot carry, a lone surrogate, is written as its escape.
            self._file = io.TextIOWrapper(data, encoding="utf-8", errors="backslashreplace", newline="")
            stack.callback(self._file.detach)  # flushes, and leaves the file open for what completes it
            self._csv = csv.writer(self._file) if self._format == "csv" else None
            if self._csv:
                self._csv.writerow(map(safe_cell, _header(self._groups)))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, trace)


def _header(groups: tuple[str, ...]) -> list[str]:
    empty = Row("", "", 0, 0, 0, 0, 0, 0, 0, 0, 0, None, dict.fromkeys(groups), "")
    return list(empty.to_dict())
