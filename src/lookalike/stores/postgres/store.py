"""The store in a PostgreSQL database: one collection of it. ``docs/postgres.md`` describes it to users."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from psycopg.errors import OutOfMemory, UniqueViolation

from lookalike.errors import InputError, StoreError
from lookalike.stores.base import Added, Additions, CheckReport, OnProgress
from lookalike.stores.ids import Id
from lookalike.stores.postgres import beside, schema
from lookalike.stores.postgres.address import Address
from lookalike.stores.postgres.bulk import BulkLoad, make_missing_indexes
from lookalike.stores.postgres.checking import check_collection
from lookalike.stores.postgres.commits import FORGET_OLD, MARK
from lookalike.stores.postgres.connections import Connection, Connections
from lookalike.stores.postgres.fields import write_fields
from lookalike.stores.postgres.kept_blocks import KeptBlocks
from lookalike.stores.postgres.names import PostgresNames, led_to
from lookalike.stores.postgres.own_tables import find_table
from lookalike.stores.postgres.problems import sql_errors
from lookalike.stores.postgres.reading import PostgresReader
from lookalike.stores.postgres.rows import Copied, split_ids, together
from lookalike.stores.postgres.search_path import transaction
from lookalike.stores.postgres.secrets import forget_secret, keep_secret, read_key
from lookalike.stores.settings import Settings, Wanted

Answer = TypeVar("Answer")
AT_ONCE = 24  # documents that are decided on together: with 21 band keys each, 500 locks, of which a server has about 6,000
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
), marked AS ({mark}){beside}
SELECT count(*){number} FROM gone
"""
NEXT = f"WITH marked AS ({MARK}) SELECT nextval('lookalike.transactions')"
NUMBER = ", nextval('lookalike.transactions')"  # for what is added: a message less
REMOVE_BESIDE = """, beside_{table} AS (
  DELETE FROM lookalike.{table} WHERE collection = %(collection)s AND ordinal = ANY (ARRAY(SELECT ordinal FROM known))
)"""
COUNT = "UPDATE lookalike.collections SET documents = documents + %s WHERE number = %s"
STATE = "SELECT documents, expired FROM lookalike.look({number}, {now})"  # as text: it goes with other statements
SIZES = """
SELECT relname, pg_total_relation_size(oid) FROM pg_class
WHERE relnamespace = 'lookalike'::regnamespace
  AND relname = ANY ('{documents,sketches,tlsh_blocks,structures,pages,members,expiring,fields,masks,collections,commits}')
"""


