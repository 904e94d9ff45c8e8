"""The documents of a corpus, one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lookalike.checks import check_callback
from lookalike.corpus.columns import NamedColumns, can_be_read_twice, unless_default
from lookalike.corpus.files import Source, expand
from lookalike.corpus.row import damaged
from lookalike.corpus.rows import Problem, Row, check_encoding, rows
from lookalike.corpus.streams import damage, opened
from lookalike.corpus.values import plain
from lookalike.corpus.warc import Capture, captures
from lookalike.errors import InputError
from lookalike.io import MAX_TEXT_BYTES, decode_text
from lookalike.markup.extraction import check_extract, page_text
from lookalike.markup.page import Page
from lookalike.markup.reading import served_page
from lookalike.model import ID_NUMBERS, MAX_ID_BYTES, Document

HELD_BACK = 1000  # documents of standard input
_SURROGATE = re.compile("[\ud800-\udfff]")


def documents(
    inputs: str | Path | Sequence[str | Path],
    *,
    text_column: str = "text",
    id_column: str = "id",
    format: str | None = None,
    encoding: str | None = None,
    extract: str = "main",
    on_problem: Callable[[Problem], object] | None = None,
) -> Iterator[Document]:
    """The documents of files, folders, patterns (``corpus/**/*.jsonl``) and ``-`` for standard input.

    A row of a JSONL, JSON, CSV, TSV or Parquet file is a document: its id comes from the id column, or is made of the file's
    name and the row's number; the other columns are its ``meta``. Any other file is one document, called by its path.
    Of HTML files, and of the pages of web archives (WARC; called by their addresses), the main text is taken, without
    navigation; with ``extract="all"`` everything that can be read on them. ``.gz`` and ``.zst`` are unpacked. ``encoding``
    is found out for texts and pages, and UTF-8 for tables. In a folder with tables, README.md and the like are left out.

    What cannot be used is a ``Problem``: ``on_problem`` gets it and the rest is read; without it the first one is an
    ``InputError``. A column that no row has is an ``InputError`` in any case, and no document is given out before.
    """
    for name, value in (("text_column", text_column), ("id_column", id_column)):
        if not isinstance(value, str) or not value:
            raise InputError(f"{name}={value!r}: give the name of a column")
    if text_column == id_column:
        raise InputError(f"text_column and id_column are both {text_column!r}: give each a column of its own")
    check_extract(extract)
    check_callback("on_problem", on_problem)
    sources = expand(inputs, format, on_problem)
    if encoding is not None and any(source.is_table and source.format != "parquet" for source in sources):
        check_encoding(encoding)
    named = NamedColumns({f"text_column={text_column!r}": text_column, f"id_column={id_column!r}": unless_default(id_column, "id")})
    named.read(sources, encoding or "utf-8")
    later = any(source.is_table and not can_be_read_twice(source) for source in sources)
    if not later:
        named.check()
    found = _Reader(text_column, id_column, encoding, extract, on_problem or _refuse, named).read(sources)
    return _held_back(found, named) if later and named.missing else found


def _held_back(documents: Iterator[Document], named: NamedColumns) -> Iterator[Document]:
    """Standard input and pipes are read once: the first documents wait until their columns were seen."""
    held: list[Document] = []
    for document in documents:
        held.append(document)
        if not named.missing or len(held) > HELD_BACK:
            yield from held
            held.clear()
    named.check()
    yield from held


def _refuse(problem: Problem) -> None:
    if problem.skipped:
        raise InputError(f"{problem.place}: {problem.kind}: {problem.message}")


@dataclass(frozen=True, slots=True)
class _Reader:
    text_column: str
    id_column: str
    encoding: str | None
    extract: str
    report: Callable[[Problem], object]
    named: NamedColumns

    def read(self, sources: Iterable[Source]) -> Iterator[Document]:
        for source in sources:
            read = self._rows if source.is_table else self._archive if source.format == "warc" else self._file
            yield from read(source)

    def _file(self, source: Source) -> Iterator[Document]:
        try:
            with opened(source) as file:
                data = file.read(MAX_TEXT_BYTES + 1)
            found = self._page(data, None, source.name) if source.format == "html" else None
            text = page_text(found, self.extract) if found else decode_text(data, source.name, self.encoding).text
        except InputError as error:
            self.report(Problem("unreadable file", source.name, str(error)))
            return
        except damage() as error:
            self.report(damaged(source.name, error))
            return
        if wrong := _wrong_id(source.name):
            self.report(Problem("unusable id", source.name, f"its path {wrong}"))
            return
        # The bytes of a packed file say nothing about what it holds: nobody should take their digest.
        yield Document(source.name, self._text(text, source.name), {}, None if source.packing else source.path, found)

    def _page(self, data: bytes, charset: str | None, place: str) -> Page:
        found = served_page(data, charset, place, self.encoding)
        # Not all its notes: the others are about the tree of tags, which is not made for the text and takes longer than that.
        for note in found.reading_notes:
            self.report(Problem("page not read as it is", place, note.removeprefix(f"{place}: "), skipped=False))
        return found

    def _archive(self, source: Source) -> Iterator[Document]:
        try:
            with opened(source) as file:
                for capture in captures(file, source.name):
                    if document := self._capture(capture, f"{source.name}:{capture.number}"):
                        yield document
        except InputError as error:
            self.report(Problem("unreadable file", source.name, str(error)))
        except damage() as error:
            self.report(damaged(source.name, error))

    def _capture(self, capture: Capture, place: str) -> Document | None:
        document_id = capture.url or place
        if capture.data is None:
            self.report(Problem("unreadable page", place, str(capture.problem)))
            return None
        if wrong := _wrong_id(document_id):
            self.report(Problem("unusable id", place, f"its address {wrong}"))
            return None
        try:
            found = self._page(capture.data, capture.charset, place) if capture.is_html else None
            text = page_text(found, self.extract) if found else decode_text(capture.data, place, self.encoding).text
        except InputError as error:
            self.report(Problem("unreadable page", place, str(error)))
            return None
        return Document(document_id, self._text(text, place), {"date": capture.date} if capture.date else {}, page=found)

    def _rows(self, source: Source) -> Iterator[Document]:
        found = rows(source, header=self._check_header, encoding=self.encoding or "utf-8")
        while True:
            try:
                row = next(found, None)
            except InputError as error:
                self.report(Problem("unreadable file", source.name, str(error)))
                return
            if row is None:
                return
            if isinstance(row, Problem):
                self.report(row)
            elif document := self._document(row, source.name):
                yield document

    def _check_header(self, names: Sequence[str]) -> None:
        self.named.see(names)
        for column in (self.text_column, self.id_column):
            if (count := list(names).count(column)) > 1:
                raise InputError(f"{count} columns are called {column!r}: rename all but one")
        if self.text_column not in names:
            shown = ", ".join(map(repr, names[:20])) or "none"
            raise InputError(f"no column {self.text_column!r}: name the column of the text; the columns here are {shown}")

    def _document(self, row: Row, name: str) -> Document | None:
        values = dict(row.values)
        if self.named.missing:
            self.named.see(values)
        text, given = values.pop(self.text_column, None), values.pop(self.id_column, None)
        document_id = f"{name}:{row.number}" if given is None or given == "" else given
        if not isinstance(text, str):
            self.report(_no_text(row, self.text_column))
        elif wrong := _wrong_id(document_id):
            self.report(Problem("unusable id", row.place, f"{self.id_column!r} {wrong}"))
        else:
            try:
                return Document(document_id, self._text(text, row.place), plain(values))
            except RecursionError:
                self.report(Problem("unusable columns", row.place, "a value is nested too deep to be stored"))
        return None

    def _text(self, text: str, place: str) -> str:
        if _is_unicode(text):
            return text
        # One character for one: the spans of a passage stay true.
        text, replaced = _SURROGATE.subn("\ufffd", text)
        self.report(Problem("lone surrogate", place, f"{replaced} halves of characters replaced by U+FFFD", skipped=False))
        return text


def _no_text(row: Row, column: str) -> Problem:
    if row.values.get(column) is not None:
        kind = type(row.values[column]).__name__
        return Problem("text is not text", row.place, f"{column!r} is of type {kind}: expected text")
    if column in row.values:
        return Problem("no text", row.place, f"{column!r} is null")
    shown = ", ".join(repr(str(key)[:40]) for key in list(row.values)[:8]) or "none"
    return Problem("no text", row.place, f"no {column!r}; the columns here are {shown}")


def _wrong_id(value: object) -> str | None:
    if isinstance(value, str):
        if not _is_unicode(value) or "\0" in value:
            return f"is {value[:40]!r}: half a character (a lone surrogate) and NUL cannot be stored"
        return None if len(value.encode()) <= MAX_ID_BYTES else f"has more than {MAX_ID_BYTES} bytes: shorten or hash it"
    if isinstance(value, bool) or not isinstance(value, int):
        return f"is of type {type(value).__name__}: expected text or a whole number"
    return None if value in ID_NUMBERS else f"is {str(value)[:40]}: whole numbers have up to 64 bits here; make it text"


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
