"""The end of a bulk load: its indexes are made side by side, it says how far it is, and what fails or is stopped leaves nothing behind."""

from __future__ import annotations

import psycopg
import pytest

import lookalike as la
from lookalike.errors import StoreError
from lookalike.stores.postgres import bulk, schema
from lookalike.testing import corpus
from postgres_server import empty_database

DOCUMENTS = corpus(200)


def missing(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        return schema.missing_indexes(connection)


def test_it_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "POLL", 0.01)
    url, told = empty_database(), list[int]()
    index = la.open(f"{url}&bulk=on")
    index.add(DOCUMENTS)
    assert set(missing(url)) == set(schema.search_index_names())
    index.close(told.append)
    assert told == sorted(told)
    assert told[-1] == len(DOCUMENTS)
    assert len(told) > 1
    assert missing(url) == []
    with la.open(url) as index:
        assert index.check().ok
        assert index.search(DOCUMENTS[5][1])[0].score == 1


def test_what_fails_is_made_by_the_next_who_opens_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of them cannot be made: the error says so, what was made stays, and what runs is stopped."""
    url = empty_database()
    statements = schema.index_statements()
    broken = statements | {"documents_by_digest": "CREATE INDEX documents_by_digest ON lookalike.documents (nothing)"}
    index = la.open(f"{url}&bulk=on")
    index.add(DOCUMENTS)
    with monkeypatch.context() as patched:
        patched.setattr(schema, "index_statements", lambda: broken)
        with pytest.raises(StoreError, match="nothing"):
            index.close()
    assert "documents_by_digest" in missing(url)
    with psycopg.connect(url) as connection:
        query = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'CREATE INDEX%' AND state = 'active'"
        )
        assert connection.execute(query).fetchone() == (0,)
    with la.open(url) as again:
        assert missing(url) == []
        assert again.check().ok
