"""Where pairs come from: JSON lines, CSV and Parquet files, data frames, and any iterable. Read one after the other."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, cast

from lookalike.drafts.pairs import Columns, Problem, Record
from lookalike.errors import InputError, MissingExtra
from lookalike.io import open_file

FORMATS = ("jsonl", "csv", "parquet")
MAX_LINE_BYTES = 256 << 20
BATCH_ROWS = 256
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")
_ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}


def records_of(source: Any, columns: Columns, format: str | None, encoding: str) -> Iterator[Record | Problem]:
    """The records of a path, a binary file, a data frame, or an iterable of mappings and (draft, final) tuples."""
    if format is not None and format not in FORMATS:
        raise InputError(f"format={format!r}: choose one of {', '.join(FORMATS)}")
    if isinstance(source, (str, Path)):
        return _file_records(Path(source), columns, format, encoding)
    if hasattr(source, "read"):
        return _stream_records(source, "standard input", columns, format or "jsonl", encoding)
    library = type(source).__module__.partition(".")[0]
    if library in _TABLES:
        return _table_records(_TABLES[library](source, columns))
    if isinstance(source, (Mapping, bytes)) or not isinstance(source, Iterable):
        raise InputError(
            f"pairs is a {type(source).__name__}: expected a path, a data frame, or a list of mappings or (draft, final) tuples"
        )
    return (Record(f"item {number}", number, value) for number, value in enumerate(source, 1))


def _file_records(path: Path, columns: Columns, format: str | None, encoding: str) -> Iterator[Record | Problem]:
    endings = [ending.lower() for ending in path.suffixes]
    packing = endings.pop() if endings and endings[-1] in (".gz", ".zst") else None
    format = format or _ENDINGS.get(endings[-1] if endings else "")
    if format is None:
        raise InputError(f"{str(path)!r}: the format is not clear from the name: choose one with format= ({', '.join(FORMATS)})")
    with ExitStack() as open_files:
        file: Any = open_files.enter_context(open_file(path))
        if packing == ".gz":
            file = open_files.enter_context(gzip.open(file))
        elif packing == ".zst":
            file = open_files.enter_context(_zstd(file))
        yield from _stream_records(file, str(path), columns, format, encoding)


def _zstd(file: IO[bytes]) -> Any:
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]  # Python 3.14

        return zstd.open(file)
    except ImportError:
        pass
    try:
        import zstandard
    except ImportError as error:
        raise MissingExtra.for_extra("reading .zst files", "zstd") from error
    return io.BufferedReader(_ZstdFrames(file, zstandard.ZstdDecompressor().decompressobj))


class _ZstdFrames(io.RawIOBase):
    """Frame after frame. The library's own reader takes a file that was cut off for one that ends there."""

    def __init__(self, file: IO[bytes], frame: Callable[[], Any]) -> None:
        self._file, self._frame = file, frame
        self._current = frame()
        self._begun = False
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        while not self._ready:
            data = self._current.unused_data if self._current.eof else b""
            if self._current.eof:
                self._current, self._begun = self._frame(), False
            data = data or self._file.read(1 << 16)
            if not data:
                if self._begun:
                    raise EOFError("the last frame is not complete")
                return 0
            self._begun = True
            self._ready = self._current.decompress(data)
        size = min(len(target), len(self._ready))
        target[:size], self._ready = self._ready[:size], self._ready[size:]
        return size


def _damage() -> tuple[type[Exception], ...]:
    """What reading damaged compressed data raises."""
    found: list[type[Exception]] = [EOFError, zlib.error, gzip.BadGzipFile]
    found += [sys.modules[name].ZstdError for name in ("compression.zstd", "zstandard") if name in sys.modules]
    return tuple(found)


def _damaged(place: str, error: Exception) -> Problem:
    return Problem("damaged file", place, f"the data end or break here ({str(error)[:200]}); the rest could not be read")


def _stream_records(file: IO[bytes], name: str, columns: Columns, format: str, encoding: str) -> Iterator[Record | Problem]:
    if format == "parquet":
        return _table_records(_parquet_rows(file, name, columns), name)
    _check_encoding(encoding)
    if format == "csv":
        return _csv_records(file, name, columns, encoding)
    return _json_records(file, name, encoding)


def _check_encoding(encoding: str) -> None:
    try:
        fits = "{}\n".encode(encoding) == b"{}\n"
    except (LookupError, UnicodeError, TypeError) as error:
        raise InputError(f"encoding={encoding!r} is not one that Python knows: try utf-8 or gb18030") from error
    if not fits:
        raise InputError(
            f"encoding={encoding!r}: lines are read in encodings that contain ASCII, such as utf-8 or gb18030: convert the file"
        )


def _json_records(file: IO[bytes], name: str, encoding: str) -> Iterator[Record | Problem]:
    number = 0
    while True:
        number += 1
        place = f"{name}:{number}"
        try:
            line = file.readline(MAX_LINE_BYTES)
            if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
                _skip_line(file)
                yield Problem("line too long", place, f"the line has more than {MAX_LINE_BYTES:,} bytes")
                continue
        except _damage() as error:
            yield _damaged(place, error)
            return
        if not line:
            return
        if line.strip():
            yield _json_record(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line, place, number, encoding)


