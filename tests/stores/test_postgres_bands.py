"""Bands in the database: whatever their number, each of them leads to the sketches that have it, through an index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.stores.postgres import schema
from lookalike.testing import corpus
from postgres_server import empty_database

DOCUMENTS = corpus(60)
SHARING = "SELECT digest, shared FROM lookalike.sketches_sharing(%s, %s::bigint[], 100, 1)"
ANY = "SELECT bands FROM lookalike.sketches_sharing_any(%s, %s::bigint[], %s, 1000)"
MOST = schema.BANDS_APART + 4  # of a sketch here: some beyond those with an index of their own
Connection = psycopg.Connection[tuple[Any, ...]]


@pytest.fixture(scope="module")
def connection() -> Iterator[Connection]:
    """Sketches of few, many and very many bands in two collections, of few different keys."""
    url = empty_database()
    la.open(url, kinds="minhash").close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET enable_seqscan = off; SET jit = off")
        for collection in (1, 2):
            for digest in range(60):
                bands = [1000 * band + (digest * 7 + band * collection) % 11 for band in range((3, schema.BANDS_APART, MOST)[digest % 3])]
                connection.execute("INSERT INTO lookalike.sketches VALUES (%s, %s, %s::bigint[])", (collection, digest, bands))
                document = "INSERT INTO lookalike.documents (collection, ordinal, id_number, digest) VALUES (%s, %s, %s, %s)"
                connection.execute(document, (collection, digest, digest, digest))
        yield connection


def sketches(connection: Connection, collection: int) -> dict[int, list[int]]:
    return dict(connection.execute("SELECT digest, bands FROM lookalike.sketches WHERE collection = %s", (collection,)).fetchall())


keys = st.integers(1, MOST).flatmap(
    lambda count: st.lists(st.tuples(*(st.integers(1000 * band, 1000 * band + 40) for band in range(count))), min_size=1, max_size=5)
)


@settings(deadline=None, max_examples=60)
@given(collection=st.sampled_from([1, 2]), queries=keys)
def test_they_find_what_comparing_all_finds(connection: Connection, collection: int, queries: list[tuple[int, ...]]) -> None:
    there = sketches(connection, collection)
    for query in queries:
        expected = {digest: len(set(bands) & set(query)) for digest, bands in there.items() if set(bands) & set(query)}
        assert dict(connection.execute(SHARING, (collection, list(query))).fetchall()) == expected
    by_band = [query[band] for band in range(len(queries[0])) for query in queries]
    found = connection.execute(ANY, (collection, by_band, len(queries))).fetchall()
    assert sorted(bands for (bands,) in found) == sorted(bands for bands in there.values() if set(bands) & set(by_band))


@pytest.mark.parametrize("function", ["sharing", "any"])
def test_each_band_is_looked_up_once_in_its_index(connection: Connection, function: str) -> None:
    query = [1000 * band for band in range(MOST)]
    with connection.transaction():
        before = scans(connection)
        connection.execute(*((SHARING, (1, query)) if function == "sharing" else (ANY, (1, query, 1))))
        made = {name: count - before[name] for name, count in scans(connection).items()}
    assert made == {name: int(name.startswith("sketches_by_")) for name in made}
    assert len(made) == schema.BANDS_APART + 3  # the table itself, the primary key, and that of more bands


def scans(connection: Connection) -> dict[str, int]:
    """How often the table and each of its indexes were read; the table alone counts when all of it is."""
    query = """
SELECT relname, pg_stat_get_xact_numscans(oid) FROM pg_class WHERE oid = 'lookalike.sketches'::regclass
UNION ALL
SELECT relname, pg_stat_get_xact_numscans(oid) FROM pg_class JOIN pg_index ON indexrelid = oid WHERE indrelid = 'lookalike.sketches'::regclass
"""
    return dict(connection.execute(query).fetchall())


@pytest.mark.parametrize(("threshold", "bands"), [(0.9, 12), (0.8, 21), (0.7, 32), (0.5, 42)])
def test_any_number_of_bands_finds_the_same_as_in_the_embedded_store(tmp_path: Path, threshold: float, bands: int) -> None:
    changed = [" ".join(text.split()[1:]) for _, text in DOCUMENTS]
    with la.open(empty_database(), threshold=threshold) as ours, la.open(tmp_path / "store", threshold=threshold) as embedded:
        assert ours.settings["bands"] == bands
        for index in (ours, embedded):
            index.add(DOCUMENTS[:30])
        for text in changed:
            assert ours.search(text) == embedded.search(text)
        assert ours.admit(DOCUMENTS[20:]) == embedded.admit(DOCUMENTS[20:])
        assert ours.check().ok
