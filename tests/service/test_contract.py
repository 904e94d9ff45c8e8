"""The contract of stores over HTTP, as far as it can hold there; what cannot is named, with the reason."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

import lookalike as la
from lookalike.service.app import Service, Settings
from lookalike.service.limits import Limits
from lookalike.service.writer_process import LocalWriter
from lookalike.service.writing import GroupWriter
from lookalike.testing import StoreContract
from running_service import free_port

REASONS: dict[str, str] = {}


class Served:
    """The application in a thread of this process, over a real socket: a service per test would take seconds each."""

    def __init__(self, store: Path) -> None:
        self.port, self._ready = free_port(), threading.Event()
        self._store = store
        la.open(store, collection="passing").close()
        la.drop_collection(str(store), "passing")  # a store without a collection, so that each test makes its own
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()))
        self._thread.start()
        assert self._ready.wait(30)

    async def _run(self) -> None:
        settings = Settings(str(self._store), limits=Limits(seconds=60.0))
        config = uvicorn.Config(
            Service(settings, LocalWriter(GroupWriter(str(self._store)))), port=self.port, log_level="error", lifespan="on"
        )
        self._server = uvicorn.Server(config)
        serving = asyncio.create_task(self._server.serve())
        while not self._server.started:
            await asyncio.sleep(0.005)
        self._ready.set()
        await serving

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(30)


class TestOverHttp(StoreContract):
    @pytest.fixture(autouse=True)
    def _served(self, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[None]:
        reason = REASONS.get(request.node.originalname)
        if reason:
            pytest.skip(reason)
        self._service = Served(tmp_path / "served")
        yield
        self._service.stop()

    def location(self, tmp_path: Path) -> str:
        return f"http://127.0.0.1:{self._service.port}"
