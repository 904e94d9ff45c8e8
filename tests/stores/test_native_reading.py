"""What readers get from the database by native code is what Python's module gives, errors too."""

import sqlite3
import threading
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike import _native
from lookalike.errors import Corrupt
from lookalike.stores.embedded import connections, library
from lookalike.stores.embedded.library import PlainReader, connect_reader, sqlite_library
from lookalike.stores.kinds import passage_way

LARGE = 3_000_000  # bytes: more than a piece


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "some.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (row INTEGER PRIMARY KEY, value)")
        values = [None, 0, -(2**63), 2**63 - 1, 1.5, "", "text", "a\0b", "Größe 🙂", b"", b"\0\xff", "x" * LARGE, b"y" * LARGE]
        connection.executemany("INSERT INTO t VALUES (?, ?)", enumerate([*values, *range(3000)]))
    return path


@pytest.fixture
def both(database):
    address = f"{database.as_uri()}?mode=ro"
    native, plain = connect_reader(address), sqlite3.connect(address, uri=True, isolation_level=None, factory=PlainReader)
    assert isinstance(native, _native.SqliteReader)
    yield native, plain
    native.close()
    plain.close()


def test_rows_are_those_of_pythons_module(both):
    native, plain = both
    for query, parameters in (
        ("SELECT * FROM t ORDER BY row", ()),
        ("SELECT value FROM t WHERE row < ?", (5,)),
        ("SELECT ?, ?, ?, ?, ?, ?", (None, -5, 0.25, "ä\0", b"\0", True)),
        ("SELECT 1 WHERE 0", ()),
        ("PRAGMA table_info(t)", ()),
    ):
        assert native.execute(query, parameters).fetchall() == plain.execute(query, parameters).fetchall()
        assert list(native.execute(query, parameters)) == plain.execute(query, parameters).fetchall()
        assert native.execute(query, parameters).fetchone() == plain.execute(query, parameters).fetchone()


def test_rows_that_are_asked_for_by_number(both):
    native, plain = both
    asked = [7, 3, 2500, 3, 10**6, -1, 11, 12]
    rows, whole = native.each("SELECT row - 2, value FROM t WHERE row = ?", 2, asked, [], False)
    wanted = sorted({row + 2 for row in asked})
    assert rows == plain.execute(f"SELECT row - 2, value FROM t WHERE row IN ({','.join(map(str, wanted))}) ORDER BY row").fetchall()
    assert not whole  # there are no checks: somebody else says whether that is right
    assert native.each("SELECT row, value FROM t WHERE row = ?", 2**62, [2**62, -(2**62) + 1], [], False)[0] == [(1, 0)]  # one is no number
    assert native.each("SELECT row, value FROM t WHERE row = ?", 0, [], [], False) == ([], True)


def test_errors_are_those_of_pythons_module(both):
    native, plain = both
    for query, parameters in (
        ("SELECT * FROM none", ()),
        ("SELECT FROM", ()),
        ("DELETE FROM t", ()),
        ("SELECT abs(value) FROM t WHERE row = 2", ()),
    ):
        with pytest.raises(sqlite3.Error) as expected:
            plain.execute(query, parameters).fetchall()
        with pytest.raises(sqlite3.Error) as found:
            native.execute(query, parameters).fetchall()
        assert (type(found.value), str(found.value)) == (type(expected.value), str(expected.value))
        assert found.value.sqlite_errorcode == expected.value.sqlite_errorcode
    with pytest.raises(sqlite3.Error, match="parameters"):
        native.execute("SELECT ?", ())
    with pytest.raises(TypeError, match="parameter"):
        native.execute("SELECT ?", ([],))
    with pytest.raises(OverflowError):
        native.execute("SELECT ?", (2**63,))
    with pytest.raises(UnicodeEncodeError):
        native.execute("SELECT ?", ("\udc80",))
    with pytest.raises(sqlite3.Error, match="Could not decode"):
        native.execute("SELECT CAST(x'ff' AS TEXT)").fetchall()
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        connect_reader("file:/none/of/these?mode=ro")


