"""What the database keeps beside some documents (``sql/beside.sql``), and the locks of those who decide whether to add some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lookalike.stores.base import Additions
from lookalike.stores.ids import Id

if TYPE_CHECKING:
    from lookalike.stores.postgres.connections import Connection

LIVE = "JOIN lookalike.documents d USING (collection, ordinal)"


def lock(connection: Connection, collection: int, keys: NDArray[np.int64] | None, now: int) -> tuple[int, Sequence[int]] | None:
    """Wait until nobody else decides who has one of these keys, through the library or in SQL (``sql/locks.sql``).

    Returns what is true then: how many documents there are, and which have expired by now; None where there is no such collection.
    """
    listed = None if keys is None else f"{{{','.join(map(str, keys.reshape(-1).tolist()))}}}"
    found = connection.execute("SELECT * FROM lookalike.lock_and_look(%s, %s::bigint[], %s)", (collection, listed, now)).fetchone()
    return None if found is None else (found[0], found[1])


def write_beside(connection: Connection, collection: int, ordinals: dict[Id, int], batch: Additions, known: dict[Id, int]) -> None:
    """For documents that were just written; ``known`` are the ordinals of those that they are linked to."""
    expiring = [(collection, ordinal, batch.expires[id_]) for id_, ordinal in ordinals.items() if id_ in batch.expires]
    if expiring:
        _insert(connection, "expiring", expiring)
    found = ((ordinal, batch.links[id_]) for id_, ordinal in ordinals.items() if id_ in batch.links)
    led = ((ordinal, link.elsewhere or link.root or known.get(link.leader), link.similarity) for ordinal, link in found)
    linked = [(collection, *each) for each in led if each[1] is not None]
    if linked:
        _insert(connection, "members", linked)


def _insert(connection: Connection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    with connection.cursor().copy(f"COPY lookalike.{table} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def read_links(connection: Connection, collection: int, rows: Sequence[int]) -> dict[int, tuple[int, float]]:
    query = "SELECT ordinal, leader, similarity FROM lookalike.members WHERE collection = %s AND ordinal = ANY (%s)"
    return {row: (leader, similarity) for row, leader, similarity in connection.execute(query, (collection, list(rows)))}


def read_linked(connection: Connection, collection: int, rows: Sequence[int] | None, now: int) -> list[tuple[int, int, float]]:
    """Of documents that are there and have not expired."""
    chosen = "" if rows is None else "AND leader = ANY (%(rows)s)"
    query = f"""
SELECT leader, ordinal, similarity FROM lookalike.members m {LIVE} WHERE m.collection = %(collection)s {chosen} AND NOT EXISTS (
  SELECT FROM lookalike.expiring e WHERE e.collection = m.collection AND e.ordinal = m.ordinal AND e.expires <= %(now)s
) ORDER BY leader, ordinal"""  # noqa: S608
    found = connection.execute(query, {"collection": collection, "rows": list(rows or ()), "now": now})
    return [(leader, row, similarity) for leader, row, similarity in found]


def read_expirations(connection: Connection, collection: int, rows: Sequence[int]) -> dict[int, int]:
    query = "SELECT ordinal, expires FROM lookalike.expiring WHERE collection = %s AND ordinal = ANY (%s)"
    return dict(connection.execute(query, (collection, list(rows))).fetchall())


def drop_unused(connection: Connection, collection: int) -> None:
    """What is left of documents that are gone."""
    for table in ("members", "expiring", "fields"):
        connection.execute(
            f"DELETE FROM lookalike.{table} b WHERE collection = %s AND NOT EXISTS "  # noqa: S608
            "(SELECT FROM lookalike.documents d WHERE d.collection = b.collection AND d.ordinal = b.ordinal)",
            (collection,),
        )
