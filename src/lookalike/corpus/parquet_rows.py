"""The rows of Parquet files, a batch at a time."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from lookalike.corpus.arrow_values import in_microseconds
from lookalike.corpus.row import Header, Problem, Row, damaged
from lookalike.corpus.streams import damage
from lookalike.errors import InputError, MissingExtra

BATCH_ROWS = 256
_READ_BYTES = 1 << 20  # at a time; by itself the library reads a whole row group, which may be the whole file
_IN_MEMORY = 8 << 20  # bytes of a file that cannot be read from its end; more goes to a temporary file


def parquet_rows(file: IO[bytes], name: str, columns: Sequence[str] | None, header: Header | None) -> Iterator[Row | Problem]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtra.for_extra("reading Parquet", "parquet") from error
    with ExitStack() as open_files:
        try:
            table = pq.ParquetFile(_seekable(file, open_files), pre_buffer=False, buffer_size=_READ_BYTES)
            names = list(table.schema_arrow.names)
        except (pa.ArrowException, OSError, *damage()) as error:
            raise InputError(f"{name} cannot be read as Parquet: {error}") from error
        if header:
            header(names)
        if repeated := next((column for column in names if names.count(column) > 1), None):
            raise InputError(f"{name}: {names.count(repeated)} columns are called {repeated!r}: rename all but one")
        wanted = names if columns is None else [column for column in columns if column in names]
        number = 0
        try:
            for read in table.iter_batches(batch_size=BATCH_ROWS, columns=wanted, use_threads=False):
                batch = pa.record_batch(list(map(in_microseconds, read.columns)), names=read.schema.names)
                for values in _values(batch, pa.ArrowException):
                    number += 1
                    yield _row(f"{name}: row {number}", number, values)
        except (pa.ArrowException, OSError) as error:
            yield damaged(f"{name}: row {number + 1}", error)


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
