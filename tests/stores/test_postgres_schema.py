"""Schemas of earlier versions are brought up to date: with their documents, once, whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

import lookalike as la
from lookalike.errors import StoreError
from lookalike.stores.postgres import digests, schema
from lookalike.testing import corpus
from postgres_server import empty_database

DOCUMENTS = corpus(80)
OLDER = range(1, schema.VERSION)
KINDS = "simhash,minhash,winnowing,ssdeep,tlsh,structure"  # whose columns and tables are part of the schema
SEARCHES = ("near", "simhash", "passages", "fuzzy")
LATER = ("pieces",)  # columns that are made from others, since a later version
Connection = psycopg.Connection[tuple[Any, ...]]


def moved(connection: Connection, table: str) -> tuple[str, bytes]:
    """What a table has, in those columns that were there from the first version on and that nobody computes."""
    query = (
        "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute"
        f" WHERE attrelid = 'lookalike.{table}'::regclass AND attnum > 0 AND attgenerated = '' AND NOT attisdropped"
        " AND attname <> ALL (%s)"
    )
    found = connection.execute(query, (list(LATER),)).fetchone()
    assert found is not None
    with connection.cursor().copy(f"COPY lookalike.{table} ({found[0]}) TO STDOUT") as copy:
        return found[0], b"".join(copy)


def make_older(url: str, version: int) -> list[la.Matches]:
    """A schema of that version with documents in it. Returns what searches find."""
    with la.open(url, kinds=KINDS) as index:
        index.add(DOCUMENTS)
        expected = [index.search(text, by=by) for by in SEARCHES for _, text in DOCUMENTS[::9]]
    with psycopg.connect(url, autocommit=True) as connection:
        tables = ("collections", "documents", "sketches")
        contents = [moved(connection, table) for table in tables]
        connection.execute("SET client_min_messages = warning")
        connection.execute("DROP SCHEMA lookalike CASCADE")
        connection.execute("CREATE SCHEMA lookalike")
        for step in schema.STEPS[:version]:
            connection.execute(schema.read_step(step))
        connection.execute("INSERT INTO lookalike.format VALUES (%s)", (version,))
        for table, (columns, rows) in zip(tables, contents, strict=True):
            there = moved(connection, table)[0]
            assert columns == there, "columns that came later are to be left out here"
            with connection.cursor().copy(f"COPY lookalike.{table} ({columns}) FROM STDIN") as copy:
                copy.write(rows)
        connection.execute("SELECT setval('lookalike.transactions', 1000)")
        if version >= 8:
            digests.fill(connection)
    return expected


def version_of(url: str) -> int | None:
    with psycopg.connect(url) as connection:
        return schema.read_version(connection)


@pytest.fixture
def url() -> str:
    return empty_database()


@pytest.mark.parametrize("version", OLDER)
def test_an_older_schema_is_brought_up_to_date(url: str, version: int) -> None:
    expected = make_older(url, version)
    with pytest.raises(StoreError, match="open it once for writing"):
        la.open(url, read_only=True)
    assert version_of(url) == version
    with la.open(url) as index:
        assert version_of(url) == schema.VERSION
        assert [index.search(text, by=by) for by in SEARCHES for _, text in DOCUMENTS[::9]] == expected
        assert index.check().ok
        assert index.add([*DOCUMENTS[:5], ("new", "some words that were not there")]) == (1, 5)
    with psycopg.connect(url) as connection:
        targets = "SELECT attstattarget FROM pg_attribute WHERE attrelid = ANY (%s::regclass[]) AND attname = 'collection'"
        tables = ["lookalike.documents", "lookalike.sketches"]
        assert connection.execute(targets, (tables,)).fetchall() == [(0,), (0,)]
        assert schema.missing_indexes(connection) == []


def test_the_index_of_all_bands_gives_way_to_one_for_each(url: str) -> None:
    """In a database that has it, as those of version 11 have."""
    expected = make_older(url, 11)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE INDEX sketches_by_band ON lookalike.sketches USING gin (bands) WITH (fastupdate = off)")
    with la.open(url) as index:
        assert [index.search(text, by=by) for by in SEARCHES for _, text in DOCUMENTS[::9]] == expected
    with psycopg.connect(url) as connection:
        named = "SELECT indexname FROM pg_indexes WHERE schemaname = 'lookalike' AND tablename = 'sketches'"
        found = {name for (name,) in connection.execute(named)}
        assert found == {"sketches_pkey", *(name for name in schema.index_names() if name.startswith("sketches_by_"))}
        assert len(found) == schema.BANDS_APART + 2


def test_functions_of_hot_blocks_are_there_once(url: str) -> None:
    """Since version 13 they have other arguments: those of before would be others of the same name."""
    names = ["simhash_hot_blocks", *(f"simhash_hot_block{block}" for block in range(3))]
    make_older(url, 12)
    with psycopg.connect(url, autocommit=True) as connection:
        for name in names:
            arguments = "collection_number integer, documents bigint, bits integer, low bigint, k integer"
            connection.execute(f"CREATE FUNCTION lookalike.{name}({arguments}) RETURNS SETOF bigint LANGUAGE sql AS 'SELECT 1::bigint'")
    la.open(url).close()
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT proname, count(*) FROM pg_proc WHERE proname = ANY (%s) GROUP BY proname", (names,)).fetchall()
    assert dict(found) == dict.fromkeys(names, 1)


def test_who_could_search_before_version_7_can_search_after_it(url: str) -> None:
    make_older(url, 6)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE ROLE older_reader; GRANT USAGE ON SCHEMA lookalike TO older_reader")
        try:
            connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA lookalike TO older_reader")
            la.open(url).close()
            connection.execute("SET ROLE older_reader")
            assert connection.execute("SELECT count(*) FROM lookalike.search_simhash('default', 5, 64)").fetchone() == (len(DOCUMENTS),)
            connection.execute("RESET ROLE")
            connection.execute("DELETE FROM lookalike.documents WHERE ordinal = (SELECT min(ordinal) FROM lookalike.documents)")
        finally:
            connection.execute("RESET ROLE; DROP OWNED BY older_reader; DROP ROLE older_reader")
    with la.open(url) as index:
        assert len(index) == len(DOCUMENTS) - 1  # deleting is counted from version 7 on


def test_many_who_open_it_at_once_do_it_once(url: str) -> None:
    make_older(url, 1)

    def add(number: int) -> int:
        with la.open(url) as index:
            return index.add([(f"more {number}", f"text number {number}")]).added

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(add, range(4))) == [1] * 4
    with la.open(url) as index:
        assert len(index) == len(DOCUMENTS) + 4
        assert index.check().ok
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT version FROM lookalike.format").fetchall() == [(schema.VERSION,)]


@pytest.fixture
def failing_step(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A version more, with a step that does something and then cannot go on."""
    read = schema._read
    failing = b"ALTER TABLE lookalike.documents ADD COLUMN more integer; DROP TABLE lookalike.sketches; SELECT 1 / 0"
    monkeypatch.setattr(schema, "_read", lambda file: failing if file == "failing.sql" else read(file))
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, "failing.sql"))
    monkeypatch.setattr(schema, "VERSION", len(schema.STEPS))
    yield
    monkeypatch.undo()


