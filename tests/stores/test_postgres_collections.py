"""Collections from SQL alone: made, filled, emptied, asked and added to at once, and counted whoever deletes."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

import lookalike as la
from lookalike.errors import StoreError
from lookalike.testing import corpus
from postgres_server import empty_database

Connection = psycopg.Connection[tuple[Any, ...]]


@pytest.fixture
def url() -> str:
    url = empty_database()
    la.open(url, collection="other").close()
    return url


@pytest.fixture
def connection(url: str) -> Iterator[Connection]:
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def one(connection: Connection, query: str, *arguments: Any) -> Any:
    found = connection.execute(query, arguments).fetchone()
    return found[0] if found and len(found) == 1 else found


@pytest.mark.parametrize("bits", [32, 64, 128])
def test_a_collection_is_what_the_library_would_make(url: str, connection: Connection, bits: int) -> None:
    one(connection, "SELECT lookalike.create_collection('made', %s)", bits)
    with (
        la.open(url, collection="made", create=False) as index,
        la.open("memory://", kinds="simhash", bits=bits, keep_text=False) as memory,
    ):
        assert index.settings == memory.settings
        assert len(index) == 0
    with pytest.raises(psycopg.errors.DuplicateObject):
        connection.execute("SELECT lookalike.create_collection('made')")
    assert one(connection, "SELECT lookalike.drop_collection('made')") == 0
    with pytest.raises(StoreError, match="no collection 'made'"):
        la.open(url, collection="made", create=False)


def test_wrong_collections_are_refused(connection: Connection) -> None:
    for arguments in (("", 64), ("x", 63), ("x" * 201, 64), ("x", None), (None, 64)):
        with pytest.raises(psycopg.errors.DataException):
            connection.execute("SELECT lookalike.create_collection(%s, %s)", arguments)
    for query in ("SELECT lookalike.drop_collection('nothing')", "SELECT lookalike.remove('nothing', ARRAY[1])"):
        with pytest.raises(psycopg.Error, match="no collection 'nothing'"):
            connection.execute(query)


def test_ids_of_every_type(url: str, connection: Connection) -> None:
    one(connection, "SELECT lookalike.create_collection('made')")
    uuids = [uuid.UUID(int=number) for number in range(3)]
    assert one(connection, "SELECT lookalike.add_simhashes('made', %s::bigint[], %s::bigint[])", [1, 2, 1], [7, 8, 9]) == 2
    assert one(connection, "SELECT lookalike.add_simhashes('made', %s::uuid[], %s::bigint[])", uuids, [1, 2, 3]) == 3
    assert one(connection, "SELECT lookalike.add_simhashes('made', ARRAY['a', '1'], ARRAY[B'1'::bit(64), 5::bit(64)])") == 2
    assert one(connection, "SELECT lookalike.add_simhashes('made', %s::uuid[], %s::bigint[])", uuids[:1], [77]) == 0
    with la.open(url, collection="made") as index:
        assert sorted(map(str, index.ids())) == sorted(["1", "2", *map(str, uuids), "a", "1"])
        assert index.search(simhash=1 << 63, k=0)[0].id == "a"
        assert index.search(simhash=9, k=0)[0].id == 1
        assert index.search(simhash=77, k=0)[0].id == str(uuids[0])
    assert one(connection, "SELECT lookalike.remove('made', %s::uuid[])", uuids) == 3
    assert one(connection, "SELECT lookalike.remove('made', %s::text[])", ["a", "nothing"]) == 1
    assert one(connection, "SELECT lookalike.remove('made', %s::bigint[])", [1, 5]) == 1
    with la.open(url, collection="made") as index:
        assert list(index.ids()) == [2, "1"]
        assert len(index) == 2
        assert index.check().ok
    with pytest.raises(psycopg.Error, match="2 ids and 1 fingerprints"):
        connection.execute("SELECT lookalike.add_simhashes('made', ARRAY[1, 2], ARRAY[1]::bigint[])")


def test_fingerprints_of_32_bits_have_no_sign(url: str, connection: Connection, tmp_path: Path) -> None:
    one(connection, "SELECT lookalike.create_collection('made', 32)")
    one(connection, "SELECT lookalike.add_simhashes('made', ARRAY[1, 2], ARRAY[-1, 5]::bigint[])")
    assert connection.execute("SELECT * FROM lookalike.admit_simhash('made', 3, -2, 3)").fetchall() == [(False, "1", 1, 1)]
    for q in (-1, 0xFFFFFFFF):
        found = connection.execute("SELECT id_number, distance FROM lookalike.search_simhash('made', %s::bigint, 3)", (q,)).fetchall()
        assert found == [(1, 0)]
    with la.open(url, collection="made") as index:
        assert index.search(simhash=0xFFFFFFFF)[0].id == 1
        assert index.export(tmp_path / "out.jsonl") == 2
        assert index.check().ok
    for query in (
        "SELECT lookalike.add_simhashes('made', ARRAY[1], ARRAY[4294967296])",
        "SELECT lookalike.admit_simhash('made', 1, -2147483649, 3)",
        "SELECT lookalike.search_simhash('made', 4294967296, 3)",
    ):
        with pytest.raises(psycopg.errors.DataException, match="has more bits than the collection"):
            connection.execute(query)


def test_what_the_library_cannot_keep_is_refused(url: str, connection: Connection) -> None:
    one(connection, "SELECT lookalike.create_collection('made')")
    for ids in ("ARRAY['a', '']", "ARRAY[repeat('x', 2049), 'a']", "ARRAY['a', NULL]", "ARRAY[1, NULL]::bigint[]"):
        for function in ("add_simhashes", "admit_simhashes"):
            with pytest.raises(psycopg.errors.DataException, match="an id is NULL, empty or longer than 2048 bytes"):
                connection.execute(f"SELECT lookalike.{function}('made', {ids}, ARRAY[1, 1 << 40]::bigint[])")
    for function in ("add_simhashes", "admit_simhashes"):
        with pytest.raises(psycopg.errors.DataException, match="a fingerprint is NULL"):
            connection.execute(f"SELECT lookalike.{function}('made', ARRAY[1, 2], ARRAY[1, NULL]::bigint[])")
    with la.open(url, collection="made") as index:
        assert len(index) == 0
        connection.execute("SELECT lookalike.drop_collection('made')")
        with pytest.raises(la.StoreError, match="any more"):
            index.check()


def test_a_setting_says_what_is_near(connection: Connection) -> None:
    one(connection, "SELECT lookalike.create_collection('made')")
    one(connection, "SELECT lookalike.add_simhashes('made', ARRAY[1, 2, 3], ARRAY[0, 15, 31]::bigint[])")
    near = "SELECT count(*) FROM lookalike.search_simhash('made', 0::bigint)"
    alike = "SELECT lookalike.alike(0, 15), lookalike.alike(0::bit(64), 15::bit(64))"
    assert one(connection, near) == 1
    assert one(connection, alike) == (False, False)
    connection.execute("SET lookalike.k = 4")
    assert one(connection, near) == 2
    assert one(connection, alike) == (True, True)
    assert one(connection, "SELECT count(*) FROM lookalike.search_simhash('made', 0::bit(64), 5)") == 3
    connection.execute("RESET lookalike.k")
    assert one(connection, near) == 1


def test_what_has_expired_is_not_found(url: str, connection: Connection) -> None:
    """Not by a search from SQL, and it keeps nobody out."""
    with la.open(url, collection="news", kinds="simhash") as index:
        index.add("old", corpus(1)[0][1], ttl=0.001)
        index.add("new", corpus(1)[0][1], ttl=3600)
        value = int(la.simhash(corpus(1)[0][1]))
        signed = value - (value >> 63 << 64)
        assert connection.execute("SELECT id FROM lookalike.search_simhash('news', %s::bigint, 3)", (signed,)).fetchall() == [("new",)]
        index.remove("new")
        assert one(connection, "SELECT admitted FROM lookalike.admit_simhash('news', 'again', %s::bigint, 3)", signed) is True
        assert connection.execute("SELECT id FROM lookalike.search_simhash('news', %s::bigint, 3)", (signed,)).fetchall() == [("again",)]


def test_it_joins(connection: Connection) -> None:
    one(connection, "SELECT lookalike.create_collection('made')")
    one(connection, "SELECT lookalike.add_simhashes('made', ARRAY[1, 2, 3], ARRAY[0, 1, -1]::bigint[])")
    found = connection.execute(
        "SELECT q, s.id_number, s.distance FROM unnest(ARRAY[0, -1]::bigint[]) AS q, LATERAL lookalike.search_simhash('made', q, 1) AS s"
    ).fetchall()
    assert found == [(0, 1, 0), (0, 2, 1), (-1, 3, 0)]


def test_one_of_many_alike_is_admitted(url: str, connection: Connection) -> None:
    """Forty families of near fingerprints, from eight sessions at once and in another order in each: one of each family is added, and the
    others are told which one."""
    one(connection, "SELECT lookalike.create_collection('made')")
    chance = random.Random(3)
    bases = [chance.getrandbits(63) for _ in range(40)]

    def session(number: int) -> list[tuple[int, bool, Any, Any]]:
        order = random.Random(number).sample(range(40), 40)
        answers = []
        with psycopg.connect(url, autocommit=True) as own:
            for family in order:
                value = bases[family] ^ 1 << random.Random(number * 41 + family).randrange(63)  # any two differ in two bits, or none
                answer = own.execute(
                    "SELECT * FROM lookalike.admit_simhash('made', %s::bigint, %s::bigint, 3)", (family * 100 + number, value)
                ).fetchone()
                assert answer is not None
                answers.append((family * 100 + number, *answer))
        return answers

    with ThreadPoolExecutor(8) as threads:
        answers = [answer for found in threads.map(session, range(8)) for answer in found]
    admitted = [id_ for id_, yes, *_ in answers if yes]
    assert sorted(id_ // 100 for id_ in admitted) == list(range(40))
    kept = {id_ // 100: id_ for id_ in admitted}
    assert all(match_number == kept[id_ // 100] and distance <= 3 for id_, yes, _, match_number, distance in answers if not yes)
    with la.open(url, collection="made") as index:
        assert sorted(index.ids()) == sorted(admitted)
        assert len(index) == 40


def test_many_are_admitted_in_order(connection: Connection) -> None:
    one(connection, "SELECT lookalike.create_collection('made')")
    query = "SELECT * FROM lookalike.admit_simhashes('made', %s::text[], %s::bigint[], %s)"
    found = connection.execute(query, (["a", "b", "c"], [0, 1, -1], 3)).fetchall()
    assert found == [("a", True, None, None, None), ("b", False, "a", None, 1), ("c", True, None, None, None)]
    assert [row[1] for row in connection.execute(query, (["d", "e"], [1 << 40, 0xFFFFF], 20)).fetchall()] == [False, False]
    connection.execute("SET default_transaction_isolation = 'repeatable read'")
    with pytest.raises(psycopg.errors.InvalidTransactionState):
        connection.execute(query, (["f"], [12345], 3))
    connection.execute("RESET default_transaction_isolation")
    with pytest.raises(psycopg.errors.DataException):
        connection.execute(query, (["f"], [12345], -1))


def test_whoever_deletes_is_counted(url: str, connection: Connection) -> None:
    documents = corpus(50)
    with la.open(url) as index, la.open(url, collection="second") as second:
        index.add(documents)
        second.add(documents)
        connection.execute(
            "DELETE FROM lookalike.documents d USING lookalike.collections c WHERE c.name = 'default' AND c.number = d.collection AND id_text = ANY (%s)",
            ([str(id_) for id_, _ in documents[:7]],),
        )
        assert len(index) == 43
        assert len(second) == 50
        assert index.remove([documents[10][0]]) == 1  # counted once
        index.add([documents[11]])
        assert len(index) == 42
        with connection.transaction(force_rollback=True):
            connection.execute("DELETE FROM lookalike.documents")
        assert len(index) == 42
        assert index.check().ok
        with connection.transaction():  # what counts by itself, and then what does not
            connection.execute("SELECT lookalike.create_collection('made')")
            connection.execute("SELECT lookalike.add_simhashes('made', ARRAY[1, 2], ARRAY[1, 2]::bigint[])")
            connection.execute("SELECT lookalike.remove('made', ARRAY[1])")
            connection.execute("DELETE FROM lookalike.documents WHERE id_number = 2")
            counted = connection.execute("SELECT documents FROM lookalike.collections WHERE name = 'made'").fetchone()
            assert counted == (0,)
        connection.execute("TRUNCATE lookalike.documents")
        assert len(index) == len(second) == 0


def test_dropping_takes_everything_of_a_collection_and_nothing_else(url: str, connection: Connection) -> None:
    documents = corpus(30)
    with la.open(url) as index, la.open(url, collection="second", keyed=True) as second:
        index.add(documents)
        index.add("page", la.page("<html><body><p>some text of a page</p></body></html>"))
        second.add(documents)
        assert la.drop_collection(url, "default") == 31
        assert len(second) == 30
        assert second.check().ok
        with pytest.raises(StoreError, match="any more"):
            index.add(documents)
    tables = [
        name
        for (name,) in connection.execute("SELECT relname FROM pg_class WHERE relnamespace = 'lookalike'::regnamespace AND relkind = 'r'")
    ]
    for table in tables:
        columns = [
            name
            for (name,) in connection.execute("SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass", (f"lookalike.{table}",))
        ]
        if "collection" in columns:
            left = {number for (number,) in connection.execute(f"SELECT DISTINCT collection FROM lookalike.{table}")}
            assert left <= {number for (number,) in connection.execute("SELECT number FROM lookalike.collections")}


def test_functions_know_aliases(url: str, connection: Connection) -> None:
    """Whatever the alias leads to; dropping it drops nothing else."""
    connection.execute("SELECT lookalike.create_collection('old'), lookalike.create_collection('new')")
    names = la.collections(url)
    names.alias("current", "old")
    assert one(connection, "SELECT lookalike.add_simhashes('current', ARRAY[1, 2], ARRAY[5, 1000]::bigint[])") == 2
    names.alias("current", "new")
    assert one(connection, "SELECT admitted FROM lookalike.admit_simhash('current', 3, 5::bigint)") is True
    assert one(connection, "SELECT admitted FROM lookalike.admit_simhash('current', 4, 4::bigint)") is False
    assert connection.execute("SELECT id, distance FROM lookalike.search_simhash('current', 5::bigint, 1)").fetchall() == [("3", 0)]
    assert connection.execute("SELECT id, distance FROM lookalike.search_simhash('old', 5::bigint, 1)").fetchall() == [("1", 0)]
    assert one(connection, "SELECT lookalike.remove('current', ARRAY[3, 2])") == 1
    for call in (
        "create_collection('current')",
        "search_simhash('nobody', 1::bigint)",
        "remove('nobody', ARRAY[1])",
        "drop_collection('nobody')",
    ):
        with pytest.raises(psycopg.Error, match=r"or an alias 'current'|no collection 'nobody'"):
            connection.execute(f"SELECT lookalike.{call}")
    assert one(connection, "SELECT lookalike.drop_collection('current')") == 0
    assert (list(names), names.aliases) == (["new", "old", "other"], {})
    connection.execute("CREATE TABLE public.texts (id int, body text)")
    connection.execute("INSERT INTO public.texts VALUES (1, 'the ferry to the island leaves at noon and comes back in the evening')")
    connection.execute("SELECT lookalike.index_table('public.texts', 'body', 'id', 'text')")
    names.alias("pages", "texts")
    near = "SELECT id FROM lookalike.search_near('pages', 'the ferry to the island leaves at noon and comes back in the evening')"
    assert one(connection, near) == "1"
    with pytest.raises(psycopg.Error, match="or an alias 'pages'"):
        connection.execute("SELECT lookalike.index_table('public.texts', 'body', 'id', 'text', 'pages')")
