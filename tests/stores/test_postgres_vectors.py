"""Vectors in PostgreSQL, on a server with pgvector and on one without: the same answers as the embedded store, to the bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import psycopg
import pytest

import lookalike as la
from lookalike.stores.postgres import vectors
from lookalike.testing import VectorContract, corpus, tiny_model
from postgres_server import empty_database


@pytest.fixture(params=["with pgvector", "without"])
def url(request: pytest.FixtureRequest) -> str:
    return empty_database(packaged=request.param == "with pgvector")


class TestVectorsWithPgvector(VectorContract):
    """The contract without vectors runs on the other server."""

    one_writer = False
    url: str

    @pytest.fixture(autouse=True)
    def database(self) -> None:
        self.url = empty_database(packaged=True)

    def location(self, tmp_path: Path) -> str:
        return self.url


def kind_of(url: str) -> str:
    with psycopg.connect(url) as connection:
        found = connection.execute(vectors.COLUMN).fetchone()
        assert found is not None
        return str(found[0])


def test_the_column_is_what_the_server_has() -> None:
    for packaged, kind in ((True, "halfvec"), (False, "bytea")):
        url = empty_database(packaged=packaged)
        la.open(url, model=tiny_model()).close()
        assert kind_of(url) == kind


def test_a_collection_without_a_model_changes_no_table(url: str, tmp_path: Path) -> None:
    with la.open(url) as index:
        index.add(corpus(5))
        assert index.export(tmp_path / "all.jsonl") == 5
    with psycopg.connect(url) as connection:
        assert connection.execute(vectors.COLUMN).fetchone() is None


def test_every_answer_is_that_of_the_embedded_store(url: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    made = rng.standard_normal((2000, 32)).astype(np.float32)
    made[500:700] = made[3]  # more at one distance than a server is asked for at first
    made[700:900] = made[4] + 1e-4 * rng.standard_normal((200, 32))  # and many at nearly one
    with (
        la.open(tmp_path / "store", model=tiny_model(), kinds="vector") as embedded,
        la.open(url, model=tiny_model(), kinds="vector") as other,
    ):
        for index in (embedded, other):
            index.add_vectors(np.arange(2000), made)
            index.remove(list(range(0, 2000, 7)))
        for query in (*made[:8], made[650], made[750], rng.standard_normal(32), np.zeros(32)):
            for threshold in (None, 0.0, 0.3, 0.9999, 1.0):
                for limit in (1, 10, 250, None):
                    left, right = (each.search(vector=query, threshold=threshold, limit=limit) for each in (embedded, other))
                    assert left == right
                    assert left.total == right.total
        for count in (1, 20):
            left, right = (each.search_vectors(made[:count], limit=5, threshold=0.1) for each in (embedded, other))
            assert [each.tolist() for each in left] == [each.tolist() for each in right]
        assert other.clusters(by="meaning", threshold=0.99) == embedded.clusters(by="meaning", threshold=0.99)


def test_compacting_makes_a_graph_of_many_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    url = empty_database(packaged=True)
    monkeypatch.setattr(vectors, "GRAPH_FROM", 1000)
    made = np.random.default_rng(4).standard_normal((1200, 32)).astype(np.float32)
    with la.open(url, model=tiny_model(), kinds="vector") as index:
        index.add_vectors(np.arange(900), made[:900])
        index.compact()
        exact = [index.search(vector=query) for query in made[:50]]
        assert graphs(url) == 0
        index.add_vectors(np.arange(900, 1200), made[900:])
        exact = [index.search(vector=query) for query in made[:50]]
        index.compact()
        index.compact()
        assert graphs(url) == 1
        found = [index.search(vector=query) for query in made[:50]]
        shared = sum(len({match.id for match in a} & {match.id for match in b}) for a, b in zip(exact, found, strict=True))
        assert shared >= 0.95 * 500  # of so few a graph finds nearly all; a threshold reads everything
        assert all(a[0] == b[0] for a, b in zip(exact, found, strict=True))
        counted = index.search(vector=made[0], threshold=0.2, limit=3)
        assert counted.total > 3
        assert index.remove([0]) == 1
        assert index.search(vector=made[0])[0].id != 0
        assert index.check().ok


def graphs(url: str) -> int:
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%hnsw%'").fetchone()
        return int(found[0]) if found else 0


def test_a_damaged_vector_is_named(url: str) -> None:
    with la.open(url, model=tiny_model(), kinds="vector") as index:
        index.add_vectors([1, 2], np.eye(32)[:2])
        wrong = "'[1,2]'" if kind_of(url) == "halfvec" else "'\\x0102'"
        with psycopg.connect(url) as connection:
            connection.execute(f"UPDATE lookalike.documents SET vector = {wrong} WHERE id_number = 1")
        with pytest.raises(la.LookalikeError):
            index.search(vector=np.eye(32)[0])
