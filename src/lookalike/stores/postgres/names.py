"""What the collections of a database are called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from lookalike.errors import MissingExtra
from lookalike.stores.names import no_such_collection, require_free
from lookalike.stores.postgres.schema import LOCK

if TYPE_CHECKING:
    from lookalike.stores.base import Store
    from lookalike.stores.postgres.address import Address
    from lookalike.stores.postgres.connections import Connection, Connections
    from lookalike.stores.settings import Wanted

Result = TypeVar("Result")
LED = "SELECT c.name FROM lookalike.aliases a JOIN lookalike.collections c ON c.number = a.collection WHERE a.name = %s"
SET = "INSERT INTO lookalike.aliases VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET collection = excluded.collection"


def led_to(connection: Connection, name: str) -> str:
    """The collection that an alias leads to; the name itself where it is none."""
    found = connection.execute(LED, (name,)).fetchone()
    return name if found is None else str(found[0])


def _read_aliases(connection: Connection) -> dict[str, str]:
    query = "SELECT a.name, c.name FROM lookalike.aliases a JOIN lookalike.collections c ON c.number = a.collection ORDER BY a.name"
    return dict(connection.execute(query).fetchall())


def _read_collections(connection: Connection) -> dict[str, int]:
    return dict(connection.execute("SELECT name, number FROM lookalike.collections ORDER BY name").fetchall())


class PostgresNames:
    """See ``stores.base.Names``. One changes names at a time."""

    def __init__(self, address: Address, connections: Connections, *, shared: bool) -> None:
        self._address, self._connections, self._shared = address, connections, shared
        self.name = address.name

    def collections(self) -> list[str]:
        with self._connections.snapshot() as connection:
            return list(_read_collections(connection))

    def aliases(self) -> dict[str, str]:
        with self._connections.snapshot() as connection:
            return _read_aliases(connection)

    def _changed(self, work: Callable[[Connection], Result]) -> Result:
        def locked(connection: Connection) -> Result:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            return work(connection)

        return self._connections.transaction(locked)

    def rename(self, collection: str, name: str) -> None:
        def work(connection: Connection) -> None:
            there, aliases = _read_collections(connection), _read_aliases(connection)
            if collection not in there:
                raise no_such_collection(collection, self.name, there, aliases)
            require_free(name, self.name, there, aliases)
            connection.execute("UPDATE lookalike.collections SET name = %s WHERE number = %s", (name, there[collection]))

        self._changed(work)

    def alias(self, name: str, collection: str) -> None:
        def work(connection: Connection) -> None:
            there, aliases = _read_collections(connection), _read_aliases(connection)
            of = aliases.get(collection, collection)
            if of not in there:
                raise no_such_collection(collection, self.name, there)
            require_free(name, self.name, there, {})
            connection.execute(SET, (name, there[of]))

        self._changed(work)

    def drop(self, name: str) -> int:
        def work(connection: Connection) -> int:
            there, aliases = _read_collections(connection), _read_aliases(connection)
            if name in aliases:
                connection.execute("DELETE FROM lookalike.aliases WHERE name = %s", (name,))
                return 0
            if name not in there:
                raise no_such_collection(name, self.name, there)
            connection.execute("SET LOCAL statement_timeout = 0")
            gone: Any = connection.execute("SELECT lookalike.drop_collection(%s)", (name,)).fetchone()
            return int(gone[0])

        return self._changed(work)

    def open(self, collection: str, wanted: Wanted, *, create: bool) -> Store:
        from lookalike.stores.postgres.opening import opened

        return opened(replace(self._address, collection=collection), wanted, read_only=False, create=create)

    def close(self) -> None:
        if not self._shared:
            self._connections.close()


def names_in_database(location: str, *, read_only: bool = False) -> PostgresNames:
    """The collections of a database that has our schema, of this version."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise MissingExtra.for_extra("a PostgreSQL store", "postgres") from None
    from lookalike.stores.postgres import schema
    from lookalike.stores.postgres.address import Address
    from lookalike.stores.postgres.connections import Connections
    from lookalike.stores.postgres.problems import sql_errors
    from lookalike.stores.postgres.search_path import transaction

    address = Address.parse(location, "default")
    connections = Connections(address, read_only=read_only)
    try:
        with sql_errors(address), connections.connection() as connection:
            schema.check_server(connection, address.name)
            with transaction(connection):
                version = schema.read_version(connection)
            if version is not None and version < schema.VERSION and not read_only:
                schema.bring_up_to_date(connection, address.name)
            else:
                schema.check_version(version, address.name)
    except BaseException:
        connections.close()
        raise
    return PostgresNames(address, connections, shared=False)
