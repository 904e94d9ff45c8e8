"""Tables in memory: Arrow, Polars, pandas, Hugging Face datasets, and lists of mappings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lookalike.corpus.arrow_batches import ROWS, arrow_batch, edited, taken
from lookalike.corpus.batches import Batch, Columns, Report, SourcePart, made_parts, named_columns
from lookalike.corpus.row import Row
from lookalike.corpus.value_batches import value_batches
from lookalike.deduping.verdicts import TextCuts
from lookalike.errors import InputError


class Table(Protocol):
    name: str
    size: None
    row_file: None

    def batches(self, report: Report, start: tuple[int, int] = (0, 1)) -> Iterator[Batch]: ...

    def parts(self, report: Report, start: tuple[int, int] = (0, 1)) -> Iterator[SourcePart]: ...

    def kept(self, rows: NDArray[np.int64]) -> Any: ...

    def edited(self, edits: TextCuts) -> Any: ...


def table_reader(table: Any, columns: Columns) -> Table:
    """The reader for a table; an error that says what would do for anything else."""
    library = type(table).__module__.partition(".")[0]
    kind = type(table).__name__
    if library == "pyarrow" and kind in ("Table", "RecordBatch"):
        return _Arrow(table, columns)
    if library == "polars" and kind == "DataFrame":
        return _Polars(table, columns)
    if library == "pandas" and kind == "DataFrame":
        return _Pandas(table, columns)
    if library == "datasets" and kind == "Dataset":
        return _Dataset(table, columns)
    if isinstance(table, Sequence) and all(isinstance(row, Mapping) for row in table):
        return _Rows(table, columns)
    raise InputError(
        f"corpus is a {library}.{kind}: give paths, an Arrow, Polars or pandas table, a Hugging Face dataset, or a list of mappings"
    )


class _Base(ABC):
    name = ""
    size = None
    row_file = None

    def __init__(self, table: Any, columns: Columns) -> None:
        self.table, self.columns = table, columns

    @abstractmethod
    def batches(self, report: Report, start: tuple[int, int] = (0, 1)) -> Iterator[Batch]:
        """The rows of the table."""

    def parts(self, report: Report, start: tuple[int, int] = (0, 1)) -> Iterator[SourcePart]:
        return made_parts(self.batches(report, start))

    def _wanted(self, names: Sequence[str]) -> list[str]:
        named = named_columns(self.columns)
        named.see(names)
        named.check()
        self.columns.check_header(names, "the table")
        return self.columns.present(names)

    def _of_pieces(self, pieces: Iterable[Any], report: Report) -> Iterator[Batch]:
        before = 0
        for piece in pieces:
            batch = arrow_batch(piece, self.columns, before, self.name, report)
            before += len(piece)
            if len(batch):
                yield batch


class _Arrow(_Base):
    def batches(self, report: Report, start: tuple[int, int] = (0, 1)) -> Iterator[Batch]:
        table = self.table.select(self._wanted(self.table.schema.names))
        return self._of_pieces((table.slice(first, ROWS) for first in range(0, table.num_rows, ROWS)), report)

    def kept(self, rows: NDArray[np.int64]) -> Any:
        return taken(self.table, rows)

    def edited(self, edits: TextCuts) -> Any:
        return edited(self.table, list(range(self.table.num_rows)), edits)


class _Polars(_Base):
    def batches(self, report: Report, start: tuple[int, int] = (0, 1)) -> Iterator[Batch]:
        table = self.table.select(self._wanted(self.table.columns))
        return self._of_pieces((table.slice(first, ROWS).to_arrow() for first in range(0, len(table), ROWS)), report)

    def kept(self, rows: NDArray[np.int64]) -> Any:
        return self.table[rows]

    def edited(self, edits: TextCuts) -> Any:
        column = self.table.get_column(edits.column)
        return self.table.with_columns(type(column)(edits.column, edits.of_all(column.to_list()), dtype=column.dtype))


class _Pandas(_Base):
    def batches(self, report: Report, start: tuple[int, int] = (0, 1)) -> Iterator[Batch]:
        wanted = self._wanted([str(name) for name in self.table.columns])
        values = {name: self.table[name].tolist() for name in wanted}
        rows = (Row(f"row {i}", i + 1, {name: _plain(values[name][i]) for name in wanted}) for i in range(len(self.table)))
        return value_batches(rows, self.columns, report)

    def kept(self, rows: NDArray[np.int64]) -> Any:
        return self.table.iloc[rows]

    def edited(self, edits: TextCuts) -> Any:
        column = self.table[edits.column]
        return self.table.assign(**{edits.column: type(column)(edits.of_all(column.tolist()), index=column.index, dtype=column.dtype)})


def _plain(value: Any) -> Any:
    """None for what pandas takes for missing."""
    return None if value is None or value != value or type(value).__name__ in ("NAType", "NaTType") else value


class _Dataset(_Base):
    def batches(self, report: Report, start: tuple[int, int] = (0, 1)) -> Iterator[Batch]:
        table = self.table.select_columns(self._wanted(self.table.column_names)).with_format("arrow")
        return self._of_pieces(table.iter(batch_size=ROWS), report)

    def kept(self, rows: NDArray[np.int64]) -> Any:
        return self.table.select(rows.tolist())

    def edited(self, edits: TextCuts) -> Any:
        return self.table.map(lambda row, i: {edits.column: edits.of_all([row[edits.column]], i)[0]}, with_indices=True)


class _Rows(_Base):
    def batches(self, report: Report, start: tuple[int, int] = (0, 1)) -> Iterator[Batch]:
        named = named_columns(self.columns)
        for row in self.table:
            named.see(row)
            if not named.missing:
                break
        named.check()
        return value_batches((Row(f"row {i}", i + 1, row) for i, row in enumerate(self.table)), self.columns, report)

    def kept(self, rows: NDArray[np.int64]) -> Any:
        return [self.table[i] for i in rows.tolist()]

    def edited(self, edits: TextCuts) -> Any:
        texts = edits.of_all([row[edits.column] for row in self.table])
        return [{**row, edits.column: text} for row, text in zip(self.table, texts, strict=True)]
