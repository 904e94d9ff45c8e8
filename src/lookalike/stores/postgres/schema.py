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
from lookalike.stores.postgres import digests, fields
from lookalike.stores.postgres.search_path import transaction
from lookalike.stores.settings import Settings

if TYPE_CHECKING:
    from psycopg import Connection

OLDEST = 140000  # the first version with bit_count
LOCK = 0x6C6F6F6B616C696B  # what processes that make the schema wait for
STEPS = (
    "tables.sql",
    "statistics.sql",
    "pages.sql",
    "blocks.sql",
    "search_path.sql",
    "beside.sql",
    "table_collections.sql",
    "digests.sql",
    "aliases.sql",
    "fields.sql",
    "commits.sql",
    "band_indexes.sql",
    "hot_blocks.sql",
)  # what leads to version 1, 2, …: never changed, only added to
VERSION = len(STEPS)
BLOCK_MASKS = (0x7FF | 0x3FF << 32, 0x7FF << 11 | 0x3FF << 42, 0x3FF << 22 | -(1 << 52))  # the bits of each block, see tables.sql
INDEXES = "indexes.sql"
BANDS_APART = 21  # bands that have an index of their own, as many as a collection has by default; those beyond share one
SKETCHES = {"sketches": "sketches", "members": "documents", "members_alive": "lookalike.documents", "digest": "digest"}
# A table of members beside the documents may have rows of documents that somebody deleted by SQL.
STRUCTURES = {
    "sketches": "structures",
    "members": "pages",
    "members_alive": "lookalike.pages JOIN lookalike.documents USING (collection, ordinal)",
    "digest": "structure",
}
_GRANT = re.compile(r"{grant (?P<rights>[\w, ]+) ON (?P<table>[\w.]+) TO whoever may (?P<may>\w+) (?P<other>[\w.]+)}")
# How the blocks of a SimHash are read, in the text of the functions that do: a call more, or a statement a block, is a good part of the
# time of a search. It brings up again what is near in several blocks. Of a key so many entries are read that there are more only if it is
# hot; the query's own one, the first, is read by itself, for it is the most likely. Of all others together as many are read as chance would
# give them, twice over. are_read says how near the keys are that were read in full: NULL where some are not, and -1 where none need be;
# others_read, whether all but the query's own were.
READ_BLOCKS = """keys0 := lookalike.keys_around(low, bits, 0, k / 3);
  keys1 := CASE WHEN k < 4 THEN ARRAY[((low >> 11 & 2047) | ((low >> 42 & 1023) << 11))::integer]
    ELSE lookalike.keys_around(low, bits, 1, (k - 1) / 3) END;
  keys2 := CASE WHEN k < 5 THEN ARRAY[((low >> 22 & 1023) | ((low >> 52 & 4095) << 10))::integer]
    ELSE lookalike.keys_around(low, bits, 2, (k - 2) / 3) END;
  most := 500 + 4 * documents / (1 << lookalike.block_width(bits, 2) - 1);
  enough := 1000 + 2 * documents * greatest(cardinality(keys0), cardinality(keys1), cardinality(keys2))
    / (1 << lookalike.block_width(bits, 2) - 1);
  SELECT ARRAY[{read}
  ], ARRAY[{others_read}
  ], {collected} INTO are_read, others_read, {variables}
  FROM ({blocks}
  ) AS d;"""
READ_BLOCK = """
    (SELECT {i} AS part, ordinal, simhash, lookalike.hamming(simhash, low) <= k AS is_near FROM {source} AND block{i} = keys{i}[1]
      LIMIT CASE WHEN k >= {i} THEN most ELSE 0 END)
    UNION ALL
    (SELECT {others}, ordinal, simhash, lookalike.hamming(simhash, low) <= k FROM {source} AND block{i} = ANY (keys{i}[2:])
      LIMIT CASE WHEN k >= {i} THEN enough ELSE 0 END)"""
OTHERS_READ = "count(*) FILTER (WHERE part = {others}) < enough"
IS_READ = "CASE WHEN count(*) FILTER (WHERE part = {i}) < most AND {others_read} THEN (k + {more}) / 3 - 1 END"
DOCUMENTS = {
    "source": "lookalike.documents WHERE collection = collection_number AND simhash IS NOT NULL",
    "key_type": "bigint",
    "suffix": "",
}
OWN_TABLE = {name: f"{{{name}}}" for name in DOCUMENTS}  # to be filled in where a table is indexed, see own_tables.sql
IDS = {"bigint": ("NULL", "ids"), "uuid": ("ids::text[]", "NULL"), "text": ("ids", "NULL")}  # types, as texts and as numbers


def check_server(connection: Connection[Any], name: str) -> None:
    version, encoding = connection.info.server_version, connection.info.parameter_status("server_encoding")
    if version < OLDEST:
        raise StoreError(f"{name} is PostgreSQL {version // 10000}: version 14 or newer is needed")
    if encoding != "UTF8":
        raise StoreError(f"{name} has the encoding {encoding}: make a database with ENCODING 'UTF8'")


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
            connection.execute(read_step(step))
        if 0 < version < 8:
            digests.fill(connection)
        if 0 < version < 10:
            fields.fill(connection)
        make_indexes(connection)
        for statement in functions():
            connection.execute(statement)
        connection.execute("DELETE FROM lookalike.format")
        connection.execute("INSERT INTO lookalike.format VALUES (%s)", (VERSION,))


def read_step(file: str) -> bytes:
    """A step, with what gives roles the rights on its tables that go with those that they have on others."""
    grants = _read("grants.sql").decode()
    return _GRANT.sub(lambda match: grants.format(**match.groupdict()).strip(), _read(file).decode()).encode()


