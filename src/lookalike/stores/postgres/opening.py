"""A PostgreSQL store by its URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lookalike.errors import MissingExtra
from lookalike.stores.settings import Wanted

if TYPE_CHECKING:
    from lookalike.stores.postgres.store import PostgresStore


def open_postgres(location: str, collection: str, wanted: Wanted, *, read_only: bool, create: bool) -> PostgresStore:
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise MissingExtra.for_extra("a PostgreSQL store", "postgres") from None
    from lookalike.stores.postgres.address import Address
    from lookalike.stores.postgres.store import PostgresStore

    return PostgresStore(Address.parse(location, collection), wanted, read_only=read_only, create=create)
