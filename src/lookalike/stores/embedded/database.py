"""The SQLite database behind an embedded store: its schema, how it is opened, and what its errors mean.

Write-ahead log, ``synchronous=FULL``: a commit is on the disk when it returns. Readers see the state of their transaction,
and neither wait for the writer nor make it wait.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from lookalike.errors import Corrupt, StoreError
from lookalike.stores.embedded.library import BulkConnection, gathering_files
from lookalike.stores.embedded.row_checks import Damaged

if TYPE_CHECKING:
    from lookalike.stores.kinds.base import Kind

FORMAT = 3
FIRST_FORMAT = 1  # without the table `store` and checks of rows; it is read as it is, and brought up to date by the first writer
APPLICATION = 0x4C4F4F4B  # LOOK
ROWS = 1 << 40  # rows a collection can have; collection c has the rows from c * ROWS on, so each is a range of the table
PAGE_BYTES = 8192

SCHEMA = """
CREATE TABLE collections (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  settings TEXT NOT NULL,
  documents INTEGER NOT NULL,
  next_row INTEGER NOT NULL,
  sealed_row INTEGER NOT NULL,   -- rows below are in segments
  generation INTEGER NOT NULL,   -- changes with the segments
  version INTEGER NOT NULL       -- changes with everything
);
CREATE TABLE documents (
  row INTEGER PRIMARY KEY,
  collection INTEGER NOT NULL,
  id NOT NULL,                   -- TEXT or INTEGER: 7 and '7' are two ids
  digest INTEGER,
  simhash,                       -- INTEGER, signed; of 128 bits a BLOB, low half first
  ssdeep TEXT,
  tlsh TEXT,
  bands BLOB,                    -- band keys of the MinHash
  minhash BLOB,                  -- where there is no text to make it from again
  winnowing BLOB,
  meta TEXT,
  text,                          -- TEXT; a BLOB where it has lone surrogates
  structure BLOB                 -- of web pages: the hashes of their tag paths
);
CREATE UNIQUE INDEX documents_by_id ON documents (collection, id);
CREATE TABLE segments (
  number INTEGER PRIMARY KEY,
  collection INTEGER NOT NULL,
  first_row INTEGER NOT NULL,
  end_row INTEGER NOT NULL,
  documents INTEGER NOT NULL
);
CREATE TABLE removed (           -- rows that segments may still hold
  number INTEGER PRIMARY KEY,
  collection INTEGER NOT NULL,
  row INTEGER NOT NULL
);
CREATE INDEX removed_by_collection ON removed (collection, number);
CREATE TABLE last_segment (number INTEGER NOT NULL);
INSERT INTO last_segment VALUES (0);
"""
SINCE_FORMAT_2 = """
CREATE TABLE store (               -- one row
  id TEXT NOT NULL,                -- of this store alone: its segments carry it, and the record of what was acknowledged
  unsigned INTEGER NOT NULL,       -- segments up to this number may be of a release that did not write the id into them
  unchecked INTEGER NOT NULL,      -- 1: documents may be of a release that did not give them checks
  changes INTEGER NOT NULL,        -- how many were acknowledged, with a chained checksum over them, and that before the last
  chain BLOB NOT NULL,
  before BLOB NOT NULL
);
ALTER TABLE documents ADD COLUMN checks BLOB;
"""
SINCE_FORMAT_3 = """
CREATE TABLE members (             -- documents that were linked to the one that leads their cluster, which may be gone
  row INTEGER PRIMARY KEY,
  leader INTEGER NOT NULL,
  similarity REAL NOT NULL
);
CREATE INDEX members_by_leader ON members (leader, row);
CREATE TABLE expiring (            -- documents that do, in milliseconds since 1970
  row INTEGER PRIMARY KEY,
  expires INTEGER NOT NULL
);
CREATE INDEX expiring_by_time ON expiring (expires, row);
"""


def sql_errors(name: str) -> AbstractContextManager[None]:
    """SQLite's errors as ours, with what to do."""
    return _SqlErrors(name)


class _SqlErrors:
    """Not a generator: every reading passes here, and this takes a fifth of the time."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(error, Damaged):
            raise Corrupt(f"{self._name}: {error}") from error
        if isinstance(error, sqlite3.DatabaseError):
            raise _meaning(self._name, error) from error


def _meaning(name: str, error: sqlite3.DatabaseError) -> StoreError:
    if str(error).startswith("Could not decode"):  # what SQLite has as a text is none
        return Corrupt(f"{name}: a text in the database is damaged ({error}); run 'lookalike check --repair' to see which")
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return Corrupt(f"{name}: the database is damaged ({error}); restore it from a copy or an export")
    if code == sqlite3.SQLITE_FULL:
        return StoreError(f"{name}: the disk is full; free some space and try again, what was acknowledged is safe")
    if code == sqlite3.SQLITE_IOERR:
        return StoreError(f"{name}: {error}: the disk may be full, or a file-size limit reached; what was acknowledged is safe")
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return StoreError(f"{name}: {error}: check that the store exists and that its permissions fit")
    return StoreError(f"{name}: {error}")


@contextmanager
def write_errors(name: str) -> Iterator[None]:
    """The same, and what the system says of files: for code of ours that writes, and calls nobody else's."""
    try:
        with sql_errors(name):
            yield
    except OSError as error:
        reason = error.strerror or error
        raise StoreError(f"{name} cannot be written: {reason}; what was acknowledged is safe") from error


