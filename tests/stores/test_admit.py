"""Exactly one of all who come with the same text adds it: processes and clients of PostgreSQL, while some are killed and servers restart.

The contract has threads of one index.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

import lookalike as la
from lookalike.stores.postgres import beside
from postgres_server import Server, empty_database, started_server

WORDS = [f"word{number}" for number in range(400)]
Answer = tuple[str, bool, str | None]


def text_of(article: int, worker: int = 0) -> str:
    """Long, like no other article; workers have slightly different copies."""
    draw = random.Random(article)
    return " ".join([*(draw.choice(WORDS) for _ in range(150)), f"copy{worker}"])


def admit_all(location: str, worker: int, articles: int, batch: int) -> list[Answer]:
    """Every article in an order of its own, a few at a time."""
    order = list(range(articles))
    random.Random(worker).shuffle(order)
    said: list[Answer] = []
    with la.open(location) as index:
        for first in range(0, articles, batch):
            documents = [(f"{number}/{worker}", text_of(number, worker)) for number in order[first : first + batch]]
            answers = index.admit(documents)
            said += [
                (id_, answer.admitted, str(answer.match.id) if answer.match else None)
                for (id_, _), answer in zip(documents, answers, strict=True)
            ]
    return said


def check_answers(index: la.Index, answers: list[Answer], articles: int) -> None:
    """One winner for each article, whom all the others were told."""
    winners = {id_.split("/")[0]: id_ for id_, admitted, _ in answers if admitted}
    assert Counter(id_.split("/")[0] for id_, admitted, _ in answers if admitted) == Counter(map(str, range(articles)))
    assert sorted(map(str, index.ids())) == sorted(winners.values())
    assert all(match == winners[id_.split("/")[0]] for id_, admitted, match in answers if not admitted)
    assert index.check().ok


@pytest.mark.parametrize("batch", [1, 30])
def test_processes_on_one_embedded_store(tmp_path: Path, batch: int) -> None:
    location, articles = str(tmp_path / "store"), 15 if batch == 1 else 240
    la.open(location).close()
    with get_context("spawn").Pool(4) as workers:
        answers = workers.starmap(admit_all, [(location, worker, articles, batch) for worker in range(4)])
    with la.open(location) as index:
        check_answers(index, [each for said in answers for each in said], articles)


@pytest.mark.parametrize("batch", [1, 30])
def test_clients_of_postgres(batch: int) -> None:
    url, articles = empty_database(), 50 if batch == 1 else 300
    la.open(url).close()
    with ThreadPoolExecutor(6) as workers:
        answers = list(workers.map(lambda worker: admit_all(url, worker, articles, batch), range(6)))
    with la.open(url) as index:
        check_answers(index, [each for said in answers for each in said], articles)


@pytest.mark.parametrize("by", ["simhash", "passages"])
def test_clients_of_postgres_by_other_ways(by: str) -> None:
    url = empty_database()
    la.open(url).close()

    def work(worker: int) -> list[bool]:
        with la.open(url) as index:
            return [index.admit(f"{number}/{worker}", text_of(number), by=by).admitted for number in range(12)]

    with ThreadPoolExecutor(6) as workers:
        won = list(workers.map(work, range(6)))
    assert [sum(column) for column in zip(*won, strict=True)] == [1] * 12


@pytest.fixture(scope="module")
def small_server() -> Iterator[Server]:
    """With room for some hundred locks, of which a transaction takes 80 at most: the table of the others' server is left alone."""
    with started_server(max_locks_per_transaction="10", max_connections="20") as server:
        yield server


def locks_of_ours(connection: psycopg.Connection[tuple[int]]) -> int:
    found = connection.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()").fetchone()
    assert found is not None
    return found[0]


@pytest.fixture
def small_store(small_server: Server) -> str:
    url = small_server.url("postgres")
    la.open(url).close()
    return url


@contextmanager
def holding_all_locks(url: str) -> Iterator[psycopg.Connection[tuple[int]]]:
    """A client who holds all that the server has room for."""
    with psycopg.connect(url, autocommit=True) as connection:
        with suppress(psycopg.errors.OutOfMemory):
            connection.execute("SELECT pg_advisory_lock(number, 0) FROM generate_series(1, 1000000) AS number")
        yield connection


LOCK_KEYS = "SELECT lookalike.lock_keys(1, %s)"


