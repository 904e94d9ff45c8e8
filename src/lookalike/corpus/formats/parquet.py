"""Parquet files: rows keep their columns and types."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import numpy as np

from lookalike.corpus.arrow_batches import ROWS, arrow_batch, check_text, edited, mask
from lookalike.corpus.arrow_values import arrow, in_microseconds
from lookalike.corpus.batches import Batch, Report
from lookalike.corpus.files import Source
from lookalike.corpus.formats.base import FileReader, Format, Kept, RowsWanted, RowWriter
from lookalike.corpus.row import Problem, Row, damaged, unreadable
from lookalike.corpus.streams import damage
from lookalike.errors import InputError

ROWS_AS_VALUES = 256
GROUP_ROWS = 1 << 16  # of a row group: fewer make a large file slow to read
WRITTEN_ROWS = 16_384
WRITTEN_CHARACTERS = 32 << 20
_READ_BYTES = 1 << 20  # at a time; by itself the library reads a whole row group, which may be the whole file
_IN_MEMORY = 8 << 20  # bytes of a file that cannot be read from its end; more goes to a temporary file


class Parquet(Format):
    has_header = True
    begins_at_end = True
    has_encoding = False

    def rows(self, file: IO[bytes], name: str, wanted: RowsWanted) -> Iterator[Row | Problem]:
        pa = arrow()
        with ExitStack() as open_files:
            try:
                table = _parquet().ParquetFile(_seekable(file, open_files), pre_buffer=False, buffer_size=_READ_BYTES)
                names = list(table.schema_arrow.names)
            except (pa.ArrowException, OSError, *damage()) as error:
                raise InputError(f"{name} cannot be read as Parquet: {error}") from error
            if wanted.header:
                wanted.header(names)
            if repeated := next((column for column in names if names.count(column) > 1), None):
                raise InputError(f"{name}: {names.count(repeated)} columns are called {repeated!r}: rename all but one")
            columns = names if wanted.columns is None else [column for column in wanted.columns if column in names]
            number = 0
            try:
                for read in table.iter_batches(batch_size=ROWS_AS_VALUES, columns=columns, use_threads=False):
                    batch = pa.record_batch(list(map(in_microseconds, read.columns)), names=read.schema.names)
                    for values in _values(batch, pa.ArrowException):
                        number += 1
                        yield _row(f"{name}: row {number}", number, values)
            except (pa.ArrowException, OSError) as error:
                yield damaged(f"{name}: row {number + 1}", error)

    def batches(self, reader: FileReader, report: Report, start: tuple[int, int]) -> Iterator[Batch]:
        pa = arrow()
        name, columns = reader.name, reader.columns
        number = 0
        try:
            file = _open(reader.source)
            names = list(file.schema_arrow.names)
            columns.check_header(names, name)
            if columns.fields is None:
                check_text(file.schema_arrow.field(columns.text).type, columns.text, name)
            pieces = file.iter_batches(batch_size=ROWS, columns=columns.present(names))
        except (pa.ArrowException, OSError, InputError) as error:
            report(unreadable(name, error))
            return
        while True:
            try:
                piece = next(pieces, None)
            except (pa.ArrowException, OSError) as error:
                report(Problem("damaged file", f"{name}:{number + 1}", f"the data are damaged here ({str(error)[:200]})"))
                return
            if piece is None:
                return
            batch = arrow_batch(piece, columns, number, name, report)
            number += len(piece)
            if len(batch):
                yield batch

    def check(self, reader: FileReader) -> None:
        if reader.source.packing:
            raise InputError(f"{reader.name}: a Parquet file is compressed inside: unpack the file")

    def write(self, parts: Sequence[Kept], file: IO[bytes], packing: str | None) -> None:
        """The rows of some files that stay, in one file; they must have the same columns."""
        pa = arrow()
        writer, schema, first = None, None, ""
        try:
            for part in parts:
                table = _open(part.source)
                if writer is None:
                    schema, first = table.schema_arrow, part.source.name
                    written = arrow().unify_schemas([schema, _annotations(part)]) if part.annotation else schema
                    writer = _parquet().ParquetWriter(file, written, compression=_compression(table))
                elif not table.schema_arrow.equals(schema):
                    name = part.source.name
                    raise InputError(f"{name} has other columns or types than {first}: write them to a folder, or make them the same")
                for rows in _together(_kept_batches(table, part), pa):
                    writer.write_table(rows)
        finally:
            if writer is not None:
                writer.close()

    def write_kept(self, part: Kept, out: IO[bytes]) -> None:
        self.write([part], out, None)

    def row_writer(self, path: Path, names: Sequence[str] = ()) -> ParquetWriter | None:
        return None if Source.of(path).packing else ParquetWriter(path)


PARQUET = Parquet()


def _parquet() -> Any:
    import pyarrow.parquet as pq  # behind arrow(), which says what to install

    return pq


def _open(source: Source) -> Any:
    if source.path is None:
        raise InputError("Parquet cannot be read from standard input: name the file")
    return _parquet().ParquetFile(source.path)


def header(source: Source) -> list[str]:
    """The columns of a file; an ``InputError`` if it is none."""
    try:
        return list(_open(source).schema_arrow.names)
    except (arrow().ArrowException, OSError) as error:
        raise InputError(f"{source.name}: {error}") from error


def _row(place: str, number: int, values: dict[str, Any] | Exception) -> Row | Problem:
    return Problem("unreadable row", place, str(values)[:200]) if isinstance(values, Exception) else Row(place, number, values)


def _seekable(file: IO[bytes], open_files: ExitStack) -> Any:
    """Parquet has its table of contents at the end. A pipe has none to go to, and a packed file is slow to go back in."""
    if isinstance(file, io.BufferedReader | io.BytesIO) and file.seekable():
        return file
    copy = open_files.enter_context(SpooledTemporaryFile(_IN_MEMORY))  # noqa: SIM115 (closed with the others)
    shutil.copyfileobj(file, copy, 1 << 20)
    copy.seek(0)
    return copy


def _values(batch: Any, arrow_error: type[Exception]) -> Iterator[dict[str, Any] | Exception]:
    """The rows of a batch; an exception in place of one that holds text that is not UTF-8 or a time that Python lacks."""
    try:
        yield from batch.to_pylist()
    except (arrow_error, ValueError, OverflowError) as error:
        if len(batch) == 1:
            yield error
            return
        for number in range(len(batch)):
            yield from _values(batch.slice(number, 1), arrow_error)


def _compression(file: Any) -> str:
    meta = file.metadata
    found = meta.row_group(0).column(0).compression if meta.num_row_groups and meta.num_columns else "ZSTD"
    return "NONE" if found == "UNCOMPRESSED" else str(found)


def _together(batches: Iterator[Any], pa: Any) -> Iterator[Any]:
    """Batches as tables of a size that makes good row groups."""
    held: list[Any] = []
    for batch in batches:
        held.append(batch)
        if sum(map(len, held)) >= GROUP_ROWS:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)


def _kept_batches(file: Any, part: Kept) -> Iterator[Any]:
    """The rows that stay. They are read as the first time, and no further: there may be damage behind them."""
    rows = part.rows
    written = np.zeros(file.metadata.num_rows, dtype=np.bool_)
    numbers = np.zeros(file.metadata.num_rows, dtype=np.int64)
    written[rows - 1] = True if part.annotation else part.kept
    numbers[rows - 1] = part.documents
    at, last = 0, int(np.flatnonzero(written)[-1]) if written.any() else -1
    batches = file.iter_batches(batch_size=ROWS)
    while at <= last:
        batch = _next_batch(batches, part, at)
        wanted = written[at : at + len(batch)]
        kept = batch if wanted.all() else batch.filter(mask(wanted))
        documents = numbers[at : at + len(batch)][wanted].tolist()
        if part.edits:
            kept = edited(kept, documents, part.edits)
        if part.annotation:
            kept = _annotated(kept, part, [part.annotation(document) for document in documents])
        at += len(batch)
        if len(kept):
            yield kept


def _next_batch(batches: Iterator[Any], part: Kept, at: int) -> Any:
    pa, name = arrow(), part.source.name
    try:
        return next(batches)
    except StopIteration as error:
        raise part.was_changed() from error
    except (pa.ArrowException, OSError) as error:  # in a column that was not looked at before
        raise InputError(f"{name}: row {at + 1}: a column cannot be read ({str(error)[:200]}): repair or leave out the file") from error


def _annotated(batch: Any, part: Kept, found: list[dict[str, Any]]) -> Any:
    """A batch with the columns of the verdicts behind its own."""
    added = arrow().RecordBatch.from_pylist([_with_text_ids(each) for each in found], schema=_annotations(part))
    for field, column in zip(added.schema, added.columns, strict=True):
        batch = batch.append_column(field, column)
    return batch


def _with_text_ids(found: dict[str, Any]) -> dict[str, Any]:
    """Ids are text here: they may be of any kind, and a column has one."""
    if "repeats" in found:
        return found | {"repeats": [_with_text_ids(each) for each in found["repeats"]]}
    return found | {"kept_id": str(found["kept_id"])}


def _annotations(part: Kept) -> Any:
    pa = arrow()
    span = pa.list_(pa.int64())
    kinds = {
        "cluster": pa.int64(),
        "kept": pa.bool_(),
        "kept_id": pa.string(),
        "similarity": pa.float64(),
        "cut": pa.list_(span),
        "repeats": pa.list_(pa.struct([("span", span), ("kept_id", pa.string()), ("kept_span", span)])),
    }
    return pa.schema([(name, kinds[name]) for name in part.reader.columns.reserved])


class ParquetWriter(RowWriter):
    """Rows as Parquet. The columns and their types are those of ``schema``, or of the first batch of rows."""

    def __init__(self, path: str | Path, schema: Any = None) -> None:
        self._arrow = arrow("writing Parquet")
        super().__init__(path)
        self._schema = schema
        self._writer: Any = None
        self._batch: list[Mapping[str, Any]] = []
        self._characters = 0
        self._written = 0

    def write(self, row: Mapping[str, Any]) -> None:
        self._batch.append(row)
        self._characters += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(self._batch) >= WRITTEN_ROWS or self._characters >= WRITTEN_CHARACTERS:
            self._flush()

    def finish(self, complete: bool) -> None:
        try:
            if complete and (self._batch or self._writer is None):
                self._flush()
        finally:
            if self._writer:
                self._writer.close()

    def _flush(self) -> None:
        first, batch, self._batch, self._characters = self._written + 1, self._batch, [], 0
        self._written += len(batch)
        try:
            if self._schema is None:
                self._schema = self._inferred(batch)
            for number, row in enumerate(batch, first):
                if unknown := row.keys() - set(self._schema.names):
                    raise InputError(f"row {number}: a new column {min(map(str, unknown))!r}: {_REMEDY}")
            table = self._arrow.Table.from_pylist(batch, schema=self._schema)
        except (self._arrow.ArrowException, UnicodeEncodeError, OverflowError) as error:
            shown = f"rows {first} to {self._written} do not fit the columns of {str(self.path)!r} ({error})"
            raise InputError(f"{shown}: {_REMEDY}") from error
        if self._writer is None:
            self._writer = _parquet().ParquetWriter(self.out, self._schema, compression="zstd")
        self._writer.write_table(table)

    def _inferred(self, batch: list[Mapping[str, Any]]) -> Any:
        names = list(dict.fromkeys(name for row in batch for name in row))
        pa = self._arrow
        types = {name: pa.infer_type([row.get(name) for row in batch]) for name in names}
        # A column in which nothing was seen yet may get text later; the type null could hold nothing.
        return pa.schema([(name, pa.string() if pa.types.is_null(found) else found) for name, found in types.items()])


_REMEDY = "give a schema, or write .jsonl"
