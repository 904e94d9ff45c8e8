"""Making an embedded store: in steps, each of which may be the last before a kill. Whoever opens the path next finishes them."""

from __future__ import annotations

from pathlib import Path

from lookalike.errors import Corrupt, StoreError
from lookalike.io import sync_folder
from lookalike.stores.embedded import acknowledged, database
from lookalike.stores.embedded.connections import WriteConnection
from lookalike.stores.settings import Wanted

DATABASE = "store.sqlite"
SEGMENTS = "segments"
WRITER_LOCK, READER_LOCK = "writer.lock", "reader.lock"
OURS = frozenset(
    (acknowledged.FILE, SEGMENTS, WRITER_LOCK, READER_LOCK, *(f"{DATABASE}{suffix}" for suffix in ("", "-wal", "-shm", "-journal")))
)


def find_or_make(folder: Path, name: str, wanted: Wanted, create: bool) -> None:
    """Make sure that there is a store with its tables, whole or half-made before."""
    try:
        if _is_whole(folder / DATABASE, name, create):
            return
        half_made = folder.is_dir() and any(folder.iterdir())
        if folder.exists() and not _is_ours(folder):
            raise StoreError(f"{str(folder)!r} is not a store, and there is something else: choose another path")
        if not create:
            unfinished = f"{name} is half-made: whoever began it was stopped; open it for writing once to finish it"
            raise StoreError(unfinished if half_made else f"{name} does not exist: add documents to create it")
        last = acknowledged.AcknowledgedFile(folder, name).read() if half_made else None
        if half_made and (any((folder / SEGMENTS).glob("*")) or (last is not None and last.changes)):
            raise Corrupt(f"{name}: {DATABASE} is missing or empty, though documents were stored in it: restore it from a copy")
        wanted.new().completed()  # a model that cannot be had should be said before anything is made
        _make(folder, name)
    except (OSError, ValueError) as error:
        raise StoreError(f"{name} cannot be made or opened: {getattr(error, 'strerror', None) or error}") from error


def _is_ours(folder: Path) -> bool:
    return folder.is_dir() and all(path.name in OURS for path in folder.iterdir())


def _is_whole(path: Path, name: str, create: bool) -> bool:
    """Whether there is a database, and not only the beginning of one. What is something else is found out later."""
    if not path.is_file() or path.stat().st_size == 0:
        return False
    with database.sql_errors(name):
        # Where nothing is written into the file, the tables may be in the log still, or were never made.
        return database.application_in_file(path) != 0 or not database.is_blank(path, may_write=create)


def _make(folder: Path, name: str) -> None:
    (folder / SEGMENTS).mkdir(parents=True, exist_ok=True)
    for lock in (WRITER_LOCK, READER_LOCK):
        (folder / lock).touch()
    with database.write_errors(name):
        writer = WriteConnection(folder / DATABASE, folder / READER_LOCK)
        try:
            database.create_schema(writer.connection)
        finally:
            writer.close()
    for each in (folder, folder.absolute().parent):
        sync_folder(each)
