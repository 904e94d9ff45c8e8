"""Loading much at once (``?bulk=on``): the indexes for searching are dropped first and made when the store is closed.

Until then searches are exact, but read everything. Loaders hold a lock together; whoever opens the store for writing, or closes it, and
finds that no loader is left makes the indexes that are missing, so a loader that was killed does no harm that lasts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager

from psycopg.errors import UniqueViolation

from lookalike.stores.postgres import schema
from lookalike.stores.postgres.connections import Connection, Connections
from lookalike.stores.postgres.rows import Copied
from lookalike.stores.postgres.search_path import transaction

LOCK = schema.LOCK + 1  # of loaders, shared
Share = Callable[[float], object] | None  # what is told how much is done, of 1

# GIN collects entries in this much memory, sorted, and then puts them into the index one after the other. Few at a time stay in the
# processor's caches: 30,000 documents took 5.6 s with 8 MB, and 7.9 s with 64 MB, the server's default. But then each entry goes to another
# page, so this is for indexes that the server can hold; others get the default. More leaves pages half empty, in no less time.
FEW, USUAL = "8MB", "64MB"
HELD = "SELECT pg_relation_size('lookalike.documents') < (SELECT setting::bigint * 8192 FROM pg_settings WHERE name = 'shared_buffers')"

BUILDERS = 3  # indexes that are made at the same time: the server makes a GIN index on one processor
INDEXES = 0.9  # of the time
# Which pages all transactions see: searches then need not visit the tables. New indexes have nothing to clean up.
VACUUM = [f"VACUUM (ANALYZE, INDEX_CLEANUP off) lookalike.{table}" for table in ("documents", "sketches")]
POLL = 0.5  # seconds between two questions how far they are
EARLY_WAIT = "1s"  # for what somebody else holds: then it is done in the transaction of the documents
# How much of the table each of those that are being made has read. What follows then has no measure.
READ = """
SELECT coalesce(sum(CASE WHEN blocks_total > 0 THEN blocks_done::float8 / blocks_total END), 0) FROM pg_stat_progress_create_index
WHERE relid = ANY (ARRAY['lookalike.documents', 'lookalike.sketches']::regclass[])
"""


class Guess:
    """That what is written is new, so that nothing need be looked up before: a unique index says if it is not.

    Whoever guessed wrong writes the batch again. So it is not guessed again for a while, each time for twice as long.
    """

    def __init__(self) -> None:
        self._pause = self._left = 0  # batches

    def is_due(self) -> bool:
        """Whether it is made for the next batch."""
        self._left -= 1
        return self._left < 0

    def was_wrong(self) -> None:
        self._pause = 2 * self._pause + 1
        self._left = self._pause


class BulkLoad:
    """What a store is while it loads.

    It has a second connection, on which the sketches of a batch are written while the first copies its documents: the server then works on
    both. They are committed before the documents, and nobody sees a sketch that no document has; should the documents not follow, it is
    as if they had been removed.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._connection = connections.connect()
        self._beside = ThreadPoolExecutor(1)
        self._second: Connection | None = None
        self.new_ids, self._new_sketches = Guess(), Guess()
        self._connection.execute("SELECT pg_catalog.pg_advisory_lock_shared(%s)", (LOCK,))
        with transaction(self._connection):
            for name in schema.search_index_names():
                self._connection.execute(f"DROP INDEX IF EXISTS lookalike.{name}")

    @contextmanager
    def early_rows(self, connection: Connection, copied: Copied, ordinals: Sequence[int]) -> Iterator[None]:
        """Write what can be there before the documents, while something else is done in the transaction that the connection is in.

        Whatever goes wrong with it is done again in that transaction, which says what is wrong.
        """
        for table in copied.early_tables:  # whoever drops what no document has waits until the documents are there
            connection.execute(f"LOCK TABLE lookalike.{table} IN ROW EXCLUSIVE MODE")
        writing = self._beside.submit(self._write_early, copied, ordinals)
        try:
            yield
        finally:
            wait([writing])
        if writing.exception() is not None:
            copied.add_rows(connection, ordinals, early=True)

    def _write_early(self, copied: Copied, ordinals: Sequence[int]) -> None:
        if self._new_sketches.is_due():
            try:
                with self._early_transaction() as second:
                    copied.copy_early_rows(second)
                return
            except UniqueViolation:
                self._new_sketches.was_wrong()
        with self._early_transaction() as second:
            copied.add_rows(second, ordinals, early=True)

    @contextmanager
    def _early_transaction(self) -> Iterator[Connection]:
        second = self._second
        if second is None or second.closed:
            second = self._second = self._connections.connect()
        with transaction(second):
            # Behind it in the log is the commit of the documents, which is waited for. And who waits for the table waits for that, too.
            second.execute(f"SET LOCAL synchronous_commit = off; SET LOCAL lock_timeout = '{EARLY_WAIT}'")
            yield second

    def finish(self, progress: Share = None) -> None:
        self._beside.shutdown()
        if self._second is not None:
            self._second.close()
        self._connection.execute("SELECT pg_catalog.pg_advisory_unlock_shared(%s)", (LOCK,))
        make_missing_indexes(self._connections, self._connection, progress)
        self._connection.close()


