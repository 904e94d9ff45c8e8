"""Writing files: whole or not at all, and never over what is being read. Rows as JSON lines and Parquet."""

from __future__ import annotations

import errno
import json
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from lookalike.corpus.files import Source
from lookalike.corpus.streams import packed
from lookalike.corpus.values import plain
from lookalike.errors import InputError, MissingExtra

BATCH_ROWS = 16_384  # of a row group: fewer make a large file slow to read
BATCH_CHARACTERS = 32 << 20
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def atomic_file(path: str | Path) -> Iterator[IO[bytes]]:
    """A new file that takes its name when it is complete and on the disk. After an error nothing has changed."""
    try:
        target = Path(os.path.realpath(path))  # a link stays one
        temporary = target.parent / f".lookalike-{secrets.token_hex(8)}.part"
        mode = stat.S_IMODE(_checked_mode(target)) if target.exists() else None
        file = open(temporary, "xb")  # noqa: SIM115 (closed below, before it gets its name)
    except (OSError, ValueError) as error:
        raise _unwritable(path, error) from error
    written = False
    try:
        with file:
            yield file
            written = True
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        # Before everything is written, somebody may be reading as well: only what a full disk says is of this file for sure.
        if isinstance(error, OSError) and (written or error.errno in _NO_ROOM):
            raise _unwritable(path, error) from error
        raise
    _sync_folder(target.parent)


def _unwritable(path: str | Path, error: Exception) -> InputError:
    return InputError(f"{str(path)!r} cannot be written: {getattr(error, 'strerror', None) or error}")


def write_file(path: str | Path, content: str) -> None:
    """A text as a file; what UTF-8 cannot carry, a lone surrogate, is written as its escape."""
    with atomic_file(path) as file:
        file.write(content.encode("utf-8", "backslashreplace"))


def check_outputs(inputs: Iterable[str | Path | None], **outputs: str | Path | None) -> None:
    """An ``InputError`` for an output that is an input, or another output, under whatever name: links lead to the same file."""
    taken: dict[object, str] = {_identity(path): f"the input {str(path)!r}" for path in inputs if path is not None and path != "-"}
    for name, path in outputs.items():
        if path is None or path == "-":
            continue
        identity = _identity(path)
        if identity in taken:
            raise InputError(f"{name}={str(path)!r} is {taken[identity]} too: give every output a file of its own")
        taken[identity] = f"{name}="


def _identity(path: str | Path) -> object:
    try:
        found = os.stat(path)
        return found.st_dev, found.st_ino
    except (OSError, ValueError):  # nothing there yet
        return os.path.realpath(path).rstrip("/") if "\0" not in str(path) else str(path)


def _checked_mode(target: Path) -> int:
    mode = target.stat().st_mode
    if not stat.S_ISREG(mode):  # renaming over a device would destroy it
        raise InputError(f"{str(target)!r} is not a file: name one that may be written")
    return mode


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every file system lets a folder be synced
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def row_writer(path: str | Path) -> JsonlWriter | ParquetWriter:
    """The writer that fits a file's name: .jsonl, .jsonl.gz, .jsonl.zst or .parquet."""
    source = Source.of(Path(path))
    if source.format == "jsonl":
        return JsonlWriter(path)
    if source.format == "parquet" and not source.packing:
        return ParquetWriter(path)
    raise InputError(f"{str(path)!r}: rows are written as .jsonl, .jsonl.gz, .jsonl.zst or .parquet: choose one of these endings")


class JsonlWriter:
    """Rows as JSON lines, packed if the name ends in .gz or .zst. The file appears when ``with`` ends without an error."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)

    def write(self, row: Mapping[str, Any]) -> None:
        self._file.write(json_line(row))

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            file = stack.enter_context(atomic_file(self._path))
            self._file = stack.enter_context(closing(packed(file, Source.of(self._path).packing)))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, trace)


def json_line(row: Mapping[str, Any]) -> bytes:
    """One line of UTF-8. Text stays readable; what UTF-8 cannot carry is escaped."""
    try:
        line = json.dumps(row, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        line = json.dumps(plain(row), ensure_ascii=False)
    try:
        return line.encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(json.loads(line)).encode() + b"\n"


class ParquetWriter:
    """Rows as Parquet. The columns and their types are those of ``schema``, or of the first batch of rows."""

    def __init__(self, path: str | Path, schema: Any = None) -> None:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError as error:
            raise MissingExtra.for_extra("writing Parquet", "parquet") from error
        self._arrow, self._parquet = pa, pq
        self._path, self._schema = Path(path), schema
        self._writer: Any = None
        self._batch: list[Mapping[str, Any]] = []
        self._characters = 0
        self._written = 0

    def write(self, row: Mapping[str, Any]) -> None:
        self._batch.append(row)
        self._characters += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(self._batch) >= BATCH_ROWS or self._characters >= BATCH_CHARACTERS:
            self._flush()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._file = stack.enter_context(atomic_file(self._path))
            stack.push(self._finish)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, trace)

    def _finish(self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None) -> None:
        try:
            if kind is None and (self._batch or self._writer is None):
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
            shown = f"rows {first} to {self._written} do not fit the columns of {str(self._path)!r} ({error})"
            raise InputError(f"{shown}: {_REMEDY}") from error
        if self._writer is None:
            self._writer = self._parquet.ParquetWriter(self._file, self._schema, compression="zstd")
        self._writer.write_table(table)

    def _inferred(self, batch: list[Mapping[str, Any]]) -> Any:
        names = list(dict.fromkeys(name for row in batch for name in row))
        pa = self._arrow
        types = {name: pa.infer_type([row.get(name) for row in batch]) for name in names}
        # A column in which nothing was seen yet may get text later; the type null could hold nothing.
        return pa.schema([(name, pa.string() if pa.types.is_null(found) else found) for name, found in types.items()])


_REMEDY = "give a schema, or write .jsonl"
