"""Bodies of HTTP, unpacked within limits: a few kilobytes can unpack to gigabytes."""

from __future__ import annotations

import zlib

_ZLIB = 15
_GZIP = 31
_RAW = -15
_STEP = 1 << 13  # bytes
MAX_MEMBERS = 10_000  # of a gzip body: each takes a new unpacker


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
    """In steps: what is left behind a member is copied by the unpacker, and must not be the whole rest each time."""
    pieces: list[bytes] = []
    view, at, size, members = memoryview(body), 0, 0, 0
    while at < len(view):  # a gzip body may have several members
        unpacker = zlib.decompressobj(window)
        try:
            while at < len(view) and not unpacker.eof:
                step = view[at : at + _STEP]
                pieces.append(unpacker.decompress(step, most - size + 1))
                size += len(pieces[-1])
                if size > most:
                    raise ValueError(f"it unpacks to more than {most:,} bytes")
                at += len(step) - len(unpacker.unused_data)
        except zlib.error as error:
            if members:  # what follows the data is none of them
                break
            raise ValueError(f"it is damaged ({error})") from error
        if not unpacker.eof:
            raise ValueError("it ends too early")
        members += 1
        if window != _GZIP:
            break
        if members > MAX_MEMBERS:
            raise ValueError(f"it has more than {MAX_MEMBERS:,} gzip members, which no server sends")
    return b"".join(pieces)
