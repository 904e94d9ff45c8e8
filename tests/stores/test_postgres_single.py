"""Single documents in PostgreSQL: one message for what a batch is copied by, and plans that are made once."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

import lookalike as la
from postgres_server import empty_store

KINDS = "simhash,minhash,winnowing,ssdeep,tlsh"
TEXTS: dict[Any, tuple[str, dict[str, Any]]] = {
    "text": ("the quick brown fox jumps over the lazy dog and runs into the dark wood behind the house " * 9, {"site": "a"}),
    7: ("床前明月光，疑是地上霜。舉頭望明月，低頭思故鄉。" * 20, {}),
    "empty": ("", {"n": 1}),
    "surrogate": ("words with a lone \ud800 surrogate and \0 in them " * 12, {}),
}


def rows(url: str) -> list[Any]:
    """All that the table has of documents, but for their numbers."""
    with psycopg.connect(url) as connection:
        query = "SELECT to_jsonb(d) - 'ordinal' - 'collection' FROM lookalike.documents d ORDER BY id_text, id_number"
        return [row for (row,) in connection.execute(query)]


def test_a_single_document_is_stored_as_one_of_a_batch() -> None:
    found = []
    for is_single in (False, True):
        url = empty_store()
        documents = [(id_, text, meta) for id_, (text, meta) in TEXTS.items()]
        with la.open(url, kinds=KINDS) as index:
            for part in [[each] for each in documents] if is_single else [documents]:
                index.add(part)
            assert len(index) == len(TEXTS)
            assert index.check().problems == []
        found.append(rows(url))
    assert found[0] == found[1]
    assert len(found[0]) == len(TEXTS)


def test_plans_are_made_once(url: str) -> None:
    """With the values of each document in hand, the server would plan for longer than it works."""
    with la.open(url, kinds="simhash,minhash") as index:
        for number in range(30):
            index.admit(number, f"text number {number} with some words of its own {number * 7919} and others")
        with index._store._connections.connection() as connection:  # type: ignore[attr-defined]
            query = "SELECT statement, custom_plans FROM pg_catalog.pg_prepared_statements WHERE generic_plans + custom_plans > 0"
            used = dict(connection.execute(query).fetchall())
    assert any("DELETE FROM lookalike.documents" in statement for statement in used)
    assert [statement for statement, custom in used.items() if custom > 0] == []


def test_a_single_document_of_a_collection_that_is_gone(url: str) -> None:
    with la.open(url, kinds="simhash,minhash") as index:
        with psycopg.connect(url) as connection:
            connection.execute("DELETE FROM lookalike.collections")
        with pytest.raises(la.StoreError, match="any more"):
            index.add("id", "a text")
    assert rows(url) == []


def test_it_is_replaced_and_counted(url: str) -> None:
    with la.open(url, kinds="simhash,minhash") as index:
        assert index.add("id", "one text of some words") == (1, 0)
        assert index.add("id", "another text of other words") == (0, 1)
        assert len(index) == 1
        assert index.search("another text of other words")[0].id == "id"


@pytest.fixture
def url() -> str:
    return empty_store()
