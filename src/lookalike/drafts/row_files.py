"""Rows as files: JSON lines, or CSV that is safe to open in a spreadsheet.

A spreadsheet takes a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return for a formula. Such a cell,
and one that begins with an apostrophe, gets an apostrophe in front; whoever reads the file back takes one off.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lookalike.corpus.files import Source
from lookalike.corpus.formats.base import RowWriter
from lookalike.corpus.formats.jsonl_writing import JsonlWriter
from lookalike.corpus.formats.separated import SeparatedWriter
from lookalike.drafts.judge import DraftRow
from lookalike.errors import InputError

# The full-width forms too: spreadsheets in East Asian locales read them as the plain ones.
_RISKY = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")


def safe_cell(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula; numbers stay numbers."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_RISKY) else value


def row_writer(path: Path, groups: tuple[str, ...], format: str | None = None) -> RowWriter:
    """Writes rows one by one. The file appears, with its header, when ``with`` ends without an error."""
    source = Source.of(path)
    found = format or (None if source.packing else source.format)
    if found == "jsonl":
        return JsonlWriter(path)
    if found == "csv":
        empty = DraftRow("", "", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, None, dict.fromkeys(groups), "")
        return SeparatedWriter(path, list(empty.to_dict()), cell=safe_cell, line_end="\r\n")
    raise InputError(f"{str(path)!r}: rows are written as .jsonl or .csv: choose one of these endings")
