"""What can be called from psql: exact Hamming searches through the blocks, and smlar's similarities of arrays."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import psycopg
import pytest

import lookalike as la
from lookalike.measures.smlar import smlar_cosine, smlar_overlap, smlar_tfidf
from lookalike.stores.postgres import schema
from postgres_server import empty_store

Connection = psycopg.Connection[tuple[Any, ...]]


@pytest.fixture
def url() -> str:
    return empty_store()


@pytest.fixture
def connection(url: str) -> Iterator[Connection]:
    la.open(url).close()
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def brute_force(values: list[int], query: int, k: int) -> list[tuple[str, int]]:
    found = sorted(((value ^ query).bit_count(), number) for number, value in enumerate(values) if (value ^ query).bit_count() <= k)
    return [(str(number), distance) for distance, number in found]


def fingerprints(bits: int, count: int) -> list[int]:
    """Random ones, ones near to those, and a tenth that share a block: the hot one."""
    chance = random.Random(bits)
    values = [chance.getrandbits(bits) for _ in range(count)]
    for number in range(0, count, 3):
        values[number] = values[number - 1 if number else 5]
        for _ in range(chance.randrange(9)):
            values[number] ^= 1 << chance.randrange(bits)
    block = 0x7FF | 0x3FF << 32
    for number in range(0, count, 10):
        values[number] &= ~block
    return values


@pytest.mark.parametrize("bits", [32, 64, 128])
def test_searches_are_exact_for_every_k(bits: int, url: str) -> None:
    values = fingerprints(bits, 26_000)  # enough for blocks to be hot
    words = [[value & (1 << 64) - 1, value >> 64] for value in values] if bits == 128 else values
    with la.open(url, bits=bits, kinds="simhash") as index:
        index.add_simhashes(range(len(values)), np.array(words, dtype=np.uint64))
    chance = random.Random(1)
    queries = [
        values[0],
        values[10] ^ 1 << 7,
        values[20] ^ 0b11 << 9,
        *(chance.choice(values) ^ 1 << chance.randrange(bits) for _ in range(4)),
    ]
    with psycopg.connect(url) as connection:
        for k in (0, 1, 2, 3, 4, 5, 6, 8, 11, 16, 19):
            for query in queries:
                high = signed(query >> 64) if bits == 128 else None
                found = connection.execute(
                    "SELECT id, distance FROM lookalike.search_simhash('default', %s, %s, %s)", (signed(query & (1 << 64) - 1), k, high)
                ).fetchall()
                assert found == brute_force(values, query, k), (k, query)


def test_hot_blocks_are_narrowed_without_a_loss(url: str) -> None:
    """So many share a block that keys are narrowed up to k = 6: by the next block, by the last one, and at every distance from the hot key."""
    values = [value & ~(0x7FF | 0x3FF << 32) for value in fingerprints(64, 28_000)]
    with la.open(url, kinds="simhash") as index:
        index.add_simhashes(range(len(values)), np.array(values, dtype=np.uint64))
    chance = random.Random(4)
    with psycopg.connect(url) as connection:
        for k in range(9):
            for flips in ((), (0,), (1, 33)):
                query = chance.choice(values[1::3])
                for bit in (*flips, *chance.sample(range(12, 32), k // 2)):
                    query ^= 1 << bit
                found = connection.execute(
                    "SELECT id, distance FROM lookalike.search_simhash('default', %s, %s)", (signed(query), k)
                ).fetchall()
                assert found == brute_force(values, query, k), (k, flips)


def test_several_hot_blocks_do_not_rely_on_each_other(url: str) -> None:
    """Fingerprints that share one block, another, two or all: what is left to another block is found there, though that is hot too."""
    blocks = [mask % (1 << 64) for mask in schema.BLOCK_MASKS]
    shared = (blocks[:1], blocks[1:2], blocks[2:], blocks[:2], blocks[1:], blocks[::2], blocks, [])
    values = fingerprints(64, 28_000)
    for number, value in enumerate(values):
        for mask in shared[number // 3 % len(shared)]:  # whoever has a neighbour shares what it does
            value &= ~mask
        values[number] = value
    with la.open(url, kinds="simhash") as index:
        index.add_simhashes(range(len(values)), np.array(values, dtype=np.uint64))
    chance = random.Random(5)
    with psycopg.connect(url) as connection:  # which ends without a commit
        for k in range(18):
            if k == 9:  # of so few everything would be read from here on
                never = "LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN false"
                connection.execute(
                    "CREATE OR REPLACE FUNCTION lookalike.is_scan_cheaper(bits integer, documents bigint, k integer) RETURNS boolean "
                    + never
                )
            for number in range(0, 3 * len(shared), 3):
                query = values[number + 3 * len(shared) * chance.randrange(1000)]
                for flips, mask in zip(chance.choice([(0, 4, 4), (1, 3, 3), (2, 2, 4), (3, 3, 3), (0, 5, 3)]), blocks, strict=True):
                    for bit in chance.sample([bit for bit in range(64) if mask >> bit & 1], flips * k // 9):
                        query ^= 1 << bit
                found = connection.execute(
                    "SELECT id, distance FROM lookalike.search_simhash('default', %s, %s)", (signed(query), k)
                ).fetchall()
                assert found == brute_force(values, query, k), (k, query)


def test_near_ranges_have_all_keys_that_are_near_and_none_twice(connection: Connection) -> None:
    chance = random.Random(6)
    for bits, block, width in ((64, 0, 21), (64, 2, 22), (32, 1, 11), (32, 2, 10)):
        for radius, lower_bits in ((0, 0), (0, 7), (1, 0), (2, 3), (3, 6), (5, 9), (5, 0)):
            low = signed(chance.getrandbits(bits))
            own = connection.execute("SELECT lookalike.keys_around(%s, %s, %s, 0)", (low, bits, block)).fetchone()
            query = "SELECT low_end, high_end FROM lookalike.near_ranges(%s, %s, %s, %s, %s)"
            ranges = connection.execute(query, (low, bits, block, radius, lower_bits)).fetchall()
            assert own is not None
            keys = [key for low_end, high_end in ranges for key in range(low_end, high_end + 1)]
            assert len(keys) == len(set(keys))
            assert set(keys) >= {key for key in range(1 << width) if (key ^ own[0][0]).bit_count() <= radius}
            assert max(keys) < 1 << width


def test_searches_read_indexes_only(connection: Connection) -> None:
    """As the server counts it: no scan of the table, no row fetched from it. Where everything must be read, it may be in parallel."""
    values = fingerprints(64, 26_000)
    with connection.cursor().copy("COPY lookalike.documents (collection, ordinal, id_number, simhash) FROM STDIN") as copy:
        for ordinal, value in enumerate(values):
            copy.write_row((1, ordinal, ordinal, signed(value)))
    connection.execute("UPDATE lookalike.collections SET documents = 26000")
    connection.execute("VACUUM (ANALYZE) lookalike.documents")
    counted = "SELECT seq_scan, idx_tup_fetch, idx_scan FROM pg_stat_xact_user_tables WHERE relid = 'lookalike.documents'::regclass"
    # In the hot block, where the planner may take an index whose keys have one row each and fetch that, and elsewhere.
    for value, fetched in ((values[0], 50), (values[1], 0)):
        for k in (0, 1, 3) if fetched else (0, 1, 3, 6):
            with connection.transaction():
                before = connection.execute(counted).fetchone() or (0, 0, 0)
                connection.execute("SELECT * FROM lookalike.simhash_rows(1, %s, NULL, %s)", (signed(value), k))
                after = connection.execute(counted).fetchone() or (0, 0, 0)
                assert after[0] == before[0]
                assert after[1] - before[1] <= fetched
                assert after[2] > before[2]
    for name in ("parallel_setup_cost", "parallel_tuple_cost", "min_parallel_index_scan_size", "min_parallel_table_scan_size"):
        connection.execute(f"SET {name} = 0")
    body = connection.execute("SELECT prosrc FROM pg_proc WHERE proname = 'simhash_scan'").fetchone()
    assert body is not None
    query = body[0].partition("RETURN QUERY")[2].partition(";")[0].replace("collection_number", "1").replace("low", "5")
    plan = connection.execute("EXPLAIN" + query.replace("<= k", "<= 30")).fetchall()
    assert any("Parallel" in line for (line,) in plan), plan


def test_blocks_follow_the_fingerprint(connection: Connection) -> None:
    insert = "INSERT INTO lookalike.documents (collection, id_text, simhash) VALUES (1, %s, %s)"
    search = "SELECT id, distance FROM lookalike.search_simhash('default', %s, 2)"
    connection.execute(insert, ("a", 0x0123456789ABCDEF))
    connection.execute("UPDATE lookalike.collections SET documents = 100000")  # large enough for the blocks to be used
    assert connection.execute(search, (0x0123456789ABCDEE,)).fetchall() == [("a", 1)]
    connection.execute("UPDATE lookalike.documents SET simhash = -1 WHERE id_text = 'a'")
    assert connection.execute(search, (0x0123456789ABCDEE,)).fetchall() == []
    assert connection.execute(search, (-4,)).fetchall() == [("a", 2)]
    with pytest.raises(psycopg.Error):
        connection.execute("UPDATE lookalike.documents SET block0 = 5")


def test_wrong_arguments_are_refused(connection: Connection) -> None:
    for arguments in (("nothing", 1, 3, None), ("default", 1, -1, None), ("default", 1, 3, 5), ("default", None, 3, None)):
        with pytest.raises(psycopg.errors.RaiseException):
            connection.execute("SELECT * FROM lookalike.search_simhash(%s, %s, %s, %s)", arguments)


def test_hamming(connection: Connection) -> None:
    chance = random.Random(2)
    for _ in range(50):
        a, b = chance.getrandbits(64), chance.getrandbits(64)
        found = connection.execute(
            "SELECT lookalike.hamming(%s::bigint, %s::bigint), lookalike.hamming(%s::bit(64), %s::bit(64))",
            (signed(a), signed(b), f"{a:064b}", f"{b:064b}"),
        ).fetchone()
        assert found == ((a ^ b).bit_count(), (a ^ b).bit_count())


def test_similarities_of_arrays_are_those_of_the_measures(connection: Connection) -> None:
    chance = random.Random(3)
    idf = {f"w{n}": chance.random() * 5 for n in range(12)} | {"w3": 0.0}
    connection.cursor().executemany(
        "INSERT INTO lookalike.idf VALUES ('mine', %s, %s), ('other', %s, 1)", [(e, v, e) for e, v in idf.items()]
    )
    tfidf = {tf: smlar_tfidf(idf, tf=tf) for tf in ("const", "n", "log")}  # type: ignore[arg-type]
    for _ in range(150):
        a, b = ([f"w{chance.randrange(16)}" for _ in range(chance.randrange(9))] for _ in range(2))
        found = connection.execute(
            "SELECT lookalike.overlap(%(a)s::text[], %(b)s::text[]), lookalike.cosine(%(a)s::text[], %(b)s::text[]),"
            " lookalike.tfidf(%(a)s, %(b)s, 'mine'), lookalike.tfidf(%(a)s, %(b)s, 'mine', 'n'), lookalike.tfidf(%(a)s, %(b)s, 'mine', 'log')",
            {"a": a, "b": b},
        ).fetchone()
        assert found is not None
        assert found[0] == smlar_overlap.similarity(a, b)
        assert found[1] == pytest.approx(smlar_cosine.similarity(a, b), abs=1e-15)
        for value, tf in zip(found[2:], ("const", "n", "log"), strict=True):
            assert value == pytest.approx(tfidf[tf].similarity(a, b), abs=1e-12)
    with pytest.raises(psycopg.errors.RaiseException):
        connection.execute("SELECT lookalike.tfidf('{a}', '{a}', 'mine', 'sqrt')")


def test_an_index_on_the_array_is_the_first_filter(connection: Connection) -> None:
    connection.execute(
        "CREATE TEMP TABLE tagged AS SELECT n, ARRAY[n, n + 1, n * 7 %% 1000] AS tags FROM generate_series(1, 5000) n".replace("%%", "%")
    )
    connection.execute("CREATE INDEX tagged_by_tag ON tagged USING gin (tags)")
    connection.execute("ANALYZE tagged")
    query = "SELECT n FROM tagged WHERE tags && '{{4000,4001,99}}' AND lookalike.{} ORDER BY n"
    plan = connection.execute("EXPLAIN " + query.format("cosine(tags, '{4000,4001,99}') >= 0.6")).fetchall()
    assert any("Index Scan on tagged_by_tag" in line for (line,) in plan), plan
    found = [n for (n,) in connection.execute(query.format("overlap(tags, '{4000,4001,99}') >= 2"))]
    assert found == [n for n in range(1, 5001) if len({n, n + 1, n * 7 % 1000} & {4000, 4001, 99}) >= 2]


def test_fingerprints_of_another_table_are_added_by_sql(url: str) -> None:
    with la.open(url, collection="hm", kinds="simhash") as index, psycopg.connect(url, autocommit=True) as connection:
        add = "SELECT lookalike.add_simhashes('hm', %s, %s)"
        assert connection.execute(add, ([1, 2, 3], [10, 20, -30])).fetchone() == (3,)
        assert connection.execute(add, ([4, 2, 4], [11, 21, 12])).fetchone() == (1,)
        assert len(index) == 4
        assert list(index.ids()) == [1, 3, 2, 4]
        assert [match.id for match in index.search(simhash=21, k=0)] == [2]
        assert [match.id for match in index.search(simhash=2**64 - 30, k=0)] == [3]
        assert [match.id for match in index.search(simhash=12, k=0)] == [4]
        assert index.check().ok
        for wrong in (("nothing", [1], [1]), ("hm", [1], [1, 2])):
            with pytest.raises(psycopg.errors.RaiseException):
                connection.execute("SELECT lookalike.add_simhashes(%s, %s, %s)", wrong)
