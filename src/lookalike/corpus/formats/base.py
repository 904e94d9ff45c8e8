"""What a format of files is: how its rows are read, in which batches a run gets them, and how those that stay are written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.corpus.batches import MAX_ROW_BYTES, Batch, Columns, Report, SourcePart, made_parts
from lookalike.corpus.files import Source
from lookalike.corpus.row import Header, Problem, Row
from lookalike.corpus.rows import source_rows
from lookalike.corpus.streams import packed
from lookalike.corpus.value_batches import value_batches
from lookalike.corpus.writing import atomic_file
from lookalike.errors import InputError


class RowsWanted(NamedTuple):
    """What is asked for when rows are read."""

    text: str = "text"  # the columns under which texts and ids are given out where there are no columns
    id: str = "id"
    columns: Sequence[str] | None = None  # all that is needed; the others may be left out where that saves time
    header: Header | None = None  # gets the names of the columns before the first row, where a file says them first
    encoding: str | None = None  # None: found out for texts and pages, UTF-8 for tables
    objects: bool = True  # False: a row of JSON lines may hold anything
    extract: str = "main"  # of web pages
    most_bytes: int | None = None  # of a file that is one document


class RowWriter(ABC):
    """Writes rows one by one. The file appears when ``with`` ends without an error, packed if its name ends in .gz or .zst."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @abstractmethod
    def write(self, row: Mapping[str, Any]) -> None: ...

    def begin(self, out: IO[bytes]) -> None:
        """Before the first row."""
        self.out = out

    def finish(self, complete: bool) -> None:
        """After the last one, or where an error ends the writing."""
        return

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            file = stack.enter_context(atomic_file(self.path))
            packing = Source.of(self.path).packing
            self.begin(stack.enter_context(closing(packed(file, packing))) if packing else file)
            stack.push(lambda kind, *_: self.finish(kind is None))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, trace)


class Format(ABC):
    """What can be done with files of a format. Its name and the endings of its files are in the table of formats."""

    has_header = False  # whether a file says its columns before its first row
    begins_at_end = False  # whether a file cannot be read as it comes: packed or from a pipe it has to be copied first
    several_as_one = True  # whether several files can be written as one
    has_encoding = True  # whether text in it has an encoding that can be named
    named_by = ""  # what the ids are made of, for messages, where there is no column for them
    plural = ""  # for messages, where there are no columns
    ids_may_repeat = False

    @abstractmethod
    def rows(self, file: IO[bytes], name: str, wanted: RowsWanted) -> Iterator[Row | Problem]:
        """The rows of an open file, and what is wrong with some of them, in their order. ``InputError``: nothing can be read."""

    def batches(self, reader: FileReader, report: Report, start: tuple[int, int]) -> Iterator[Batch]:
        """The same in batches of columns. ``start``: a place that an earlier batch named to go on from."""
        return value_batches(reader.rows(), reader.columns, report, ids_may_repeat=self.ids_may_repeat)

    def parts(self, reader: FileReader, report: Report, start: tuple[int, int]) -> Iterator[SourcePart]:
        """The same as parts, of which several threads can make batches side by side."""
        return made_parts(self.batches(reader, report, start))

    def check(self, reader: FileReader) -> None:
        """An ``InputError`` for what a run cannot do with files of this format."""
        rank = reader.columns.rank
        if reader.columns.fields is not None and self.plural:
            raise InputError(f"{reader.name}: {self.plural} have no columns to compare: give tables, such as JSONL, CSV or Parquet")
        if rank and self.plural:
            raise InputError(f"keep={reader.columns.rank_kind}:{rank}: {self.plural} have no columns: choose first or longest")

    def row_file(self, reader: FileReader) -> _native.RowFile | None:
        """A plain file, of which texts can be read again at the extents of their rows."""
        return None

    def size(self, source: Source) -> int | None:
        """How many bytes of it batches will name as read, if they do."""
        return None

    def write(self, parts: Sequence[Kept], file: IO[bytes], packing: str | None) -> None:
        """What stays of some files, in one."""
        out = packed(file, packing)
        for part in parts:
            self.write_kept(part, out)
        out.close()

    @abstractmethod
    def write_kept(self, part: Kept, out: IO[bytes]) -> None:
        """What stays of one file."""

    def row_writer(self, path: Path, names: Sequence[str] = ()) -> RowWriter | None:
        """Writes rows that are made anew; None where nothing does. ``names``: the columns that a file without rows has."""
        return None


@dataclass(frozen=True, slots=True)
class FileReader:
    """The documents of a file, or of several files of which each is a document, for a run."""

    format: Format
    sources: Sequence[Source]
    columns: Columns
    encoding: str | None = None

    def __post_init__(self) -> None:
        self.format.check(self)

    @property
    def source(self) -> Source:
        return self.sources[0]

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def size(self) -> int | None:
        return self.format.size(self.source)

    @property
    def row_file(self) -> _native.RowFile | None:
        return self.format.row_file(self)

    def batches(self, report: Report, start: tuple[int, int] = (0, 1)) -> Iterator[Batch]:
        return self.format.batches(self, report, start)

    def parts(self, report: Report, start: tuple[int, int] = (0, 1)) -> Iterator[SourcePart]:
        return self.format.parts(self, report, start)

    def rows(self) -> Iterator[Row | Problem]:
        """The rows one by one; what cannot be read at all is a problem too."""
        for source in self.sources:
            wanted = RowsWanted(
                self.columns.text,
                self.columns.id,
                header=lambda names, name=source.name: self.columns.check_header(names, name),  # type: ignore[misc]  # a default binds the name now
                encoding=self.encoding,
                extract=self.columns.extract,
                most_bytes=MAX_ROW_BYTES,
            )
            yield from source_rows(source, wanted)


class Cuts(Protocol):
    """Stretches to cut out of the texts of some documents."""

    @property
    def column(self) -> str: ...

    @property
    def cuts(self) -> dict[int, list[tuple[int, int]]]: ...

    def edited(self, document: int, text: str, /) -> str: ...


@dataclass(frozen=True, slots=True)
class Kept:
    """What a run decided about the documents of a reader, for the one who writes what stays."""

    reader: FileReader
    documents: range  # their numbers
    rows: NDArray[np.int64]
    kept: NDArray[np.bool_]
    extents: NDArray[np.int64]  # where they stand in the unpacked file, where the batches said so
    file: Callable[[int], str]  # the file of a document
    edits: Cuts | None = None
    annotation: Callable[[int], dict[str, Any]] | None = None  # given: all rows are written, each with these columns behind its own

    @property
    def source(self) -> Source:
        return self.reader.source

    @property
    def encoding(self) -> str:
        return self.reader.encoding or "utf-8"

    def written(self) -> dict[int, int]:
        """The numbers of the documents that are written, by their rows."""
        found = zip(self.rows.tolist(), self.documents, self.kept.tolist(), strict=True)
        return {row: number for row, number, kept in found if kept or self.annotation}

    def changed(self, document: int, values: dict[str, Any]) -> dict[str, Any]:
        """A row as it is written: with a shorter text, with annotations, or as it was."""
        if self.edits and isinstance(text := values.get(self.edits.column), str):
            values = {**values, self.edits.column: self.edits.edited(document, text)}
        return values | self.annotation(document) if self.annotation else values

    def was_changed(self) -> InputError:
        return InputError(f"{self.source.name!r} was changed while it was read: run again")
