"""Sources as streams of bytes, unpacked; and streams that pack what is written to them."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, Any

from lookalike.corpus.files import Source
from lookalike.errors import InputError, MissingExtra
from lookalike.io import open_file

_CHUNK = 1 << 16
_PACKED_CHUNK = 1 << 13  # bytes; a crafted frame unpacks to 30,000 times its size, and all of a chunk is unpacked at once


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
            file = open_files.enter_context(_zstd_reader(file))
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
    found += [sys.modules[name].ZstdError for name in ("compression.zstd", "zstandard") if name in sys.modules]
    return tuple(found)


def packed(file: IO[bytes], packing: str | None) -> Any:
    """A file that packs what is written to it; closing it leaves ``file`` open. The same data give the same bytes."""
    if packing == "gz":
        return gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)
    if packing == "zst":
        return _zstd_writer(file)
    return _Kept(file)


class _Kept:
    """A file as it is, that stays open."""

    def __init__(self, file: IO[bytes]) -> None:
        self.write = file.write

    def close(self) -> None:
        pass


def _zstd_reader(file: IO[bytes]) -> Any:
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]  # Python 3.14

        return zstd.open(file)
    except ImportError:
        return io.BufferedReader(_ZstdFrames(file, _zstandard("reading .zst files").ZstdDecompressor().decompressobj))


def _zstd_writer(file: IO[bytes]) -> Any:
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]  # Python 3.14

        return zstd.open(file, "wb")
    except ImportError:
        return _zstandard("writing .zst files").ZstdCompressor().stream_writer(file, closefd=False)


def _zstandard(purpose: str) -> Any:
    try:
        import zstandard
    except ImportError as error:
        raise MissingExtra.for_extra(purpose, "zstd") from error
    return zstandard


class _ZstdFrames(io.RawIOBase):
    """Frame after frame. The library's own reader takes a file that was cut off for one that ends there."""

    def __init__(self, file: IO[bytes], frame: Callable[[], Any]) -> None:
        self._file, self._frame = file, frame
        self._current = frame()
        self._begun = False
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        while not self._ready:
            data = self._current.unused_data if self._current.eof else b""
            if self._current.eof:
                self._current, self._begun = self._frame(), False
            data = data or self._file.read(_PACKED_CHUNK)
            if not data:
                if self._begun:
                    raise EOFError("the last frame is not complete")
                return 0
            self._begun = True
            self._ready = memoryview(self._current.decompress(data))
        size = min(len(target), len(self._ready))
        target[:size], self._ready = self._ready[:size], self._ready[size:]
        return size