def test_statements_on_their_way_end_with_the_reading(both, database):
    native, _ = both
    query = "SELECT row FROM t ORDER BY row"
    native.begin()
    first, second = native.execute(query), native.execute(query)  # the same statement twice at once
    assert [next(first), next(second), next(first)] == [(0,), (0,), (1,)]
    with closing(sqlite3.connect(database)) as writer, writer:
        writer.execute("DELETE FROM t WHERE row > 2000")
    native.end()
    with pytest.raises(sqlite3.Error, match="ended"):
        list(first)
    assert list(first) == []
    native.begin()
    assert native.execute("SELECT max(row) FROM t").fetchone() == (2000,)  # nothing keeps the old state
    third = native.execute(query)
    del second
    native.end()
    native.end()
    native.close()
    for use in (lambda: native.execute(query), native.begin, native.end, lambda: next(third) and list(third)):
        with pytest.raises(sqlite3.Error, match=r"closed|ended"):
            use()
    native.close()


def test_more_statements_than_are_kept(both):
    native, _ = both
    running = [native.execute(f"SELECT row, {n} FROM t") for n in range(100)]
    assert [next(each) for each in running] == [(0, n) for n in range(100)]
    assert [native.execute(f"SELECT {n}").fetchone() for n in range(200)] == [(n,) for n in range(200)]
    assert all(len(list(each)) == 3012 for each in running)


def test_threads_share_a_connection(both):
    native, _ = both
    wrong = []

    def ask(number):
        for n in range(200):
            row = (number * 7919 + n) % 3000
            if native.execute("SELECT value FROM t WHERE row = ?", (13 + row,)).fetchall() != [(row,)]:
                wrong.append(row)
            if native.each("SELECT row, value FROM t WHERE row = ?", 13, [row], [], False)[0] != [(13 + row, row)]:
                wrong.append(row)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@settings(max_examples=10, deadline=None)
@given(st.lists(st.sampled_from(["near", "text", "stored", "编辑", "🙂", "\udc80"]), min_size=1, max_size=40), st.booleans())
def test_stores_answer_the_same_by_pythons_module(tmp_path_factory, words, keep_text):
    path = tmp_path_factory.mktemp("reading") / "store"
    with la.open(path, kinds="simhash,minhash,winnowing,ssdeep,tlsh", keep_text=keep_text) as index:
        index.add([(n, " ".join(words[n % len(words) :] + words * 3), {"n": n} if n % 2 else {}) for n in range(20)])
        index.remove([3])

    def answers():
        with la.open(path, read_only=True) as index:
            found = [index.search(" ".join(words * 3), by=by, limit=None) for by in ("near", "passages", "fuzzy")]
            return [[(match.to_dict(), match.row) for match in each] for each in found], [index.get(n) for n in (0, 19)]

    native = answers()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(library, "sqlite_library", lambda: None)
        assert answers() == native


def test_damage_is_told_either_way(tmp_path, monkeypatch):
    path = tmp_path / "store"
    with la.open(path, kinds="ssdeep") as index:
        index.add("a", "a text of which somebody changes a word in the database " * 40, {"n": 1})
    for change in ("meta = '{}'", "meta = 1.5", "meta = CAST(x'ff' AS TEXT)", "checks = x'00'", "checks = 7", "checks = NULL"):
        with closing(sqlite3.connect(path / "store.sqlite")) as connection, connection:
            before = connection.execute("SELECT meta, checks FROM documents").fetchone()
            connection.execute(f"UPDATE documents SET {change}")
        told = []
        for reader in (connect_reader, lambda address: sqlite3.connect(address, uri=True, isolation_level=None, factory=PlainReader)):
            monkeypatch.setattr(connections, "connect_reader", reader)
            with la.open(path, read_only=True) as index, pytest.raises(Corrupt) as error:
                index.search("a text of which somebody changes a word in the database " * 40, by="ssdeep")
            told.append(str(error.value).split(" (")[0])
        assert told[0] == told[1]
        with closing(sqlite3.connect(path / "store.sqlite")) as connection, connection:
            connection.execute("UPDATE documents SET meta = ?, checks = ?", before)


