"""The store in a PostgreSQL database: one collection of it. ``docs/postgres.md`` describes it to users."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lookalike.errors import InputError, StoreError
from lookalike.stores.base import Added, Batch, CheckReport, Id, Progress
from lookalike.stores.postgres import schema, vectors
from lookalike.stores.postgres.address import Address
from lookalike.stores.postgres.bulk import BulkLoad, make_missing_indexes
from lookalike.stores.postgres.checking import check_collection
from lookalike.stores.postgres.connections import Connection, Connections
from lookalike.stores.postgres.numbers import copied_numbers, only_numbers
from lookalike.stores.postgres.problems import sql_errors
from lookalike.stores.postgres.reading import PostgresReader, bands_of
from lookalike.stores.postgres.rows import COPY, COPY_WITH_VECTORS, copied, split_ids, winnowing_hashes
from lookalike.stores.postgres.search_path import transaction
from lookalike.stores.postgres.secrets import forget_secret, keep_secret, read_key
from lookalike.stores.postgres.structures import add_structures, drop_unused
from lookalike.stores.settings import Settings, Wanted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OLDEST = 140000  # the first version with bit_count
ORDINALS = 1 << 20  # of a number of lookalike.transactions
# Id by id through the unique index, which OFFSET 0 enforces, and then row by row: without statistics the planner would compare every
# document with every id.
REMOVE = """
WITH known AS MATERIALIZED (
  SELECT ordinal FROM unnest(%(texts)s::text[]) AS given (id), LATERAL (
    SELECT ordinal FROM lookalike.documents WHERE collection = %(collection)s AND id_text = given.id OFFSET 0
  ) AS found
  UNION ALL
  SELECT ordinal FROM unnest(%(numbers)s::bigint[]) AS given (id), LATERAL (
    SELECT ordinal FROM lookalike.documents WHERE collection = %(collection)s AND id_number = given.id OFFSET 0
  ) AS found
), gone AS (
  DELETE FROM lookalike.documents WHERE collection = %(collection)s AND ordinal = ANY (ARRAY(SELECT ordinal FROM known)) RETURNING 1
), pages AS (
  DELETE FROM lookalike.pages WHERE collection = %(collection)s AND ordinal = ANY (ARRAY(SELECT ordinal FROM known))
)
SELECT count(*) FROM gone
"""
# In order of the digests: two writers that add the same contents meet in the same order, and none waits for the other in turn.
ADD_SKETCHES = """
INSERT INTO lookalike.sketches (collection, digest, bands)
SELECT %(collection)s, digest, (%(keys)s::bigint[])[(place - 1) * %(bands)s + 1 : place * %(bands)s]
FROM unnest(%(digests)s::bigint[]) WITH ORDINALITY AS d (digest, place) ORDER BY digest
ON CONFLICT DO NOTHING
"""
SIZES = """
SELECT relname, pg_total_relation_size(oid) FROM pg_class
WHERE relnamespace = 'lookalike'::regnamespace AND relname = ANY ('{documents,sketches,structures,pages,masks,collections}')
"""


class PostgresStore:
    """One collection. Many processes may read and write it at once, and threads may share a store."""

    def __init__(self, address: Address, wanted: Wanted, *, read_only: bool = False, create: bool = True) -> None:
        self.name, self.collection, self._read_only = address.name, address.collection, read_only
        self._address, self.wanted = address, wanted
        self._connections = Connections(address, read_only=read_only)
        self._bulk: BulkLoad | None = None
        try:
            with sql_errors(address), self._connections.connection() as connection:
                self._check_server(connection)
                self._prepare_schema(connection, create and not read_only)
                with transaction(connection):
                    self._number, self.settings = self._open_collection(connection, wanted, create and not read_only)
                if address.bulk and not read_only:
                    self._bulk = BulkLoad(self._connections)
        except UnicodeEncodeError:
            self.close()
            raise InputError(f"collection={self.collection!r}: a lone surrogate cannot be stored") from None
        except BaseException:
            self.close()
            raise

    def _check_server(self, connection: Connection) -> None:
        version, encoding = connection.info.server_version, connection.info.parameter_status("server_encoding")
        if version < OLDEST:
            raise StoreError(f"{self.name} is PostgreSQL {version // 10000}: version 14 or newer is needed")
        if encoding != "UTF8":
            raise StoreError(f"{self.name} has the encoding {encoding}: make a database with ENCODING 'UTF8'")

    def _prepare_schema(self, connection: Connection, create: bool) -> None:
        with transaction(connection):
            version = schema.read_version(connection)
        if version != schema.VERSION and not self._read_only and (create or version is not None):
            schema.bring_up_to_date(connection, self.name)
        else:
            schema.check_version(version, self.name)
        if create and not self._address.bulk:
            make_missing_indexes(connection)

    def _open_collection(self, connection: Connection, wanted: Wanted, create: bool) -> tuple[int, Settings]:
        query = "SELECT number, settings FROM lookalike.collections WHERE name = %s"
        found = connection.execute(query, (self.collection,)).fetchone()
        if found is None:
            if not create:
                names = [name for (name,) in connection.execute("SELECT name FROM lookalike.collections ORDER BY name")]
                raise StoreError(f"{self.name} has no collection {self.collection!r}; it has {', '.join(names) or 'none'}")
            settings = wanted.made()
            if "vector" in settings.kinds:
                vectors.add_column(connection)
            self._insert_collection(connection, settings)
            found = connection.execute(query, (self.collection,)).fetchone()
            assert found is not None  # noqa: S101 - ours, or that of a process which was faster
        where = f"{self.name}, collection {self.collection!r}"
        return found[0], Settings.from_json(found[1], where, wanted, lambda check: read_key(connection, found[0], check, where))

    @contextmanager
    def reading(self) -> Iterator[PostgresReader]:
        with self._connections.snapshot() as connection:
            yield PostgresReader(connection, self._number, self._documents(connection), self.settings, self._connections.require_open)

    def _documents(self, connection: Connection) -> int:
        found = connection.execute("SELECT documents FROM lookalike.collections WHERE number = %s", (self._number,)).fetchone()
        if found is None:
            raise StoreError(f"{self.name} has no collection {self.collection!r} any more")
        return int(found[0])

    def _require_writing(self) -> None:
        if self._read_only:
            raise StoreError(f"{self.name} was opened with read_only=True: open it without read_only to change it")

    def write(self, batch: Batch) -> Added:
        self._require_writing()
        if len(batch) == 0:
            return Added(0, 0)
        batch = batch.last_of_each()
        hashes = winnowing_hashes(batch, self.settings)
        sketches = self._sketches(batch)
        return self._connections.transaction(lambda connection: self._write(connection, batch, hashes, sketches))

    def _write(
        self, connection: Connection, batch: Batch, hashes: Sequence[NDArray[np.uint64] | None], sketches: dict[str, Any] | None
    ) -> Added:
        updated = self._delete(connection, batch.ids)
        ordinals = list(self._ordinals(connection, len(batch)))
        with_vectors = batch.vector is not None
        with connection.cursor().copy(COPY_WITH_VECTORS if with_vectors else COPY) as copy:
            if only_numbers(batch):
                copy.write(copied_numbers(batch, self._number, ordinals, self.settings.bits))
            else:
                for chunk in copied(batch, self._number, ordinals, hashes, self.settings.bits, with_vectors):
                    copy.write(chunk)
        if sketches is not None:
            connection.execute(ADD_SKETCHES, sketches)
        add_structures(connection, self._number, ordinals, batch, self.settings)
        self._count(connection, len(batch) - updated)
        return Added(len(batch) - updated, updated)

    def _ordinals(self, connection: Connection, count: int) -> Iterator[int]:
        for first in range(0, count, ORDINALS):
            found = connection.execute("SELECT nextval('lookalike.transactions')").fetchone()
            assert found is not None  # noqa: S101
            yield from range(found[0] * ORDINALS, found[0] * ORDINALS + min(ORDINALS, count - first))

    def _sketches(self, batch: Batch) -> dict[str, Any] | None:
        import numpy as np

        if batch.minhash is None or batch.digests is None:
            return None
        digests, places = np.unique(batch.digests.view(np.int64), return_index=True)
        keys = bands_of(batch.minhash.reshape(len(batch), -1)[places].reshape(-1), self.settings, self._number)
        return {"collection": self._number, "bands": keys.shape[1], "digests": digests.tolist(), "keys": keys.reshape(-1).tolist()}

    def _delete(self, connection: Connection, ids: Sequence[Id]) -> int:
        texts, numbers = split_ids(ids)
        # As text: psycopg takes longer to turn a list of numbers into an array than the server to find them.
        listed = f"{{{','.join(map(str, numbers))}}}"
        found = connection.execute(REMOVE, {"collection": self._number, "texts": texts, "numbers": listed}).fetchone()
        return int(found[0]) if found else 0

    def _count(self, connection: Connection, more: int) -> None:
        """The last statement of a transaction: from here on other writers of the collection wait until it commits."""
        changed = connection.execute("UPDATE lookalike.collections SET documents = documents + %s WHERE number = %s", (more, self._number))
        if changed.rowcount == 0:
            raise StoreError(f"{self.name} has no collection {self.collection!r} any more")

    def remove(self, ids: Sequence[Id]) -> int:
        self._require_writing()

        def work(connection: Connection) -> int:
            removed = self._delete(connection, ids)
            if removed:
                self._count(connection, -removed)
            return removed

        return self._connections.transaction(work)

    def adopt(self, settings: Settings) -> bool:
        self._require_writing()

        def work(connection: Connection) -> int | None:
            # Under a new number: whoever has it open, and would write other fingerprints, finds no collection any more.
            gone = connection.execute(
                "DELETE FROM lookalike.collections c WHERE number = %s "
                "AND NOT EXISTS (SELECT FROM lookalike.documents d WHERE d.collection = c.number)",
                (self._number,),
            )
            if gone.rowcount == 0:
                return None
            if self.settings.keyed:
                forget_secret(connection, self._number)
            if "vector" in settings.kinds:
                vectors.add_column(connection)
            return self._insert_collection(connection, settings)

        number = self._connections.transaction(work)
        if number is None:
            return False
        self._number, self.settings = number, settings
        return True

    def _insert_collection(self, connection: Connection, settings: Settings) -> int | None:
        found = connection.execute(
            "INSERT INTO lookalike.collections (name, settings, bits) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING RETURNING number",
            (self.collection, settings.to_json(), settings.bits),
        ).fetchone()
        if found is not None and settings.recipe.key is not None:
            keep_secret(connection, found[0], settings.recipe.key)
        return found[0] if found else None

    def stats(self) -> dict[str, Any]:
        with self._connections.snapshot() as connection:
            sizes: dict[str, int] = dict(connection.execute(SIZES).fetchall())
            return {
                "documents": self._documents(connection),
                "collections": [name for (name,) in connection.execute("SELECT name FROM lookalike.collections ORDER BY name")],
                "bytes": sum(sizes.values()),
                "table_bytes": sizes,
                "server": f"PostgreSQL {connection.info.parameter_status('server_version')}",
            }

    def check(self, repair: bool, progress: Progress = None) -> CheckReport:
        if repair:
            self._require_writing()
        return check_collection(self, repair, progress)

    def compact(self, progress: Progress = None) -> dict[str, Any]:
        """Drop the sketches that no document has any more, and let the server clean up: searches then need only their indexes.

        The server does not say how far it is: ``progress`` is told at the end.
        """
        self._require_writing()
        before = self.stats()["bytes"]
        self._connections.transaction(self._drop_sketches)
        if self.settings.dimensions is not None:
            dimensions = self.settings.dimensions
            self._connections.attempt(lambda connection: vectors.make_graph(connection, self._number, dimensions))

        def vacuum(connection: Connection) -> None:
            connection.execute("VACUUM (ANALYZE) lookalike.documents")
            connection.execute("VACUUM (ANALYZE) lookalike.sketches")

        self._connections.attempt(vacuum)
        after = self.stats()
        if progress:
            progress(after["documents"])
        return {"bytes_before": before, "bytes_after": after["bytes"]}

    def _drop_sketches(self, connection: Connection) -> None:
        # A writer who finds a sketch does not add it again: while it is being removed there must be no writer.
        connection.execute("LOCK TABLE lookalike.sketches IN SHARE ROW EXCLUSIVE MODE")
        connection.execute(
            "DELETE FROM lookalike.sketches s WHERE collection = %s AND NOT EXISTS "
            "(SELECT FROM lookalike.documents d WHERE d.collection = s.collection AND d.digest = s.digest)",
            (self._number,),
        )
        drop_unused(connection, self._number)

    def close(self) -> None:
        if self._bulk is not None:
            bulk, self._bulk = self._bulk, None
            with sql_errors(self._address):
                bulk.finish()
        self._connections.close()
