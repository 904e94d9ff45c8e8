"""One process that answers requests. Its parent sends the settings over standard input, and is known to be gone when that ends."""

from __future__ import annotations

import gc
import logging
import os
import socket
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec
import uvicorn

from lookalike.service.app import Service, ServiceSetup, Writer
from lookalike.service.limits import ServiceLimits
from lookalike.service.protocol import BoundedProtocol
from lookalike.service.writer_process import LocalWriter, RemoteWriter, end_with_parent
from lookalike.service.writing import GroupWriter

_PATHS = ("token_file", "metrics_file", "audit_log")
GRACE = 20  # seconds that requests have to end after the service was told to stop


def encoded(settings: ServiceSetup, socket_path: Path | None, listening: int) -> bytes:
    data = asdict(settings) | {name: _text(getattr(settings, name)) for name in _PATHS}
    return msgspec.json.encode({"settings": data, "socket": _text(socket_path), "listening": listening}) + b"\n"


def decoded(line: bytes) -> tuple[ServiceSetup, Path | None, int]:
    data = msgspec.json.decode(line)
    given: dict[str, Any] = data["settings"]
    for name in _PATHS:
        given[name] = Path(given[name]) if given[name] else None
    given |= {"limits": ServiceLimits(**given["limits"]), "hosts": tuple(given["hosts"]), "trust": tuple(given["trust"])}
    return ServiceSetup(**given), Path(data["socket"]) if data["socket"] else None, data["listening"]


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def run(settings: ServiceSetup, socket_path: Path | None, listening: socket.socket) -> None:
    """Answer until told to stop."""

    async def answer() -> None:
        writer: Writer | None = None
        if not settings.read_only:
            writer = RemoteWriter(socket_path) if socket_path else LocalWriter(GroupWriter(settings.location))
        config = uvicorn.Config(
            Service(settings, writer),
            http=BoundedProtocol,
            loop="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            backlog=2048,
            timeout_keep_alive=65,
            timeout_graceful_shutdown=GRACE,
            limit_concurrency=settings.limits.connections,
            ws="none",
        )
        # What was imported stays: a collection that goes through all of it takes longer than a hundred searches.
        gc.collect()
        gc.freeze()
        await uvicorn.Server(config).serve(sockets=[listening])

    import uvloop

    uvloop.run(answer())


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    line = bytearray()
    while not line.endswith(b"\n"):
        piece = os.read(0, 1)
        if not piece:
            return
        line += piece
    settings, socket_path, listening = decoded(bytes(line))
    if settings.audit_log is not None:
        # Every process appends whole lines to the one file.
        audit = logging.getLogger("lookalike.audit")
        audit.addHandler(logging.FileHandler(settings.audit_log, encoding="utf-8"))
        audit.propagate = False
    threading.Thread(target=end_with_parent, daemon=True).start()
    run(settings, socket_path, socket.socket(fileno=listening))


if __name__ == "__main__":
    main()
