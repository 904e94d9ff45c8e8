"""Where the server looks names up for us: in ``pg_catalog``, and nowhere else.

A role's own path usually has the schema ``public``, and up to PostgreSQL 14 everybody may create in it: a function
``public.nextval(text)`` fits a call of ours better than the server's, and would run with our rights. So the path is set as the first thing
on each connection, by a statement in which nothing is looked up. A pooler may give each transaction another session, in which nobody has
set it: so each transaction sets it as well. The functions of the schema have it too (``sql/hamming.sql``), for whoever calls them.

``pg_temp`` is named because it would come first otherwise, for tables and types.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection

SEARCH_PATH = "pg_catalog, pg_temp"
OF_THE_SESSION = f"SET search_path = {SEARCH_PATH}"
OF_THE_TRANSACTION = f"SET LOCAL search_path = {SEARCH_PATH}"
# Statements that are sent as one: they cost hardly more time than the first alone.
# "counted": we count the documents that we delete ourselves, see sql/collections.sql. "generic": every statement has its index, whatever
# the values; with those of each document in hand, the server would plan for longer than it works. The level is named because a role or a
# database may have another: whoever waits for a lock must see what its last holder has written.
BEGIN = (
    f"BEGIN ISOLATION LEVEL READ COMMITTED; {OF_THE_TRANSACTION}; "
    "SET LOCAL lookalike.counted = on; SET LOCAL plan_cache_mode = force_generic_plan"
)
BEGIN_READING = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {OF_THE_TRANSACTION}"


@contextmanager
def transaction(connection: Connection[Any]) -> Iterator[None]:
    """A transaction, or a part of the one that the connection is in."""
    from psycopg.pq import TransactionStatus

    if connection.info.transaction_status != TransactionStatus.IDLE:
        with connection.transaction():
            connection.execute(OF_THE_TRANSACTION)  # the one around it says who counts
            yield
        return
    connection.execute(BEGIN)
    try:
        yield
    except BaseException:
        rolled_back(connection)
        raise
    connection.execute("COMMIT")


def rolled_back(connection: Connection[Any]) -> None:
    """Whatever state the connection is in, lost ones included."""
    from psycopg import Error

    with suppress(Error):
        connection.execute("ROLLBACK")
