"""The documents of a corpus, one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookalike.checks import check_bool, check_callback, check_names, is_unicode, wrong_id
from lookalike.corpus.batches import Columns, named_columns
from lookalike.corpus.columns import NamedColumns, can_be_read_twice
from lookalike.corpus.file_documents import file_documents
from lookalike.corpus.files import Source, expand
from lookalike.corpus.formats import format_named
from lookalike.corpus.formats.base import RowsWanted
from lookalike.corpus.row import Problem, Row
from lookalike.corpus.rows import check_encoding, source_rows
from lookalike.corpus.values import is_too_deep, plain
from lookalike.errors import InputError
from lookalike.figures import shown_value
from lookalike.markup.extracts import check_extract
from lookalike.model import Document

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
    columns: Iterable[str] | None = None,
    binary: bool = False,
    on_problem: Callable[[Problem], object] | None = None,
) -> Iterator[Document]:
    """The documents of files, folders, patterns (``corpus/**/*.jsonl``) and ``-`` for standard input.

    A row of a JSONL, JSON, CSV, TSV or Parquet file is a document: its id comes from the id column, or is made of the file's
    name and the row's number; the other columns are its ``meta``. Any other file is one document, called by its path: a text in whatever
    encoding, or PDF, DOCX and what else ``la.read`` reads. An archive (ZIP, TAR) is a folder: each file in it is a document. With
    ``binary`` a file without a text is a document too, whose ``text`` is None; otherwise it is a problem.
    Of HTML files, and of the pages of web archives (WARC; called by their addresses), the main text is taken, without
    navigation; with ``extract="all"`` everything that can be read on them. ``.gz`` and ``.zst`` are unpacked. ``encoding``
    is found out for texts and pages, and UTF-8 for tables. In a folder with tables, README.md and the like are left out.

    With ``columns``, rows are records of these columns, and of all but the id where the list is empty; there is no column of a text then.
    Null and the empty text are missing values, which are no part of a record.

    What cannot be used is a ``Problem``: ``on_problem`` gets it and the rest is read; without it the first one is an
    ``InputError``. A column that no row has is an ``InputError`` in any case, and no document is given out before.
    """
    for name, value in (("text_column", text_column), ("id_column", id_column)):
        if not isinstance(value, str) or not value or value.encode("utf-8", "replace").decode() != value:
            raise InputError(f"{name}={value!r}: give the name of a column")
    if text_column == id_column:
        raise InputError(f"text_column and id_column are both {text_column!r}: give each a column of its own")
    check_extract(extract)
    check_bool("binary", binary)
    check_callback("on_problem", on_problem)
    sources = expand(inputs, format, on_problem, by_content=True)
    tables = [source for source in sources if source.is_table]
    if encoding is not None and any(format_named(source.format).has_encoding for source in tables):
        check_encoding(encoding)
    if columns is not None and (other := next((source for source in sources if not source.is_table), None)):
        raise InputError(f"{other.name}: columns= is for tables, such as JSONL, CSV or Parquet: a record is a row of one")
    wanted = Columns(text_column, id_column, extract=extract, fields=None if columns is None else check_names("columns", columns))
    named = named_columns(wanted)
    named.read(sources, encoding or "utf-8")
    later = not all(map(can_be_read_twice, tables))
    if not later:
        named.check()
    found = _DocumentReader(wanted, encoding, on_problem or _refuse, named, binary).read(sources)
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
class _DocumentReader:
    columns: Columns
    encoding: str | None
    report: Callable[[Problem], object]
    named: NamedColumns
    binary: bool = False

    def read(self, sources: Iterable[Source]) -> Iterator[Document]:
        for source in sources:
            if self.encoding is None and (found := file_documents(source, self.report, binary=self.binary)) is not None:
                yield from found
                continue
            # The bytes of a packed file say nothing about what it holds: nobody should take their digest.
            path = None if source.holds_many or source.packing else source.path
            for row in source_rows(source, self._wanted(source)):
                if isinstance(row, Problem):
                    self.report(row)
                elif document := self._document(row, source, path):
                    yield document

    def _wanted(self, source: Source) -> RowsWanted:
        def header(names: Sequence[str]) -> None:
            self.named.see(names)
            self.columns.check_header(names, source.name)

        return RowsWanted(self.columns.text, self.columns.id, header=header, encoding=self.encoding, extract=self.columns.extract)

    def _document(self, row: Row, source: Source, path: Path | None) -> Document | None:
        # Not all notes of a page: the others are about the tree of tags, which is not made for the text and takes longer than that.
        for note in row.page.reading_notes if row.page else ():
            self.report(Problem("page not read as it is", row.place, note.removeprefix(f"{row.place}: "), skipped=False))
        values = row.values
        if self.named.missing and source.is_table:
            self.named.see(values)
        text, given = values.get(self.columns.text), values.get(self.columns.id)
        made = f"{source.name}:{row.number}" if row.number else source.name
        document_id = made if given is None or given == "" else given
        if self.columns.fields is not None:
            text = ""
        if not isinstance(text, str):
            self.report(_no_text(row, self.columns.text))
        elif wrong := wrong_id(document_id):
            named_by = format_named(source.format).named_by or repr(self.columns.id)
            self.report(Problem("unusable id", row.place, f"{named_by}: {shown_value(document_id)} {wrong}"))
        else:
            try:
                if self.columns.fields is not None:
                    return self._record(document_id, row)
                meta = {name: value for name, value in values.items() if name not in self.columns[:2]}
                return Document(document_id, self._text(text, row.place), _kept(meta), path, row.page)
            except RecursionError:
                self.report(Problem("unusable columns", row.place, "a value is nested too deep to be stored"))
        return None

    def _record(self, document_id: str | int, row: Row) -> Document | None:
        """A record; what is no part of it is the ``meta``."""
        if not (data := self.columns.record(row.values)):
            self.report(Problem("no values", row.place, "all columns of the record are empty"))
            return None
        names = (*data, self.columns.id, *(self.columns.fields or ()))
        meta = {name: value for name, value in row.values.items() if name not in names and value is not None}
        return Document(document_id, None, _kept(meta), record=data)

    def _text(self, text: str, place: str) -> str:
        if is_unicode(text):
            return text
        # One character for one: the spans of a passage stay true.
        text, replaced = _SURROGATE.subn("\ufffd", text)
        self.report(Problem("lone surrogate", place, f"{replaced} halves of characters replaced by U+FFFD", skipped=False))
        return text


def _kept(meta: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = plain(meta)
    if is_too_deep(kept):
        raise RecursionError
    return kept


def _no_text(row: Row, column: str) -> Problem:
    if row.values.get(column) is not None:
        kind = type(row.values[column]).__name__
        return Problem("text is not text", row.place, f"{column!r} is of type {kind}: expected text")
    if column in row.values:
        return Problem("no text", row.place, f"{column!r} is null")
    shown = ", ".join(repr(str(key)[:40]) for key in list(row.values)[:8]) or "none"
    return Problem("no text", row.place, f"no {column!r}; the columns here are {shown}")
