"""The secrets of the keyed collections of an embedded store: a table beside the documents, in a file that only its owner reads.

A secret is stored in the transaction that makes its collection, so there is never one without the other. Whoever can read the texts of a
store can read its secrets too; what does not leave the store is safe from those who only write texts for it.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from lookalike.keys import Key
from lookalike.stores.embedded.readings import Reads

OWNER_ALONE = 0o600
TABLE = "CREATE TABLE IF NOT EXISTS secrets (collection INTEGER PRIMARY KEY, secret BLOB NOT NULL)"  # from the first keyed collection on


def keep_secret(connection: sqlite3.Connection, collection: int, key: Key, path: Path | None) -> None:
    """Store the secret of a collection, in the transaction that makes it. ``path``: of the database, unless it is in memory."""
    if path is not None:
        for suffix in ("", "-wal", "-shm"):  # what SQLite makes later has the mode of the database
            file = path.with_name(path.name + suffix)
            if file.exists():
                file.chmod(OWNER_ALONE)
    connection.execute(TABLE)
    connection.execute("INSERT OR REPLACE INTO secrets VALUES (?, ?)", (collection, key.secret()))


def read_secret(connection: Reads, collection: int) -> bytes | None:
    """The secret of a collection; None where there is none."""
    if connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'secrets'").fetchone() is None:
        return None
    found = connection.execute("SELECT secret FROM secrets WHERE collection = ?", (collection,)).fetchone()
    return found[0] if found is not None and isinstance(found[0], bytes) else None