def _skip_line(file: IO[bytes]) -> None:
    while True:
        line = file.readline(1 << 20)
        if not line or line.endswith(b"\n"):
            return


def _json_record(line: bytes, place: str, number: int, encoding: str) -> Record | Problem:
    try:
        return Record(place, number, json.loads(line.decode(encoding)))
    except UnicodeDecodeError as error:
        return Problem("wrong encoding", place, f"byte {error.start} of the line is not {encoding}; name the encoding")
    except (ValueError, RecursionError) as error:
        return Problem("invalid JSON", place, f"{error}"[:200])


def _csv_records(file: IO[bytes], name: str, columns: Columns, encoding: str) -> Iterator[Record | Problem]:
    codec = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    # A byte that does not fit becomes a lone surrogate, so that one bad row does not end the reading.
    lines = io.TextIOWrapper(file, encoding=codec, errors="surrogateescape", newline="")
    try:
        yield from _csv_rows(csv.reader(lines), name, columns, encoding)
    finally:
        lines.detach()  # otherwise it would close standard input


def _csv_rows(reader: Any, name: str, columns: Columns, encoding: str) -> Iterator[Record | Problem]:
    header = _next_row(reader)
    if header is None:
        raise InputError(f"{name} is empty: expected a header with the names of the columns")
    columns.check_header(header, name)
    for number in itertools.count(1):
        place = f"{name}:{reader.line_num + 1}"
        try:
            row = _next_row(reader)
        except csv.Error as error:
            yield Problem("invalid CSV", place, str(error))
            continue
        except _damage() as error:
            yield _damaged(place, error)
            return
        if row is None:
            return
        if any(map(_ESCAPED_BYTE.search, row)):
            yield Problem("wrong encoding", place, f"the row has bytes that are not {encoding}; name the encoding")
        elif row:
            yield Record(place, number, dict(zip(header, row, strict=False)))


def _next_row(reader: Any) -> list[str] | None:
    # The limit belongs to the whole process: it is raised for this call only.
    limit = csv.field_size_limit(MAX_LINE_BYTES)
    try:
        return cast("list[str] | None", next(reader, None))
    finally:
        csv.field_size_limit(limit)


def _parquet_rows(file: IO[bytes], name: str, columns: Columns) -> Iterator[dict[str, Any] | Problem]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtra.for_extra("reading Parquet", "parquet") from error
    try:
        table = pq.ParquetFile(file if file.seekable() else io.BytesIO(file.read()))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{name} cannot be read as Parquet: {error}") from error
    columns.check_header(table.schema_arrow.names, name)
    wanted = [column for column in columns.names if column in table.schema_arrow.names]
    number = 0
    try:
        for batch in table.iter_batches(batch_size=BATCH_ROWS, columns=wanted):
            yield from batch.to_pylist()
            number += len(batch)
    except (pa.ArrowException, OSError) as error:
        yield _damaged(f"{name}: row {number + 1}", error)


def _arrow_rows(table: Any, columns: Columns) -> Iterator[dict[str, Any]]:
    if not hasattr(table, "schema"):
        raise InputError(f"pairs is a pyarrow {type(table).__name__}: give a Table with the columns draft and final")
    names = list(table.schema.names)
    columns.check_header(names, "the table")
    wanted = [name for name in columns.names if name in names]
    if type(table).__name__ == "Table":
        batches = table.to_batches(max_chunksize=BATCH_ROWS)
    else:
        batches = [table] if hasattr(table, "num_rows") else table
    for batch in batches:
        yield from batch.select(wanted).to_pylist()


def _polars_rows(frame: Any, columns: Columns) -> Iterator[dict[str, Any]]:
    if not hasattr(frame, "iter_rows"):
        raise InputError(f"pairs is a polars {type(frame).__name__}: give a DataFrame (collect() a LazyFrame first)")
    columns.check_header(frame.columns, "the frame")
    return cast("Iterator[dict[str, Any]]", frame.select([name for name in columns.names if name in frame.columns]).iter_rows(named=True))


def _pandas_rows(frame: Any, columns: Columns) -> Iterator[dict[str, Any]]:
    if not hasattr(frame, "itertuples") or not hasattr(frame, "columns"):
        raise InputError(f"pairs is a pandas {type(frame).__name__}: give a DataFrame with the columns draft and final")
    columns.check_header(map(str, frame.columns), "the frame")
    names = [name for name in columns.names if name in frame.columns]
    for row in frame[names].itertuples(index=False, name=None):
        yield dict(zip(names, row, strict=True))


_TABLES: dict[str, Callable[[Any, Columns], Iterator[dict[str, Any]]]] = {
    "pyarrow": _arrow_rows,
    "polars": _polars_rows,
    "pandas": _pandas_rows,
}


def _table_records(rows: Iterable[dict[str, Any] | Problem], name: str | None = None) -> Iterator[Record | Problem]:
    for number, row in enumerate(rows, 1):
        if isinstance(row, Problem):
            yield row
            return
        yield Record(f"{name}: row {number}" if name else f"row {number}", number, row)
