"""Stores by the scheme of their location. Other packages add theirs through entry points of the group ``lookalike.store``."""

from __future__ import annotations

import re
from os import PathLike
from typing import Protocol

from lookalike.errors import InputError
from lookalike.registry import Registry
from lookalike.stores.base import Names, Store
from lookalike.stores.settings import Wanted

PATH = "path"  # what the opener of locations without a scheme is called


class Opener(Protocol):
    """Opens a collection at a location, which is as it was given, or makes it where ``create``."""

    def __call__(self, location: str, collection: str, wanted: Wanted, *, read_only: bool, create: bool) -> Store: ...


class Namer(Protocol):
    """Gives what is done with the collections of a store as a whole, by its location."""

    def __call__(self, location: str, *, read_only: bool = False) -> Names: ...


stores: Registry[Opener] = Registry("store")
stores.register(PATH, "lookalike.stores.embedded.opening:open_folder")
stores.register("memory", "lookalike.stores.embedded.opening:open_memory")
stores.register("postgresql", "lookalike.stores.postgres.opening:open_postgres")
stores.register("postgres", "lookalike.stores.postgres.opening:open_postgres")
stores.register("shards", "lookalike.stores.shards.opening:open_shards")

namers: Registry[Namer] = Registry("store with collections")
namers.register(PATH, "lookalike.stores.embedded.names:names_in_folder")
namers.register("postgresql", "lookalike.stores.postgres.names:names_in_database")
namers.register("postgres", "lookalike.stores.postgres.names:names_in_database")
namers.register("shards", "lookalike.stores.shards.opening:names_in_shards")

_DATABASE_URL = re.compile(r"(?i)postgres(?:ql)?://")
_LIKE_A_DATABASE = re.compile(r"(?is)\s*postgres(?:ql)?:|(?:.*\s)?(?:host|hostaddr|port|dbname|user|password|passfile|service|sslmode)\s*=")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def opener_of(location: object) -> Opener:
    """What opens a location; imported now."""
    return stores.get(_scheme_of(location))


def namer_of(location: object) -> Namer:
    """The same for its collections."""
    scheme = _scheme_of(location)
    if scheme not in namers:
        raise InputError(f"{scheme}:// has no collections by itself: ask an index that is open, as index.collections")
    return namers.get(scheme)


def _scheme_of(location: object) -> str:
    if not isinstance(location, (str, PathLike)) or str(location) == "":
        raise InputError(f"location={location!r:.60}: give a path, or a URL such as memory://")
    if _LIKE_A_DATABASE.match(str(location)) and not (isinstance(location, str) and _DATABASE_URL.match(location)):
        # Taken for a path, it would become a folder with a password in its name. It is not repeated.
        raise InputError("location: for a PostgreSQL store give a str such as postgresql://user@host:port/database?collection=name")
    found = _SCHEME.match(location) if isinstance(location, str) else None
    scheme = found[1].lower() if found else PATH
    if scheme not in stores or (found and scheme == PATH):
        known = ", ".join(f"{name}://" for name in stores if name != PATH)
        raise InputError(f"{scheme}:// is not a store: give a path, or one of {known}")
    return scheme