def functions() -> list[bytes]:
    """The functions of this version: those for each of the three blocks, and for each type of ids, come from one text."""
    hamming = _read("hamming.sql").decode()
    for name, columns in {"read_ordinals": ["ordinal"], "read_simhashes": ["ordinal", "simhash"]}.items():
        hamming = hamming.replace(f"{{{name}}}", _read_blocks(columns, DOCUMENTS["source"]))
    search = _read("own_search.sql").decode().replace("{read_simhashes}", _read_blocks(["ordinal", "simhash"], OWN_TABLE["source"]))
    own = _read("own_tables.sql").decode().replace("{search_template}", "\n".join([search, *_hot_blocks(OWN_TABLE)]))
    ids = _read("collections_ids.sql").decode()
    of_ids = [ids.format(ids=type_, texts=texts, numbers=numbers) for type_, (texts, numbers) in IDS.items()]
    collections = _read("collections.sql").decode().replace("{delete_known}", _read("delete_known.sql").decode())
    with_settings = [_with_settings(text) for text in (own, collections)]
    made = [text.encode() for text in (_read("named.sql").decode(), hamming, *_hot_blocks(DOCUMENTS), *with_settings, *of_ids)]
    return [*made, *(text.encode() for text in _sharing()), _read("locks.sql"), _read("arrays.sql")]


def _read_blocks(columns: list[str], source: str) -> str:
    collected = ", ".join(f"array_agg({column}) FILTER (WHERE is_near)" for column in columns)
    variables = ", ".join(f"{column}s" if column == "ordinal" else f"{column}es" for column in columns)
    blocks = "\n    UNION ALL".join(READ_BLOCK.format(i=i, others=i + 3, source=source) for i in range(3))
    others_read = [OTHERS_READ.format(others=i + 3) for i in range(3)]
    read = [IS_READ.format(i=i, others_read=each, more=3 - i) for i, each in enumerate(others_read)]
    lists = {name: "\n    " + ",\n    ".join(texts) for name, texts in {"read": read, "others_read": others_read}.items()}
    return READ_BLOCKS.format(collected=collected, variables=variables, blocks=blocks, **lists)


def _hot_blocks(of: dict[str, str]) -> list[str]:
    template, made = _read("block.sql").decode(), []
    for i in range(3):
        following, last = (i + 1) % 3, (i + 2) % 3
        not_earlier = "".join(f" AND {_further(other, f'(k - {other}) / 3')}" for other in range(i))
        not_next = _further(following, "radius")
        made.append(template.format(i=i, next=following, last=last, not_earlier=not_earlier, not_next=not_next).format(**of))
    return made


def _sharing() -> list[str]:
    """What finds sketches by their bands. Of those of texts, the first bands have an index each."""
    bands = range(1, BANDS_APART + 1)
    beyond = f"\n    OR cardinality(bands) > {BANDS_APART} AND bands[{BANDS_APART + 1}:] && keys[{{first}}:]"
    share = "\n    OR ".join(f"bands[{band}] = keys[{band}]" for band in bands) + beyond.format(first=BANDS_APART + 1)
    any_of = "\n    OR ".join(f"bands[{band}] = ANY (keys[{band - 1} * queries + 1 : {band} * queries])" for band in bands)
    template = _read("sharing.sql").decode()
    return [
        template.format(share=share, **SKETCHES),
        template.format(share="bands && keys", **STRUCTURES),
        _read("sharing_any.sql").decode().format(share_any=any_of + beyond.format(first=f"{BANDS_APART} * queries + 1")),
    ]


def _with_settings(text: str) -> str:
    """With what a collection of SimHashes is made with, as the library writes it."""
    for name, bits in {"simhash_settings_32": 32, "simhash_settings_128": 128, "simhash_settings": 64}.items():
        made = Settings(kinds=("simhash",), bits=bits, keep_text=False).to_json()
        text = text.replace(f"{{{name}}}", made.replace("'", "''"))
    return text


def _further(block: int, radius: str) -> str:
    """That a block of a fingerprint is further than so many bits from the query's."""
    return f"lookalike.hamming(simhash & ({BLOCK_MASKS[block]}), low & ({BLOCK_MASKS[block]})) > {radius}"


def make_indexes(connection: Connection[Any]) -> None:
    for statement in index_statements().values():
        connection.execute(statement)


def add_column(connection: Connection[Any], name: str, type_: str) -> bool:
    """A column of the table of documents that only some kinds have, unless it is there: from the first collection on that has the kind.

    Whether it was not.
    """
    query = "SELECT FROM pg_attribute WHERE attrelid = 'lookalike.documents'::regclass AND attname = %s AND NOT attisdropped"
    if connection.execute(query, (name,)).fetchone() is not None:
        return False
    with transaction(connection):
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))  # until the collection is made too
        connection.execute(f'ALTER TABLE lookalike.documents ADD COLUMN IF NOT EXISTS "{name}" {type_}')
    return True


def index_statements() -> dict[str, str]:
    """What makes each index, by its name."""
    text = re.sub(r"^--.*$", "", _read(INDEXES).decode(), flags=re.MULTILINE)
    made: dict[str, str] = {}
    for each in filter(str.strip, text.split(";")):
        for band in range(1, BANDS_APART + 1) if "{band}" in each else [0]:
            statement = each.strip().format(band=band, apart=BANDS_APART, beyond=BANDS_APART + 1)
            name = re.findall(r"INDEX (?:IF NOT EXISTS |lookalike\.)(\w+)", statement)[0]
            made[name] = f"{made[name]}; {statement}" if name in made else statement
    return made


def index_names() -> list[str]:
    return list(index_statements())


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
