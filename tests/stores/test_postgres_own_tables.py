"""Collections on a table of the user's own: exact, current whatever is done to the table, and gone without a trace."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator
from typing import Any

import numpy as np
import psycopg
import pytest

import lookalike as la
from lookalike.errors import InputError, StoreError
from postgres_server import empty_store

Connection = psycopg.Connection[tuple[Any, ...]]
SEARCH = "SELECT id, distance FROM lookalike.search_simhash(%s, %s::bigint, %s)"
TYPES = {
    "bigint": lambda value: value - (1 << 64) if value >> 63 else value,
    "bit(64)": lambda value: f"{value:064b}",
    "numeric": lambda value: value,
    "text": lambda value: f"0x{value:016x}" if value % 2 else f"{value:X}",
}


@pytest.fixture
def url() -> str:
    return empty_store()


@pytest.fixture
def connection(url: str) -> Iterator[Connection]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET client_min_messages = warning")
        connection.execute("DROP SCHEMA IF EXISTS mine CASCADE; CREATE SCHEMA mine; SET search_path = mine")
        yield connection
        connection.execute("DROP SCHEMA mine CASCADE")


def signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def fingerprints(count: int, seed: int = 1) -> list[int]:
    """Random ones, ones near to them, and a tenth in one hot block."""
    chance = random.Random(seed)
    values = [chance.getrandbits(64) for _ in range(count)]
    for number in range(0, count, 3):
        values[number] = values[number - 1 if number else 5]
        for _ in range(chance.randrange(9)):
            values[number] ^= 1 << chance.randrange(64)
    for number in range(0, count, 10):
        values[number] &= ~(0x7FF | 0x3FF << 32)
    return values


def fill(connection: Connection, values: list[int], type_: str = "bigint", table: str = "hm") -> None:
    connection.execute(f"CREATE TABLE {table} (id int, hmval {type_})")
    with connection.cursor().copy(f"COPY {table} FROM STDIN") as copy:
        for number, value in enumerate(values):
            copy.write_row((number, TYPES[type_](value)))


def brute_force(values: dict[int, int], query: int, k: int) -> list[tuple[str, int]]:
    found = sorted(((value ^ query).bit_count(), number) for number, value in values.items() if (value ^ query).bit_count() <= k)
    return [(str(number), distance) for distance, number in found]


@pytest.mark.parametrize("type_", TYPES)
def test_every_type_is_searched_exactly(url: str, connection: Connection, type_: str) -> None:
    values = fingerprints(23_000 if type_ == "bigint" else 3000)  # enough for hot blocks; then for every type
    fill(connection, values, type_)
    made = la.index_table(url, "mine.hm", column="hmval", key="id")
    assert made == ("hm", "mine.hm", "simhash", len(values))
    connection.execute("UPDATE pg_class SET reltuples = 23000 WHERE relname = 'hm'")  # or everything would be read
    chance = random.Random(2)
    queries = [values[0], values[10] ^ 1 << 7, *(chance.choice(values) ^ 1 << chance.randrange(64) for _ in range(3))]
    for query in queries:
        for k in (0, 1, 3, 4, 6, 8, 12):
            found = connection.execute(SEARCH, ("hm", signed(query), k)).fetchall()
            assert found == brute_force(dict(enumerate(values)), query, k), (query, k)


def test_it_is_current_whatever_is_done_to_the_table(url: str, connection: Connection) -> None:
    values = dict(enumerate(fingerprints(500)))
    fill(connection, list(values.values()))
    la.index_table(url, "mine.hm", column="hmval", key="id")
    query = values[7]

    def is_current() -> None:
        found = connection.execute(SEARCH, ("hm", signed(query), 20)).fetchall()
        assert found == brute_force(values, query, 20)

    is_current()
    connection.execute("INSERT INTO hm VALUES (1000, %s), (1001, NULL)", (signed(query ^ 5),))
    values[1000] = query ^ 5
    is_current()
    connection.execute("UPDATE hm SET hmval = hmval # 1 WHERE id < 20")
    values |= {number: values[number] ^ 1 for number in range(20)}
    is_current()
    connection.execute("UPDATE hm SET id = 2000 WHERE id = 1000")
    values[2000] = values.pop(1000)
    is_current()
    connection.execute("DELETE FROM hm WHERE id = 7")
    del values[7]
    is_current()
    with connection.cursor().copy("COPY hm FROM STDIN") as copy:
        copy.write_row((3000, signed(query ^ 1 << 63)))
    values[3000] = query ^ 1 << 63
    is_current()
    with connection.transaction(force_rollback=True):
        connection.execute("INSERT INTO hm VALUES (4000, %s)", (signed(query),))
        assert connection.execute(SEARCH, ("hm", signed(query), 0)).fetchall() == [("4000", 0)]
        connection.execute("TRUNCATE hm")
        assert connection.execute(SEARCH, ("hm", signed(query), 64)).fetchall() == []
    is_current()
    connection.execute("TRUNCATE hm")
    values.clear()
    is_current()


def test_names_of_any_kind(url: str, connection: Connection) -> None:
    """Names that need quotes, that are words of SQL, and that the functions use themselves."""
    for table, column, key in (('we"ird $1 {source} table', "k", "low"), ("select", "ordinal", "simhash"), ("keys0", "from", "documents")):
        quoted = ['"' + name.replace('"', '""') + '"' for name in (table, column, key)]
        connection.execute(f"CREATE TABLE {quoted[0]} ({quoted[2]} text, {quoted[1]} bigint, block0 int, collection int)")
        connection.execute(f"INSERT INTO {quoted[0]} VALUES ('{{key_type}} ''a''', 5, 1, 1), ('b', 7, 1, 1)")
        assert la.index_table(url, f"mine.{quoted[0]}", column=column, key=key).collection == table
        for rows in (0, 50_000):
            connection.execute("UPDATE pg_class SET reltuples = %s WHERE relname = %s", (rows, table))
            assert connection.execute(SEARCH, (table, 5, 2)).fetchall() == [("{key_type} 'a'", 0), ("b", 1)]
        la.drop_collection(url, table)


def test_a_name_that_would_end_a_function_is_refused(url: str, connection: Connection) -> None:
    connection.execute('CREATE TABLE "a$$b" (id int, v bigint)')
    with pytest.raises(StoreError, match=r"\$\$"):
        la.index_table(url, 'mine."a$$b"', column="v", key="id")


@pytest.mark.parametrize("key_type", ["bigint", "uuid", "text"])
def test_the_library_reads_it_as_any_other_collection(url: str, connection: Connection, key_type: str) -> None:
    values = fingerprints(400)
    ids: list[Any] = [number if key_type == "bigint" else str(uuid.UUID(int=number)) for number in range(len(values))]
    connection.execute(f"CREATE TABLE hm (id {key_type} PRIMARY KEY, hmval bigint)")
    with connection.cursor().copy("COPY hm FROM STDIN") as copy:
        for id_, value in zip(ids, values, strict=True):
            copy.write_row((id_, signed(value)))
    la.index_table(url, "mine.hm", column="hmval", key="id")
    with la.open(url, collection="hm") as own, la.open("memory://", kinds="simhash") as memory:
        memory.add_simhashes(ids, np.array(values, dtype=np.uint64))
        assert len(own) == len(memory) == 400
        assert list(own.ids()) == list(memory.ids())
        assert own.get(ids[3]).id == ids[3]
        assert ids[3] in own
        assert "nothing" not in own
        for value in values[::40]:
            assert own.search(simhash=value, k=12) == memory.search(simhash=value, k=12)
        assert own.clusters("simhash", k=6) == memory.clusters("simhash", k=6)
        assert [list(part) for part in own.search_simhashes(values[:9], k=8)] == [
            list(part) for part in memory.search_simhashes(values[:9], k=8)
        ]
        assert own.check().ok
        assert own.compact()["bytes_after"] > 0
        assert own.stats()["table"] == "mine.hm"
        for change in (lambda: own.add_simhashes([1], [1]), lambda: own.remove([ids[0]])):
            with pytest.raises(StoreError, match="change the table"):
                change()


def test_texts_are_found_from_sql(url: str, connection: Connection) -> None:
    chance = random.Random(5)
    connection.execute("CREATE TABLE articles (id int PRIMARY KEY, body text)")
    texts = [" ".join(f"word{chance.randrange(5000)}" for _ in range(80)) for _ in range(200)]
    texts += ["".join(chr(0x4E00 + chance.randrange(3000)) for _ in range(120)) for _ in range(50)]
    connection.cursor().executemany("INSERT INTO articles VALUES (%s, %s)", list(enumerate(texts)))
    assert la.index_table(url, "mine.articles", column="body", key="id", kind="text", threshold=0.6).rows == 250
    missed = 0
    for number, text in enumerate(texts):
        changed = text.replace(text[len(text) // 2 :].split(" ")[1], "changed", 1) if " " in text else text[:-6] + "。" + text[-5:]
        found = connection.execute("SELECT id_number, similarity FROM lookalike.search_near('articles', %s)", (changed,)).fetchall()
        missed += number not in [id_ for id_, _ in found]
        for id_, similarity in found:
            assert similarity == pytest.approx(jaccard(texts[id_], changed))
    assert missed <= 2  # of 250: 99 % are promised at the threshold, and these are nearer
    connection.execute("INSERT INTO articles VALUES (1000, 'a few words, only'), (1001, ''), (1002, NULL)")
    found = connection.execute("SELECT id_number, similarity FROM lookalike.search_near('articles', 'A FEW words only.')").fetchall()
    assert found == [(1000, 1.0)]
    assert connection.execute("SELECT * FROM lookalike.search_near('articles', '…')").fetchall() == []
    connection.execute("SET lookalike.threshold = 0.99")
    assert connection.execute("SELECT * FROM lookalike.search_near('articles', %s)", (texts[0] + " more",)).fetchall() == []
    with pytest.raises(psycopg.Error, match=r"indexed for 0\.6"):
        connection.execute("SELECT * FROM lookalike.search_near('articles', 'a', 0.5)")
    with pytest.raises(InputError, match="search_near"):
        la.open(url, collection="articles")


def jaccard(left: str, right: str) -> float:
    """Slow and obvious: runs of five words, or ideographs."""

    def runs(text: str) -> set[tuple[str, ...]]:
        words, word = [], ""
        for sign in text.lower() + " ":
            if sign.isascii() and sign.isalnum():
                word += sign
                continue
            words += [word] if word else []
            words += [sign] if "\u4e00" <= sign <= "\u9fff" else []
            word = ""
        return {tuple(words[i : i + 5]) for i in range(max(len(words) - 4, 1))}

    a, b = runs(left), runs(right)
    return len(a & b) / len(a | b)


@pytest.mark.parametrize("type_", ["integer[]", "bigint[]"])
def test_minhashes_are_found_from_sql(url: str, connection: Connection, type_: str) -> None:
    chance = random.Random(6)
    sets = [{chance.randrange(1000) for _ in range(60)} for _ in range(100)]
    shift = 1 << 31 if type_ == "integer[]" else 0  # an integer of PostgreSQL is signed
    sketches = [[value - shift for value in la.minhash({str(each) for each in members}).values] for members in sets]
    connection.execute(f"CREATE TABLE sets (id text, sketch {type_})")
    connection.cursor().executemany("INSERT INTO sets VALUES (%s, %s)", [(f"s{i}", sketch) for i, sketch in enumerate(sketches)])
    la.index_table(url, "mine.sets", column="sketch", key="id", kind="minhash", collection="of sets", threshold=0.5)
    for number, members in enumerate(sets[:20]):
        near = la.minhash({str(each) for each in list(members)[3:]}).values
        query = [value - shift for value in near]
        found = connection.execute("SELECT id, similarity FROM lookalike.search_near('of sets', %s::bigint[])", (query,)).fetchall()
        assert found[0] == (f"s{number}", sum(a == b for a, b in zip(query, sketches[number], strict=True)) / 128)
    with pytest.raises(psycopg.Error, match="a MinHash of 2 values, expected 128"):
        connection.execute("INSERT INTO sets VALUES ('short', '{1,2}')")


def test_it_is_dropped_without_a_trace(url: str, connection: Connection) -> None:
    fill(connection, fingerprints(50))
    connection.execute("ALTER TABLE hm ADD COLUMN body text DEFAULT 'some words'")
    la.open(url).close()
    before = traces(connection)
    for kind, column in (("simhash", "hmval"), ("text", "body")):
        la.index_table(url, "mine.hm", column=column, key="id", kind=kind, collection="mine")
        assert traces(connection) != before
        assert la.drop_collection(url, "mine") == 0
        assert traces(connection) == before
    la.index_table(url, "mine.hm", column="hmval", key="id")
    connection.execute("DROP TABLE hm")  # nothing of ours is in the way
    with pytest.raises(StoreError, match="is gone; drop the collection"):
        la.open(url, collection="hm")
    with pytest.raises(psycopg.errors.UndefinedTable, match="the table of this collection is gone"):
        connection.execute(SEARCH, ("hm", 5, 3))
    la.drop_collection(url, "hm")
    assert traces(connection) == before
    with pytest.raises(InputError, match="no such collection"):
        la.drop_collection(url, "hm")


def test_whoever_has_it_open_is_told_what_became_of_it(url: str, connection: Connection) -> None:
    fill(connection, [5, 7])
    la.index_table(url, "mine.hm", column="hmval", key="id")
    with la.open(url, collection="hm", read_only=True) as index:
        for change, message in (
            ("ALTER TABLE hm RENAME hmval TO other", "drop its collection, and index the table again"),
            ("ALTER TABLE hm RENAME TO renamed", "drop its collection, and index the table again"),
            ("SELECT lookalike.drop_collection('hm')", "the collection was dropped"),
        ):
            connection.execute(change)
            with pytest.raises(StoreError, match=message):
                index.search(simhash=5)


@pytest.mark.parametrize("key", ["bigint", "number"])
def test_a_key_that_is_a_number_is_one_in_sql(url: str, connection: Connection, key: str) -> None:
    connection.execute("CREATE DOMAIN number AS int")
    connection.execute(f"CREATE TABLE hm (id {key}, hmval bigint, body text); INSERT INTO hm VALUES (8, 5, 'some words')")
    la.index_table(url, "mine.hm", column="hmval", key="id")
    la.index_table(url, "mine.hm", column="body", key="id", kind="text", collection="texts")
    found = connection.execute("SELECT id, id_number FROM lookalike.search_simhash('hm', 5::bigint, 0)").fetchall()
    assert found == connection.execute("SELECT id, id_number FROM lookalike.search_near('texts', 'some words')").fetchall() == [("8", 8)]


def traces(connection: Connection) -> list[Any]:
    queries = (
        "SELECT indexname FROM pg_indexes WHERE indexname LIKE 'lookalike%' ORDER BY 1",
        "SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'lookalike'::regnamespace ORDER BY 1",
        "SELECT name FROM lookalike.collections ORDER BY 1",
        "SELECT collection FROM lookalike.tables",
    )
    return [connection.execute(query).fetchall() for query in queries]


DOMAINS = "CREATE DOMAIN wide AS {value}; CREATE DOMAIN mark AS wide; CREATE DOMAIN label AS varchar(20); CREATE DOMAIN named AS label"


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("key", ["char(20)", "named"])
def test_keys_of_a_fixed_length_and_domains(url: str, connection: Connection, type_: str, key: str) -> None:
    """A char(n) is filled up with spaces, which are no part of the id; a domain is searched as what it is of."""
    connection.execute(DOMAINS.format(value=type_))
    values = dict(enumerate(fingerprints(60)))
    connection.execute(f"CREATE TABLE hm (id {key}, hmval {type_ if key != 'named' else 'mark'})")
    with connection.cursor().copy("COPY hm FROM STDIN") as copy:
        for number, value in values.items():
            copy.write_row((str(number), TYPES[type_](value)))
    la.index_table(url, "mine.hm", column="hmval", key="id")
    query = values[3]
    wanted = dict(brute_force(values, query, 8))
    assert dict(connection.execute(SEARCH, ("hm", signed(query), 8)).fetchall()) == wanted
    with la.open(url, collection="hm", read_only=True) as index:
        assert {match.id: match.distance for match in index.search(simhash=query, k=8, limit=None)} == wanted
        assert sorted(index.ids()) == sorted(map(str, values))
        assert "3" in index
        assert index.check().ok


@pytest.mark.parametrize(("key", "kind", "value"), [("char(9)", "text", "text"), ("named", "minhash", "int[]"), ("named", "text", "words")])
def test_keys_and_domains_of_texts_and_minhashes(url: str, connection: Connection, key: str, kind: str, value: str) -> None:
    connection.execute(DOMAINS.format(value="text") + "; CREATE DOMAIN words AS mark")
    connection.execute(f"CREATE TABLE told (id {key}, body {value})")
    given: Any = list(range(64)) if kind == "minhash" else "The ferry to the island leaves at noon and comes back in the evening."
    connection.execute("INSERT INTO told VALUES ('a', %s)", (given,))
    la.index_table(url, "mine.told", column="body", key="id", kind=kind)
    cast = "bigint[]" if kind == "minhash" else "text"
    found = connection.execute(f"SELECT id, similarity FROM lookalike.search_near('told', %s::{cast})", (given,)).fetchall()
    assert found == [("a", 1.0)]


def test_what_cannot_be_indexed_is_refused(url: str, connection: Connection) -> None:
    connection.execute("CREATE TABLE wrong (id int, at date, v bigint, short bit(8), raw bytea)")
    connection.execute("CREATE VIEW seen AS SELECT * FROM wrong")
    for table, column, key, kind, message in (
        ("mine.wrong", "at", "id", "simhash", "cannot be searched as 'simhash'"),
        ("mine.wrong", "short", "id", "simhash", "cannot be searched as 'simhash'"),
        ("mine.wrong", "v", "raw", "simhash", "the key raw is of the type bytea .A key is a whole number, a uuid or a text"),
        ("mine.wrong", "v", "id", "text", "cannot be searched as 'text'"),
        ("mine.wrong", "nothing", "id", "simhash", "has no column nothing"),
        (
            "mine.nothing",
            "v",
            "id",
            "simhash",
            "^table='mine.nothing' does not exist: if it is in another schema, write schema.table, as SQL does$",
        ),
        ("nowhere.nothing", "v", "id", "simhash", "^table='nowhere.nothing' does not exist"),
        ("mine.seen", "v", "id", "simhash", "cannot have a collection"),
        ("lookalike.documents", "simhash", "ordinal", "simhash", "cannot have a collection"),
    ):
        with pytest.raises(StoreError, match=message):
            la.index_table(url, table, column=column, key=key, kind=kind)
    la.index_table(url, "mine.wrong", column="v", key="id", collection="taken")
    with pytest.raises(StoreError, match="there is a collection or an alias 'taken' already"):
        la.index_table(url, "mine.wrong", column="v", key="id", collection="taken")
    with pytest.raises(InputError, match="PostgreSQL URL"):
        la.index_table("memory://", "wrong", column="v", key="id")
    assert connection.execute("SELECT count(*) FROM lookalike.tables").fetchone() == (1,)


@pytest.mark.parametrize(
    ("type_", "value"), [("numeric", "1.5"), ("numeric", "18446744073709551616"), ("text", "0xg"), ("text", "0" * 17), ("text", "")]
)
def test_a_value_that_is_no_fingerprint_is_refused_when_it_comes(url: str, connection: Connection, type_: str, value: str) -> None:
    connection.execute(f"CREATE TABLE hm (id int, hmval {type_})")
    la.index_table(url, "mine.hm", column="hmval", key="id")
    with pytest.raises(psycopg.errors.DataException, match="is not a SimHash of 64 bits"):
        connection.execute("INSERT INTO hm VALUES (1, %s)", (value,))


def test_whoever_may_not_read_the_table_finds_nothing_in_it(url: str, connection: Connection) -> None:
    fill(connection, [5, 7])
    la.index_table(url, "mine.hm", column="hmval", key="id")
    connection.execute("CREATE ROLE stranger; GRANT USAGE ON SCHEMA lookalike, mine TO stranger")
    try:
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA lookalike TO stranger; SET ROLE stranger")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(SEARCH, ("hm", 5, 3))
        connection.execute("RESET ROLE; GRANT SELECT ON hm TO stranger; ALTER TABLE hm ENABLE ROW LEVEL SECURITY")
        connection.execute("CREATE POLICY odd ON hm USING (id = 1); SET ROLE stranger")
        assert connection.execute(SEARCH, ("hm", 5, 3)).fetchall() == [("1", 1)]
    finally:
        connection.execute("RESET ROLE; DROP OWNED BY stranger; DROP ROLE stranger")


def test_a_partitioned_table(url: str, connection: Connection) -> None:
    connection.execute("CREATE TABLE hm (id int, hmval bigint) PARTITION BY HASH (id)")
    for part in range(3):
        connection.execute(f"CREATE TABLE hm{part} PARTITION OF hm FOR VALUES WITH (MODULUS 3, REMAINDER {part})")
    values = fingerprints(300)
    connection.cursor().executemany("INSERT INTO hm VALUES (%s, %s)", [(i, signed(value)) for i, value in enumerate(values)])
    la.index_table(url, "mine.hm", column="hmval", key="id")
    for k in (3, 16):
        assert connection.execute(SEARCH, ("hm", signed(values[9]), k)).fetchall() == brute_force(dict(enumerate(values)), values[9], k)
    la.drop_collection(url, "hm")


def test_the_verb(url: str, connection: Connection, capsys: pytest.CaptureFixture[str]) -> None:
    from lookalike.cli import main

    fill(connection, [5, 7])
    with pytest.raises(SystemExit) as done:
        main(
            ["pg", "index", url, "mine.hm", "--column", "hmval", "--key", "id", "--collection", "named", "--recipe", "simhash-py", "--json"]
        )
    assert done.value.code == 0
    assert json.loads(capsys.readouterr().out) == {"collection": "named", "table": "mine.hm", "kind": "simhash", "rows": 2}
    with pytest.raises(SystemExit):
        main(["search", url, "--collection", "named", "--simhash", "5", "--json"])
    assert [match["id"] for match in json.loads(capsys.readouterr().out)] == [0, 1]
    with la.open(url, collection="named") as index:
        assert index.recipe.id == la.recipes.get("simhash-py").id
    with pytest.raises(SystemExit) as done:
        main(["pg", "drop", url, "named", "--json"])
    assert json.loads(capsys.readouterr().out) == {"collection": "named", "dropped": 0}
    with pytest.raises(SystemExit) as done:
        main(["pg", "index", url, "mine.hm", "--column", "hmval"])
    assert done.value.code == 2
