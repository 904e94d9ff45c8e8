"""Where contracts of stores are tried: mixed into the class of a contract, before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from postgres_server import empty_store


class InMemory:
    persistent = False

    def location(self, tmp_path: Path) -> str:
        return "memory://"


class OnDisk:
    def location(self, tmp_path: Path) -> str:
        return str(tmp_path / "store.lookalike")


class InPostgres:
    one_writer = False
    url: str

    @pytest.fixture(autouse=True)
    def database(self) -> None:
        self.url = empty_store()

    def location(self, tmp_path: Path) -> str:
        return self.url
