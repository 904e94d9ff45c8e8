"""Sources as streams of bytes, unpacked; and streams that pack what is written to them."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, Any

from lookalike.corpus.files import Source
from lookalike.errors import InputError
from lookalike.files.zstd import damaged_zstd, zstd_reader, zstd_writer
from lookalike.io import open_file

_CHUNK = 1 << 16


@contextmanager
def opened(source: Source) -> Iterator[IO[bytes]]:
    """What a source holds, unpacked as it is read. Reading may raise one of ``damage()``."""
    with ExitStack() as open_files:
        if source.path is None:
            if sys.stdin is None:
                raise InputError("'-' is standard input, and that is closed: name a file, or pipe something in")
            yield sys.stdin.buffer
            return
        file: Any = open_files.enter_context(open_file(source.path))
        if source.packing == "gz":
            file = open_files.enter_context(gzip.open(file))
        elif source.packing == "zst":
            file = open_files.enter_context(zstd_reader(file))
        yield file


@contextmanager
def opened_again(source: Source) -> Iterator[IO[bytes]]:
    """A source for a second reading, which ends where the data are damaged: the first one reported that and went no further."""
    with opened(source) as file:
        yield io.BufferedReader(_UntilDamage(file), _CHUNK) if source.packing else file


class _UntilDamage(io.RawIOBase):
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        try:
            return int(self._file.readinto1(target))  # type: ignore[attr-defined]  # every stream of ours has it
        except damage():
            return 0


def damage() -> tuple[type[Exception], ...]:
    """What reading damaged packed data raises."""
    found: list[type[Exception]] = [EOFError, zlib.error, gzip.BadGzipFile]
    return (*found, *damaged_zstd())


def packed(file: IO[bytes], packing: str | None) -> Any:
    """A file that packs what is written to it; closing it leaves ``file`` open. The same data give the same bytes."""
    if packing == "gz":
        return gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)
    if packing == "zst":
        return zstd_writer(file)
    return _Kept(file)


class _Kept:
    """A file as it is, that stays open."""

    def __init__(self, file: IO[bytes]) -> None:
        self.write = file.write

    def close(self) -> None:
        pass
