"""What the process that reads files is asked, and what it answers: JSON with a length before it, then the bytes that belong to it."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

from lookalike.files.model import FileText, read_places

_LENGTHS = struct.Struct("<QQ")  # of the JSON, and of what follows it
_SMALL = 1 << 20  # bytes
Receive = Callable[[int], bytes]


def message(header: dict[str, Any], *blobs: bytes) -> list[bytes]:
    """The pieces of a message; a small one is a single piece, since each may cost a change of process."""
    data = json.dumps(header).encode()
    size = sum(map(len, blobs))
    pieces = [_LENGTHS.pack(len(data), size), data, *blobs]
    return [b"".join(pieces)] if size <= _SMALL else pieces


def received(receive: Receive) -> tuple[dict[str, Any], bytes]:
    """One message; ``receive`` gives exactly so many bytes, or raises."""
    size, more = _LENGTHS.unpack(receive(_LENGTHS.size))
    header = json.loads(receive(size))
    return header, receive(more)


def answer(found: list[FileText]) -> list[bytes]:
    blobs: list[bytes] = []
    files = []
    for each in found:
        text = each.text.encode("utf-8", "surrogatepass")
        files.append(each.to_dict() | {"text": len(text), "data": None if each.data is None else len(each.data)})
        blobs += [text, each.data or b""]
    return message({"files": files}, *blobs)


def answered(header: dict[str, Any], blob: bytes) -> list[FileText]:
    found = []
    at = 0
    for each in header["files"]:
        text = blob[at : at + each["text"]].decode("utf-8", "surrogatepass")
        at += each["text"]
        data = None if each["data"] is None else blob[at : at + each["data"]]
        at += each["data"] or 0
        found.append(
            FileText(
                name=each["name"],
                kind=each["kind"],
                status=each["status"],
                text=text,
                places=read_places(each["places"]),
                title=each["title"],
                meta=each["meta"],
                notes=tuple(each["notes"]),
                encoding=each["encoding"],
                data=data,
            )
        )
    return found
