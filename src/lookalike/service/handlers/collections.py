"""Collections: listed, made and dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET

from lookalike.errors import InputError, NotFound
from lookalike.service import shapes
from lookalike.service.exchange import Answer, Call
from lookalike.service.operations import Create, Drop

if TYPE_CHECKING:
    from lookalike.service.app import Service


async def names(service: Service, call: Call) -> Answer:
    return Answer.json({"collections": await _names(service, call)})


async def _names(service: Service, call: Call) -> list[str]:
    try:
        index = service.shelf.get("default")
        every = await service.lanes.cheap(lambda: index.stats()["collections"])
    except NotFound:  # nobody has made it yet, or any other
        every = []
    return [name for name in every if call.grant.covers(name)]


async def create(service: Service, call: Call) -> Answer:
    asked = await call.read(shapes.CollectionRequest)
    service.allow(call, asked.name, write=True)
    if asked.name in await _names(service, call):
        raise InputError(f"there is a collection {asked.name!r} already: choose another name, or drop it first")
    options = {name: value for name in asked.__struct_fields__ if name != "name" and (value := getattr(asked, name)) is not UNSET}
    await service.write(call, Create(asked.name, options))
    return Answer.json({"collections": await _names(service, call)}, 201)


async def drop(service: Service, call: Call) -> Answer:
    name = call.params["name"]
    service.allow(call, name, write=True)
    if name == "default":
        raise InputError("the collection 'default' stays, since requests without ?collection= mean it: remove its documents")
    done = await service.write(call, Drop(name))
    service.shelf.forget(name)  # other processes notice when they next ask for it
    return Answer.json({"removed": done.result, "version": done.version})
