"""What operators ask: health, counters, sizes, a copy."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

from lookalike.errors import LookalikeError
from lookalike.service.exchange import Answer, Call
from lookalike.service.openapi import description

if TYPE_CHECKING:
    from lookalike.service.app import Service

_PIECE = 1 << 18


async def healthz(service: Service, call: Call) -> Answer:
    return Answer.json({"status": "ok"})


async def readyz(service: Service, call: Call) -> Answer:
    writer = await service.writer.alive() if service.writer is not None else False
    try:
        index = service.shelf.get("default")
        documents = await service.lanes.cheap(lambda: len(index))
    except LookalikeError as error:
        return Answer.json({"status": "starting", "documents": 0, "writer": writer, "message": str(error)}, 503, retry_after="1")
    ready = writer or service.writer is None
    found = {"status": "ready" if ready else "starting", "documents": documents, "writer": writer}
    return Answer.json(found) if ready else Answer.json(found, 503, retry_after="1")


async def metrics(service: Service, call: Call) -> Answer:
    service.allow(call, "default")
    index = service.shelf.get("default")
    stats = await service.lanes.heavy(index.stats)
    more: dict[str, float] = {str(name): stats[name] for name in ("documents", "segments", "bytes", "unsealed", "removed") if name in stats}
    more |= {f"segment_bytes_{kind}": size for kind, size in stats.get("segment_bytes", {}).items()}
    return Answer(service.metrics.text(more).encode(), kind="text/plain; version=0.0.4")


async def stats(service: Service, call: Call) -> Answer:
    index = service.shelf.get(call.collection)
    found = await service.lanes.heavy(index.stats)
    if call.grant.collections:
        found["collections"] = [name for name in found.get("collections", []) if call.grant.covers(name)]
    return Answer.json(found | {"service": service.facts(call)})


async def openapi(service: Service, call: Call) -> Answer:
    return Answer.json(description(service.routes))


async def snapshot(service: Service, call: Call) -> Answer:
    """The collection in one state, while others write: first into a file, so that a slow client does not hold that state."""
    index = service.shelf.get(call.collection)
    number, name = tempfile.mkstemp(prefix="lookalike-", suffix=".jsonl")
    os.close(number)
    path = Path(name)
    try:
        await service.lanes.heavy(lambda: index.export(path))
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    file = path.open("rb")
    path.unlink()  # it lives as long as it is read

    async def pieces() -> AsyncIterator[bytes]:
        with file:
            while piece := await asyncio.to_thread(file.read, _PIECE):
                yield piece

    disposition = f'attachment; filename="{"".join(each if each.isascii() and each.isalnum() else "-" for each in call.collection)}.jsonl"'
    return Answer(pieces(), kind="application/x-ndjson", headers={"content-disposition": disposition})
