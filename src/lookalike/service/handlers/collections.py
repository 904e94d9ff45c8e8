"""Collections: made, dropped, given other names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET

from lookalike.errors import InputError, NotFound
from lookalike.service import shapes
from lookalike.service.exchange import Answer, Call
from lookalike.service.operations import Alias, Create, Drop

if TYPE_CHECKING:
    from lookalike.service.app import Service


async def names(service: Service, call: Call) -> Answer:
    return Answer.json({"collections": await _names(service, call)})


async def _names(service: Service, call: Call) -> list[str]:
    index = service.shelf.get("default")
    every = await service.lanes.cheap(lambda: index.stats()["collections"])
    return [name for name in every if call.grant.covers(name)]


async def create(service: Service, call: Call) -> Answer:
    asked = await call.read(shapes.CollectionRequest)
    service.allow(call, asked.name, write=True)
    if asked.name in await _names(service, call):
        raise InputError(f"there is a collection {asked.name!r} already: choose another name, or drop it first")
    options = {name: value for name in ("kinds", "recipe", "threshold", "keep_text") if (value := getattr(asked, name)) is not UNSET}
    await service.write(call, Create(asked.name, options))
    return Answer.json({"collections": await _names(service, call)}, 201)


async def drop(service: Service, call: Call) -> Answer:
    name = call.params["name"]
    service.allow(call, name, write=True)
    if name == "default":
        raise InputError("the collection 'default' stays: remove its documents, or drop the store")
    if name not in await _names(service, call):
        raise NotFound(f"there is no collection {name!r:.80}")
    await service.write(call, Drop(name))
    service.shelf.forget(name)
    return Answer.json({"collections": await _names(service, call)})


async def alias(service: Service, call: Call) -> Answer:
    for name in call.params.values():
        service.allow(call, name, write=True)
    await service.write(call, Alias(call.params["name"], call.params["alias"]))
    service.shelf.forget(call.params["alias"])
    return Answer.json({"collections": await _names(service, call)})
