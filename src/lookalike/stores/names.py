"""What collections may be called, and what is said where a name is taken or leads nowhere: the same for all stores."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from lookalike.errors import InputError, NotFound

MAX_COLLECTION_BYTES = 200


def check_collection(argument: str, name: object) -> str:
    """A name that every store can keep."""
    if not isinstance(name, str) or not 1 <= _stored_bytes(name) <= MAX_COLLECTION_BYTES:
        raise InputError(f"{argument}={name!r:.60}: give a text (str) of 1 to {MAX_COLLECTION_BYTES} bytes, without NUL or lone surrogates")
    return name


def _stored_bytes(name: str) -> int:
    """How long a name is in a store; 0 for one that none can have."""
    try:
        return 0 if "\0" in name else len(name.encode())
    except UnicodeEncodeError:
        return 0


def require_free(name: str, store: str, collections: Collection[str], aliases: Mapping[str, str]) -> None:
    if name in collections:
        raise InputError(f"{store} has a collection {name!r} already: choose another name, or drop it first")
    if name in aliases:
        raise InputError(f"{store} has an alias {name!r} already, of {aliases[name]!r}: choose another name, or drop it first")


def no_such_collection(name: str, store: str, collections: Collection[str], aliases: Mapping[str, str] | None = None) -> NotFound:
    if aliases and name in aliases:
        return NotFound(f"{name!r} is an alias of {aliases[name]!r} in {store}: name the collection itself")
    return NotFound(f"{store} has no collection {name!r}; it has {', '.join(collections) or 'none'}")
