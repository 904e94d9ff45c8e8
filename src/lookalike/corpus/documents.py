"""The documents of a corpus, one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lookalike.corpus.files import Source, expand
from lookalike.corpus.row import damaged
from lookalike.corpus.rows import Problem, Row, check_encoding, rows
from lookalike.corpus.streams import damage, opened
from lookalike.corpus.values import plain
from lookalike.errors import InputError
from lookalike.io import MAX_TEXT_BYTES, decode_text
from lookalike.model import Document

_INTEGERS = range(-(2**63), 2**63)
_SURROGATE = re.compile("[\ud800-\udfff]")


def documents(
    inputs: str | Path | Sequence[str | Path],
    *,
    text_column: str = "text",
    id_column: str = "id",
    format: str | None = None,
    encoding: str | None = None,
    on_problem: Callable[[Problem], object] | None = None,
) -> Iterator[Document]:
    """The documents of files, folders, patterns (``corpus/**/*.jsonl``) and ``-`` for standard input.

    A row of a JSONL, JSON, CSV, TSV or Parquet file is a document: its id comes from the id column, or is made of the file's
    name and the row's number; the other columns are its ``meta``. Any other file is one document, called by its path.
    ``.gz`` and ``.zst`` are unpacked. ``encoding`` is found out for texts, and UTF-8 for tables.

    What cannot be used is a ``Problem``: ``on_problem`` gets it and the rest is read; without it the first one is an
    ``InputError``.
    """
    for name, value in (("text_column", text_column), ("id_column", id_column)):
        if not isinstance(value, str) or not value:
            raise InputError(f"{name}={value!r}: give the name of a column")
    if text_column == id_column:
        raise InputError(f"text_column and id_column are both {text_column!r}: give each a column of its own")
    sources = expand(inputs, format)
    if encoding is not None and any(source.is_table and source.format != "parquet" for source in sources):
        check_encoding(encoding)
    return _read(sources, text_column, id_column, encoding, on_problem or _refuse)


def _refuse(problem: Problem) -> None:
    if problem.skipped:
        raise InputError(f"{problem.place}: {problem.kind}: {problem.message}")


def _read(
    sources: Sequence[Source], text_column: str, id_column: str, encoding: str | None, report: Callable[[Problem], object]
) -> Iterator[Document]:
    for source in sources:
        found = _rows(source, text_column, id_column, encoding or "utf-8") if source.is_table else _file(source, encoding)
        for item in found:
            if isinstance(item, Problem):
                report(item)
            else:
                yield item


def _file(source: Source, encoding: str | None) -> Iterator[Document | Problem]:
    if source.format == "warc":
        yield Problem("unknown format", source.name, "web archives are not read: extract their pages first")
        return
    try:
        with opened(source) as file:
            data = file.read(MAX_TEXT_BYTES + 1)
        read = decode_text(data, source.name, encoding)
    except InputError as error:
        yield Problem("unreadable file", source.name, str(error))
        return
    except damage() as error:
        yield damaged(source.name, error)
        return
    # The bytes of a packed file say nothing about what it holds: nobody should take their digest.
    yield from _with_text(source.name, source.name, read.text, {}, source.path if not source.packing else None)


def _rows(source: Source, text_column: str, id_column: str, encoding: str) -> Iterator[Document | Problem]:
    def header(names: Sequence[str]) -> None:
        if text_column not in names:
            shown = ", ".join(map(repr, names[:20])) or "none"
            raise InputError(f"no column {text_column!r}: name the column of the text; the columns here are {shown}")

    try:
        for row in rows(source, header=header, encoding=encoding):
            yield from [row] if isinstance(row, Problem) else _row(row, source.name, text_column, id_column)
    except InputError as error:
        yield Problem("unreadable file", source.name, str(error))


def _row(row: Row, name: str, text_column: str, id_column: str) -> Iterator[Document | Problem]:
    values = dict(row.values)
    text, given = values.pop(text_column, None), values.pop(id_column, None)
    if text is None:
        shown = ", ".join(repr(str(key)[:40]) for key in list(row.values)[:8]) or "none"
        missing = f"{text_column!r} is null" if text_column in row.values else f"no {text_column!r}; the columns here are {shown}"
        yield Problem("no text", row.place, missing)
        return
    if not isinstance(text, str):
        yield Problem("text is not text", row.place, f"{text_column!r} is of type {type(text).__name__}: expected text")
        return
    document_id = f"{name}:{row.number}" if given is None or given == "" else given
    if wrong := _wrong_id(document_id):
        yield Problem("unusable id", row.place, f"{id_column!r} {wrong}")
        return
    try:
        meta = plain(values)
    except RecursionError:
        yield Problem("unusable columns", row.place, "a value is nested too deep to be stored")
        return
    yield from _with_text(row.place, document_id, text, meta, None)


def _wrong_id(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return f"is of type {type(value).__name__}: expected text or a whole number"
    if isinstance(value, int):
        return None if value in _INTEGERS else f"is {str(value)[:40]}: whole numbers have up to 64 bits here; make it text"
    return None if _is_unicode(value) else f"is {value[:40]!r}: it has half a character, a lone surrogate, that cannot be stored"


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _with_text(place: str, document_id: str | int, text: str, meta: Mapping[str, Any], path: Path | None) -> Iterator[Document | Problem]:
    if not _is_unicode(text):
        # One character for one: the spans of a passage stay true.
        text, replaced = _SURROGATE.subn("\ufffd", text)
        yield Problem("lone surrogate", place, f"{replaced} halves of characters replaced by U+FFFD", skipped=False)
    yield Document(document_id, text, meta, path)
