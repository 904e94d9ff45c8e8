"""Vectors in PostgreSQL, on a server with pgvector and on one without: the same answers as the embedded store, to the bit."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
import psycopg
import pytest

import lookalike as la
from lookalike.stores.postgres import vectors
from lookalike.testing import VectorContract, corpus, tiny_model
from postgres_server import empty_database, empty_store


@contextmanager
def without_pgvector() -> Iterator[str]:
    """A database in which it may not be made: also on a server that has it, as the package's does where there is no other."""
    url = empty_database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP EXTENSION IF EXISTS vector")
        connection.execute("GRANT CREATE ON SCHEMA public TO PUBLIC")
        try:
            yield url
        finally:
            connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")


@pytest.fixture(params=["with pgvector", "without"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with nullcontext(empty_database(packaged=True)) if request.param == "with pgvector" else without_pgvector() as found:
        yield found


class TestVectorsWithPgvector(VectorContract):
    """The contract without vectors runs on the other server."""

    one_writer = False
    url: str

    @pytest.fixture(autouse=True)
    def database(self) -> None:
        self.url = empty_store(packaged=True)

    def location(self, tmp_path: Path) -> str:
        return self.url


def kind_of(url: str) -> str:
    with psycopg.connect(url) as connection:
        found = connection.execute(vectors.COLUMN).fetchone()
        assert found is not None
        return str(found[0])


def test_the_column_is_what_the_server_has() -> None:
    url = empty_database(packaged=True)
    la.open(url, model=tiny_model()).close()
    assert kind_of(url) == "halfvec"
    with without_pgvector() as url:
        la.open(url, model=tiny_model()).close()
        assert kind_of(url) == "bytea"


def test_a_collection_without_a_model_changes_no_table(url: str, tmp_path: Path) -> None:
    with la.open(url) as index:
        index.add(corpus(5))
        assert index.export(tmp_path / "all.jsonl") == 5
    with psycopg.connect(url) as connection:
        assert connection.execute(vectors.COLUMN).fetchone() is None


def test_vectors_beside_simhashes_alone(url: str) -> None:
    """Without texts and with numbers as ids a document is a SimHash and a vector, and nothing else."""
    documents = [(number, text) for number, (_, text) in enumerate(corpus(40))]
    with la.open(url, model=tiny_model(), kinds="simhash,vector", keep_text=False) as index:
        index.add(documents)
        for number, text in documents[::7]:
            assert index.search(text, by="meaning", limit=1)[0].score == 1.0
            assert number in [match.id for match in index.search(text, by="simhash", k=0)]


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
        assert [index.search(vector=query) for query in made[:50]] == exact  # nobody asked for less
        assert index.search(vector=made[0]).notes == []
        found = [index.search(vector=query, approximate=True) for query in made[:50]]
        assert found[0].notes[0].startswith("approximate:")
        many = index.search_vectors(made[:50], approximate=True)
        assert many.ids.tolist() == [match.id for each in found for match in each]
        shared = sum(len({match.id for match in a} & {match.id for match in b}) for a, b in zip(exact, found, strict=True))
        assert shared >= 0.95 * 500  # of so few a graph finds nearly all; a threshold reads everything
        for a, b in zip(exact, found, strict=True):
            scores = {match.id: match.score for match in a}
            assert all(match.score == scores[match.id] for match in b if match.id in scores)
        assert all(a[0] == b[0] for a, b in zip(exact, found, strict=True))
        counted = index.search(vector=made[0], threshold=0.2, limit=3, approximate=True)
        assert counted.total > 3
        for asked in (counted, index.search(vector=made[0], limit=None, approximate=True)):
            assert asked.notes[0].startswith("exact, though")
        assert index.remove([0]) == 1
        assert index.search(vector=made[0], approximate=True)[0].id != 0
        assert index.check().ok


def test_only_an_approximate_search_uses_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    url = empty_database(packaged=True)
    monkeypatch.setattr(vectors, "GRAPH_FROM", 1000)
    made = np.random.default_rng(4).standard_normal((1200, 32)).astype(np.float32)
    with la.open(url, model=tiny_model(), kinds="vector") as index:
        index.add_vectors(np.arange(1200), made)
        index.compact()
        index.search(vector=made[1])
        index.search(vector=made[1], limit=3, threshold=0.0)
        index.search_vectors(made[:3])
        index.search_vectors(made[:30])
    assert graph_scans(url) == 0
    with psycopg.connect(url) as connection:
        (collection,) = connection.execute("SELECT DISTINCT collection FROM lookalike.documents").fetchone() or (None,)
        kind, schema = connection.execute(vectors.COLUMN).fetchone() or (None, None)
        assert kind == "halfvec"
        query = vectors._shown(np.eye(32, dtype=np.float16)[0].view(np.uint16))
        exact = vectors.ROUGHLY.format(schema=schema)
        through = vectors.THROUGH_GRAPH.format(schema=schema, collection=collection, dimensions=32)
        arguments = {"collection": collection, "query": query, "most": 1.0, "surely": 1.0, "limit": 20}
        connection.execute("SET LOCAL enable_seqscan = off")  # even where the server is kept from reading everything, and from sorting
        connection.execute("SET LOCAL enable_sort = off")
        plans = ["\n".join(line for (line,) in connection.execute(f"EXPLAIN {each}", arguments)) for each in (exact, through)]
    assert ["hnsw" in plan for plan in plans] == [False, True]
    with la.open(url, read_only=True) as index:
        index.search(vector=made[1], approximate=True)
    assert graph_scans(url) == 1


def graph_scans(url: str) -> int:
    """How often the server has used the graph. Its statistics come when a connection has ended."""
    deadline = time.monotonic() + 20
    while True:
        with psycopg.connect(url, autocommit=True) as connection:
            others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            alone = connection.execute(others).fetchone() == (0,)
            used = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname LIKE 'documents_hnsw%'"
            found = connection.execute(used).fetchone()
        if alone or time.monotonic() > deadline:
            assert found is not None
            return int(found[0])
        time.sleep(0.05)


def test_without_a_graph_an_approximate_search_is_exact(url: str) -> None:
    with la.open(url, model=tiny_model(), kinds="vector") as index:
        index.add_vectors(np.arange(50), np.random.default_rng(4).standard_normal((50, 32)))
        found = index.search(vector=np.eye(32)[0], approximate=True)
        assert found == index.search(vector=np.eye(32)[0])
        assert "there is no graph" in found.notes[0]


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
