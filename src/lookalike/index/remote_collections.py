"""The collections of a service: their names, and what can be done with them over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn
from urllib.parse import quote

from lookalike.errors import InputError
from lookalike.index.collections import Collections
from lookalike.index.connection import Connection
from lookalike.stores.names import check_collection

if TYPE_CHECKING:
    from lookalike.index.index import Index
    from lookalike.stores.settings import Wanted


class RemoteCollections(Collections):
    """As ``Collections``; what would copy or rename a whole collection is done where the store is."""

    def __init__(self, address: str) -> None:
        super().__init__(lambda: RemoteNames(address))
        self._address = address
        len(self)  # whether there is such a service

    def open(self, collection: str) -> Index:
        from lookalike.index.remote import open_remote

        check_collection("collection", collection)
        return open_remote(self._address, collection, {}, create=False, read_only=False)

    def copy(self, collection: str, name: str, **options: object) -> NoReturn:
        raise InputError(f"{self._address}: a service copies no collection: copy it where the store is")


class RemoteNames:
    """See ``stores.base.Names``."""

    def __init__(self, address: str) -> None:
        self._connection = Connection(address, None)
        self.name = self._connection.address

    def collections(self) -> list[str]:
        found: list[str] = self._connection.ask("GET", "/collections")["collections"]
        return found

    def aliases(self) -> dict[str, str]:
        found: dict[str, str] = self._connection.ask("GET", "/collections")["aliases"]
        return found

    def alias(self, name: str, collection: str) -> None:
        self._connection.ask("PUT", f"/collections/{quote(name, safe='')}", {"alias_of": collection})

    def rename(self, collection: str, name: str) -> NoReturn:
        raise InputError(f"{self.name}: a service renames no collection: give it an alias, or rename it where the store is")

    def open(self, collection: str, wanted: Wanted, *, create: bool) -> NoReturn:
        raise InputError(f"{self.name}: open the collection of a service with la.open")

    def drop(self, name: str) -> int:
        return int(self._connection.ask("DELETE", f"/collections/{quote(name, safe='')}")["removed"])

    def close(self) -> None:
        self._connection.close()
