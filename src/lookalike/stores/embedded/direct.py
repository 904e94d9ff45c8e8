"""Searches by near and by SimHash in one native call, without the interpreter's lock: as long as the collection is as it was when it was
last read in full, but for some documents that were added, replaced or removed.

The call looks at the time, at the record of what was acknowledged, at the files that are mapped and at the collection's row in the
database, and only then searches, in the same transaction. Of documents that were added since it reads what they are found by, of those
that were removed the rows, and keeps both for the next call. Where anything else has changed, the collection is read again, as every
reading does. What the call is not made for (documents without a text, damage, forged digests) it leaves to the long way, whose answers
are the same.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from lookalike import _native
from lookalike.fingerprints.reposts import IDEOGRAPH, LENGTHS
from lookalike.stores.embedded.connections import ReadConnection
from lookalike.stores.embedded.database import ROWS
from lookalike.stores.embedded.library import sqlite_library
from lookalike.stores.embedded.readings import DiskReadings
from lookalike.stores.kinds.bands import MAX_CANDIDATES, near_notes
from lookalike.stores.kinds.base import LIMIT, K
from lookalike.stores.kinds.explaining import passages_of_stored
from lookalike.stores.kinds.near import NEAR
from lookalike.stores.kinds.simhash import BY_SIMHASH, notes_on
from lookalike.stores.matches import Match, Matches
from lookalike.stores.settings import Settings
from lookalike.text.features import is_native
from lookalike.text.tokenize import native_form

if TYPE_CHECKING:
    from lookalike.stores.embedded.store import EmbeddedStore

LOOKS = 3  # at a collection that somebody writes, before the long way is taken
# In the order in which native/rows/stored.cpp takes their columns.
STATE = """
SELECT c.documents, c.next_row, c.sealed_row, c.generation, c.version, s.changes, s.id, s.chain, s.before
FROM collections c JOIN store s WHERE c.number = ?
"""
ROW = "SELECT id, text, meta, checks FROM documents WHERE row = ?"
ADDED_NEAR = "SELECT row, digest, bands, checks FROM documents WHERE row >= ? AND row < ? ORDER BY row"
ADDED_SIMHASH = "SELECT row, simhash, checks FROM documents WHERE row >= ? AND row < ? ORDER BY row"
EXPIRING = "SELECT row FROM expiring WHERE row >= ? AND row < ?"
REMOVED = "SELECT number, row FROM removed WHERE collection = ? AND number > ? ORDER BY number"
STATEMENTS = (STATE, ROW, ADDED_NEAR, ADDED_SIMHASH, EXPIRING, REMOVED)

Found = tuple[int, Matches]  # how much was looked at, and the best of what matches


class Direct:
    """The searches of one collection by one kind. Threads share it."""

    kind: ClassVar[str]
    scale: ClassVar[str]  # of the scores
    _state: ClassVar[Any]  # what native code keeps of a state that was read in full

    def __init__(self, searcher: Any, settings: Settings, readings: DiskReadings, sqlite: _native.Sqlite) -> None:
        self._search, self._readings, self._idle = searcher.run, readings, readings.idle
        self._maker = _native.MatchMaker(Match, Matches, self.scale, passages_of_stored if settings.keep_text else None, settings)
        self._opened = partial(_opened, sqlite)
        self._known: Any = None
        self._searcher, self._settings = searcher, settings

    @classmethod
    def of(cls, store: EmbeddedStore) -> Self | None:
        """None where a collection is not of texts that native code can read from their first byte to the last feature."""
        settings, readings = store.settings, store.place.readings
        if cls.kind not in settings.kinds or not isinstance(readings, DiskReadings):
            return None
        if not is_native(settings.recipe) or settings.recipe.embedder is not None:
            return None
        searcher, sqlite = cls._searcher_for(settings), sqlite_library()
        return None if searcher is None or sqlite is None else cls(searcher, settings, readings, sqlite)

    @classmethod
    def _searcher_for(cls, settings: Settings) -> Any:
        raise NotImplementedError

    def find(self, store: EmbeddedStore, text: str, least: float, limit: int, with_text: bool) -> Found | None:
        """None: ask the long way."""
        known, idle = self._known, self._idle
        if known is not None and idle:  # nearly always, so every call and every object less counts: threads that search share them all
            try:
                held = idle.pop()
            except IndexError:  # another thread was faster
                held = self._readings.take()
            found = self._run(held, known, text, least, limit, with_text)
        else:
            found = True
        for _ in range(LOOKS):
            if found is not True:
                return found
            known = self._look(store)
            found = None if known is None else self._run(self._readings.take(), known, text, least, limit, with_text)
        return None

    def _run(self, held: ReadConnection, known: Any, text: str, least: float, limit: int, with_text: bool) -> Found | Literal[True] | None:
        """True: it is another state by now."""
        try:
            found: Found | bool = self._search(text, known, held.opened or held.rows(self._opened), least, limit, self._maker, with_text)
        except BaseException as error:
            self._readings.give_back(held, False)
            if isinstance(error, RuntimeError):  # it cannot be opened: the long way says why
                return None
            raise
        if type(found) is tuple:
            self._readings.keep(held)
            return found
        self._readings.give_back(held, True)
        return True if found else None

    def _look(self, store: EmbeddedStore) -> Any:
        record = store.place.record
        if record is None or record.read() is None:
            return None
        with store.reading() as snapshot:
            state, expired = snapshot.state, snapshot.expired
            if not state.store.id or state.store.unchecked:
                return None
            segments = snapshot.parts_of(self.kind).all()
            files = [file for segment in segments if (file := segment.mapped_file) is not None]
            numbers = (state.documents, state.next_row, state.sealed_row, state.generation, state.version, state.number * ROWS)
            parts = [segment.searched for segment in segments]
            removed = snapshot.removed_rows(), snapshot.last_removal
            self._known = self._state(
                record.path, state.store.id, state.number, *numbers, parts, files, *removed, expired.since, expired.until
            )
            if store.usual is not None:
                self._tell(store.usual)
        return self._known

    def _tell(self, usual: _native.UsualSearches) -> None:
        """Search by the newest state, where everything else is as usual."""
        raise NotImplementedError


class DirectNear(Direct):
    """What is looked at are groups that share a band."""

    kind, scale = "minhash", NEAR.scale
    _state = _native.NearState

    @classmethod
    def _searcher_for(cls, settings: Settings) -> _native.NearSearcher | None:
        if not settings.keep_text:
            return None
        return _native.NearSearcher(*native_form(settings.recipe), settings.size, *settings.banding, MAX_CANDIDATES)

    def _tell(self, usual: _native.UsualSearches) -> None:
        threshold = self._settings.threshold
        usual.near(self._searcher, self._known, self._maker, threshold, LIMIT, partial(near_notes, self._settings, threshold))


class DirectSimhash(Direct):
    kind, scale = "simhash", BY_SIMHASH.scale
    _state = _native.SimhashState

    @classmethod
    def _searcher_for(cls, settings: Settings) -> _native.SimhashSearcher:
        return _native.SimhashSearcher(*native_form(settings.recipe), settings.bits, settings.recipe.weights == "one")

    def _tell(self, usual: _native.UsualSearches) -> None:
        recipe = self._settings.lexical
        notes = [(length, notes_on(recipe, "a" * length, K), notes_on(recipe, IDEOGRAPH * length, K)) for length in LENGTHS]
        usual.simhash(self._searcher, self._known, self._maker, K, LIMIT, notes)


def _opened(sqlite: _native.Sqlite, address: str, log: str) -> _native.StoredRows:
    return _native.StoredRows(sqlite, address, *STATEMENTS, log)
