"""Zstandard: by the standard library from Python 3.14 on, before by the package zstandard."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import IO, Any

from lookalike.errors import MissingExtra

_PACKED_CHUNK = 1 << 13  # bytes; a crafted frame unpacks to 30,000 times its size, and all of a chunk is unpacked at once


def zstd_reader(file: IO[bytes]) -> Any:
    """What is packed in a file, as a stream."""
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]  # Python 3.14

        return zstd.open(file)
    except ImportError:
        return io.BufferedReader(_ZstdFrames(file, _zstandard("reading .zst files").ZstdDecompressor().decompressobj))


def zstd_writer(file: IO[bytes]) -> Any:
    """A stream that packs what is written to it."""
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]  # Python 3.14

        return zstd.open(file, "wb")
    except ImportError:
        return _zstandard("writing .zst files").ZstdCompressor().stream_writer(file, closefd=False)


def damaged_zstd() -> tuple[type[Exception], ...]:
    """What reading damaged frames raises."""
    return tuple(sys.modules[name].ZstdError for name in ("compression.zstd", "zstandard") if name in sys.modules)


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
