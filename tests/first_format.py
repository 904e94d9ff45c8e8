"""Stores as the first release made them: made from new ones by taking away what came later."""

from __future__ import annotations

import json
import sqlite3
import struct
from pathlib import Path

from lookalike import _native
from lookalike.segments.container import ALIGNMENT


def as_first_format(store: Path) -> None:
    database = sqlite3.connect(store / "store.sqlite")
    database.executescript(
        "DROP TABLE store; DROP TABLE members; DROP TABLE expiring; ALTER TABLE documents DROP COLUMN checks; PRAGMA user_version = 1"
    )
    database.close()
    (store / "acknowledged").unlink(missing_ok=True)
    for path in (store / "segments").iterdir():
        path.write_bytes(unsigned(path.read_bytes()))


def unsigned(segment: bytes) -> bytes:
    """A segment of format 1: without a word about whose it is."""
    _, _, described, size = struct.unpack_from("<8sIIQ", segment)
    start = -(-(24 + described) // ALIGNMENT) * ALIGNMENT
    description = json.loads(segment[24 : 24 + described])
    del description["of"]
    text = json.dumps(description).encode()
    sections = segment[start : size - 8]
    new_start = -(-(24 + len(text)) // ALIGNMENT) * ALIGNMENT
    header = struct.pack("<8sIIQ", b"LKSEGMNT", 1, len(text), new_start + len(sections) + 8)
    whole = (header + text).ljust(new_start, b"\0") + sections
    return whole + struct.pack("<Q", _native.checksum(whole))
