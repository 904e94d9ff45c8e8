"""One collection on two servers: the answers of one store, from the command line too, and what happens while one server is down."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import lookalike as la
from lookalike.cli import group
from lookalike.errors import StoreError
from lookalike.testing import corpus
from postgres_server import Server, started_server

DOCUMENTS = corpus(60)


@pytest.fixture
def servers() -> Iterator[list[Server]]:
    with started_server() as one, started_server() as other:
        yield [one, other]


def answers(index: Any) -> list[Any]:
    return [index.search(text, by=by, limit=5) for by in ("near", "simhash", "tlsh", "ssdeep") for _, text in DOCUMENTS[::7]]


def test_two_servers_of_which_one_goes_down(servers: list[Server], tmp_path: Path) -> None:
    urls = [f"{server.url('postgres')}&collection=news" for server in servers]
    listed = tmp_path / "servers.txt"
    listed.write_text("\n".join(urls) + "\n")
    with la.open("memory://") as one, la.open(urls) as several:
        said = []
        for index in (one, several):
            index.add(DOCUMENTS[:50])
            said.append([each.admitted for each in index.admit([*DOCUMENTS[50:], ("copy", DOCUMENTS[3][1])])])
        assert said[0] == said[1]
        assert said[0][-1] is False
        wanted = answers(one)
        assert answers(several) == wanted
        assert all(each["documents"] > 15 for each in several.stats()["shards"])
        shown = CliRunner().invoke(group, ["search", f"shards://{listed}", "--text", DOCUMENTS[3][1], "--json"])
        assert shown.exit_code == 0, shown.output
        assert json.loads(shown.output.splitlines()[0])[0]["id"] == one.search(DOCUMENTS[3][1])[0].id

        servers[1].stop(signal.SIGQUIT)
        with pytest.raises(StoreError):
            several.search(DOCUMENTS[3][1])
        with la.open(urls, read_only=True, partial=True) as rest:
            found = [rest.search(text) for _, text in DOCUMENTS]
            assert {len(each) > 0 for each in found} == {True, False}
            assert all("shard 2 of 2 did not answer" in each.notes[-1] for each in found)

        servers[1].restart()
        assert answers(several) == wanted
