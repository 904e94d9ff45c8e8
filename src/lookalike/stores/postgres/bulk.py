"""Loading much at once (``?bulk=on``): the indexes for searching are dropped first and made when the store is closed.

Until then searches are exact, but read everything. Loaders hold a lock together; whoever opens the store for writing, or closes it, and
finds that no loader is left makes the indexes that are missing, so a loader that was killed does no harm that lasts.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

from lookalike.stores.postgres import schema
from lookalike.stores.postgres.connections import Connection, Connections
from lookalike.stores.postgres.search_path import transaction

LOCK = schema.LOCK + 1  # of loaders, shared
Share = Callable[[float], object] | None  # what is told how much is done, of 1

# With more memory GIN adds its entries in fewer and larger batches, and leaves its pages half empty: the bands of 100,000 documents took
# 71 MB with this much, the server's default, and 115 MB with 1 GB, in no less time.
MEMORY = "SET LOCAL maintenance_work_mem = '64MB'"


BUILDERS = 3  # indexes that are made at the same time: the server makes a GIN index on one processor
POLL = 0.5  # seconds between two questions how far they are
# How much of the table each of those that are being made has read. What follows then has no measure.
READ = """
SELECT coalesce(sum(CASE WHEN blocks_total > 0 THEN blocks_done::float8 / blocks_total END), 0) FROM pg_stat_progress_create_index
WHERE relid = ANY (ARRAY['lookalike.documents', 'lookalike.sketches']::regclass[])
"""


class BulkLoad:
    """What a store is while it loads."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._connection = connections.connect()
        self._connection.execute("SELECT pg_catalog.pg_advisory_lock_shared(%s)", (LOCK,))
        with transaction(self._connection):
            for name in schema.search_index_names():
                self._connection.execute(f"DROP INDEX IF EXISTS lookalike.{name}")

    def finish(self, progress: Share = None) -> None:
        self._connection.execute("SELECT pg_catalog.pg_advisory_unlock_shared(%s)", (LOCK,))
        self._connection.execute("SET statement_timeout = 0")
        if make_missing_indexes(self._connections, self._connection, progress):
            self._connection.execute("VACUUM (ANALYZE) lookalike.documents")
            self._connection.execute("VACUUM (ANALYZE) lookalike.sketches")
            if progress:
                progress(1.0)
        self._connection.close()


def make_missing_indexes(connections: Connections, connection: Connection, progress: Share = None) -> bool:
    """Make the indexes that are missing, unless somebody still loads; returns whether there were any.

    Several at a time, each in a transaction of its own: what was made before something fails stays. Meanwhile nobody begins to load.
    """
    with transaction(connection):
        if not schema.missing_indexes(connection):
            return False
        free = connection.execute("SELECT pg_try_advisory_xact_lock(%s)", (LOCK,)).fetchone()
        if free != (True,):
            return False
        missing = schema.missing_indexes(connection)
        _make(connections, connection, [schema.index_statements()[name] for name in missing], progress)
    return True


def _make(connections: Connections, connection: Connection, statements: list[str], progress: Share) -> None:
    def make(statement: str) -> None:
        with connections.connect() as builder, transaction(builder):
            builder.execute(f"SET LOCAL statement_timeout = 0; {MEMORY}")
            builder.execute(statement)

    # Those over arrays first: they take nearly all of the time.
    statements = sorted(statements, key=lambda statement: "USING gin" not in statement)
    with ThreadPoolExecutor(BUILDERS) as threads:
        waiting = {threads.submit(make, statement) for statement in statements}
        while waiting:
            done, waiting = wait(waiting, POLL)
            for each in done:
                each.result()
            found = connection.execute(READ).fetchone()
            if progress and found:
                progress((len(statements) - len(waiting) + found[0]) / (len(statements) + 1))
