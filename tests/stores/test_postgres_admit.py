"""Asking and adding through the library and from SQL at once: of alike documents one is added, whoever comes with them, and nobody waits in a circle."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.stores.kinds.base import Options
from lookalike.stores.kinds.simhash import _BySimhash
from lookalike.stores.settings import Settings
from postgres_server import Server, empty_database

WORDS = [f"word{number}" for number in range(400)]
Answer = tuple[int, bool, int | None]  # id, whether it was admitted, and what kept it out
CLIENT = 1_000_000  # ids of the first client's copies begin here, those of the second at twice as many …


def text_of(article: int) -> str:
    draw = random.Random(article)
    return " ".join(draw.choice(WORDS) for _ in range(60))


def signed(value: int) -> int:
    return value - (value >> 63 << 64)


def in_order(client: int, articles: int, batch: int) -> Iterator[list[int]]:
    """All articles, in an order of the client's own, a few at a time."""
    order = random.Random(client).sample(range(articles), articles)
    return (order[first : first + batch] for first in range(0, articles, batch))


def through_the_library(url: str, client: int, articles: int, batch: int, k: int) -> list[Answer]:
    said: list[Answer] = []
    with la.open(url) as index:
        for part in in_order(client, articles, batch):
            documents = [(client * CLIENT + number, text_of(number)) for number in part]
            answers = index.admit(documents, by="simhash", k=k)
            said += [
                (id_, answer.admitted, int(answer.match.id) if answer.match else None)
                for (id_, _), answer in zip(documents, answers, strict=True)
            ]
    return said


def ask_sql(connection: psycopg.Connection[Any], client: int, part: list[int], k: int) -> list[Answer]:
    """Each fingerprint with a bit of this client's own changed: any two of an article differ in two bits at most."""
    ids = [client * CLIENT + number for number in part]
    values = [signed(int(la.simhash(text_of(number))) ^ 1 << (client * 7 + number) % 64) for number in part]
    query = "SELECT id, admitted, match_number FROM lookalike.admit_simhashes('default', %s::bigint[], %s::bigint[], %s)"
    return connection.execute(query, (ids, values, k)).fetchall()


def from_sql(url: str, client: int, articles: int, batch: int, k: int) -> list[Answer]:
    with psycopg.connect(url, autocommit=True) as connection:
        return [answer for part in in_order(client, articles, batch) for answer in ask_sql(connection, client, part, k)]


def check_answers(index: la.Index, answers: list[Answer], articles: int) -> None:
    """One winner for each article, whom all the others were told."""
    winners = {id_ % CLIENT: id_ for id_, admitted, _ in answers if admitted}
    assert Counter(id_ % CLIENT for id_, admitted, _ in answers if admitted) == Counter(range(articles))
    assert sorted(index.ids()) == sorted(winners.values())
    assert len(index) == articles
    assert all(match == winners[id_ % CLIENT] for id_, admitted, match in answers if not admitted)
    assert index.check().ok


# Two bits apart, or none: clients may use whatever k from 2 on.
CLIENTS = (
    (through_the_library, 1, 3),
    (from_sql, 1, 2),
    (through_the_library, 30, 5),
    (from_sql, 20, 3),
    (from_sql, 20, 9),
    (from_sql, 1, 6),
)


@pytest.mark.parametrize("same_k", [True, False])
def test_clients_of_both_kinds(same_k: bool) -> None:
    """Thousands of alike documents; the server counts the deadlocks that it had to end."""
    url, articles = empty_database(), 500
    la.open(url, kinds="simhash").close()
    with psycopg.connect(url, autocommit=True) as connection:
        deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        before = connection.execute(deadlocks).fetchone()
        with ThreadPoolExecutor(len(CLIENTS)) as threads:
            asked = [
                threads.submit(how, url, client, articles, batch, 3 if same_k else k) for client, (how, batch, k) in enumerate(CLIENTS, 1)
            ]
            answers = [answer for each in asked for answer in each.result(timeout=300)]
        connection.execute("SELECT pg_stat_clear_snapshot()")
        assert connection.execute(deadlocks).fetchone() == before
    assert len(answers) == 3000
    with la.open(url) as index:
        check_answers(index, answers, articles)


def until_the_server_is_back(url: str, work: Callable[[psycopg.Connection[Any]], list[Answer]]) -> list[Answer]:
    """What SQL clients do: connect again and ask again. Whoever finds his own id there had been told so before he could hear it."""
    while True:
        try:
            with psycopg.connect(url, autocommit=True) as connection:
                return work(connection)
        except psycopg.OperationalError:
            time.sleep(0.05)


