"""A read replica: the same answers as the primary, and writing is refused with what to do."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import lookalike as la
from lookalike.errors import StoreError
from lookalike.testing import corpus
from postgres_server import Server, open_folder

DOCUMENTS = corpus(60)


@pytest.fixture
def servers() -> Iterator[tuple[Server, Server]]:
    folders = [Path(tempfile.mkdtemp(prefix="lookalike-pgr-", dir=open_folder())) for _ in range(2)]
    primary = Server(folders[0])
    primary.make()
    primary.start()
    replica = primary.replicate(folders[1])
    yield primary, replica
    for server in (replica, primary):
        server.stop()
        shutil.rmtree(server.folder, ignore_errors=True)


def follow(primary: Server, replica: Server) -> None:
    """Wait until the replica has all that the primary has."""
    with (
        psycopg.connect(primary.url("postgres"), autocommit=True) as here,
        psycopg.connect(replica.url("postgres"), autocommit=True) as there,
    ):
        place = here.execute("SELECT pg_current_wal_lsn()").fetchone()
        assert place is not None
        for _ in range(600):
            if there.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", place).fetchone() == (True,):
                return
            there.execute("SELECT pg_sleep(0.05)")
    raise AssertionError("the replica does not follow")


def test_searches_on_a_replica(servers: tuple[Server, Server]) -> None:
    primary, replica = servers
    with la.open(primary.url("postgres")) as index:
        index.add(DOCUMENTS)
        index.remove([DOCUMENTS[3][0]])
        follow(primary, replica)
        with la.open(replica.url("postgres"), read_only=True) as copy:
            assert list(copy.documents()) == list(index.documents())
            for by in ("near", "simhash", "passages", "fuzzy"):
                for _, text in DOCUMENTS[::7]:
                    assert copy.search(text, by=by) == index.search(text, by=by)
            assert copy.clusters() == index.clusters()
            assert copy.check().ok
            index.add("later", "something that came later")
            follow(primary, replica)
            assert copy.get("later").text == "something that came later"
    with la.open(replica.url("postgres")) as index, pytest.raises(StoreError, match="write to the primary"):
        index.add("a", "b")
