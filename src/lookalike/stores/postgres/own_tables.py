"""Collections on a table of the user's own: indexes on expressions of their column, which ``sql/own_tables.sql`` makes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from lookalike.errors import InputError, MissingExtra, StoreError
from lookalike.stores.postgres import schema
from lookalike.stores.postgres.search_path import OF_THE_TRANSACTION, transaction

if TYPE_CHECKING:
    from lookalike.stores.postgres.connections import Connection

KINDS = ("simhash", "minhash", "text")
INTEGERS = ("smallint", "integer", "bigint")
FIND = """
SELECT t.relation::text, t.kind, quote_ident(t.value_column), quote_ident(t.key_column), lookalike.type_of_column(t.relation, t.key_column),
  lookalike.type_of_column(t.relation, t.value_column)
FROM lookalike.tables t JOIN pg_class c ON c.oid = t.relation WHERE t.collection = %s
"""
GONE = "SELECT FROM lookalike.tables WHERE collection = %s"


class OwnTable(NamedTuple):
    """Where a collection is; all names as SQL writes them."""

    relation: str
    kind: str
    value: str
    key: str
    key_type: str
    value_type: str

    @property
    def has_numbers(self) -> bool:
        """Whether ids are whole numbers; otherwise they are texts."""
        return self.key_type in INTEGERS

    @property
    def simhash(self) -> str:
        """The fingerprint as a bigint."""
        return f"lookalike.simhash_of({self.value})"


def find_table(connection: Connection, collection: int, name: str) -> OwnTable | None:
    found = connection.execute(FIND, (collection,)).fetchone()
    if found is not None:
        return OwnTable(*found)
    if connection.execute(GONE, (collection,)).fetchone() is not None:
        raise StoreError(f"{name}: the table of this collection is gone; drop the collection: lookalike pg drop URL COLLECTION")
    return None


class TableCollection(NamedTuple):
    """What ``index_table`` made: a collection on a table, with so many rows that have a value."""

    collection: str
    table: str
    kind: str
    rows: int


def make_table_collection(
    connection: Connection, called: str | None, table: str, column: str, key: str, kind: str, threshold: float, settings: str | None
) -> TableCollection:
    """One transaction: there is a collection with all its indexes, or none."""
    with transaction(connection):
        connection.execute(
            "SET LOCAL statement_timeout = 0; SET LOCAL search_path TO DEFAULT"
        )  # it is the role's own path that finds tables
        found = connection.execute("SELECT pg_catalog.to_regclass(%s)::pg_catalog.oid", (table,)).fetchone() or (None,)
        connection.execute(OF_THE_TRANSACTION)
        if found[0] is None:
            raise StoreError(f"table={table!r:.80} does not exist: if it is in another schema, write schema.table, as SQL does")
        made = connection.execute(
            "SELECT lookalike.index_table(%s::oid::regclass, %s, %s, %s, %s, %s, %s)",
            (found[0], column, key, kind, called, threshold, settings),
        ).fetchone()
        assert made is not None  # noqa: S101
        number = connection.execute("SELECT number FROM lookalike.collections WHERE name = %s", made).fetchone() or (0,)
        own = find_table(connection, number[0], made[0])
        assert own is not None  # noqa: S101
        connection.execute("SET LOCAL enable_seqscan = on")
        rows = connection.execute(f"SELECT count({own.value}) FROM {own.relation}").fetchone()  # noqa: S608
    return TableCollection(made[0], own.relation, kind, rows[0] if rows else 0)


def drop_made_collection(connection: Connection, name: str) -> int:
    with transaction(connection):
        connection.execute("SET LOCAL statement_timeout = 0")
        if connection.execute("SELECT FROM lookalike.collections WHERE name = %s", (name,)).fetchone() is None:
            raise InputError(f"collection={name!r:.60}: there is no such collection")
        gone = connection.execute("SELECT lookalike.drop_collection(%s)", (name,)).fetchone()
    return int(gone[0]) if gone else 0


@contextmanager
def connected(url: str, collection: str, *, create: bool) -> Iterator[tuple[Connection, str]]:
    """A connection to a database that has our schema, of this version, and the collection that the URL or the caller names."""
    if not url.lower().startswith(("postgresql://", "postgres://")):
        raise InputError("url: give a PostgreSQL URL such as postgresql://user@host:port/database")
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise MissingExtra.for_extra("a PostgreSQL store", "postgres") from None
    from lookalike.stores.postgres.address import Address
    from lookalike.stores.postgres.connections import Connections
    from lookalike.stores.postgres.problems import sql_errors

    address = Address.parse(url, collection)
    connections = Connections(address, read_only=False)
    try:
        with sql_errors(address), connections.connection() as connection:
            _prepare(connection, address.name, create=create)
            yield connection, address.collection
    finally:
        connections.close()


def _prepare(connection: Connection, name: str, *, create: bool) -> None:
    schema.check_server(connection, name)
    with transaction(connection):
        version = schema.read_version(connection)
    if version != schema.VERSION and (create or version is not None):
        schema.bring_up_to_date(connection, name)
    else:
        schema.check_version(version, name)