def test_the_server_restarts_meanwhile(own_server: Server) -> None:
    url, articles = own_server.url("postgres"), 120
    la.open(url, kinds="simhash").close()

    def patiently(client: int) -> list[Answer]:
        return [
            answer
            for part in in_order(client, articles, 4)
            for answer in until_the_server_is_back(url, lambda connection, part=part: ask_sql(connection, client, part, 3))  # type: ignore[misc]
        ]

    with ThreadPoolExecutor(5) as threads:
        asked = [threads.submit(through_the_library, url, client, articles, 4, 3) for client in (1, 2)]
        asked += [threads.submit(patiently, client) for client in (3, 4)]
        for how in (signal.SIGINT, signal.SIGQUIT, signal.SIGINT):
            time.sleep(0.4)
            own_server.restart(how)
        answers = [answer for each in asked for answer in each.result(timeout=120)]
    # A SQL client who lost the answer and asked again is told of his own document: then it had been admitted.
    answers = [(id_, admitted or match == id_, None if match == id_ else match) for id_, admitted, match in answers]
    with la.open(url) as index:
        check_answers(index, answers, articles)


def test_whoever_is_killed_leaves_one_or_none() -> None:
    url = empty_database()
    la.open(url, kinds="simhash").close()
    heard: list[Answer] = []
    for round_ in range(6):
        children = []
        for place, how in enumerate((through_the_library, from_sql)):
            reading, said = os.pipe()
            child = os.fork()
            if child == 0:
                try:
                    client = 2 * round_ + place + 1
                    for first in range(0, 3000, 3):
                        answers = _three(how, url, client, first)
                        os.write(said, "".join(f"{id_} {int(admitted)}\n" for id_, admitted, _ in answers).encode())
                finally:
                    os._exit(1)
            os.close(said)
            children.append((child, os.fdopen(reading)))
        for _, lines in children:
            heard += [_said(lines.readline()) for _ in range(6)]
        time.sleep(random.Random(round_).uniform(0, 0.02))
        for child, _ in children:
            os.kill(child, signal.SIGKILL)
        for child, lines in children:
            _, status = os.waitpid(child, 0)
            assert os.WTERMSIG(status) == signal.SIGKILL, "a client ended by itself"
            with lines:
                heard += [_said(line) for line in lines if line.endswith("\n")]
    with la.open(url) as index:
        stored = [int(id_) for id_ in index.ids()]
        assert len({id_ % CLIENT for id_ in stored}) == len(stored) == len(index)
        assert {id_ for id_, admitted, _ in heard if admitted} <= set(stored)
        assert {id_ % CLIENT for id_, *_ in heard} <= {id_ % CLIENT for id_ in stored}
        assert index.check().ok


def _three(how: Callable[..., list[Answer]], url: str, client: int, first: int) -> list[Answer]:
    part = [first, first + 1, first + 2]
    if how is from_sql:
        with psycopg.connect(url, autocommit=True) as connection:
            return ask_sql(connection, client, part, 3)
    with la.open(url) as index:
        documents = [(client * CLIENT + number, text_of(number)) for number in part]
        return [(id_, answer.admitted, None) for (id_, _), answer in zip(documents, index.admit(documents, by="simhash"), strict=True)]


def _said(line: str) -> Answer:
    id_, admitted = line.split()
    return int(id_), admitted == "1", None


def keys_of(values: list[int], bits: int, k: int) -> np.ndarray[Any, Any] | None:
    words = [np.frombuffer(value.to_bytes(max(bits // 8, 8), "little"), dtype=np.uint64) for value in values]
    return _BySimhash().collision_keys([(each, None) for each in words], Settings(kinds=("simhash",), bits=bits), Options(k, None, 1))


@pytest.fixture(scope="module")
def connection() -> Iterator[psycopg.Connection[Any]]:
    url = empty_database()
    la.open(url).close()
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


@given(st.sampled_from([32, 64]), st.data(), st.integers(0, 16))
def test_both_compute_the_same_keys(connection: psycopg.Connection[Any], bits: int, data: st.DataObject, k: int) -> None:
    values = data.draw(st.lists(st.integers(0, 2**bits - 1), min_size=1, max_size=5))
    found = connection.execute(
        "SELECT lookalike.collision_keys(%s::bigint[], %s, %s)", ([signed(value) for value in values], bits, k)
    ).fetchone()
    own = keys_of(values, bits, k)
    assert found is not None
    assert (None if own is None else set(own.reshape(-1).tolist())) == (None if found[0] is None else set(found[0]))


@given(st.sampled_from([32, 64, 128]), st.data(), st.integers(0, 7), st.integers(0, 7))
def test_what_is_near_has_a_key_in_common(bits: int, data: st.DataObject, k: int, other_k: int) -> None:
    value = data.draw(st.integers(0, 2**bits - 1))
    flips = data.draw(st.sets(st.integers(0, bits - 1), max_size=min(k, other_k)))
    mine, others = keys_of([value], bits, k), keys_of([value ^ sum(1 << bit for bit in flips)], bits, other_k)
    assert mine is not None
    assert others is not None
    assert set(mine[0].tolist()) & set(others[0].tolist())
