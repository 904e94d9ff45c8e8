"""The collections of a store, open for reading. A reading sees everything that was acknowledged before it began."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from lookalike.errors import NotFound, StoreError
from lookalike.index.collections import collections
from lookalike.index.index import Index
from lookalike.index.opening import open as open_index
from lookalike.index.opening import open_beside

MOST_OPEN = 32


def opened(location: str, collection: str, beside: Index | None = None, *, create: bool, **options: Any) -> Index:
    """A collection; ``NotFound`` where there is none of this name. ``beside``: another one of the same store, to share its writer."""
    try:
        found = open_beside(beside, collection, create=create) if beside is not None else None
        return found if found is not None else open_index(location, collection=collection, create=create, **options)
    except StoreError as error:
        if "has no collection" in str(error):
            raise NotFound(f"there is no collection {collection!r:.80}") from None
        raise


def led_to(location: str, name: str, beside: Index | None) -> str:
    """The collection that an alias leads to now; the name itself where it is none. ``beside``: an index of the store that is open."""
    found = (beside.collections if beside is not None else collections(location)).aliases
    return found.get(name, name)


def outdated(error: StoreError) -> bool:
    """Whether an index was open for longer than its collection was as it knew it: dropped, made anew, or closed to make room."""
    return str(error).endswith((" any more", ": open it again"))


class Shelf:
    """Indexes by the names of their collections, opened on first use. Where an alias leads is looked up each time: it may have moved."""

    def __init__(self, location: str, trust: tuple[str, ...] = ()) -> None:
        self._location, self._trust = location, trust
        self._open: OrderedDict[str, Index] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, collection: str) -> Index:
        found = self._open.get(collection)
        if found is not None:
            return found
        collection = led_to(self._location, collection, next(iter(self._open.values()), None))
        with self._lock:
            if collection not in self._open:
                self._open[collection] = opened(self._location, collection, read_only=True, create=False, trust=self._trust)
                while len(self._open) > MOST_OPEN:
                    self._open.popitem(last=False)[1].close()
            return self._open[collection]

    def forget(self, collection: str) -> None:
        """It was dropped, or made anew: the next request opens it again."""
        with self._lock:
            found = self._open.pop(collection, None)
        if found is not None:
            found.close()

    def close(self) -> None:
        for collection in list(self._open):
            self.forget(collection)
