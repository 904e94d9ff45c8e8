"""Documents that native code writes: the same database as Python's own module makes, the same errors, and a log that stays short."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike import _native
from lookalike.errors import InputError, StoreError
from lookalike.index.add import files_of
from lookalike.model import MAX_ID_BYTES
from lookalike.stores.embedded import connections, library, row_checks
from lookalike.stores.embedded.library import BulkConnection
from lookalike.stores.given import Given
from lookalike.stores.kinds import column_named

TEXTS = [
    "",
    "one short text",
    "half a \ud800 character",
    "ein Text mit Umlauten: äöü",
    "天地玄黄宇宙洪荒" * 9,
    "x\0y",
    "word " * 4000,
    "🙂 outside",
]
INSERT = "INSERT INTO written VALUES (?, ?, ?, ?)"
pieces_of_texts = st.sampled_from(
    ["", "a", "ASCII in a block of its own, ", "é", "ÿ" * 17, "\u0100", "天" * 16, "\ud7ff\ue000", "🙂", "\0"]
)
values = st.none() | st.text(st.characters(exclude_categories=["Cs"])) | st.binary() | st.integers(-(2**63), 2**63 - 1)


def opened() -> BulkConnection:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, factory=BulkConnection)
    connection.execute("CREATE TABLE written (row INTEGER PRIMARY KEY, one UNIQUE, two, checks BLOB)")
    return connection


def contents(path: Path) -> list[tuple[Any, ...]]:
    """All that the documents have, with the types that SQLite keeps."""
    with closing(sqlite3.connect(path / "store.sqlite")) as connection:
        names = [name for _, name, *_ in connection.execute("PRAGMA table_info(documents)")]
        listed = ", ".join(
            f"typeof([{name}]), CASE typeof([{name}]) WHEN 'text' THEN CAST([{name}] AS BLOB) ELSE [{name}] END" for name in names
        )
        return connection.execute(f"SELECT {listed} FROM documents ORDER BY row").fetchall()


def documents(first: int) -> list[Any]:
    plain = [(f"{first} {place}", text) for place, text in enumerate(TEXTS)]
    return [
        *plain,
        (first * 100 - 7, TEXTS[1], {"of": "a number"}),
        (f"ä{first}", TEXTS[3]),
        {"id": f"mapped {first}", "text": "of a mapping"},
    ]


@pytest.mark.parametrize(
    "made_with",
    [
        {"kinds": "simhash,minhash"},
        {"kinds": "simhash,minhash", "bits": 128},
        {"kinds": "simhash,minhash,ssdeep,tlsh,winnowing", "indexed": ["of"]},
        {"kinds": "minhash,simhash", "keep_text": False},
        {"kinds": "record,simhash"},
    ],
    ids=["usual", "128 bits", "digests", "without text", "records"],
)
def test_the_database_is_the_one_that_python_makes(tmp_path, monkeypatch, made_with):
    def written(name: str) -> list[tuple[Any, ...]]:
        with la.open(tmp_path / name, **made_with) as index:
            index.add(documents(1))
            index.add(documents(2) + documents(1)[:3])  # some are there already
            index.add("alone", "a document of its own")
            assert index.check().ok
        return contents(tmp_path / name)

    called = []
    native = BulkConnection.insert_rows

    def insert_rows(self: BulkConnection, *arguments: Any) -> bytes:
        called.append(arguments)
        return native(self, *arguments)

    monkeypatch.setattr(BulkConnection, "insert_rows", insert_rows)
    at_once = written("at once")
    assert called
    called.clear()
    monkeypatch.setattr(library, "sqlite_library", lambda: None)
    assert written("each") == at_once
    assert not called


@pytest.mark.parametrize("there", [[True, True, True], [True, False, True], [False, False, False]], ids=["all", "some", "none"])
def test_vectors_of_which_some_are_missing(there):
    column = column_named("vector")
    halves = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float16)[: len(there)] * np.array(there, dtype=np.float16).reshape(-1, 1)
    values = halves.view(np.uint16).reshape(-1)
    packed = column.packed(values, len(there))
    assert [None if value is None else bytes(value) for value in packed] == [
        bytes(half.tobytes()) if directed else None for half, directed in zip(halves, there, strict=True)
    ]


@given(st.lists(st.tuples(values, values), max_size=11), st.integers(0, 2**40), st.permutations(range(12)))
def test_rows_are_written_as_they_are_given(rows: list[tuple[Any, Any]], first: int, places: list[int]) -> None:
    rows = [(place if one is None else (one, place)[isinstance(one, int)], two) for place, (one, two) in enumerate(rows)]
    rows = list({(type(one), one): (one, two) for one, two in rows}.values())
    columns = [[one for one, _ in rows], [two for _, two in rows]]
    with closing(opened()) as connection:
        checks = connection.insert_rows(INSERT, 5, first, columns, places[:2], len(rows))
        expected = [bytes(each) for each in _native.packed_checks(columns, places[:2], first)]
        assert checks == b"".join(expected)
        found = connection.execute("SELECT * FROM written ORDER BY row").fetchall()
        assert found == [(number, *row, check) for (number, row), check in zip(enumerate(rows, 5), expected, strict=True)]


@given(st.lists(st.lists(pieces_of_texts, max_size=9).map("".join), max_size=9))
def test_texts_of_every_width_are_written(texts: list[str]) -> None:
    """They are encoded as they are written, most of them in blocks of ASCII."""
    with closing(opened()) as connection:
        checks = connection.insert_rows(INSERT, 0, 0, [[*range(len(texts))], texts], [0, 1], len(texts))
        assert checks == b"".join(map(bytes, _native.packed_checks([[*range(len(texts))], texts], [0, 1], 0)))
        assert [two for (two,) in connection.execute("SELECT two FROM written ORDER BY row")] == texts


@given(st.lists(st.lists(pieces_of_texts | st.just("\ud800"), max_size=9).map("".join), max_size=9))
def test_texts_with_half_a_character_are_written_as_bytes(texts: list[str]) -> None:
    """In the column that may have them; its other texts stay texts."""
    stored = _native.stored_texts(texts)
    with closing(opened()) as connection:
        checks = connection.insert_rows(INSERT, 0, 0, [[*range(len(texts))], texts], [0, 1], len(texts), 1)
        assert checks == b"".join(map(bytes, _native.packed_checks([[*range(len(texts))], stored], [0, 1], 0)))
        assert [two for (two,) in connection.execute("SELECT two FROM written ORDER BY row")] == stored


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="the stable interface shows nobody the characters of a str")
def test_texts_do_not_keep_their_utf8(tmp_path):
    texts = [text + made for made in ("äöü" * 99, "天地" * 99, "🙂" * 99) for text in ("", "ascii " * 99)]
    sizes = [sys.getsizeof(text) for text in texts]
    with la.open(tmp_path / "store", kinds="simhash,minhash") as index:
        index.add(enumerate(texts))
        assert [sys.getsizeof(text) for text in texts] == sizes
        assert [index.get(number).text for number in range(len(texts))] == texts


@given(st.integers(0, 9), st.integers(0, 40), st.randoms(use_true_random=False))
def test_arrays_are_written_as_numbers_and_bytes(count: int, width: int, random: Any) -> None:
    numbers = np.array([random.getrandbits(64) for _ in range(count)], dtype=np.uint64).view(np.int64)
    pieces = np.frombuffer(random.randbytes(count * width), dtype=np.uint8).reshape(count, width)
    columns = [numbers.tolist(), [bytes(piece) for piece in pieces]]
    with closing(opened()) as connection:
        connection.execute("DROP TABLE written")
        connection.execute("CREATE TABLE written (row INTEGER PRIMARY KEY, one, two, checks BLOB)")
        checks = connection.insert_rows(INSERT, 0, 3, [numbers, pieces], [1, 0], count)
        assert checks == b"".join(map(bytes, _native.packed_checks(columns, [1, 0], 3)))
        found = connection.execute("SELECT one, two FROM written ORDER BY row").fetchall()
        assert found == list(zip(*columns, strict=True))


def test_errors_are_those_of_python() -> None:
    with closing(opened()) as connection:
        connection.execute("BEGIN")
        with pytest.raises(sqlite3.IntegrityError, match=r"UNIQUE constraint failed: written\.one") as failed:
            connection.insert_rows(INSERT, 0, 0, [["a", "b", "a"], [1, 2, 3]], [0, 1], 3)
        assert failed.value.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_UNIQUE
        connection.execute("ROLLBACK")  # no statement is left that would keep it from that
        assert connection.execute("SELECT count(*) FROM written").fetchone() == (0,)
        with pytest.raises(sqlite3.OperationalError, match="no such table: elsewhere") as failed:
            connection.insert_rows("INSERT INTO elsewhere VALUES (?, ?, ?)", 0, 0, [["a"]], [0], 1)
        assert failed.value.sqlite_errorcode == sqlite3.SQLITE_ERROR
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1000)
        with pytest.raises(sqlite3.DataError, match="too big"):
            connection.insert_rows(INSERT, 0, 0, [["a"], ["x" * 1001]], [0, 1], 1)
        connection.insert_rows(INSERT, 0, 0, [["a"], ["x" * 100]], [0, 1], 1)
        connection.execute("PRAGMA max_page_count = 8")
        with pytest.raises(sqlite3.OperationalError, match="full") as failed:
            connection.insert_rows(INSERT, 1, 0, [[*range(100)], ["x" * 900] * 100], [0, 1], 100)
        assert failed.value.sqlite_errorcode & 0xFF == sqlite3.SQLITE_FULL


def test_a_full_disk_is_told(tmp_path):
    with la.open(tmp_path / "store") as index:
        index.add("a", "what is acknowledged")
        index._store.place.writer.connection.execute("PRAGMA max_page_count = 40")
        with pytest.raises(StoreError, match="the disk is full"):
            index.add((f"{number}", "x" * 9000) for number in range(100))
        assert len(index) == 1
        index.add("b", "and goes on")
        assert index.check().ok


@pytest.mark.parametrize(
    ("columns", "places", "count", "error", "match"),
    [
        ([["a"], [1]], [0], 1, ValueError, "one for each column"),
        ([], [], 0, ValueError, "one for each column"),
        ([["a"], [1]], [0, 64], 1, ValueError, "below 64"),
        ([["a"], [1]], [0, 1], 2, ValueError, "a value for each row"),
        ([["a"], [1]], [0, 1], 2**40, ValueError, "too many rows"),
        ([["a"], [1.5]], [0, 1], 1, TypeError, "a number of 64 bits, a str, bytes or None"),
        ([["a"], ["\ud800"]], [0, 1], 1, UnicodeEncodeError, "surrogates"),
        ([["a"], [2**63]], [0, 1], 1, OverflowError, "too"),
        ([["a"], ("b",)], [0, 1], 1, TypeError, "expected a list"),
        ([["a"], np.zeros(1)], [0, 1], 1, TypeError, "expected a list"),
        ([["a"], np.zeros(1, np.uint64)], [0, 1], 1, TypeError, "expected a list"),
        ([["a"], np.zeros(2, np.int64)], [0, 1], 1, ValueError, "a value for each row"),
        ([["a"], np.zeros((2, 3), np.uint8)], [0, 1], 1, ValueError, "a value for each row"),
        ([["a"], np.zeros((2, 3), np.uint8)[:1, ::2]], [0, 1], 1, TypeError, "expected a list"),
    ],
)
def test_arguments_are_checked(columns, places, count, error, match):
    with closing(opened()) as connection:
        with pytest.raises(error, match=match):
            connection.insert_rows(INSERT, 0, 0, columns, places, count)
        with pytest.raises(ValueError, match="too many rows"):
            connection.insert_rows(INSERT, 2**63 - 1, 0, [["a"], [1]], [0, 1], 1)
        assert connection.execute("SELECT count(*) FROM written").fetchone() == (0,)


def test_a_list_that_changes_meanwhile_is_written_as_it_was() -> None:
    """What the call reads without the interpreter's lock is held."""
    count = 20_000
    with closing(opened()) as connection:
        ids, texts = [f"id {number}" for number in range(count)], [bytearray(b"text %d" % number) for number in range(count)]
        stop = threading.Event()

        def disturb() -> None:
            while not stop.is_set():
                ids.clear()
                for text in texts:
                    text[:] = b"changed"

        other = threading.Thread(target=disturb)
        given_ids = ids[:]
        other.start()
        try:
            connection.insert_rows(INSERT, 0, 0, [given_ids, texts], [0, 1], count)
        finally:
            stop.set()
            other.join()
        found = connection.execute("SELECT one, two, checks FROM written ORDER BY row").fetchall()
    assert [one for one, *_ in found] == given_ids
    assert not row_checks.wrong([(number, *row) for number, row in enumerate(found)], [0, 1], all_checked=True)


