"""Near search in one native call, without the interpreter's lock: as long as the collection is as it was when it was last read in full,
but for some documents that were added, replaced or removed.

The call looks at the time, at the record of what was acknowledged, at the files that are mapped and at the collection's row in the
database, and only then searches, in the same transaction. Of documents that were added since it reads the band keys, of those that were
removed the rows, and keeps both for the next call. Where anything else has changed, the collection is read again, as every reading does.
What the call is not made for (documents without a text, damage, forged digests) it leaves to the long way, whose answers are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from lookalike import _native
from lookalike.stores.embedded.database import ROWS
from lookalike.stores.embedded.library import sqlite_library
from lookalike.stores.embedded.readings import DiskReadings
from lookalike.stores.kinds.bands import MAX_CANDIDATES
from lookalike.stores.settings import Settings
from lookalike.text.features import is_native
from lookalike.text.tokenize import native_form

if TYPE_CHECKING:
    from lookalike.stores.embedded.store import EmbeddedStore

KIND = "minhash"
LOOKS = 3  # at a collection that somebody writes, before the long way is taken
# In the order in which native/rows/near.cpp takes their columns.
STATE = """
SELECT c.documents, c.next_row, c.sealed_row, c.generation, c.version, s.changes, s.id, s.chain, s.before
FROM collections c JOIN store s WHERE c.number = ?
"""
ROW = "SELECT id, text, meta, checks FROM documents WHERE row = ?"
ADDED = "SELECT row, digest, bands, checks FROM documents WHERE row >= ? AND row < ? ORDER BY row"
EXPIRING = "SELECT row FROM expiring WHERE row >= ? AND row < ?"
REMOVED = "SELECT number, row FROM removed WHERE collection = ? AND number > ? ORDER BY number"

Found = tuple[int, int, list[tuple[int, float, Any, str, str | None]]]


class DirectNear:
    """The searches of one collection. Threads share it."""

    def __init__(self, settings: Settings, sqlite: _native.Sqlite) -> None:
        self._sqlite = sqlite
        self._searcher = _native.NearSearcher(*native_form(settings.recipe), settings.size, *settings.banding, MAX_CANDIDATES)
        self._known: _native.NearState | None = None

    @classmethod
    def of(cls, store: EmbeddedStore) -> Self | None:
        """None where a collection is not of texts that native code can read from their first byte to the last feature."""
        settings = store.settings
        if KIND not in settings.kinds or not settings.keep_text or not isinstance(store.place.readings, DiskReadings):
            return None
        if not is_native(settings.recipe) or settings.recipe.embedder is not None:
            return None
        sqlite = sqlite_library()
        return None if sqlite is None else cls(settings, sqlite)

    def find(self, store: EmbeddedStore, text: str, threshold: float, limit: int) -> Found | None:
        """How many groups share a band with the text, how many documents reach the threshold, and the best of them, each with its row, its
        score, its id, its text and its meta. None: ask the long way."""
        readings = store.place.readings
        assert isinstance(readings, DiskReadings)  # noqa: S101
        for _ in range(LOOKS):
            known = self._known or self._look(store)
            if known is None:
                return None
            held = readings.take()
            try:
                found = self._searcher.run(text, known, held.rows(self._open), threshold, limit)
            except BaseException as error:
                readings.give_back(held, False)
                if isinstance(error, RuntimeError):  # it cannot be opened: the long way says why
                    return None
                raise
            if isinstance(found, tuple):
                readings.keep(held)
                return found
            readings.give_back(held, True)
            if not found:
                return None
            self._known = None
        return None

    def _open(self, address: str, log: str) -> _native.StoredRows:
        return _native.StoredRows(self._sqlite, address, STATE, ROW, ADDED, EXPIRING, REMOVED, log)

    def _look(self, store: EmbeddedStore) -> _native.NearState | None:
        record = store.place.record
        if record is None or record.read() is None:
            return None
        with store.reading() as snapshot:
            state, expired = snapshot.state, snapshot.expired
            if not state.store.id or state.store.unchecked:
                return None
            segments = snapshot.parts_of(KIND).all()
            files = [file for segment in segments if (file := segment.mapped_file) is not None]
            numbers = (state.documents, state.next_row, state.sealed_row, state.generation, state.version, state.number * ROWS)
            tables = [segment.tables for segment in segments]
            removed = snapshot.removed_rows(), snapshot.last_removal
            self._known = _native.NearState(
                record.path, state.store.id, state.number, *numbers, tables, files, *removed, expired.since, expired.until
            )
        return self._known
