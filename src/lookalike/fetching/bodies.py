"""Bodies of HTTP, unpacked within limits: a few kilobytes can unpack to gigabytes."""

from __future__ import annotations

import zlib

_ZLIB = 15
_GZIP = 31
_RAW = -15


def unpacked(body: bytes, coding: str, most: int) -> bytes:
    """The data behind a content coding; ``ValueError`` where they are damaged, in a coding that is unknown, or more than ``most``.

    Some servers and archives name a coding and send plain data: these are given back as they are.
    """
    coding = coding.strip().lower()
    if coding in ("", "identity"):
        return body
    if coding in ("gzip", "x-gzip"):
        return _limited(_GZIP, body, most) if body.startswith(b"\x1f\x8b") else body
    if coding == "deflate":
        # The standard means the zlib format; some servers send the bare data.
        return _limited(_ZLIB if body[:1] == b"\x78" else _RAW, body, most)
    raise ValueError(f"the coding {coding[:40]!r} is not known here")


def _limited(window: int, body: bytes, most: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while body:  # a gzip body may have several members
        unpacker = zlib.decompressobj(window)
        try:
            pieces.append(unpacker.decompress(body, most - size + 1))
        except zlib.error as error:
            if pieces:  # what follows the data is none of them
                break
            raise ValueError(f"it is damaged ({error})") from error
        size += len(pieces[-1])
        if size > most:
            raise ValueError(f"it unpacks to more than {most:,} bytes")
        if not unpacker.eof:
            raise ValueError("it ends too early")
        body = unpacker.unused_data if window == _GZIP else b""
    return b"".join(pieces)