def test_each_has_the_connection_that_it_opened() -> None:
    """However many threads open connections of any kind at once."""
    stop = threading.Event()
    wrong: list[object] = []

    def open_others() -> None:
        while not stop.is_set():
            sqlite3.connect(":memory:").close()

    def open_own(number: int) -> None:
        for turn in range(30):
            with closing(opened()) as connection:
                assert connection.is_bulk
                connection.insert_rows(INSERT, number, 0, [[f"{number} {turn}"], [None]], [0, 1], 1)
                found = connection.execute("SELECT row, one FROM written").fetchall()
                if found != [(number, f"{number} {turn}")]:
                    wrong.append(found)

    others = threading.Thread(target=open_others)
    threads = [threading.Thread(target=open_own, args=(number,)) for number in range(4)]
    others.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    others.join()
    assert not wrong


def test_what_opens_none_or_several_has_no_handle() -> None:
    sqlite = library.sqlite_library()
    assert sqlite is not None
    assert sqlite.opened_by(lambda: None) is None
    made: list[sqlite3.Connection] = []
    assert sqlite.opened_by(lambda: made.extend(sqlite3.connect(":memory:") for _ in range(2))) is None
    for connection in made:
        connection.close()
    with pytest.raises(ZeroDivisionError):
        sqlite.opened_by(lambda: 1 // 0)
    with closing(opened()) as connection:
        assert connection.is_bulk


def test_a_connection_that_is_closed() -> None:
    connection = opened()
    handle = connection._handle
    assert handle is not None
    connection.insert_rows(INSERT, 0, 0, [["a"], [None]], [0, 1], 1)
    connection.close()
    connection.close()
    assert not connection.is_bulk
    for call in (lambda: handle.insert(INSERT, 0, 0, [["a"]], [0], 1, None), handle.watch_log, lambda: handle.log_pages):
        with pytest.raises(ValueError, match="closed"):
            call()
    del connection
    forgotten = opened()
    forgotten.insert_rows(INSERT, 0, 0, [["a"], [None]], [0, 1], 1)
    del forgotten  # its statement goes first


def test_a_log_that_was_long_once_is_not_moved_with_every_write(tmp_path, monkeypatch):
    """Its file stays as long as it was, and its pages are used again."""
    moved = []
    checkpoint = connections.WriteConnection.checkpoint

    def count(self: connections.WriteConnection) -> None:
        moved.append(self)
        checkpoint(self)

    monkeypatch.setattr(connections, "CHECKPOINT_BYTES", 1 << 20)
    monkeypatch.setattr(connections.WriteConnection, "checkpoint", count)
    with la.open(tmp_path / "store", kinds="simhash") as index:
        index.add((f"{number}", f"{number} " * 300) for number in range(1500))
        assert (tmp_path / "store" / "store.sqlite-wal").stat().st_size > 1 << 20
        assert moved
        moved.clear()
        for number in range(10):
            index.add(f"single {number}", "a short text")
        assert not moved
        for number in range(60):
            index.add(f"more {number}", f"{number} " * 3000)
        assert moved
        assert index._store.place.writer.connection.log_pages < 200


def test_the_number_of_documents_in_a_segment(tmp_path):
    """Is counted from what was added and removed; segments are what they are without it."""
    with la.open(tmp_path / "store", kinds="simhash") as index:
        index.add((f"{number}", f"text number {number}") for number in range(3000))
        index.remove([f"{number}" for number in range(0, 3000, 7)])
        index.add((f"{number}", f"another text {number}") for number in range(100, 120))
    with closing(sqlite3.connect(tmp_path / "store" / "store.sqlite")) as connection:
        ((documents,),) = connection.execute("SELECT sum(documents) FROM segments").fetchall()
        assert connection.execute("SELECT count(*) FROM documents").fetchone() == (documents,)
    with la.open(tmp_path / "store") as index:
        assert index.check().ok


items = st.one_of(
    st.tuples(
        st.text(max_size=3) | st.integers(-(2**64), 2**64) | st.booleans() | st.none(), st.text(max_size=9) | st.none() | st.integers()
    ),
    st.tuples(st.text(max_size=3), st.text(max_size=9), st.dictionaries(st.text(), st.integers(), max_size=1)),
    st.sampled_from(
        [
            ("x" * (MAX_ID_BYTES + 1), "a"),
            ("é" * MAX_ID_BYTES, "a"),
            ("a\0", "b"),
            ("\ud800", "b"),
            ["a", "b"],
            7,
            None,
            {"id": "a", "text": "b"},
        ]
    ),
)


@given(st.lists(items, max_size=12), st.integers(1, 8), st.integers(1, 30))
def test_documents_are_taken_as_one_by_one(documents: list[Any], most: int, characters: int) -> None:
    """Until there are so many, or they are so long; what is wrong is told when its turn comes."""

    def by_hand() -> tuple[list[Any], list[str], list[str | None], bool]:
        given, length, rest = Given(), 0, iter(documents)
        for item in rest:
            given.append(item)
            length += len(given.texts[-1])
            if len(given) == most or length >= characters:
                return given.ids, given.texts, given.metas, False
        return given.ids, given.texts, given.metas, True

    def at_once() -> tuple[list[Any], list[str], list[str | None], bool]:
        given, sources = Given(), [iter(documents)]
        ended = given.fill(sources, most, characters, files_of)
        return given.ids, given.texts, given.metas, ended

    outcomes = []
    for way in (by_hand, at_once):
        try:
            found = way()
            outcomes.append((found, [type(id_) for id_ in found[0]]))
        except InputError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("most", range(1, 8))
def test_what_is_in_a_path_comes_in_its_place(most: int) -> None:
    """Though a batch may end before it, within it, or behind it."""
    inside = {Path("two"): [("c", "3"), ("d", "4")], Path("none"): [], Path("one"): [("f", "6")]}
    documents: list[Any] = [("a", "1"), ("b", "2"), Path("two"), Path("none"), ("e", "5"), Path("one")]
    sources, batches, ended = [iter(documents)], [], False
    while not ended:
        given = Given()
        ended = given.fill(sources, most, 1000, lambda path: iter(inside[path]))
        batches.append(given.ids)
    assert [len(batch) for batch in batches[:-1]] == [most] * (len(batches) - 1)
    assert [id_ for batch in batches for id_ in batch] == list("abcdef")


def test_an_iterator_that_fails_is_heard() -> None:
    def broken() -> Any:
        yield "a", "text"
        raise KeyError("broken")

    given = Given()
    with pytest.raises(KeyError, match="broken"):
        given.fill([broken()], 9, 9, files_of)
    assert given.ids == ["a"]


def test_a_child_of_a_fork_opens_connections_while_another_thread_of_the_parent_did() -> None:
    with library._one_at_a_time:  # as that thread has it
        child = os.fork()
        if child == 0:
            signal.alarm(30)  # if it waits for ever
            opened().close()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
