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
from lookalike.stores.postgres.search_path import transaction

if TYPE_CHECKING:
    from psycopg import Connection

LOCK = 0x6C6F6F6B616C696B  # what processes that make the schema wait for
STEPS = (
    "tables.sql",
    "statistics.sql",
    "pages.sql",
    "blocks.sql",
    "search_path.sql",
    "beside.sql",
)  # what leads to version 1, 2, …: never changed, only added to
VERSION = len(STEPS)
BLOCK_MASKS = (0x7FF | 0x3FF << 32, 0x7FF << 11 | 0x3FF << 42, 0x3FF << 22 | -(1 << 52))  # the bits of each block, see tables.sql
INDEXES = "indexes.sql"
# How the blocks of a SimHash are read, in the text of the functions that do: a call more, or a statement a block, is a good part of the
# time of a search. It brings up again what is near in several blocks. As many entries are read as chance would give these keys, several
# times over.
READ_BLOCKS = """keys0 := lookalike.keys_around(low, bits, 0, k / 3);
  keys1 := CASE WHEN k < 4 THEN ARRAY[((low >> 11 & 2047) | ((low >> 42 & 1023) << 11))::integer]
    ELSE lookalike.keys_around(low, bits, 1, (k - 1) / 3) END;
  keys2 := CASE WHEN k < 5 THEN ARRAY[((low >> 22 & 1023) | ((low >> 52 & 4095) << 10))::integer]
    ELSE lookalike.keys_around(low, bits, 2, (k - 2) / 3) END;
  enough := 2000 + 4 * documents * (cardinality(keys0) + cardinality(keys1) + cardinality(keys2))
    / (1 << lookalike.block_width(bits, 2) - 1);
  SELECT count(*), {collected} INTO entries, {variables}
  FROM ({blocks}
  ) AS d;"""
READ_BLOCK = """
    (SELECT ordinal, simhash FROM lookalike.documents
    WHERE collection = collection_number AND simhash IS NOT NULL AND block{i} = ANY (keys{i})
    LIMIT CASE WHEN k >= {i} THEN enough ELSE 0 END)"""


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
    with transaction(connection):
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
    hot_blocks = []
    for i in range(3):
        following, last = (i + 1) % 3, (i + 2) % 3
        not_earlier = "".join(f" AND {_further(other, f'(k - {other}) / 3')}" for other in range(i))
        not_next = _further(following, "rest / 2")
        hot_blocks.append(template.format(i=i, next=following, last=last, not_earlier=not_earlier, not_next=not_next).encode())
    hamming = _read("hamming.sql").decode()
    for name, columns in {"read_ordinals": ["ordinal"], "read_simhashes": ["ordinal", "simhash"]}.items():
        collected = ", ".join(f"array_agg({column}) FILTER (WHERE lookalike.hamming(simhash, low) <= k)" for column in columns)
        variables = ", ".join(f"{column}s" if column == "ordinal" else f"{column}es" for column in columns)
        blocks = "\n    UNION ALL".join(READ_BLOCK.format(i=i) for i in range(3))
        hamming = hamming.replace(f"{{{name}}}", READ_BLOCKS.format(collected=collected, variables=variables, blocks=blocks))
    return [hamming.encode(), *hot_blocks, _read("arrays.sql")]


def _further(block: int, radius: str) -> str:
    """That a block of a fingerprint is further than so many bits from the query's."""
    return f"lookalike.hamming(simhash & ({BLOCK_MASKS[block]}), low & ({BLOCK_MASKS[block]})) > {radius}"


def make_indexes(connection: Connection[Any]) -> None:
    connection.execute(_read(INDEXES))


def add_column(connection: Connection[Any], name: str, type_: str) -> None:
    """A column of the table of documents that only some kinds have, unless it is there: from the first collection on that has the kind."""
    query = "SELECT FROM pg_attribute WHERE attrelid = 'lookalike.documents'::regclass AND attname = %s AND NOT attisdropped"
    if connection.execute(query, (name,)).fetchone() is not None:
        return
    with transaction(connection):
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))  # until the collection is made too
        connection.execute(f'ALTER TABLE lookalike.documents ADD COLUMN IF NOT EXISTS "{name}" {type_}')


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
