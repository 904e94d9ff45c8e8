"""What a format of files is: how its rows are read, in which batches a run gets them, and how those that stay are written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, Protocol, Self

from numpy.typing import NDArray

from lookalike.corpus.batches import MAX_ROW_BYTES, Batch, Columns, Report
from lookalike.corpus.files import Source
from lookalike.corpus.row import Header, Problem, Row
from lookalike.corpus.rows import source_rows
from lookalike.corpus.streams import packed
from lookalike.corpus.value_batches import value_batches
from lookalike.errors import InputError


class Wanted(NamedTuple):
    """What is asked for when rows are read."""

    text: str = "text"  # the columns under which texts and ids are given out where there are no columns
    id: str = "id"
    columns: Sequence[str] | None = None  # all that is needed; the others may be left out where that saves time
    header: Header | None = None  # gets the names of the columns before the first row, where a file says them first
    encoding: str | None = None  # None: found out for texts and pages, UTF-8 for tables
    objects: bool = True  # False: a row of JSON lines may hold anything
    extract: str = "main"  # of web pages
    most_bytes: int | None = None  # of a file that is one document


class RowWriter(Protocol):
    """Writes rows one by one. The file appears when ``with`` ends without an error."""

    def write(self, row: Any) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...


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
    def rows(self, file: IO[bytes], name: str, wanted: Wanted) -> Iterator[Row | Problem]:
        """The rows of an open file, and what is wrong with some of them, in their order. ``InputError``: nothing can be read."""

    def batches(self, reader: FileReader, report: Report, start: tuple[int, int]) -> Iterator[Batch]:
        """The same in batches of columns. ``start``: a place that an earlier batch named to go on from."""
        return value_batches(reader.rows(), reader.columns, report, ids_may_repeat=self.ids_may_repeat)

    def check(self, reader: FileReader) -> None:
        """An ``InputError`` for what a run cannot do with files of this format."""
        rank = reader.columns.rank
        if rank and self.plural:
            raise InputError(f"keep={reader.columns.rank_kind}:{rank}: {self.plural} have no columns: choose first or longest")

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

    def batches(self, report: Report, start: tuple[int, int] = (0, 1)) -> Iterator[Batch]:
        return self.format.batches(self, report, start)

    def rows(self) -> Iterator[Row | Problem]:
        """The rows one by one; what cannot be read at all is a problem too."""
        for source in self.sources:
            wanted = Wanted(
                self.columns.text,
                self.columns.id,
                header=lambda names, name=source.name: self.columns.check_header(names, name),  # type: ignore[misc]
                encoding=self.encoding,
                extract=self.columns.extract,
                most_bytes=MAX_ROW_BYTES,
            )
            yield from source_rows(source, wanted)


class Places(Protocol):
    """Where the documents of a run stand. Documents are numbered over all readers."""

    def span(self, reader: int, /) -> slice: ...

    def rows(self) -> NDArray[Any]: ...

    def extents(self, reader: int, /) -> NDArray[Any]: ...

    def file(self, document: int, /) -> str: ...


class Cuts(Protocol):
    """Stretches to cut out of the texts of some documents."""

    @property
    def column(self) -> str: ...

    @property
    def cuts(self) -> dict[int, list[tuple[int, int]]]: ...

    def edited(self, document: int, text: str, /) -> str: ...


class Decided(Protocol):
    """What a run decided."""

    @property
    def ledger(self) -> Places: ...

    @property
    def edits(self) -> Cuts | None: ...

    def kept_of(self, reader: int, /) -> NDArray[Any]: ...

    def annotation(self, document: int, /) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Kept:
    """What of a reader is written: the documents that stay, or, with ``annotate``, all of them with what was decided about each."""

    reader: FileReader
    number: int  # of the reader
    decided: Decided
    annotate: bool = False

    @property
    def source(self) -> Source:
        return self.reader.source

    @property
    def encoding(self) -> str:
        return self.reader.encoding or "utf-8"

    @property
    def edits(self) -> Cuts | None:
        return self.decided.edits

    @property
    def span(self) -> slice:
        return self.decided.ledger.span(self.number)

    @property
    def kept(self) -> NDArray[Any]:
        """Whether each of its documents stays."""
        return self.decided.kept_of(self.number)

    @property
    def rows(self) -> NDArray[Any]:
        """The numbers of their rows."""
        return self.decided.ledger.rows()[self.span]

    @property
    def extents(self) -> NDArray[Any]:
        """Where they stand in the unpacked file, where the batches said so."""
        return self.decided.ledger.extents(self.number)

    def written(self) -> dict[int, int]:
        """The numbers of the documents that are written, by their rows."""
        numbers = range(self.span.start, self.span.stop)
        found = zip(self.rows.tolist(), numbers, self.kept.tolist(), strict=True)
        return {row: number for row, number, kept in found if kept or self.annotate}

    def changed(self, document: int, values: dict[str, Any]) -> dict[str, Any]:
        """A row as it is written: with a shorter text, with annotations, or as it was."""
        if self.edits and isinstance(text := values.get(self.edits.column), str):
            values = {**values, self.edits.column: self.edits.edited(document, text)}
        return values | self.decided.annotation(document) if self.annotate else values

    def was_changed(self) -> InputError:
        return InputError(f"{self.source.name!r} was changed while it was read: run again")