def test_a_transaction_takes_its_share_of_the_locks_of_the_server(small_store: str) -> None:
    """One more for the whole of the collection, and another one, a seat, for more than 10, which are everybody's own."""
    with psycopg.connect(small_store) as connection:
        for keys, locks in ((9, 10), (10, 11), (11, 13), (79, 81), (80, 82), (81, 1), (100_000, 1), (None, 1)):
            connection.execute(LOCK_KEYS, (keys and list(range(keys)),))
            assert locks_of_ours(connection) == locks
            connection.rollback()


def test_a_transaction_takes_no_more_in_several_calls(small_store: str) -> None:
    with psycopg.connect(small_store) as connection:
        connection.execute("SELECT lookalike.lock_keys(1, ARRAY[key]) FROM generate_series(1, 80) AS key")
        assert locks_of_ours(connection) == 82
        connection.execute("SELECT lookalike.lock_keys(1, ARRAY[key]) FROM generate_series(81, 10000) AS key")
        assert locks_of_ours(connection) == 83, "that of the whole is held in two ways"
        connection.rollback()
        connection.execute("SAVEPOINT before")
        connection.execute(LOCK_KEYS, (list(range(80)),))
        connection.execute("ROLLBACK TO before")
        connection.execute(LOCK_KEYS, (list(range(60)),))
        assert locks_of_ours(connection) == 62


def test_all_who_take_many_locks_have_half_of_the_table_together(small_store: str) -> None:
    """A server for 20 connections has one seat: a second one waits for it, and whoever needs few locks does not."""
    with psycopg.connect(small_store) as first, psycopg.connect(small_store) as second:
        first.execute(LOCK_KEYS, (list(range(80)),))
        second.execute("SET lock_timeout = '50ms'")
        second.commit()
        second.execute(LOCK_KEYS, (list(range(100, 110)),))
        second.rollback()
        with pytest.raises(psycopg.errors.LockNotAvailable):
            second.execute(LOCK_KEYS, (list(range(100, 111)),))
        second.rollback()
        first.rollback()
        second.execute(LOCK_KEYS, (list(range(100, 111)),))


NO_ROOM = r"try again; if that does not help, raise max_locks_per_transaction in postgresql\.conf"


def test_a_search_that_finds_no_room_for_locks_says_what_to_do(small_store: str) -> None:
    with la.open(small_store) as index:
        index.add("a", text_of(1))
        with holding_all_locks(small_store), pytest.raises(la.StoreBusy, match=NO_ROOM):
            index.search(text_of(1))
        assert [match.id for match in index.search(text_of(1))] == ["a"]
    with holding_all_locks(small_store), pytest.raises(la.StoreBusy, match=NO_ROOM):
        la.open(small_store)


def test_a_database_with_another_isolation_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waited for a lock sees what its last holder has written."""
    levels: list[str] = []
    lock = beside.lock

    def locked(connection: psycopg.Connection[tuple[str]], *values: Any) -> Any:
        levels.extend(level for (level,) in connection.execute("SHOW transaction_isolation"))
        return lock(connection, *values)

    monkeypatch.setattr(beside, "lock", locked)
    url = empty_database()
    with psycopg.connect(url, autocommit=True) as connection:
        # Of this database alone: others use the server at the same time.
        database = sql.Identifier(connection.info.dbname)
        connection.execute(sql.SQL("ALTER DATABASE {} SET default_transaction_isolation = serializable").format(database))
        try:
            with la.open(url) as index:
                assert index.admit("a", text_of(1)).admitted
        finally:
            connection.execute(sql.SQL("ALTER DATABASE {} RESET default_transaction_isolation").format(database))
    assert levels == ["read committed"]


def test_other_clients_who_hold_all_locks_are_waited_for(small_store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many locks as the server has no room for: then one for all of the collection has to do, and that has to wait, too."""
    asked: list[bool] = []
    lock = beside.lock
    monkeypatch.setattr(
        beside, "lock", lambda connection, number, keys, now: (asked.append(keys is None), lock(connection, number, keys, now))[1]
    )
    with la.open(small_store, collection="crowded") as index:
        index.add("first", "a document that is there already and looks like no other")
        with holding_all_locks(small_store) as greedy:
            letting_go = threading.Timer(0.3, greedy.execute, ("SELECT pg_advisory_unlock_all()",))
            letting_go.start()
            answers = index.admit([(number, text_of(number)) for number in range(3)])
            letting_go.join()
        assert [answer.admitted for answer in answers] == [True] * 3
        assert len(index) == 4
    assert asked[:2] == [False, True]
    assert set(asked[1:]) == {True}
    assert len(asked) > 2, "the only lock was to be had at once: the table was not full"


