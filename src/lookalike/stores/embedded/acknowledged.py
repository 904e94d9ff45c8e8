"""The record of what was acknowledged: a small file beside the database, by which an older state of it is told from the current one.

Every change of documents has a number, and a checksum chained over it and all before it. Both are in the database, with the change, and
are written here once it is committed and before ``add`` or ``remove`` returns. So the database is never behind its record, unless its
log was cut, or a part of the folder was replaced. It may be ahead: by a change whose writer was killed before he could say so.

The file has two halves of 512 bytes, written in turn: one of them is whole whatever happens while the other is written.
"""

from __future__ import annotations

import hashlib
import os
import struct
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from lookalike import _native
from lookalike.errors import Corrupt, StoreError
from lookalike.segments.container import sync_folder
from lookalike.stores.embedded.database import Identity

FILE = "acknowledged"
HALF_BYTES = 512
MANY = 256  # documents of a change that is put on record with an fdatasync of its own
SYNC_SECONDS = 1.0  # smaller changes share one: adding single documents would take half as long again
_ENTRY = struct.Struct("<8s32sQ16s")  # magic, id of the store, number of the change, chain
_CHECKSUM = struct.Struct("<Q")
_MAGIC = b"LKACKNOW"
_REMEDY = "restore the whole folder from a copy, or run 'lookalike check --repair' to go on with what the database has"


class Entry(NamedTuple):
    """What was acknowledged last."""

    store: str
    changes: int
    chain: bytes


def chained(store: Identity, contents: bytes) -> Identity:
    """The store after one more change."""
    changes = store.changes + 1
    chain = hashlib.blake2b(store.chain + changes.to_bytes(8, "little") + contents, digest_size=16).digest()
    return store._replace(changes=changes, chain=chain, before=store.chain)


class Record:
    """The file of one store."""

    def __init__(self, folder: Path, name: str) -> None:
        self._path, self._name = str(folder / FILE), name
        self._known: tuple[bytes, Entry | None] = (b"", None)  # what was read last, and what it means
        self._synced = 0.0

    def read(self) -> Entry | None:
        """The last entry; None where there is no file, or nothing whole in it. To be called before the database is read."""
        try:
            descriptor = os.open(self._path, os.O_RDONLY)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"{self._name}: {FILE} cannot be read: {error.strerror}") from error
        try:
            data = os.read(descriptor, 2 * HALF_BYTES)
        finally:
            os.close(descriptor)
        if data != self._known[0]:
            self._known = data, _last(data)
        return self._known[1]

    def problem(self, last: Entry | None, store: Identity) -> str | None:
        """What is wrong with a state of the database, if the last entry was read before it."""
        if not store.id or (store.changes == 0 and (last is None or (last.store, last.changes) == (store.id, 0))):
            return None  # of the first format; or nothing was acknowledged yet
        if last is None:
            return f"{FILE} is missing or damaged, so that nothing tells whether the database is whole"
        if last.store != store.id:
            return f"{FILE} belongs to another store than store.sqlite"
        if store.changes < last.changes:
            return f"store.sqlite is an older state: it has {store.changes:,} of the {last.changes:,} changes that were acknowledged"
        expected = {last.changes: store.chain, last.changes + 1: store.before}.get(store.changes)
        if expected is not None and expected != last.chain:
            return "store.sqlite holds other changes than those that were acknowledged"
        return None

    def verify(self, last: Entry | None, store: Identity) -> None:
        """Raise unless the database has all that was acknowledged."""
        if problem := self.problem(last, store):
            raise Corrupt(f"{self._name}: {problem}; {_REMEDY}")

    def write(self, store: Identity, *, sync: bool = True) -> None:
        """It survives the process at once, and with ``sync`` also the power; without, that is so within a second of writing."""
        entry = _ENTRY.pack(_MAGIC, store.id.encode("ascii", "replace"), store.changes, store.chain)
        try:
            new = not os.path.exists(self._path)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                os.pwrite(
                    descriptor, (entry + _CHECKSUM.pack(_native.checksum(entry))).ljust(HALF_BYTES, b"\0"), store.changes % 2 * HALF_BYTES
                )
                if sync or time.monotonic() - self._synced > SYNC_SECONDS:
                    os.fdatasync(descriptor)
                    self._synced = time.monotonic()
            finally:
                os.close(descriptor)
            if new:
                sync_folder(Path(self._path).parent)
        except OSError as error:
            raise StoreError(
                f"{self._name}: {FILE} cannot be written ({error.strerror}); the last change is stored all the same"
            ) from error

    def sync(self) -> None:
        """What was written without ``sync`` survives the power too."""
        with suppress(OSError):  # the next writer does it
            descriptor = os.open(self._path, os.O_RDWR)
            try:
                os.fdatasync(descriptor)
            finally:
                os.close(descriptor)

    def start_anew(self, store: Identity) -> None:
        """Take the database as it is."""
        Path(self._path).unlink(missing_ok=True)
        self.write(store)


def _last(data: bytes) -> Entry | None:
    entries = [entry for half in (0, HALF_BYTES) if (entry := _entry(data[half : half + HALF_BYTES]))]
    return max(entries, key=lambda entry: entry.changes, default=None)


def _entry(half: bytes) -> Entry | None:
    if len(half) < _ENTRY.size + _CHECKSUM.size:
        return None
    magic, store, changes, chain = _ENTRY.unpack_from(half)
    if magic != _MAGIC or _CHECKSUM.unpack_from(half, _ENTRY.size)[0] != _native.checksum(half[: _ENTRY.size]):
        return None
    return Entry(store.decode("ascii", "replace"), changes, chain)