def connect(address: str) -> sqlite3.Connection:
    # Transactions are begun by hand. A connection serves one thread at a time, but not always the same one.
    return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)


def _connect_to_write(address: str) -> BulkConnection:
    return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False, factory=BulkConnection)


def connect_memory() -> sqlite3.Connection:
    return _connect_to_write(":memory:")


def connect_writer(path: Path) -> BulkConnection:
    connection = _connect_to_write(f"{path.absolute().as_uri()}?mode=rwc{gathering_files()}")
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.watch_log()
    connection.execute("PRAGMA cache_size = -65536")
    return connection


def create_schema(connection: sqlite3.Connection) -> None:
    """Make the tables, unless they are there: two processes may start at once."""
    with transaction(connection):
        if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
            for statement in (SCHEMA + SINCE_FORMAT_2 + SINCE_FORMAT_3).split(";\n"):
                connection.execute(statement)
            _insert_store(connection, unchecked=0)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {FORMAT}")


def bring_up_to_date(connection: sqlite3.Connection) -> None:
    """A store of an older format becomes one of this: its documents and segments stay as they are."""
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found >= FORMAT:
        return
    with transaction(connection):
        for statement in ((SINCE_FORMAT_2 if found == FIRST_FORMAT else "") + SINCE_FORMAT_3).split(";\n"):
            connection.execute(statement)
        if found == FIRST_FORMAT:
            _insert_store(connection, unchecked=1)
        connection.execute(f"PRAGMA user_version = {FORMAT}")


def _insert_store(connection: sqlite3.Connection, unchecked: int) -> None:
    connection.execute(
        "INSERT INTO store SELECT ?, number, ?, 0, ?, ? FROM last_segment", (secrets.token_hex(16), unchecked, NO_CHAIN, NO_CHAIN)
    )


NO_CHAIN = bytes(16)


class Identity(NamedTuple):
    """What is true of a whole store in one of its states."""

    id: str = ""
    unsigned: int = 1 << 62  # of the first format nothing is signed or checked
    unchecked: bool = True
    changes: int = 0
    chain: bytes = NO_CHAIN
    before: bytes = NO_CHAIN


def read_identity(connection: Any) -> Identity:
    try:
        found = connection.execute("SELECT id, unsigned, unchecked, changes, chain, before FROM store").fetchone()
    except sqlite3.OperationalError:
        if connection.execute("PRAGMA user_version").fetchone()[0] != FIRST_FORMAT:
            raise
        return Identity()
    if found is None:
        raise Corrupt("store.sqlite: the row of the table 'store' is missing; restore it from a copy")
    return Identity(*found)


def application_in_file(path: Path) -> int | None:
    """The application id that a database file itself has, whatever its log has; None where it is no database.

    By a connection that locks nothing and makes no files beside it. No file of a database is ever opened by other means: to close it would
    give up all locks that the process has on it, also those of other connections, and a writer would take away the log that they read.
    SQLite knows of its own connections, and closes the file when no other one needs it.
    """
    connection = connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1")
    try:
        found: int = connection.execute("PRAGMA application_id").fetchone()[0]
        return found
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            return None
        raise
    finally:
        connection.close()


def is_blank(path: Path, *, may_write: bool) -> bool:
    """Whether a database has no table and belongs to no application: somebody began to make it."""
    if not may_write and path.with_name(f"{path.name}-journal").exists():
        return True  # only the first step has such a journal, and only who may write can undo it
    connection = connect(f"{path.absolute().as_uri()}?mode={'rw' if may_write else 'ro'}")
    try:
        numbers = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        return numbers == [0, 0] and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    finally:
        connection.close()


def table_columns(connection: Any) -> list[str]:
    """The columns of the table of documents, in their order."""
    return [name for _, name, *_ in connection.execute("PRAGMA table_info(documents)")]


def add_columns(connection: sqlite3.Connection, kinds: Iterable[Kind]) -> None:
    """What the first release did not have: a store has the columns of a kind from its first collection on that keeps it."""
    there = table_columns(connection)
    for column in (column for kind in kinds for column in kind.columns):
        if column.name not in there:
            connection.execute(f"ALTER TABLE documents ADD COLUMN [{column.name}] {column.sqlite}")


def check_format(connection: Any, name: str) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise StoreError(f"{name} is an SQLite database, but Lookalike did not make it")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > FORMAT:
        raise StoreError(f"{name} has format {version}, this release reads format {FORMAT}: upgrade lookalike")


def write_chain(connection: sqlite3.Connection, store: Identity) -> None:
    connection.execute("UPDATE store SET changes = ?, chain = ?, before = ?", (store.changes, store.chain, store.before))


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """All of it, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # a full disk may have ended the transaction already
            connection.execute("ROLLBACK")
        raise
