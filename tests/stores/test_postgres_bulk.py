"""The end of a bulk load: its indexes are made side by side, it says how far it is, and what fails or is stopped leaves nothing behind."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import psycopg
import pytest

import lookalike as la
from lookalike.errors import StoreError
from lookalike.stores.ids import Id
from lookalike.stores.postgres import bulk, schema
from lookalike.stores.postgres.connections import Connection
from lookalike.stores.postgres.store import PostgresStore
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


UNLIKE: list[tuple[Id, str]] = [(f"unlike {n}", " ".join(f"word{n * 100 + k}" for k in range(30))) for n in range(200)]


def sketches(url: str) -> int:
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT count(*) FROM lookalike.sketches").fetchone()
    return int(found[0]) if found else 0


@pytest.mark.parametrize("lost", [False, True], ids=["an error", "a lost connection"])
def test_sketches_that_cannot_be_written_early_are_written_with_the_documents(monkeypatch: pytest.MonkeyPatch, lost: bool) -> None:
    url, failed = empty_database(), list[str]()

    def fails(load: bulk.BulkLoad, *_: object) -> None:
        if lost:
            load._second = load._connections.connect()
            load._second.close()
        failed.append("once")
        raise psycopg.OperationalError("the second connection is gone")

    with la.open(f"{url}&bulk=on", kinds="simhash,minhash") as index:
        with monkeypatch.context() as patched:
            patched.setattr(bulk.BulkLoad, "_write_early", fails)
            index.add(UNLIKE[:100])
        index.add(UNLIKE[100:])
    assert failed == ["once"]
    with la.open(url) as index:
        assert index.check().ok
        assert [index.search(text)[0].id for _, text in UNLIKE] == [id_ for id_, _ in UNLIKE]


def test_documents_that_do_not_follow_their_sketches_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sketches are committed, and the documents are not: nobody finds them, and compacting drops what is left."""
    url, told = empty_database(), list[int]()

    def fails(*_: object) -> None:
        raise psycopg.errors.DiskFull("no room for documents")

    with la.open(f"{url}&bulk=on", kinds="simhash,minhash") as index:
        index.add(UNLIKE[:50])
        with monkeypatch.context() as patched:
            patched.setattr(PostgresStore, "_count", fails)
            with pytest.raises(StoreError):
                index.add(UNLIKE[50:], progress=told.append)
    assert told == []
    assert sketches(url) > 50
    with la.open(url) as index:
        assert len(index) == 50
        assert [match.id for match in index.search(UNLIKE[60][1])] == []
        assert index.check().ok
        index.compact()
        assert sketches(url) == 50
        index.add(UNLIKE[50:])
        assert index.search(UNLIKE[60][1])[0].id == UNLIKE[60][0]


def test_whoever_drops_unused_sketches_waits_for_the_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the commit of the sketches and that of the documents, compacting must not take the sketches away."""
    url, original = empty_database(), PostgresStore._count
    with la.open(f"{url}&bulk=on", kinds="simhash,minhash") as index, la.open(url) as other, ThreadPoolExecutor(1) as thread:
        compacting: list[Future[object]] = []

        def counts(store: PostgresStore, connection: Connection, more: int) -> None:
            compacting.append(thread.submit(other.compact))
            with pytest.raises(TimeoutError):
                compacting[0].result(timeout=1)
            original(store, connection, more)

        monkeypatch.setattr(PostgresStore, "_count", counts)
        index.add(UNLIKE)
        monkeypatch.undo()
        compacting[0].result(timeout=60)
    with la.open(url) as index:
        assert index.check().ok
        assert index.search(UNLIKE[60][1])[0].id == UNLIKE[60][0]


def test_it_is_guessed_that_batches_are_new_and_more_seldom_where_that_was_wrong() -> None:
    guess = bulk.Guess()
    made = []
    for _ in range(20):
        made.append(guess.is_due())
        if made[-1]:
            guess.was_wrong()
    assert [batch for batch, was_made in enumerate(made) if was_made] == [0, 2, 6, 14]
    right = bulk.Guess()
    assert all(right.is_due() for _ in range(5))


def changed(documents: Sequence[tuple[Id, str]]) -> list[tuple[Id, str]]:
    return [(id_, f"{text} and more") for id_, text in documents]


def test_documents_that_are_there_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches without any, with some and with nothing else, one after the other: looked up first, and not."""
    url, looked_up, original = empty_database(), list[int](), PostgresStore._delete

    def deletes(store: PostgresStore, connection: Connection, ids: Sequence[Id], number: str = "") -> tuple[int, int]:
        looked_up.append(len(ids))
        return original(store, connection, ids, number)

    monkeypatch.setattr(PostgresStore, "_delete", deletes)
    numbered: list[tuple[Id, str]] = [(number, text) for number, (_, text) in enumerate(UNLIKE[:100])]
    with la.open(f"{url}&bulk=on", kinds="simhash,minhash") as index:
        assert index.add(UNLIKE[:50]) == (50, 0)
        assert index.add([*UNLIKE[50:80], *changed(UNLIKE[20:50])]) == (30, 30)
        assert looked_up == [60]
        assert index.add(changed(UNLIKE[50:80])) == (0, 30)
        assert index.add(numbered) == (100, 0)
        assert looked_up == [60, 30]
        assert index.add(changed(numbered[40:70])) == (0, 30)
        assert index.add(UNLIKE[80:]) == (120, 0)
    with la.open(url) as index:
        assert len(index) == 300
        assert index.check().ok
        expected = dict([*UNLIKE, *changed(UNLIKE[20:80]), *numbered, *changed(numbered[40:70])])
        assert {document.id: document.text for document in index.documents()} == expected


def test_contents_that_are_there_get_no_second_sketch() -> None:
    url, copies = empty_database(), [(f"copy of {id_}", text) for id_, text in UNLIKE]
    with la.open(f"{url}&bulk=on", kinds="simhash,minhash") as index:
        index.add(UNLIKE[:50])
        index.add([*UNLIKE[50:100], *copies[:50]])
        index.add(copies[50:120])
        index.add(copies[120:])
        index.add(UNLIKE[100:])
    assert sketches(url) == 200
    with la.open(url) as index:
        assert index.check().ok
        for (id_, text), (copy, _) in zip(UNLIKE, copies, strict=True):
            assert {match.id for match in index.search(text) if match.score == 1} == {id_, copy}
