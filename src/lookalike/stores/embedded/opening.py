"""Embedded stores by their location."""

from __future__ import annotations

from pathlib import Path

from lookalike.errors import InputError
from lookalike.stores.embedded.place import DatabasePlace
from lookalike.stores.embedded.store import EmbeddedStore
from lookalike.stores.settings import Wanted


def open_folder(location: str, collection: str, wanted: Wanted, *, read_only: bool, create: bool) -> EmbeddedStore:
    place = DatabasePlace(Path(location), wanted, read_only=read_only, create=create)
    return EmbeddedStore(place, collection, wanted, create=create and not read_only)


def open_memory(location: str, collection: str, wanted: Wanted, *, read_only: bool, create: bool) -> EmbeddedStore:
    """A store that is gone when it is closed; each call makes one of its own."""
    if location.partition("://")[2]:
        raise InputError(f"{location}: a store in memory has no name, write memory://")
    return EmbeddedStore(DatabasePlace(None, wanted), collection, wanted)