def test_a_step_that_fails_leaves_everything_as_it_was(url: str, request: pytest.FixtureRequest) -> None:
    with la.open(url) as index:
        index.add(DOCUMENTS)
        expected = [index.search(text, by=by) for by in SEARCHES for _, text in DOCUMENTS[::9]]
    request.getfixturevalue("failing_step")
    with pytest.raises(StoreError, match="division by zero"):
        la.open(url)
    request.getfixturevalue("monkeypatch").undo()
    with la.open(url) as index:
        assert index.check().ok
        assert [index.search(text, by=by) for by in SEARCHES for _, text in DOCUMENTS[::9]] == expected


def test_a_large_new_collection_is_written_in_linear_time(url: str) -> None:
    """The planner has statistics of a table in which the collection was not yet: ids are looked up one by one all the same."""
    with la.open(url, kinds="simhash", collection="old") as index:
        index.add_simhashes(range(5000), range(5000))
        index.compact()
    with la.open(url, kinds="simhash", collection="new") as index:
        index.add_simhashes(range(3000), range(3000))
        assert index.add_simhashes(range(2000, 5000), range(3000)) == (2000, 1000)
        assert len(index) == 5000
    counted = "SELECT idx_scan, idx_tup_read FROM pg_stat_user_indexes WHERE indexrelid = %s::regclass"
    with psycopg.connect(url, autocommit=True) as connection:
        for _ in range(200):  # the server counts when the connections of the store are gone
            looked_up = connection.execute(counted, ("lookalike.documents_by_id_number",)).fetchone()
            if looked_up and looked_up[0] >= 6000:
                break
            connection.execute("SELECT pg_sleep(0.05)")
        read = connection.execute(counted, ("lookalike.documents_pkey",)).fetchone()
        assert looked_up is not None
        assert read is not None
        assert 6000 <= looked_up[0] < 20_000  # 9 million, if every document were compared with every id
        assert read[1] < 20_000