class PostgresStore:
    """One collection. Many processes may read and write it at once, and threads may share a store."""

    def __init__(self, address: Address, wanted: Wanted, *, read_only: bool = False, create: bool = True) -> None:
        self.name, self.collection, self._read_only = address.name, address.collection, read_only
        self._address, self.wanted = address, wanted
        self._connections = Connections(address, read_only=read_only)
        self._bulk: BulkLoad | None = None
        self.kept = KeptBlocks()
        try:
            with sql_errors(address), self._connections.connection() as connection:
                schema.check_server(connection, self.name)
                self._prepare_schema(connection, create and not read_only)
                with transaction(connection):
                    self._number, self.settings = self._open_collection(connection, wanted, create and not read_only)
                    self.own_table = find_table(connection, self._number, self.name)
                if address.bulk and not read_only:
                    self._bulk = BulkLoad(self._connections)
        except UnicodeEncodeError:
            self.close()
            raise InputError(f"collection={self.collection!r}: a lone surrogate cannot be stored") from None
        except BaseException:
            self.close()
            raise

    def _prepare_schema(self, connection: Connection, create: bool) -> None:
        with transaction(connection):
            version = schema.read_version(connection)
        if version != schema.VERSION and not self._read_only and (create or version is not None):
            schema.bring_up_to_date(connection, self.name)
        else:
            schema.check_version(version, self.name)
        if create and not self._address.bulk:
            make_missing_indexes(self._connections, connection)

    def _open_collection(self, connection: Connection, wanted: Wanted, create: bool) -> tuple[int, Settings]:
        query = "SELECT number, settings FROM lookalike.collections WHERE name = %s"
        found = connection.execute(query, (self.collection,)).fetchone()
        if found is None:
            self.collection = led_to(connection, self.collection)
            found = connection.execute(query, (self.collection,)).fetchone()
        if found is None:
            if not create:
                names = [name for (name,) in connection.execute("SELECT name FROM lookalike.collections ORDER BY name")]
                raise StoreError(f"{self.name} has no collection {self.collection!r}; it has {', '.join(names) or 'none'}")
            settings = wanted.made()
            self._make_columns(connection, settings)
            self._insert_collection(connection, settings)
            found = connection.execute(query, (self.collection,)).fetchone()
            assert found is not None  # noqa: S101 - ours, or that of a process which was faster
        where = f"{self.name}, collection {self.collection!r}"
        return found[0], Settings.from_json(found[1], where, wanted, lambda check: read_key(connection, found[0], check, where))

    def _make_columns(self, connection: Connection, settings: Settings) -> None:
        for kind in settings.stored:
            kind.make_columns(connection)

    @contextmanager
    def reading(self) -> Iterator[PostgresReader]:
        now = round(time.time() * 1000)
        with self._connections.snapshot_with(STATE.format(number=self._number, now=now)) as (connection, found):
            yield self._reader(connection, (now, found))

    def _state(self, connection: Connection) -> tuple[int, tuple[Any, ...] | None]:
        now = round(time.time() * 1000)
        return now, connection.execute(STATE.format(number=self._number, now=now)).fetchone()

    def _require_writing(self) -> None:
        if self._read_only:
            raise StoreError(f"{self.name} was opened with read_only=True: open it without read_only to change it")

    def write(self, batch: Additions) -> Added:
        return self.write_later(batch)()

    def write_later(self, batch: Additions) -> Callable[[], Added]:
        """What writes a batch, made in any thread while others are being written: a good part of the client's time."""
        self._require_writing()
        if len(batch) == 0:
            return lambda: Added(0, 0)
        copied = self._copied(batch)
        return lambda: self._connections.transaction(lambda connection: self._write(connection, copied))

    def _copied(self, batch: Additions) -> Copied:
        return Copied(batch.last_of_each(), self._number, self.settings)

    @property
    def at_once(self) -> int:
        return AT_ONCE

    def decide(self, keys: NDArray[np.int64] | None, choose: Callable[[PostgresReader], tuple[Additions, Answer]]) -> Answer:
        self._require_writing()
        locked = keys

        def work(connection: Connection) -> Answer:
            nonlocal locked
            # Each statement of the transaction sees what was committed before it: the next one what the last holder of a lock has written.
            now = round(time.time() * 1000)
            try:
                known = beside.lock(connection, self._number, locked, now)
            except OutOfMemory:
                locked = None  # others fill the server's table of locks: when this is tried again, one for all of the collection has to do
                raise
            batch, answer = choose(self._reader(connection, (now, known)))
            if len(batch):
                self._write(connection, self._copied(batch))
            return answer

        return self._connections.transaction(work)

    def _reader(self, connection: Connection, known: tuple[int, tuple[Any, ...] | None] | None = None) -> PostgresReader:
        """``known``: what time it is, and what is true of the collection, where that was asked for already."""
        now, state = known or self._state(connection)
        if state is None:
            raise StoreError(f"{self.name} has no collection {self.collection!r} any more")
        documents, expired = state
        return PostgresReader(connection, self._number, (now, documents, expired), self.settings, self._connections.require_open, self.kept)

    def _write(self, connection: Connection, copied: Copied) -> Added:
        batch = copied.batch
        if len(batch) > ORDINALS:
            raise StoreError(f"{self.name}: a batch has up to {ORDINALS:,} documents, not {len(batch):,}")
        if self._bulk is not None and not copied.is_single and self._bulk.new_ids.is_due():
            try:
                with connection.transaction():
                    return self._write_rows(connection, copied, 0, self._next_number(connection))
            except UniqueViolation:
                self._bulk.new_ids.was_wrong()
        return self._write_rows(connection, copied, *self._delete(connection, batch.ids, NUMBER))

    def _write_rows(self, connection: Connection, copied: Copied, updated: int, number: int) -> Added:
        """``updated``: how many documents made room for these."""
        batch = copied.batch
        ordinals = range(number * ORDINALS, number * ORDINALS + len(batch))
        if copied.is_single and not (batch.links or batch.expires or self.settings.indexed):
            with together(connection):
                copied.write(connection, ordinals)
                copied.add_rows(connection, ordinals)
                counted = connection.execute(COUNT, (1 - updated, self._number))
            self._require_counted(counted.rowcount)
            return Added(1 - updated, updated)
        if self._bulk is not None and copied.early_tables:
            with self._bulk.early_rows(connection, copied, ordinals):
                copied.write(connection, ordinals)
                copied.add_rows(connection, ordinals, early=False)
        else:
            copied.write(connection, ordinals)
            copied.add_rows(connection, ordinals)
        if batch.links or batch.expires:
            own = dict(zip(batch.ids, ordinals, strict=True))
            links = [link for id_, link in batch.links.items() if id_ in own and link.elsewhere is None and link.root is None]
            others = [link.leader for link in links if link.leader not in own]
            known = own | (self._reader(connection).rows_of(others) if others else {})
            beside.write_beside(connection, self._number, own, batch, known)
        if self.settings.indexed:
            write_fields(connection, self._number, self.settings.indexed, dict(zip(ordinals, batch.metas, strict=True)))
        self._count(connection, len(batch) - updated)
        return Added(len(batch) - updated, updated)

    def _delete(self, connection: Connection, ids: Sequence[Id], number: str = "") -> tuple[int, int]:
        """How many there were, and with ``NUMBER`` a number for what takes their place. It marks the transaction, too."""
        texts, numbers = split_ids(ids)
        # As text: psycopg takes longer to turn a list of numbers into an array than the server to find them.
        listed = f"{{{','.join(map(str, numbers))}}}"
        beside = "".join(REMOVE_BESIDE.format(table=table) for kind in self.settings.stored for table in kind.side_tables)
        remove = REMOVE.replace("{mark}", MARK).replace("{beside}", beside).replace("{number}", number)
        values = {"collection": self._number, "texts": texts, "numbers": listed, **self._connections.marks.values(connection)}
        removed, *made = connection.execute(remove, values).fetchone() or (0,)
        return removed, *(made or (0,))

    def _next_number(self, connection: Connection) -> int:
        """As ``_delete`` has it, where nothing is to be deleted."""
        found = connection.execute(NEXT, self._connections.marks.values(connection)).fetchone()
        return int(found[0]) if found else 0

    def _count(self, connection: Connection, more: int) -> None:
        """The last statement of a transaction: from here on other writers of the collection wait until it commits."""
        self._require_counted(connection.execute(COUNT, (more, self._number)).rowcount)

    def _require_counted(self, changed: int) -> None:
        if changed == 0:
            raise StoreError(f"{self.name} has no collection {self.collection!r} any more")

    def remove(self, ids: Sequence[Id]) -> int:
        self._require_writing()

        def work(connection: Connection) -> int:
            removed = self._delete(connection, ids)[0]
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
            self._make_columns(connection, settings)
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

    def names(self) -> PostgresNames:
        return PostgresNames(self._address, self._connections, shared=True)

    def stats(self) -> dict[str, Any]:
        with self._connections.snapshot() as connection:
            sizes: dict[str, int] = dict(connection.execute(SIZES).fetchall())
            return {
                "documents": self._reader(connection).count(),
                "collections": [name for (name,) in connection.execute("SELECT name FROM lookalike.collections ORDER BY name")],
                "bytes": sum(sizes.values()),
                "table_bytes": sizes,
                "server": f"PostgreSQL {connection.info.parameter_status('server_version')}",
            }

    def check(self, repair: bool, progress: OnProgress | None = None) -> CheckReport:
        if repair:
            self._require_writing()
        return check_collection(self, repair, progress)

    def compact(self, progress: OnProgress | None = None) -> dict[str, Any]:
        """Drop the sketches that no document has any more, and let the server clean up: searches then need only their indexes.

        The server does not say how far it is: ``progress`` is told at the end.
        """
        self._require_writing()
        before = self.stats()["bytes"]
        self._connections.transaction(self._drop_expired)
        self._connections.transaction(self._drop_unused)
        for kind in self.settings.stored:
            self._connections.attempt(lambda connection, kind=kind: kind.compacted(connection, self._number, self.settings))  # type: ignore[misc]

        def vacuum(connection: Connection) -> None:
            connection.execute("VACUUM (ANALYZE) lookalike.documents")
            connection.execute("VACUUM (ANALYZE) lookalike.sketches")

        self._connections.attempt(vacuum)
        after = self.stats()
        if progress:
            progress(after["documents"])
        return {"bytes_before": before, "bytes_after": after["bytes"]}

    def _drop_expired(self, connection: Connection) -> None:
        reader = self._reader(connection)
        ids = [record.id for record in reader.records(sorted(reader.hidden()), ()).values()]
        if ids:
            self._count(connection, -self._delete(connection, ids)[0])

    def _drop_unused(self, connection: Connection) -> None:
        connection.execute(FORGET_OLD)
        beside.drop_unused(connection, self._number)
        for kind in self.settings.stored:
            kind.drop_unused(connection, self._number)

    def close(self, progress: OnProgress | None = None) -> None:
        """``progress`` is told how many documents the indexes have, those that a bulk load left to be made."""
        if self._bulk is not None:
            bulk, self._bulk = self._bulk, None
            with sql_errors(self._address):
                bulk.finish(self._told(progress) if progress else None)
        self._connections.close()

    def _told(self, progress: Callable[[int], object]) -> Callable[[float], object]:
        with self._connections.snapshot() as connection:
            documents = (self._state(connection)[1] or (0,))[0]
        return lambda share: progress(round(share * documents))
