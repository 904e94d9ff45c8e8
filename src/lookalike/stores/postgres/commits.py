"""Whether a transaction was committed, although its connection was lost before the server could say so.

Each connection that writes has a row in the database with the number of its last transaction, by its own count (``sql/commits.sql``). The
row is a part of the transaction: it is there if, and only if, all the rest is. ``pg_xact_status`` answers the same question wrongly after a
crash: the server gives numbers of transactions that were not on the disk yet to others, and then speaks of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from psycopg import Connection

MARK = (
    "INSERT INTO lookalike.commits (connection, last) VALUES (%(mark_of)s, %(mark)s) "
    "ON CONFLICT (connection) DO UPDATE SET last = excluded.last, at = clock_timestamp()"
)
# Whoever writes the same row waits until the transaction that was lost has ended, should the server not have noticed yet.
LAST = (
    "INSERT INTO lookalike.commits (connection, last) VALUES (%s, 0) "
    "ON CONFLICT (connection) DO UPDATE SET at = clock_timestamp() RETURNING last"
)
NOT_FOR_EVER = "SET LOCAL lock_timeout = '5s'"
FORGET = "DELETE FROM lookalike.commits WHERE connection = ANY (%s)"
# What processes left that were killed. A connection that was quiet for longer writes its row anew.
FORGET_OLD = "DELETE FROM lookalike.commits WHERE at < clock_timestamp() - interval '1 day'"


@dataclass(slots=True)
class _Count:
    of: UUID = field(default_factory=uuid4)
    transactions: int = 0
    marked: bool = False  # the transaction that the connection is in


@dataclass(frozen=True, slots=True)
class Mark:
    """A transaction of ours."""

    of: UUID
    number: int

    def was_committed(self, connection: Connection[Any]) -> bool:
        """Asked on another connection, in a transaction of its own."""
        connection.execute(NOT_FOR_EVER)
        found = connection.execute(LAST, (self.of,)).fetchone()
        return found is not None and found[0] == self.number


class Marks:
    """Those of the connections of one store."""

    def __init__(self) -> None:
        self._counts: WeakKeyDictionary[Connection[Any], _Count] = WeakKeyDictionary()
        self.used: list[UUID] = []

    def begin(self, connection: Connection[Any]) -> None:
        if connection in self._counts:
            self._counts[connection].marked = False

    def values(self, connection: Connection[Any]) -> Mapping[str, Any]:
        """For a statement that has ``MARK`` in it: it marks the transaction that the connection is in."""
        count = self._counts.get(connection)
        if count is None:
            count = self._counts[connection] = _Count()
            self.used.append(count.of)
        if not count.marked:
            count.transactions += 1
            count.marked = True
        return {"mark_of": count.of, "mark": count.transactions}

    def end(self, connection: Connection[Any]) -> Mark | None:
        """The mark of the transaction, if it has changed anything: whoever only reads leaves none."""
        count = self._counts.get(connection)
        if count is None or not count.marked:
            asked = connection.execute("SELECT pg_current_xact_id_if_assigned() IS NOT NULL").fetchone()
            if not (asked and asked[0]):
                return None
            connection.execute(MARK, self.values(connection))
            count = self._counts[connection]
        return Mark(count.of, count.transactions)
