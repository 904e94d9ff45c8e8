"""Loading much at once (``?bulk=on``): the indexes for searching are dropped first and made when the store is closed.

Until then searches are exact, but read everything. Loaders hold a lock together; whoever opens the store for writing, or closes it, and
finds that no loader is left makes the indexes that are missing, so a loader that was killed does no harm that lasts.
"""

from __future__ import annotations

from lookalike.stores.postgres import schema
from lookalike.stores.postgres.connections import Connection, Connections
from lookalike.stores.postgres.search_path import transaction

LOCK = schema.LOCK + 1  # of loaders, shared

# With more memory GIN adds its entries in fewer and larger batches, and leaves its pages half empty: the bands of 100,000 documents took
# 71 MB with this much, the server's default, and 115 MB with 1 GB, in no less time.
MEMORY = "SET LOCAL maintenance_work_mem = '64MB'"


class BulkLoad:
    """What a store is while it loads."""

    def __init__(self, connections: Connections) -> None:
        self._connection = connections.connect()
        self._connection.execute("SELECT pg_catalog.pg_advisory_lock_shared(%s)", (LOCK,))
        with transaction(self._connection):
            for name in schema.search_index_names():
                self._connection.execute(f"DROP INDEX IF EXISTS lookalike.{name}")

    def finish(self) -> None:
        self._connection.execute("SELECT pg_catalog.pg_advisory_unlock_shared(%s)", (LOCK,))
        self._connection.execute("SET statement_timeout = 0")
        if make_missing_indexes(self._connection):
            self._connection.execute("VACUUM (ANALYZE) lookalike.documents")
            self._connection.execute("VACUUM (ANALYZE) lookalike.sketches")
        self._connection.close()


def make_missing_indexes(connection: Connection) -> bool:
    """Make the indexes that are missing, unless somebody still loads; returns whether there were any."""
    with transaction(connection):
        if not schema.missing_indexes(connection):
            return False
        free = connection.execute("SELECT pg_try_advisory_xact_lock(%s)", (LOCK,)).fetchone()
        if free != (True,):
            return False
        connection.execute(f"SET LOCAL statement_timeout = 0; {MEMORY}")
        schema.make_indexes(connection)
    return True
