"""Vectors that were computed once, kept in a file: by the text's digest and the model's id.

Off unless a folder is named, by ``cache=`` or the environment variable ``LOOKALIKE_CACHE``: vectors tell much about the texts
they were made of, and a library does not leave such things behind unasked. Losing the file costs time, nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lookalike.errors import Corrupt, InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VARIABLE = "LOOKALIKE_CACHE"
FILE = "lookalike-vectors-1.sqlite"
MOST_BYTES = 1 << 30  # half a million vectors of 512 dimensions
KEPT = 0.8  # of them when they have become too many: the oldest go
WAIT = 30.0  # seconds for another process that writes
ASKED_AT_ONCE = 500  # keys a query

SCHEMA = (
    "CREATE TABLE IF NOT EXISTS vectors"
    " (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, windows INTEGER NOT NULL, crc INTEGER NOT NULL, vector BLOB NOT NULL)"
)


class CachedVectors(NamedTuple):
    vector: NDArray[np.float32]
    windows: int


class VectorCache:
    """One file in a folder, safe for several processes. ``most_bytes`` bounds it: the oldest vectors go first."""

    def __init__(self, folder: str | os.PathLike[str], *, most_bytes: int = MOST_BYTES) -> None:
        self.path = Path(folder) / FILE
        self.most_bytes = most_bytes

    def find(self, model: str, texts: Sequence[str]) -> dict[str, CachedVectors]:
        """What is known of these texts. A vector whose bytes were damaged is not."""
        import numpy as np

        keys = {_key(model, text): text for text in texts}
        found: dict[str, CachedVectors] = {}
        with self._opened() as database:
            for some in _chunks(list(keys), ASKED_AT_ONCE):
                marks = ",".join("?" * len(some))
                query = f"SELECT key, windows, crc, vector FROM vectors WHERE key IN ({marks})"  # noqa: S608  # question marks alone
                for key, windows, crc, vector in database.execute(query, some):
                    if zlib.crc32(vector) == crc and len(vector) % 4 == 0:
                        found[keys[key]] = CachedVectors(np.frombuffer(vector, dtype="<f4").astype(np.float32), windows)
        return found

    def keep(self, model: str, rows: Iterable[tuple[str, NDArray[np.float32], int]]) -> None:
        """Texts with their vectors and windows; what is there is replaced."""
        made = [(text, vector.astype("<f4").tobytes(), windows) for text, vector, windows in rows]
        values = [(_key(model, text), windows, zlib.crc32(data), data) for text, data, windows in made]
        with self._opened() as database, database:
            database.executemany("INSERT OR REPLACE INTO vectors (key, windows, crc, vector) VALUES (?, ?, ?, ?)", values)
            self._bound(database)

    def _bound(self, database: sqlite3.Connection) -> None:
        pages, free, size = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size"))
        used = (pages - free) * size
        if used > self.most_bytes:
            count, last = database.execute("SELECT count(*), max(id) FROM vectors").fetchone()
            gone = round(count * (1 - KEPT * self.most_bytes / used))
            database.execute("DELETE FROM vectors WHERE id IN (SELECT id FROM vectors WHERE id < ? ORDER BY id LIMIT ?)", (last, gone))

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            database = sqlite3.connect(self.path, timeout=WAIT)
        except (OSError, sqlite3.OperationalError) as error:
            raise InputError(f"cache {str(self.path.parent)!r}: {error}; name a folder that can be written, or none") from error
        try:
            with contextlib.closing(database):
                database.execute("PRAGMA journal_mode = WAL")
                database.execute("PRAGMA synchronous = NORMAL")
                database.execute(SCHEMA)
                yield database
        except sqlite3.OperationalError as error:
            raise InputError(f"cache {str(self.path)!r}: {error}; free some space, or name another folder") from error
        except sqlite3.DatabaseError as error:
            raise Corrupt(f"cache {str(self.path)!r} is damaged ({error}): delete the file; it only saves time") from error


def chosen_cache(cache: VectorCache | str | os.PathLike[str] | bool | None) -> VectorCache | None:
    """The cache behind ``cache=``: itself, one in a folder, that of the environment (None), or none (False)."""
    if isinstance(cache, VectorCache):
        return cache
    if cache is None:
        folder = os.environ.get(VARIABLE)
        return VectorCache(folder) if folder else None
    if cache is False:
        return None
    if isinstance(cache, (str, os.PathLike)) and str(cache):
        return VectorCache(cache)
    raise InputError(f"cache={cache!r}: give a folder, None for the one that {VARIABLE} names, or False for none")


def _key(model: str, text: str) -> bytes:
    digest = hashlib.sha256(f"{model}\0".encode("utf-8", "surrogateescape"))
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.digest()


def _chunks(keys: list[bytes], size: int) -> Iterator[list[bytes]]:
    for at in range(0, len(keys), size):
        yield keys[at : at + size]
