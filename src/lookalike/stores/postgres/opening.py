"""A PostgreSQL store by its URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike.errors import MissingExtra
from lookalike.stores.settings import Wanted

if TYPE_CHECKING:
    from lookalike.stores.base import Store
    from lookalike.stores.postgres.address import Address


def open_postgres(location: str, collection: str, wanted: Wanted, *, read_only: bool, create: bool) -> Store:
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise MissingExtra.for_extra("a PostgreSQL store", "postgres") from None
    from lookalike.stores.postgres.address import Address

    return opened(Address.parse(location, collection), wanted, read_only=read_only, create=create)


def opened(address: Address, wanted: Wanted, *, read_only: bool, create: bool) -> Store:
    from lookalike.stores.postgres.store import PostgresStore
    from lookalike.stores.postgres.table_store import TableStore

    store = PostgresStore(address, wanted, read_only=read_only, create=create)
    return store if store.own_table is None else TableStore(store, store.own_table)
