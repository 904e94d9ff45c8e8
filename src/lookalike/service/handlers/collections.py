"""Collections: listed, made, dropped, and given further names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from lookalike.errors import InputError, NotFound
from lookalike.index.collections import collections
from lookalike.service import shapes
from lookalike.service.exchange import Answer, Call
from lookalike.service.operations import Alias, Create, Drop

if TYPE_CHECKING:
    from lookalike.service.app import Service


async def names(service: Service, call: Call) -> Answer:
    return Answer.json(await _names(service, call))


async def _names(service: Service, call: Call) -> dict[str, Any]:
    """What may be asked for by whoever asks."""

    def read() -> tuple[list[str], dict[str, str]]:
        try:
            found = service.shelf.get("default").collections
        except NotFound:  # nobody has made it
            found = collections(service.settings.location)
        return list(found), found.aliases

    every, aliases = await service.lanes.cheap(read)
    return {
        "collections": [name for name in every if call.grant.covers(name)],
        "aliases": {name: of for name, of in aliases.items() if call.grant.covers(name)},
    }


async def create(service: Service, call: Call) -> Answer:
    asked = await call.read(shapes.CollectionRequest)
    service.allow(call, asked.name, write=True)
    there = await _names(service, call)
    if asked.name in there["collections"] or asked.name in there["aliases"]:
        what = "a collection" if asked.name in there["collections"] else "an alias"
        raise InputError(f"there is {what} {asked.name!r} already: choose another name, or drop it first")
    options = {name: value for name in asked.__struct_fields__ if name != "name" and (value := getattr(asked, name)) is not UNSET}
    await service.write(call, Create(asked.name, options))
    return Answer.json(await _names(service, call), 201)


async def alias(service: Service, call: Call) -> Answer:
    """Whoever asks by the name from now on is led to the collection; doing it twice is the same as once."""
    asked = await call.read(shapes.AliasRequest)
    for name in (call.params["name"], asked.alias_of):
        service.allow(call, name, write=True)
    await service.write(call, Alias(call.params["name"], asked.alias_of))
    return Answer.json(await _names(service, call))


async def drop(service: Service, call: Call) -> Answer:
    name = call.params["name"]
    service.allow(call, name, write=True)
    if name == "default":
        raise InputError("the collection 'default' stays, since requests without ?collection= mean it: remove its documents")
    done = await service.write(call, Drop(name))
    service.shelf.forget(name)  # other processes notice when they next ask for it
    return Answer.json({"removed": done.result, "version": done.version})