def test_the_library_is_known():
    assert sqlite_library() is not None


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(["near", "text", "stored", "twice", "编辑", "🙂", "\udc80", "."]), max_size=60), st.integers(1, 9))
def test_passages_are_those_that_python_finds(words, step):
    texts = [" ".join(words[first::step] + words * 2) for first in range(12)]
    with la.open("memory://", kinds="winnowing") as index:
        index.add([(n, text) for n, text in enumerate(texts)])
        options = [{}, {"limit": 3}, {"min_share": 0.1}, {"threshold": 0.9}]

        def answers():
            found = [index.search(text, by="passages", **each) for text in texts[:3] for each in options]
            return [([(match.to_dict(), match.share) for match in each], each.total, each.notes) for each in found]

        native = answers()
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(passage_way, "is_native", lambda recipe: False)
            assert answers() == native


def test_an_index_is_closed_while_threads_search(tmp_path):
    text = "a text that all of them search for, with words enough for each way of searching " * 20
    with la.open(tmp_path / "store", kinds="simhash,minhash,winnowing,ssdeep,tlsh") as index:
        index.add([(n, f"{text} {n}") for n in range(40)])
    errors = []

    def search(index, barrier, ways):
        try:
            barrier.wait()
            while True:
                for by in ways:
                    index.search(text, by=by)
                    index.get(3)
                    list(index.ids())
        except BaseException as error:
            errors.append(error)

    for turn in range(6):
        index, barrier = la.open(tmp_path / "store"), threading.Barrier(3)
        threads = [
            threading.Thread(target=search, args=(index, barrier, ways)) for ways in (("passages", "ssdeep"), ("fuzzy", "near", "tlsh"))
        ]
        for thread in threads:
            thread.start()
        barrier.wait()
        if turn % 2:
            index.add(f"new {turn}", text)
            index.compact()
        index.close()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
    assert len(errors) == 12
    assert all(isinstance(error, la.StoreError) and "closed" in str(error) for error in errors)
    with la.open(tmp_path / "store") as index:
        assert len(index) == 43
        assert index.check().ok


def test_a_result_is_asked_by_several_threads(both):
    native, _ = both

    def ask(found, rows):
        rows.extend(row for (row,) in iter(found.fetchone, None))

    for _ in range(20):
        found, rows = native.execute("SELECT row FROM t ORDER BY row"), []
        threads = [threading.Thread(target=ask, args=(found, rows)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rows += (row for (row,) in found)
        assert sorted(rows) == list(range(3013))


def test_a_busy_database_is_told_as_pythons_module_does(tmp_path):
    path = tmp_path / "locked.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as owner:
        owner.execute("CREATE TABLE t (value)")
        reader = connect_reader(f"{path.as_uri()}?mode=ro")
        assert isinstance(reader, _native.SqliteReader)
        reader.execute("PRAGMA busy_timeout = 1")
        owner.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError, match="locked") as found:
            reader.execute("SELECT * FROM t").fetchall()
        assert found.value.sqlite_errorcode == sqlite3.SQLITE_BUSY
        owner.execute("ROLLBACK")
        assert reader.execute("SELECT count(*) FROM t").fetchone() == (0,)
        reader.close()


def test_a_damaged_file_is_told_as_pythons_module_does(tmp_path):
    path = tmp_path / "damaged.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t (value)")
        connection.executemany("INSERT INTO t VALUES (?)", [("some text " * 50,)] * 500)
    whole = path.read_bytes()
    for broken in (whole[:4096] + b"\xff" * 8192 + whole[12288:], b"\xff" * len(whole)):
        path.write_bytes(broken)
        told = []
        for reader in (connect_reader, lambda address: sqlite3.connect(address, uri=True, isolation_level=None, factory=PlainReader)):
            connection = reader(f"{path.as_uri()}?mode=ro")
            with pytest.raises(sqlite3.DatabaseError) as error:
                connection.execute("SELECT * FROM t").fetchall()
            told.append((type(error.value), str(error.value), error.value.sqlite_errorcode))
            connection.close()
        assert told[0] == told[1]
