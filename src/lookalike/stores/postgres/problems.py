"""What PostgreSQL's errors mean to somebody who uses a store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from lookalike.errors import Corrupt, LookalikeError, StoreBusy, StoreError
from lookalike.stores.postgres.address import Address

MEETING = (errors.SerializationFailure, errors.DeadlockDetected, errors.UniqueViolation)  # of two who write the same
CONFLICTS = (*MEETING, errors.LockNotAvailable)
SAFE = "what was acknowledged is safe"
# Class of error, what is raised, and what to do. The first that fits counts.
REMEDIES: tuple[tuple[tuple[type[psycopg.Error], ...], type[LookalikeError], str], ...] = (
    ((errors.InsufficientPrivilege,), StoreError, "the role needs a privilege that it has not: see 'Roles' in docs/postgres.md"),
    (
        (errors.ReadOnlySqlTransaction,),
        StoreError,
        "this server or role only reads: open the store with read_only=True, or write to the primary",
    ),
    ((errors.QueryCanceled,), StoreError, f"a statement took too long or was cancelled: raise timeout= in the URL; {SAFE}"),
    ((errors.DiskFull,), StoreError, f"the server's disk is full: free some space and try again, {SAFE}"),
    ((errors.OutOfMemory, errors.ConfigurationLimitExceeded), StoreError, f"the server is out of memory: add smaller batches; {SAFE}"),
    ((errors.TooManyConnections,), StoreBusy, "the server has no connection to spare: wait, or set a smaller pool= in the URL"),
    (
        CONFLICTS,
        StoreBusy,
        f"others write the same documents: try again; {SAFE}",
    ),
    (
        (errors.UndefinedColumn,),
        StoreError,
        "name one that is there; after a change of the table's columns drop its collection, and index the table again",
    ),
    ((errors.UndefinedFunction,), StoreError, "the collection was dropped, or the schema 'lookalike' is not ours: open it again"),
    (
        (errors.UndefinedTable, errors.InvalidSchemaName),
        StoreError,
        "the schema 'lookalike' is gone or not ours: open the store again to make it",
    ),
    (
        (errors.DataCorrupted, errors.IndexCorrupted),
        Corrupt,
        "the database is damaged: restore it from a copy, or try 'check --repair' where it is an index",
    ),
)
FULL = "out of shared memory"  # all that somebody is told who connects then
NO_ROOM = (
    "the server has no room for more locks, which all its clients share: try again; "
    f"if that does not help, raise max_locks_per_transaction in postgresql.conf, and restart the server; {SAFE}"
)
BUSY = ("too many clients", "remaining connection slots", "too many connections", "starting up", "shutting down", "recovery mode")


def met_others(error: psycopg.Error) -> bool:
    """Whether others were in the way: they wrote the same, or hold so many locks that the server has no room for ours."""
    return isinstance(error, MEETING) or has_no_room_for_locks(error)


def has_no_room_for_locks(error: BaseException) -> bool:
    return isinstance(error, errors.OutOfMemory) and "max_locks_per_transaction" in (error.diag.message_hint or "")


def is_transient(error: psycopg.Error) -> bool:
    """Whether the same transaction may succeed when it is tried again."""
    if met_others(error):
        return True
    return isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)) and (
        error.sqlstate is None or isinstance(error, (errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow))
    )


def explained(error: psycopg.Error, address: Address) -> LookalikeError:
    message = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if has_no_room_for_locks(error) or message.endswith(FULL):
        return StoreBusy(f"{address.name}: {message}; {NO_ROOM}")
    if isinstance(error, errors.UndefinedTable) and '"lookalike.' not in message:
        return StoreError(f"{address.name}: {message}; if it was renamed or dropped, drop its collection, and index the table again")
    for kinds, raised, remedy in REMEDIES:
        if isinstance(error, kinds):
            return raised(f"{address.name}: {message}; {remedy}")
    if any(part in message for part in BUSY):
        return StoreBusy(f"{address.name}: {message}; wait and try again, or set a smaller pool= in the URL")
    if isinstance(error, psycopg.OperationalError):
        return StoreError(f"{address.name}: {message}; check that the server runs and that host, database, user and password fit")
    hint = error.diag.message_hint  # of our own functions: what to give instead
    return StoreError(f"{address.name}: {message}{f' ({hint})' if hint else ''}")


@contextmanager
def sql_errors(address: Address) -> Iterator[None]:
    """PostgreSQL's errors as ours."""
    try:
        yield
    except psycopg.Error as error:
        raise explained(error, address) from error
