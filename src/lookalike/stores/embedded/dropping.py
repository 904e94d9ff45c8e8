"""What a collection has in the tables of an embedded store, and how it is taken out of them."""

from __future__ import annotations

import sqlite3

from lookalike.stores.embedded.database import ROWS


def drop_rows(connection: sqlite3.Connection, number: int) -> None:
    """Everything of the collection with this number, in the transaction that is open."""
    rows = (number * ROWS, (number + 1) * ROWS)
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table in ("documents", "members", "expiring"):
        if table in tables:  # a store of an older format has some only
            connection.execute(f"DELETE FROM {table} WHERE row >= ? AND row < ?", rows)  # noqa: S608 - the names are these
    for table in ("segments", "removed", "secrets"):
        if table in tables:
            connection.execute(f"DELETE FROM {table} WHERE collection = ?", (number,))  # noqa: S608
    connection.execute("DELETE FROM collections WHERE number = ?", (number,))
