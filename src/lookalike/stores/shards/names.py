"""What the collections of several stores are called: each of them has all names. A change is made in one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lookalike.stores.base import Names, Store
from lookalike.stores.names import no_such_collection, require_free
from lookalike.stores.settings import Wanted

if TYPE_CHECKING:
    from lookalike.stores.shards.store import ShardStore


class ShardNames:
    """See ``stores.base.Names``. What was done in some shards only is finished by doing it again."""

    def __init__(self, parts: Sequence[Names], name: str) -> None:
        self._parts, self.name = list(parts), name

    def collections(self) -> list[str]:
        return sorted({name for part in self._parts for name in part.collections()})

    def aliases(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for part in self._parts:
            found |= part.aliases()
        return dict(sorted(found.items()))

    def rename(self, collection: str, name: str) -> None:
        there = [part for part in self._parts if collection in part.collections()]
        if not there:
            raise no_such_collection(collection, self.name, self.collections(), self.aliases())
        for part in there:  # before any of them is changed
            require_free(name, self.name, part.collections(), part.aliases())
        for part in there:
            part.rename(collection, name)

    def alias(self, name: str, collection: str) -> None:
        collection = self.aliases().get(collection, collection)
        for part in self._parts:
            if collection not in part.collections():
                raise no_such_collection(collection, self.name, self.collections())
            require_free(name, self.name, part.collections(), {})
        for part in self._parts:
            part.alias(name, collection)

    def drop(self, name: str) -> int:
        there = [part for part in self._parts if name in part.collections() or name in part.aliases()]
        if not there:
            raise no_such_collection(name, self.name, self.collections())
        return sum(part.drop(name) for part in there)

    def open(self, collection: str, wanted: Wanted, *, create: bool) -> ShardStore:
        from lookalike.stores.shards.store import ShardStore

        opened: list[Store] = []
        try:
            opened.extend(part.open(collection, wanted, create=create) for part in self._parts)
            return ShardStore(opened, wanted)
        except BaseException:
            for store in opened:
                store.close()
            raise

    def close(self) -> None:
        for part in self._parts:
            part.close()
