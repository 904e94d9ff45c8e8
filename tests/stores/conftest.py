"""What several tests of stores begin with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from postgres_server import Server, started_server


@pytest.fixture
def own_server() -> Iterator[Server]:
    with started_server() as server:
        yield server
