"""``la.collections``: what is done with the collections of a store as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import blake2b
from os import PathLike
from typing import TYPE_CHECKING

from lookalike.checks import check_callback
from lookalike.index.transfer import copy_documents
from lookalike.stores.base import Names, OnProgress
from lookalike.stores.fields import parse_indexed
from lookalike.stores.names import check_collection, no_such_collection, require_free
from lookalike.stores.openers import namer_of
from lookalike.stores.settings import Wanted
from lookalike.stores.shards.opening import names_in_listed

if TYPE_CHECKING:
    from lookalike.index.index import Index


def collections(location: str | PathLike[str] | Sequence[str | PathLike[str]], *, trust: str | Iterable[str] = ()) -> Collections:
    """The collections of the store at a path or URL: their names, copies of them, and other names for them.

    ``trust`` is that of ``la.open``, for ``copy``.
    """
    if isinstance(location, (list, tuple)):
        names_in_listed(location).close()  # whether there is such a store
        return Collections(lambda: names_in_listed(location), trust)
    if isinstance(location, str) and location.lower().startswith(("http://", "https://")):
        from lookalike.index.remote_collections import RemoteCollections

        return RemoteCollections(location)
    namer = namer_of(location)
    namer(str(location), read_only=True).close()
    return Collections(lambda: namer(str(location)), trust)


class Collections:
    """The collections of a store. ``la.collections`` and ``Index.collections`` make it; it holds nothing open.

    Whoever has a collection open stays with it, whatever it is called meanwhile.
    """

    def __init__(self, names: Callable[[], Names], trust: str | Iterable[str] = ()) -> None:
        self._names = names
        self._trust = (trust,) if isinstance(trust, str) else tuple(trust)

    @contextmanager
    def _opened(self) -> Iterator[Names]:
        names = self._names()
        try:
            yield names
        finally:
            names.close()

    def __iter__(self) -> Iterator[str]:
        """The names of the collections, in order, without aliases."""
        with self._opened() as names:
            return iter(names.collections())

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        """Whether ``la.open`` finds something under this name: a collection or an alias."""
        with self._opened() as names:
            return name in names.collections() or name in names.aliases()

    def __repr__(self) -> str:
        return f"Collections({', '.join(map(repr, self))})"

    @property
    def aliases(self) -> dict[str, str]:
        """The aliases, each with the collection that it leads to."""
        with self._opened() as names:
            return names.aliases()

    def open(self, collection: str) -> Index:
        """A collection that is there, by its name or an alias: the way to those of a store in memory. Close it like any other index."""
        from lookalike.index.index import Index

        check_collection("collection", collection)
        with self._opened() as names:
            return Index(names.open(collection, Wanted(trust=self._trust), create=False))

    def rename(self, collection: str, name: str) -> None:
        """Give a collection another name. Its aliases still lead to it."""
        check_collection("collection", collection)
        check_collection("name", name)
        with self._opened() as names:
            names.rename(collection, name)

    def alias(self, name: str, collection: str) -> None:
        """Let a further name lead to a collection. An alias that is there leads to the new one from now on, in one step."""
        check_collection("name", name)
        check_collection("collection", collection)
        with self._opened() as names:
            names.alias(name, collection)

    def copy(self, collection: str, name: str, *, indexed: str | Iterable[str] | None = None, progress: OnProgress | None = None) -> int:
        """Make a collection with the same settings and documents; returns how many. It has its name when it is whole, and not before.

        It is a copy of one state: what is written to the other one meanwhile is not in it. With ``indexed`` other fields are indexed.
        """
        check_collection("collection", collection)
        check_collection("name", name)
        check_callback("progress", progress)
        fields = parse_indexed(indexed)
        unfinished = f"copying {blake2b(name.encode(), digest_size=8).hexdigest()}"
        with self._opened() as names:
            require_free(name, names.name, names.collections(), names.aliases())
            if names.aliases().get(collection, collection) not in names.collections():
                raise no_such_collection(collection, names.name, names.collections())
            if unfinished in names.collections():  # of somebody who was stopped
                names.drop(unfinished)
            source = names.open(collection, Wanted(trust=self._trust), create=False)
            try:
                target = names.open(unfinished, Wanted(kinds=("simhash",)), create=True)
                try:
                    target.adopt(source.settings if fields is None else replace(source.settings, indexed=fields))
                    count = copy_documents(source, target, progress)
                finally:
                    target.close()
                names.rename(unfinished, name)
            finally:
                source.close()
        return count

    def drop(self, name: str) -> int:
        """Drop an alias, or a collection with all its documents and aliases; returns how many documents it had."""
        check_collection("name", name)
        with self._opened() as names:
            return names.drop(name)
