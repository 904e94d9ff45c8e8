"""The schema ``lookalike`` of a database: made, and brought up to date, by the first process that writes.

Tables have a version, and a step leads to each version from the one before; a new schema takes all of them. Functions are written anew
with each version, and indexes are made where they are missing. Everything happens in one transaction under an advisory lock, so it
does not matter how many processes start at once, or where one of them dies.
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from lookalike.errors import StoreError

if TYPE_CHECKING:
    from psycopg import Connection

LOCK = 0x6C6F6F6B616C696B  # what processes that make the schema wait for
STEPS = ("tables.sql", "statistics.sql", "pages.sql")  # what leads to version 1, 2, …: never changed, only added to
VERSION = len(STEPS)
BLOCK_MASKS = (0x7FF | 0x3FF << 32, 0x7FF << 11 | 0x3FF << 42, 0x3FF << 22 | -(1 << 52))  # the bits of each block, see tables.sql
INDEXES = "indexes.sql"
# Of the first entries under the keys that are wanted: how many there are, and those within k bits that no earlier block brings up. In
# one pass, and in the text of the functions: to call one more would cost as much as a lookup.
READ_ENTRIES = """SELECT count(*),
    array_agg(ordinal) FILTER (WHERE distance <= k{not_earlier}),
    array_agg(distance) FILTER (WHERE distance <= k{not_earlier})
  INTO entries, ordinals, distances
  FROM (
    SELECT ordinal, simhash, lookalike.hamming(simhash, low) AS distance FROM lookalike.documents
    WHERE collection = collection_number AND simhash IS NOT NULL AND block{i} = ANY (wanted)
    LIMIT enough
  ) AS d;"""


def read_version(connection: Connection[Any]) -> int | None:
    """The version of the schema, None where there is none."""
    # Not to_regclass, which may answer from a cache after another process has made the table.
    query = "SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = 'lookalike' AND relname = 'format'"
    if connection.execute(query).fetchone() is None:
        return None
    found = connection.execute("SELECT version FROM lookalike.format").fetchone()
    return int(found[0]) if found else None


def check_version(version: int | None, name: str) -> None:
    if version is None:
        raise StoreError(f"{name} has no schema 'lookalike' with our tables: add documents to create it")
    if version > VERSION:
        raise StoreError(f"{name} has schema version {version}, this release knows up to {VERSION}: upgrade lookalike")
    if version < VERSION:
        raise StoreError(
            f"{name} has schema version {version}, this release needs {VERSION}: open it once for writing to bring it up to date"
        )


def bring_up_to_date(connection: Connection[Any], name: str) -> None:
    """Make the schema, or what it lacks."""
    with connection.transaction():
        connection.execute("SET LOCAL statement_timeout = 0")  # it is about searches, not about making indexes
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        version = read_version(connection) or 0
        if version >= VERSION:
            check_version(version, name)
            return
        # CREATE SCHEMA IF NOT EXISTS asks for a privilege on the database even where the schema is there.
        if connection.execute("SELECT FROM pg_namespace WHERE nspname = 'lookalike'").fetchone() is None:
            connection.execute("CREATE SCHEMA lookalike")
        for step in STEPS[version:]:
            connection.execute(_read(step))
        make_indexes(connection)
        for statement in functions():
            connection.execute(statement)
        connection.execute("DELETE FROM lookalike.format")
        connection.execute("INSERT INTO lookalike.format VALUES (%s)", (VERSION,))


def functions() -> list[bytes]:
    """The functions of this version: those for each of the three blocks come from one text."""
    template = _read("block.sql").decode()
    blocks = []
    for i in range(3):
        conditions = _conditions(i)
        read_entries = READ_ENTRIES.format(i=i, **conditions)
        blocks.append(template.format(i=i, next=(i + 1) % 3, last=(i + 2) % 3, read_entries=read_entries, **conditions).encode())
    return [_read("hamming.sql"), *blocks, _read("arrays.sql")]


def _conditions(block: int) -> dict[str, str]:
    def further(other: int, radius: str) -> str:
        return f"lookalike.hamming(simhash & ({BLOCK_MASKS[other]}), low & ({BLOCK_MASKS[other]})) > {radius}"

    earlier = "".join(f" AND {further(other, f'(k - {other}) / 3')}" for other in range(block))
    return {"not_earlier": earlier, "not_next": further((block + 1) % 3, "rest / 2")}


def make_indexes(connection: Connection[Any]) -> None:
    connection.execute(_read(INDEXES))


def index_names() -> list[str]:
    return re.findall(r"INDEX IF NOT EXISTS (\w+)", _read(INDEXES).decode())


def search_index_names() -> list[str]:
    """Those that searches use, and writers could do without."""
    return [name for name in index_names() if "_by_id_" not in name]


def missing_indexes(connection: Connection[Any]) -> list[str]:
    """Those that are not there, or not valid."""
    query = (
        "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indisvalid AND c.relnamespace = %s::regnamespace"
    )
    there = {name for (name,) in connection.execute(query, ("lookalike",))}
    return [name for name in index_names() if name not in there]


def _read(file: str) -> bytes:
    return (files("lookalike.stores.postgres") / "sql" / file).read_bytes()
