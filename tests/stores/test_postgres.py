"""The PostgreSQL store: the whole contract on a real server, and the same answers as the embedded store."""

from __future__ import annotations

from pathlib import Path

import pytest

from lookalike.testing import StoreContract
from postgres_server import empty_database


class TestPostgres(StoreContract):
    one_writer = False
    url: str

    @pytest.fixture(autouse=True)
    def database(self) -> None:
        self.url = empty_database()

    def location(self, tmp_path: Path) -> str:
        return self.url
