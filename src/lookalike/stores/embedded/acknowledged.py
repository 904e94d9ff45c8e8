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
from lookalike.io import sync_folder
from lookalike.stores.embedded.database import Identity

FILE = "acknowledged"
HALF_BYTES = 512
SYNC_SECONDS = 1.0  # changes share an fdatasync: one each made adding a thousand small documents a tenth slower, and single ones by half
SETTLED = 1_000_000_000  # nanoseconds: file systems and kernels count time in ticks of up to some milliseconds
Stamp = tuple[int, int, int, int, int]
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


class AcknowledgedFile:
    """The file of one store."""

    def __init__(self, folder: Path, name: str) -> None:
        self.path, self._name = str(folder / FILE), name
        self._known: tuple[Stamp, Entry | None] | None = None  # what was read last, while the file was as its stamp says
        self._read: tuple[bytes, Entry | None] = b"", None  # what was in the file, and what it says
        self._synced = 0.0

    def read(self) -> Entry | None:
        """The last entry; None where there is no file, or nothing whole in it. To be called before the database is read."""
        try:
            stamp = _native.file_stamp(self.path)
            if stamp is None:
                return None
            if self._known is not None and self._known[0] == stamp:
                return self._known[1]
            data = _read(self.path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"{self._name}: {FILE} cannot be read: {error.strerror}") from error
        if data != self._read[0]:  # while somebody writes, this is asked for by each of his readers' searches
            self._read = data, _last(data)
        last = self._read[1]
        # Two writings within one tick of the clock may leave the same stamp: only of what is older it says that nothing was written since.
        self._known = (stamp, last) if abs(time.time_ns() - max(stamp[3:])) > SETTLED else None
        return last

    def contents(self) -> bytes | None:
        """What is in the file, as ``read`` found it."""
        return self._read[0] if self.read() is not None else None

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
            new, descriptor = self._open()
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
                sync_folder(Path(self.path).parent)
        except OSError as error:
            raise StoreError(
                f"{self._name}: {FILE} cannot be written ({error.strerror}); the last change is stored all the same"
            ) from error

    def _open(self) -> tuple[bool, int]:
        """Whether there was no file yet, and a descriptor of it."""
        try:
            return False, os.open(self.path, os.O_RDWR)
        except FileNotFoundError:
            return True, os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)

    def sync(self) -> None:
        """What was written without ``sync`` survives the power too."""
        with suppress(OSError):  # the next writer does it
            descriptor = os.open(self.path, os.O_RDWR)
            try:
                os.fdatasync(descriptor)
            finally:
                os.close(descriptor)

    def start_anew(self, store: Identity) -> None:
        """Take the database as it is."""
        Path(self.path).unlink(missing_ok=True)
        self.write(store)


def _read(path: str) -> bytes:
    """The whole file; not ``open``, which takes three times as long as the file system."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 2 * HALF_BYTES)
    finally:
        os.close(descriptor)


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
