"""The secrets of keyed collections: a table of their own, so that a role may read documents without them."""

from __future__ import annotations

from lookalike.keys import Key
from lookalike.stores.postgres.connections import Connection
from lookalike.stores.postgres.schema import LOCK

# A database has it from its first keyed collection on.
TABLE = """
CREATE TABLE IF NOT EXISTS lookalike.secrets (
  collection integer PRIMARY KEY,
  secret bytea NOT NULL
)
"""
MAY_READ = """
SELECT has_table_privilege(c.oid, 'SELECT') FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
WHERE nspname = 'lookalike' AND relname = 'secrets'
"""


def keep_secret(connection: Connection, collection: int, key: Key) -> None:
    """In the transaction that makes the collection."""
    if connection.execute(MAY_READ).fetchone() is None:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        connection.execute(TABLE)
        connection.execute("REVOKE ALL ON lookalike.secrets FROM PUBLIC")
    connection.execute("INSERT INTO lookalike.secrets VALUES (%s, %s)", (collection, key.secret()))


def forget_secret(connection: Connection, collection: int) -> None:
    """That of a collection which is gone."""
    connection.execute("DELETE FROM lookalike.secrets WHERE collection = %s", (collection,))


def read_key(connection: Connection, collection: int, check: str, name: str) -> Key:
    """The key of a collection. Without the privilege to read it, documents can still be read."""
    permitted = connection.execute(MAY_READ).fetchone()
    if permitted == (False,):
        remedy = "searching and adding need it: GRANT SELECT ON lookalike.secrets (docs/postgres.md)"
        return Key.without_secret(check, f"{name} is keyed, and this role may not read its secret; {remedy}")
    query = "SELECT secret FROM lookalike.secrets WHERE collection = %s"
    found = connection.execute(query, (collection,)).fetchone() if permitted else None
    return Key.stored(check, bytes(found[0]) if found else None, name)
