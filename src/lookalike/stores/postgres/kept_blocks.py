"""Blocks of TLSHs that a store has read before: to send them again would take most of the time of a search.

A block is written once and never changed, so it is known by where it begins, how many documents it has, and the transaction and the place
that wrote it. A search asks which blocks there are in its state of the database, and reads those that it has not got.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from lookalike.segments.fuzzy import TlshSegment
    from lookalike.stores.postgres.connections import Connection

MOST_BYTES = 64 << 20  # of all blocks that a store keeps: more than a million documents
KEY = "first, entries, xmin::text, ctid::text"
THERE = f"SELECT {KEY} FROM lookalike.tlsh_blocks WHERE collection = %s"  # noqa: S608
SOME = f"SELECT {KEY}, data FROM lookalike.tlsh_blocks WHERE collection = %s AND first = ANY (%s)"  # noqa: S608
ALL = f"SELECT {KEY}, data FROM lookalike.tlsh_blocks WHERE collection = %s"  # noqa: S608
Key = tuple[Any, ...]


class KeptBlocks:
    """Threads share it: what is kept never changes."""

    def __init__(self) -> None:
        self._held: dict[Key, tuple[int, TlshSegment]] = {}  # bytes, and the block
        self._bytes = 0
        self._turns = threading.Lock()

    def read(self, connection: Connection, collection: int, unpacked: Callable[[bytes], TlshSegment]) -> list[TlshSegment]:
        """All blocks of a collection, as the connection sees them."""
        there = connection.execute(THERE, (collection,)).fetchall()
        found = {key: held[1] for key in there if (held := self._held.get((collection, *key))) is not None}
        missing = [key for key in there if key not in found]
        if not missing:
            return list(found.values())
        for *key, data in connection.execute(SOME, (collection, [key[0] for key in missing]), binary=True):
            found[tuple(key)] = self._keep((collection, *key), data, unpacked)
        if found.keys() != set(there):
            # Outside of a snapshot somebody may have joined blocks between the two: read all of one moment.
            rows = connection.execute(ALL, (collection,), binary=True)
            return [self._keep((collection, *key), data, unpacked) for *key, data in rows]
        return list(found.values())

    def _keep(self, key: Key, data: bytes, unpacked: Callable[[bytes], TlshSegment]) -> TlshSegment:
        segment = unpacked(data)
        with self._turns:
            if key not in self._held and len(data) <= MOST_BYTES:
                while self._bytes + len(data) > MOST_BYTES:  # those that were read first
                    self._bytes -= self._held.pop(next(iter(self._held)))[0]
                self._held[key] = len(data), segment
                self._bytes += len(data)
        return segment
