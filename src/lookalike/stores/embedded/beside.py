"""What the database keeps beside some documents: of which cluster one is a member, and when one expires.

A store has the tables since format 3. Rows are numbered over all collections, as in the table of documents, and never used twice: so a
link to a document that is gone leads nowhere else.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from lookalike.stores.base import Additions, Link
from lookalike.stores.embedded.database import ROWS
from lookalike.stores.embedded.readings import Reads
from lookalike.stores.embedded.rows import find_ids
from lookalike.stores.embedded.states import State
from lookalike.stores.ids import Id

AT_A_TIME = 500  # parameters of a statement


def write_beside(connection: sqlite3.Connection, state: State, batch: Additions) -> None:
    """For documents that were just written behind the last row."""
    if not batch.links and not batch.expires:
        return
    base = state.number * ROWS
    rows = {id_: base + state.next_row + place for place, id_ in enumerate(batch.ids)}
    if batch.expires:
        expiring = ((row, batch.expires[id_]) for id_, row in rows.items() if id_ in batch.expires)
        connection.executemany("INSERT INTO expiring VALUES (?, ?)", expiring)
    if batch.links:
        links = {id_: link for id_, link in batch.links.items() if id_ in rows}
        leaders = {link.leader for link in links.values() if link.elsewhere is None and link.root is None} - rows.keys()
        known = rows | {id_: base + row for id_, row in find_ids(connection, state.number, leaders).items()}
        linked = [(rows[id_], _led(link, known, base), link.similarity) for id_, link in links.items()]
        connection.executemany("INSERT INTO members VALUES (?, ?, ?)", (each for each in linked if each[1] is not None))


def _led(link: Link, known: dict[Id, int], base: int) -> int | None:
    """The row that stands for the cluster."""
    if link.elsewhere is not None:
        return link.elsewhere
    return known.get(link.leader) if link.root is None else _leader(link.root, base)


def remove_beside(connection: sqlite3.Connection, rows: Sequence[int]) -> None:
    """Of documents that are removed. What is linked to them stays: their cluster does."""
    for table in ("members", "expiring"):
        if connection.execute(f"SELECT EXISTS (SELECT 1 FROM {table})").fetchone()[0]:  # noqa: S608
            connection.executemany(f"DELETE FROM {table} WHERE row = ?", ((row,) for row in rows))  # noqa: S608


def read_links(connection: Reads, collection: int, rows: Sequence[int]) -> dict[int, tuple[int, float]]:
    base = collection * ROWS
    found = _read(connection, "SELECT row, leader, similarity FROM members WHERE row IN ({})", [base + row for row in rows])
    return {row - base: (_leader(leader, -base), similarity) for row, leader, similarity in found}


def _leader(row: int, base: int) -> int:
    """What is below 0 stands for a document of another store."""
    return row if row < 0 else row + base


def read_linked(connection: Reads, collection: int, rows: Sequence[int] | None) -> list[tuple[int, int, float]]:
    base = collection * ROWS
    if rows is None:
        found = _rows(connection, "SELECT leader, row, similarity FROM members WHERE row >= ? AND row < ?", (base, base + ROWS))
    else:
        query = "SELECT leader, row, similarity FROM members WHERE leader IN ({})"
        linked = _read(connection, query, [_leader(row, base) for row in rows])
        found = [each for each in linked if base <= each[1] < base + ROWS]
    return sorted((_leader(leader, -base), row - base, similarity) for leader, row, similarity in found)


def read_expirations(connection: Reads, collection: int, rows: Sequence[int]) -> dict[int, int]:
    base = collection * ROWS
    found = _read(connection, "SELECT row, expires FROM expiring WHERE row IN ({})", [base + row for row in rows])
    return {row - base: expires for row, expires in found}


def read_expired(connection: Reads, collection: int, now: int) -> tuple[list[int], int | None]:
    """The rows of documents that have expired, and when the next one will."""
    base = collection * ROWS
    range_ = (base, base + ROWS, now)
    found = _rows(connection, "SELECT row FROM expiring WHERE row >= ? AND row < ? AND expires <= ?", range_)
    following = _rows(connection, "SELECT min(expires) FROM expiring WHERE row >= ? AND row < ? AND expires > ?", range_)
    return sorted(row - base for (row,) in found), following[0][0] if following else None


def _read(connection: Reads, query: str, parameters: Sequence[int]) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for first in range(0, len(parameters), AT_A_TIME):
        part = parameters[first : first + AT_A_TIME]
        found += _rows(connection, query.format(",".join("?" * len(part))), part)
    return found


def _rows(connection: Reads, query: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    try:
        found: list[tuple[Any, ...]] = connection.execute(query, parameters).fetchall()
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):  # of an older format, which nobody has written to since
            return []
        raise
    return found