def make_missing_indexes(connections: Connections, connection: Connection, progress: Share = None) -> None:
    """Make the indexes that are missing, unless somebody still loads.

    Several at a time, each in a transaction of its own: what was made before something fails stays. Meanwhile nobody begins to load.
    """
    with transaction(connection):
        if not schema.missing_indexes(connection):
            return
        free = connection.execute("SELECT pg_try_advisory_xact_lock(%s)", (LOCK,)).fetchone()
        if free != (True,):
            return
        connection.execute("SET LOCAL statement_timeout = 0")
        missing = [schema.index_statements()[name] for name in schema.missing_indexes(connection)]
        if not missing:  # somebody else made them, while the lock was waited for
            return
        # Those over arrays first: they take nearly all of the time.
        missing.sort(key=lambda statement: "USING gin" not in statement)
        with ExitStack() as opened:
            memory = FEW if connection.execute(HELD).fetchone() == (True,) else USUAL
            builders = [_builder(opened.enter_context(connections.connect()), memory) for _ in range(min(BUILDERS, len(missing)))]
            _run(builders, connection, missing, lambda share: progress(share * INDEXES) if progress else None)
            _run(builders, connection, VACUUM, lambda share: progress(INDEXES + share * (1 - INDEXES)) if progress else None)


def _builder(connection: Connection, memory: str) -> Connection:
    """For several statements: a new process of the server first has to map the memory that all share, page by page."""
    connection.execute(f"SET statement_timeout = 0; SET maintenance_work_mem = '{memory}'")
    return connection


def _run(builders: Sequence[Connection], connection: Connection, statements: Sequence[str], progress: Callable[[float], object]) -> None:
    """Some at the same time; meanwhile it is told how many are done, with what is said of those that are not."""

    running: set[Connection] = set()
    idle = list(builders)

    def run(statement: str) -> None:
        builder = idle.pop()
        running.add(builder)
        try:
            builder.execute(statement)
        finally:
            running.remove(builder)
            idle.append(builder)

    with ThreadPoolExecutor(len(builders)) as threads:
        waiting = {threads.submit(run, statement) for statement in statements}
        try:
            share = 0.0
            while waiting:
                done, waiting = wait(waiting, POLL)
                for each in done:
                    each.result()
                found = connection.execute(READ).fetchone()
                share = min(max(share, (len(statements) - len(waiting) + (found[0] if found else 0)) / len(statements)), 1.0)
                progress(share)
        except BaseException:  # somebody will not wait, or one failed: the others need not be finished
            threads.shutdown(wait=False, cancel_futures=True)
            for builder in list(running):
                builder.cancel()
            raise
