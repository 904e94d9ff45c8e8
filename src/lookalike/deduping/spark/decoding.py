"""Rows of Spark → documents: the columns of a table, lines of JSON, or whole files, read as the local engine reads them."""

from __future__ import annotations

import io
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.corpus.arrow_batches import arrow_batch
from lookalike.corpus.batches import Batch, Columns
from lookalike.corpus.files import Source
from lookalike.corpus.formats import format_named
from lookalike.corpus.formats.base import RowsWanted
from lookalike.corpus.formats.json_scan import scanned_lines
from lookalike.corpus.row import Problem
from lookalike.corpus.value_batches import CollectedRows
from lookalike.errors import InputError

CELL = "cell"  # the column with all that a document is made of: its text, its line, or its file
NAME = "lookalike cells"  # before the row in a message, and in it; the driver puts the file there

LINE = re.compile(rf"{NAME}:(\d+)")


class Misread(NamedTuple):
    """A problem with a row, by its number."""

    n: int
    problem: Problem


class Decoded(NamedTuple):
    numbers: NDArray[np.int64]  # of the documents
    batch: Batch
    problems: list[Misread]

    @property
    def with_text(self) -> NDArray[np.int64]:
        """The numbers of those that have one."""
        return self.numbers if self.batch.has_text is None else self.numbers[self.batch.has_text]


Decode = Callable[[Any], Decoded]  # of a record batch with the column n


@dataclass(frozen=True, slots=True)
class _Decoding(ABC):
    columns: Columns

    def __call__(self, piece: Any) -> Decoded:
        problems: list[Problem] = []
        batch = self._batch(piece, problems)
        # Rows are places in the batch so far, from 1.
        numbers = np.asarray(piece.column("n"))
        found = [Misread(int(numbers[int(each.place.rpartition(":")[2]) - 1]), each) for each in problems]
        return Decoded(numbers[batch.rows - 1], batch, found)

    @abstractmethod
    def _batch(self, piece: Any, problems: list[Problem]) -> Batch:
        """The documents; what is wrong with rows is added to the problems."""


@dataclass(frozen=True, slots=True)
class FromColumns(_Decoding):
    """Texts, ids and ranks are columns."""

    def _batch(self, piece: Any, problems: list[Problem]) -> Batch:
        names = {CELL: self.columns.text, "id": self.columns.id, "rank": self.columns.rank}
        given = piece.select([name for name in piece.schema.names if name in names])
        given = given.rename_columns([names[name] for name in given.schema.names])
        return arrow_batch(given, self.columns, 0, NAME, problems.append)


@dataclass(frozen=True, slots=True)
class FromLines(_Decoding):
    """A row is a line of JSON, with its line feed."""

    def _batch(self, piece: Any, problems: list[Problem]) -> Batch:
        try:
            return scanned_lines(whole(piece.column(CELL)), NAME, self.columns, problems.append)
        except InputError as error:
            numbers = np.asarray(piece.column("n"))
            raise InputError(LINE.sub(lambda line: f"{NAME}:{numbers[int(line[1]) - 1]}", str(error))) from None


@dataclass(frozen=True, slots=True)
class FromFiles(_Decoding):
    """A row is a file, which is a document."""

    format: str
    encoding: str | None

    def _batch(self, piece: Any, problems: list[Problem]) -> Batch:
        collected = CollectedRows(self.columns, False)
        wanted = RowsWanted(self.columns.text, self.columns.id, encoding=self.encoding, extract=self.columns.extract)
        for place, data in enumerate(_cells(piece.column(CELL)), 1):
            try:
                found = list(format_named(self.format).rows(io.BytesIO(data), NAME, wanted))
            except InputError as error:
                problems.append(Problem("unreadable file", f"{NAME}:{place}", str(error).removeprefix(f"{NAME}: ")))
                continue
            for row in found:
                problem = row if isinstance(row, Problem) else collected.add(row._replace(number=place))
                problems += [problem._replace(place=f"{NAME}:{place}")] if problem else []
        return collected.batch()


def offsets_of(column: Any) -> NDArray[np.int64]:
    """Where cells begin, and the end of the last."""
    if not len(column):
        return np.zeros(1, np.int64)
    kind = np.int64 if str(column.type).startswith("large") else np.int32
    return np.frombuffer(column.buffers()[1], kind)[column.offset : column.offset + len(column) + 1].astype(np.int64, copy=False)


def whole(column: Any) -> memoryview:
    """All cells as they lie one after the other, whatever their bytes are. None is null."""
    places, data = offsets_of(column), column.buffers()[2]
    return memoryview(data or b"").cast("B")[int(places[0]) : int(places[-1])]


def _cells(column: Any) -> list[bytes]:
    """Each cell as the bytes it is."""
    kind = "large_binary" if str(column.type).startswith("large") else "binary"
    return [cell or b"" for cell in column.cast(kind).to_pylist()]


def is_decodable(source: Source) -> bool:
    """Whether Spark brings the contents of a file as one of the decoders takes them."""
    if source.format == "jsonl":
        return source.packing in (None, "gz")
    return source.packing is None and source.format in ("parquet", "text", "html")