def admit_until_killed(location: str, worker: int, said: int) -> None:
    with la.open(location) as index:
        number = 0
        while True:
            documents = [(f"{each}/{worker}", text_of(each)) for each in range(number, number + 3)]
            for (id_, _), answer in zip(documents, index.admit(documents), strict=True):
                os.write(said, f"{id_} {answer.admitted}\n".encode())
            number += 3


def killed_workers(location: str, least: int, rounds: int) -> list[tuple[str, bool]]:
    """What workers said, two at a time, before both were killed, again and again."""
    heard: list[tuple[str, bool]] = []
    for round_ in range(rounds):
        children = []
        for worker in range(2):
            reading, said = os.pipe()
            child = os.fork()
            if child == 0:
                try:
                    admit_until_killed(location, 2 * round_ + worker, said)
                finally:
                    os._exit(1)
            os.close(said)
            children.append((child, os.fdopen(reading)))
        for _, lines in children:
            heard += [_said(lines.readline()) for _ in range(least)]
        time.sleep(random.Random(round_).uniform(0, 0.02))
        for child, _ in children:
            os.kill(child, signal.SIGKILL)
        for child, lines in children:
            _, status = os.waitpid(child, 0)
            assert os.WTERMSIG(status) == signal.SIGKILL, "a worker ended by itself"
            with lines:
                heard += [_said(line) for line in lines]
    return heard


def _said(line: str) -> tuple[str, bool]:
    id_, admitted = line.split()
    return id_, admitted == "True"


@pytest.mark.parametrize("where", ["disk", "postgres"])
def test_whoever_is_killed_leaves_one_or_none(tmp_path: Path, where: str) -> None:
    """What was acknowledged is there, and there is never a second one of an article, whenever a worker was killed."""
    location = str(tmp_path / "store") if where == "disk" else empty_database()
    la.open(location).close()
    heard = killed_workers(location, 6, 8)
    with la.open(location) as index:
        stored = list(map(str, index.ids()))
        assert len({id_.split("/")[0] for id_ in stored}) == len(stored)
        assert {id_ for id_, admitted in heard if admitted} <= set(stored)
        assert {id_.split("/")[0] for id_, _ in heard} <= {id_.split("/")[0] for id_ in stored}
        assert index.check().ok


def test_the_server_restarts_meanwhile(own_server: Server) -> None:
    """Whoever is asked twice says it once: a transaction whose connection was lost was committed or not, and the answer is that of the end."""
    url, articles = own_server.url("postgres"), 150
    la.open(url).close()
    with ThreadPoolExecutor(5) as workers:
        futures = [workers.submit(admit_all, url, worker, articles, 5) for worker in range(4)]
        for _ in range(3):
            time.sleep(0.3)
            own_server.restart(signal.SIGINT)
        answers = [each for future in futures for each in future.result(timeout=120)]
    with la.open(url) as index:
        check_answers(index, answers, articles)


def test_an_older_store_gets_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with la.open(path) as index:
        index.add([(number, text_of(number)) for number in range(20)])
    database = sqlite3.connect(path / "store.sqlite")
    database.executescript("DROP TABLE members; DROP TABLE expiring; PRAGMA user_version = 2")
    database.close()
    with la.open(path, read_only=True) as index:  # as it is
        assert len(index) == 20
        assert index.search(text_of(3))[0].id == 3
        assert index.cluster_of(3) == la.Cluster(3, ())
        assert not index.kept_clusters()
    with la.open(path) as index:
        assert index.admit("copy", text_of(3), alike="link").match.id == 3
        assert index.cluster_of("copy").kept == 3
        index.add("brief", "some words that are there for an hour", ttl=3600)
        assert index.check().ok


def test_a_new_schema_of_postgres_counts_its_tables() -> None:
    url = empty_database()
    with la.open(url) as index:
        index.admit([(number, text_of(0)) for number in range(3)], alike="link")
        index.remove([1, 2])
        index.compact()
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM lookalike.members").fetchone() == (0,)
