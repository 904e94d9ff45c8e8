"""Searches by near and by SimHash in one native call give what the long way gives, see what was acknowledged, and step aside where they
cannot answer."""

import shutil
import sqlite3
import threading
import time
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike import _native
from lookalike.errors import Corrupt
from lookalike.index.opening import open_beside
from lookalike.stores.embedded import direct, library
from lookalike.stores.embedded.store import EmbeddedStore
from lookalike.stores.matches import Match, Matches

WORDS = ["near", "text", "stored", "twice", "编辑", "相似", "Größe", "🙂", "a\0b"]


def shown(found):
    return [(match.to_dict(), match.row, match.text) for match in found], found.total, found.notes, found.scale


def go_the_long_way(patched, index):
    patched.setattr(index, "_usual", None)
    for name in ("near", "within"):
        patched.setattr(EmbeddedStore, name, lambda *_: None)


@pytest.fixture
def long_way(monkeypatch):
    """A search that goes the long way."""

    def search(index, *arguments, **options):
        with monkeypatch.context() as patched:
            go_the_long_way(patched, index)
            return index.search(*arguments, **options)

    return search


def is_direct(index, text, threshold=0.7, limit=10):
    return index._store.near(text, threshold, limit, False) is not None


def is_direct_within(index, text, k=3, limit=10):
    return index._store.within(text, k, limit, False) is not None


texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
documents = st.lists(
    st.tuples(
        st.one_of(st.integers(-3, 3), st.sampled_from("abc")),
        st.one_of(texts, st.just("lone \udc80 surrogate in a text")),
        st.sampled_from([{}, {"site": "a"}, {"day": "2026", "n": [1, "编"]}]),
    ),
    max_size=12,
)


@settings(max_examples=15, deadline=None)
@given(
    first=documents, second=documents, gone=st.lists(st.sampled_from([-1, 0, 1, "a", "b"])), asked=st.lists(texts, min_size=1, max_size=4)
)
def test_answers_are_those_of_the_long_way(tmp_path_factory, first, second, gone, asked):
    path = tmp_path_factory.mktemp("direct") / "store"
    options = [{}, {"limit": 1}, {"limit": None}, {"threshold": 0.2}, {"threshold": 1.0, "text": True}]
    with la.open(path, kinds="simhash,minhash") as index:
        for added in (first, second):
            for id_, text, meta in added:
                index.add(id_, text, meta)
            for each in options:
                found = [shown(index.search(text, **each)) for text in asked]
                with pytest.MonkeyPatch.context() as patched:
                    go_the_long_way(patched, index)
                    assert found == [shown(index.search(text, **each)) for text in asked]
            index.remove(gone)


@settings(max_examples=15, deadline=None)
@given(
    first=documents,
    second=documents,
    gone=st.lists(st.sampled_from([-1, 0, 1, "a", "b"])),
    asked=st.lists(texts, min_size=1, max_size=4),
    bits=st.sampled_from([32, 64, 128]),
    keep_text=st.booleans(),
    keyed=st.booleans(),
)
def test_answers_by_simhash_are_those_of_the_long_way(tmp_path_factory, first, second, gone, asked, bits, keep_text, keyed):
    path = tmp_path_factory.mktemp("direct") / "store"
    options = [{}, {"limit": 1}, {"limit": None, "k": 16}, {"k": 0, "text": True}, {"k": 8}]
    with la.open(path, kinds="simhash", bits=bits, keep_text=keep_text, keyed=keyed) as index:
        for added in (first, second):
            for id_, text, meta in added:
                index.add(id_, text, meta)
            for each in options:
                found = [shown(index.search(text, by="simhash", **each)) for text in asked]
                with pytest.MonkeyPatch.context() as patched:
                    go_the_long_way(patched, index)
                    assert found == [shown(index.search(text, by="simhash", **each)) for text in asked]
            index.remove(gone)


@pytest.mark.parametrize("bits", [64, 128])
def test_segments_tails_and_removed_rows_by_simhash(tmp_path, long_way, monkeypatch, bits):
    path, text = tmp_path / "store", " ".join(f"word {n} of a long page" for n in range(40))
    with la.open(path, kinds="simhash", bits=bits) as writer, la.open(path, read_only=True) as reader:
        writer.add([(n, f"{text} and {n % 7}", {"n": n}) for n in range(300)])
        writer.compact()
        writer.remove([0, 7, 9])
        writer.add("first", "one more, so that there is a log")
        for change in (
            lambda: None,
            lambda: writer.add([("new", text), (8, text)]),
            lambda: writer.remove(["new", 21]),
            lambda: writer.add(8, "other"),
        ):
            reader.search(text, by="simhash")
            change()
            for k in (0, 3, 12):
                for limit in (1, 7, None):
                    with monkeypatch.context() as patched:
                        patched.setattr(direct.Direct, "_look", lambda *_: pytest.fail("all of it was read again"))
                        found = shown(reader.search(f"{text} and 3", by="simhash", k=k, limit=limit))
                    assert found == shown(long_way(reader, f"{text} and 3", by="simhash", k=k, limit=limit))
        assert is_direct_within(reader, text)
        assert reader.search(text, by="simhash", k=16, limit=None).total == 295


def test_by_simhash_documents_without_a_text_are_found(tmp_path, long_way):
    with la.open(tmp_path / "store", kinds="simhash") as index:
        index.add_simhashes(["bare"], [la.simhash("a text that only its SimHash is kept of")])
        index.add("kept", "a text that only its SimHash is kept of", {"n": 1})
        text = "a text that only its SimHash is kept of"
        found = index.search(text, by="simhash", text=True)
        assert [(match.id, match.text, match.meta) for match in found] == [("bare", None, {}), ("kept", text, {"n": 1})]
        assert shown(found) == shown(long_way(index, text, by="simhash", text=True))
        assert is_direct_within(index, text)


def test_damage_is_told_by_simhash(tmp_path):
    path, text = tmp_path / "store", "a text of which somebody changed the fingerprint in the database"
    with la.open(path, kinds="simhash") as writer, la.open(path, read_only=True) as reader:
        writer.add("a", "another text")
        reader.search(text, by="simhash")
        writer.add("b", text)
        with closing(sqlite3.connect(path / "store.sqlite")) as connection, connection:
            connection.execute("UPDATE documents SET simhash = simhash + 1 WHERE id = 'b'")
        with pytest.raises(Corrupt, match="row 1"):
            reader.search(text, by="simhash")


def test_a_wrong_k_is_told(tmp_path):
    with la.open(tmp_path / "store", kinds="simhash") as index:
        index.add("a", "one text that is stored here")
        for k in (-1, 17, 1.5, True):
            with pytest.raises(la.InputError, match="k"):
                index.search("one text that is stored here", by="simhash", k=k)


def test_many_copies_segments_and_removed_rows(tmp_path, long_way):
    path = tmp_path / "store"
    page = "a page that many have copied word for word from one another"
    other = "and some have changed a word of the page that many have copied word for word"
    with la.open(path, kinds="minhash") as index:
        index.add([(n, page if n % 3 else f"{other} {n % 2}", {"n": n}) for n in range(300)])
        index.compact()
        index.add([(n, page.upper() if n % 2 else page) for n in range(1000, 1040)])
        index.remove([1, 2, 4, 1001])
        for limit in (1, 7, 50, None):
            for text in (page, other, "nothing of it"):
                found = index.search(text, limit=limit)
                assert shown(found) == shown(long_way(index, text, limit=limit))
            assert is_direct(index, page, limit=limit or 1 << 62)
        assert index.search(page, limit=None).total == 200 + 40 - 4


def test_it_is_the_way_that_is_taken(tmp_path, monkeypatch):
    with la.open(tmp_path / "store", kinds="minhash") as index:
        index.add("a", "one text that is stored here")
        monkeypatch.setattr(EmbeddedStore, "reading", lambda *_: pytest.fail("the long way"))
        with pytest.raises(pytest.fail.Exception):
            index.search("one text that is stored here")
        monkeypatch.undo()
        assert [match.id for match in index.search("one text that is stored here")] == ["a"]
        monkeypatch.setattr(EmbeddedStore, "reading", lambda *_: pytest.fail("the long way"))
        (found,) = index.search("one text that is stored here", text=True)
        assert (found.id, found.score, found.text, found.meta) == ("a", 1.0, "one text that is stored here", {})


def test_every_search_sees_what_was_acknowledged(tmp_path):
    path = tmp_path / "store"
    with la.open(path, kinds="minhash") as writer, la.open(path, read_only=True) as reader:
        for number in range(30):
            text = f"document number {number} says {number * 7} and nothing else"
            assert text not in [match.text for match in reader.search(text, text=True, limit=None)]
            writer.add(number, text)
            assert reader.search(text, text=True)[0].text == text
            assert is_direct(reader, text)
            if number % 7 == 3:
                writer.remove(number)
                assert number not in [match.id for match in reader.search(text)]
            if number % 10 == 5:
                writer.compact()
                assert reader.search(text)[0].id == number


def test_documents_that_were_added_since_need_no_new_look(tmp_path, monkeypatch, long_way):
    path = tmp_path / "store"
    page = "a page that comes again and again, word for word, from many"
    with la.open(path, kinds="minhash") as writer, open_beside(writer, "other", create=True) as other:
        writer.add([(n, f"stored text number {n} of the first ones") for n in range(50)] + [("page", page)])
        writer.compact()
        writer.add("first", "one more, so that there is a log")
        with la.open(path, read_only=True) as reader:
            reader.search(page)
            with monkeypatch.context() as patched:
                patched.setattr(direct.Direct, "_look", lambda *_: pytest.fail("all of it was read again"))
                for number in range(20):
                    writer.add([(f"new {number}", f"{page}, here with the number {number}"), (f"copy {number}", page)])
                    other.add(number, page)
                    assert [match.id for match in reader.search(f"{page}, here with the number {number}", limit=1)] == [f"new {number}"]
                assert reader.search(page, limit=3).total == 21
            for limit in (1, 5, None):
                assert shown(reader.search(page, limit=limit)) == shown(long_way(reader, page, limit=limit))
            writer.remove("page")
            assert "page" not in [match.id for match in reader.search(page, limit=None)]


def test_documents_that_were_replaced_or_removed_since_need_no_new_look(tmp_path, monkeypatch, long_way):
    path = tmp_path / "store"
    page = " ".join(f"word {n} of a page that comes again" for n in range(20))
    with la.open(path, kinds="minhash") as writer, la.open(path, read_only=True) as reader:
        writer.add([(n, f"{page} of number {n // 2}") for n in range(60)])
        writer.compact()
        writer.remove([58, 59])
        writer.add("first", "one more, so that there is a log")
        assert reader.search(page).total == 58
        changes = [
            lambda: writer.add(3, f"{page} of number 3, anew"),  # replaced: one of the segment
            lambda: writer.add(3, page),  # and one that was added since
            lambda: writer.remove([4, 5, 3]),  # of both
            lambda: writer.add([(n, page) for n in (8, 9, "new", "newer")]),
            lambda: writer.remove("newer"),
            lambda: writer.remove("not there"),
            lambda: (
                writer.add([("a", page), ("b", page)]),
                writer.add([("a", page), ("c", page)]),
                writer.remove("c"),
            ),  # between two looks
            lambda: (writer.add("d", page), writer.remove("d")),
            lambda: writer.remove(["a", "b", "new", 8, 9]),
        ]
        for change in changes:
            change()
            with monkeypatch.context() as patched:
                patched.setattr(direct.Direct, "_look", lambda *_: pytest.fail("all of it was read again"))
                found = [shown(reader.search(text, limit=limit)) for text in (page, f"{page} of number 3") for limit in (1, 7, None)]
            assert found == [shown(long_way(reader, text, limit=limit)) for text in (page, f"{page} of number 3") for limit in (1, 7, None)]


def test_more_documents_are_removed_than_are_left_out_one_by_one(tmp_path, long_way):
    path, page = tmp_path / "store", "a page that comes again and again, word for word"
    with la.open(path, kinds="minhash") as writer, la.open(path, read_only=True) as reader:
        writer.add([(n, page) for n in range(900)])
        writer.compact()
        for left in range(800, -1, -100):
            writer.remove(range(left, left + 100))
            assert reader.search(page, limit=3).total == left
            assert shown(reader.search(page)) == shown(long_way(reader, page))


def test_more_documents_than_are_compared_one_by_one(tmp_path, long_way):
    path = tmp_path / "store"
    with la.open(path, kinds="minhash") as writer, la.open(path, read_only=True) as reader:
        for first in range(0, 900, 90):
            writer.add([(n, f"text number {n} of very many that come, {n * 7919}") for n in range(first, first + 90)])
            for n in (0, first, first + 89):
                text = f"text number {n} of very many that come, {n * 7919}"
                assert shown(reader.search(text)) == shown(long_way(reader, text))
                assert reader.search(text)[0].id == n


def test_of_what_was_added_since_damage_is_told(tmp_path):
    path, text = tmp_path / "store", "a text whose keys somebody changed in the database"
    for column, wrong in (("bands", "zeroblob(length(bands))"), ("bands", "NULL"), ("digest", "digest + 1"), ("checks", "zeroblob(8)")):
        with la.open(path, kinds="minhash") as writer, la.open(path, read_only=True) as reader:
            writer.add("a", "another text")
            reader.search(text)
            writer.add("b", text)
            with closing(sqlite3.connect(path / "store.sqlite")) as connection, connection:
                connection.execute(f"UPDATE documents SET {column} = {wrong} WHERE id = 'b'")
            with pytest.raises(Corrupt, match="row 1"):
                reader.search(text)
        shutil.rmtree(path)


def test_a_database_that_is_behind_its_record_is_told(tmp_path):
    path, text = tmp_path / "store", "a text that is acknowledged"
    with la.open(path, kinds="minhash") as writer:
        writer.add("a", text)
        with writer._store.reading() as snapshot:
            store = snapshot.state.store
    with la.open(path, read_only=True) as reader:
        assert len(reader.search(text)) == 1
        record = reader._store.place.record
        record.write(store._replace(changes=store.changes + 1, chain=bytes(16)))
        with pytest.raises(Corrupt, match="older state"):
            reader.search(text)
        record.start_anew(store._replace(chain=bytes(16)))
        with pytest.raises(Corrupt, match="other changes"):
            reader.search(text)
        record.start_anew(store._replace(changes=store.changes - 1, chain=store.before))
        assert is_direct(reader, text)  # the database may be ahead: its writer was killed before he could say so
        record.start_anew(store._replace(changes=store.changes - 1, chain=bytes(16)))
        with pytest.raises(Corrupt, match="other changes"):
            reader.search(text)


@pytest.mark.parametrize("looked", [False, True], ids=["known from the start", "added since"])
def test_documents_expire_meanwhile(tmp_path, looked):
    text = "this is here for a moment and no longer"
    with la.open(tmp_path / "store", kinds="minhash") as index:
        index.add("for good", f"{text}, or is it")
        if looked:
            assert [match.id for match in index.search(text, threshold=0.5)] == ["for good"]
        index.add("a", text, ttl=1.0)
        assert [match.id for match in index.search(text, threshold=0.5)] == ["a", "for good"]
        end = time.monotonic() + 10
        while len(index.search(text, threshold=0.5)) == 2 and time.monotonic() < end:
            time.sleep(0.05)
        assert [match.id for match in index.search(text, threshold=0.5)] == ["for good"]


def test_threads_that_search_while_others_write(tmp_path):
    path = tmp_path / "store"
    wrong = []
    with la.open(path, kinds="minhash") as index:
        index.add([(n, f"stored text number {n} of the first ones") for n in range(50)])
        done = threading.Event()

        def ask():
            number = 0
            while not done.is_set():
                number = (number + 1) % 50
                found = index.search(f"stored text number {number} of the first ones", limit=1)
                if [match.id for match in found] != [number]:
                    wrong.append((number, found))

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        for n in range(50, 65):
            index.add(n, f"another text, number {n}, of those that came later")
        done.set()
        for thread in threads:
            thread.join()
    assert not wrong


def test_damage_is_told(tmp_path):
    path = tmp_path / "store"
    text = "a text of which somebody changed a word in the database"
    with la.open(path, kinds="minhash") as index:
        index.add("a", text)
    with closing(sqlite3.connect(path / "store.sqlite")) as connection, connection:
        connection.execute("UPDATE documents SET text = replace(text, 'word', 'sword')")
    with la.open(path, read_only=True) as index, pytest.raises(Corrupt, match="text of document 'a'"):
        index.search(text, threshold=0.1)


def test_a_record_that_is_missing_is_told(tmp_path):
    path = tmp_path / "store"
    with la.open(path, kinds="minhash") as index:
        index.add("a", "a text that is acknowledged")
    with la.open(path, read_only=True) as index:
        assert len(index.search("a text that is acknowledged")) == 1
        (path / "acknowledged").unlink()
        with pytest.raises(Corrupt, match="acknowledged is missing"):
            index.search("a text that is acknowledged")


def test_without_sqlite_for_native_code(tmp_path, monkeypatch):
    with la.open(tmp_path / "store", kinds="minhash") as index:
        index.add("a", "one text that is stored here")
    monkeypatch.setattr(direct, "sqlite_library", lambda: None)
    with la.open(tmp_path / "store", read_only=True) as index:
        assert not is_direct(index, "one text that is stored here")
        assert [match.id for match in index.search("one text that is stored here")] == ["a"]


def test_stores_that_it_is_not_for(tmp_path):
    with la.open("memory://", kinds="minhash") as index:
        index.add("a", "one text that is stored here")
        assert not is_direct(index, "one text that is stored here")
    with la.open(tmp_path / "store", kinds="minhash", keep_text=False) as index:
        index.add("a", "one text that is stored here")
        assert not is_direct(index, "one text that is stored here")
        assert index.search("one text that is stored here")[0].estimated


def test_the_library_is_the_one_that_python_has_loaded():
    sqlite = direct.sqlite_library()
    assert sqlite is not None
    assert sqlite.soft_heap_limit(-1) != library._MARK  # what it was told by is as it was before


def test_arguments_are_checked(tmp_path):
    sqlite, statements = direct.sqlite_library(), (*direct.STATEMENTS, "")
    with pytest.raises(RuntimeError, match="not loaded"):
        _native.Sqlite(str(tmp_path / "none.so"))
    with pytest.raises(RuntimeError, match="cannot be opened"):
        _native.StoredRows(sqlite, f"file:{tmp_path}/none?mode=ro", *statements)
    with pytest.raises(RuntimeError, match="no such table"):
        _native.StoredRows(sqlite, "file::memory:", *statements)
    with pytest.raises(ValueError, match="bands"):
        _native.NearSearcher(1, True, 2, 0, 16, 17, 1, 10)
    numbers, removed = (0, 0, 0, 0, 0, 0, 0), np.zeros(0, np.int64)
    state = _native.NearState("", "", *numbers, [], [], removed, 0, 0, 1 << 62)
    rows = _native.StoredRows(sqlite, "file::memory:", "SELECT ?", "SELECT ?", *["SELECT ?, ?"] * 4, "")
    searcher = _native.NearSearcher(1, True, 2, 0, 16, 4, 4, 10)
    maker = _native.MatchMaker(Match, Matches, "jaccard", None, {})
    assert searcher.run("text", state, rows, 0.5, 1, maker, False) is True  # there is no record
    rows.close()
    with pytest.raises(ValueError, match="closed"):
        searcher.run("text", state, rows, 0.5, 1, maker, False)
    usual = _native.UsualSearches([], print, 1)
    for wrong in ((state, searcher, maker), (searcher, "state", maker), (searcher, state, 7)):
        with pytest.raises(TypeError, match="expected those of one way"):
            usual.near(*wrong, 0.5, 1, print)
    with pytest.raises(AttributeError, match="id"):
        _native.MatchMaker(dict, Matches, "jaccard", None, {})
    by_simhash = _native.SimhashSearcher(1, True, 2, 0, 64, True)
    with pytest.raises(ValueError, match="k"):
        by_simhash.run("text", _native.SimhashState("", "", *numbers, [], [], removed, 0, 0, 1 << 62), rows, 17, 1, maker, False)
    other = _native.HammingSegment.build(np.zeros(1, np.uint64), np.zeros(1, np.int64), 32)
    with pytest.raises(ValueError, match="another number of bits"):
        by_simhash.run("text", _native.SimhashState("", "", *numbers, [other], [], removed, 0, 0, 1 << 62), rows, 3, 1, maker, False)
    with pytest.raises(TypeError, match="parts"):
        _native.SimhashState("", "", *numbers, [None], [], removed, 0, 0, 1 << 62)
    with pytest.raises(TypeError, match="parts"):
        _native.NearState("", "", *numbers, [None], [], removed, 0, 0, 1 << 62)
    with pytest.raises(TypeError, match="MappedFile"):
        _native.NearState("", "", *numbers, [], [None], removed, 0, 0, 1 << 62)


def is_usual(index, text, by=None):
    return isinstance(index._usual.find(text, by), Matches)


def test_usual_searches_need_no_step_of_python(tmp_path, monkeypatch, long_way):
    chinese = "我们喜欢吃苹果，因为它们很甜，而且很便宜。" * 4
    asked = ["one text that is stored here", "another one", chinese, "größer als der Text davor, ü" * 9, "a" * 4000, "", "lone \udc80"]
    with la.open(tmp_path / "store", kinds="simhash,minhash") as index:
        index.add([(number, text) for number, text in enumerate(asked[:-1])])
        expected = {by: [shown(long_way(index, text, by=by)) for text in asked] for by in ("near", "simhash")}
        assert not is_usual(index, asked[0])
        assert not is_usual(index, asked[0], "simhash")
        for by in expected:
            index.search(asked[0], by=by)
        with monkeypatch.context() as patched:
            for name in ("near", "within", "reading"):
                patched.setattr(EmbeddedStore, name, lambda *_: pytest.fail("Python"))
            for by, found in expected.items():
                assert [shown(index.search(text, by=by)) for text in asked] == found
            assert shown(index.search(asked[0])) == expected["near"][0]
        for options in ({"by": "passage"}, {"by": 7}, {"by": "tlsh"}):
            with pytest.raises(la.InputError):
                index.search(asked[0], **options)
        for query, by in ((7, None), (None, None), (asked[0], "passages"), (asked[0], b"near"), (asked[0].encode(), None)):
            assert index._usual.find(query, by) is None
        index.add("new", asked[0])
        assert [match.id for match in index.search(asked[0])] == [0, "new"]
        assert [match.id for match in index.search(asked[0], by="simhash")] == [0, "new"]
        assert is_usual(index, asked[0])
        index.remove([0])
        assert [match.id for match in index.search(asked[0])] == ["new"]


@pytest.mark.parametrize("by", ["near", "simhash"])
@pytest.mark.parametrize("recipe", ["default", "reposts", "chars"])
def test_notes_of_usual_searches(tmp_path, long_way, by, recipe):
    lengths = (0, 299, 300, 301, 1000, 1001, 3000, 3002)
    asked = [
        base * (length // len(base))
        for base in ("ab", "üb", "编", "编a", "𠀀b", "编辑a", "\u3400", "\u9fff", "\ua000", "🙂编编")
        for length in lengths
    ]
    with la.open(tmp_path / "store", kinds="simhash,minhash", recipe=recipe) as index:
        index.add("a", "a text")
        for text in asked:
            index.search(text, by=by)
            assert is_usual(index, text, by)
            assert shown(index.search(text, by=by)) == shown(long_way(index, text, by=by))


def test_more_candidates_than_are_verified(tmp_path, monkeypatch, long_way):
    monkeypatch.setattr("lookalike.stores.embedded.direct.MAX_CANDIDATES", 2)
    monkeypatch.setattr("lookalike.stores.kinds.near.MAX_CANDIDATES", 2)
    monkeypatch.setattr("lookalike.stores.kinds.bands.MAX_CANDIDATES", 2)
    texts = [f"a text of a dozen words or so that differ in the last one alone: {number}" for number in range(5)]
    with la.open(tmp_path / "store", kinds="minhash") as index:
        index.add(list(enumerate(texts)))
        index.search(texts[0])
        assert is_usual(index, texts[0])
        found = index.search(texts[0])
        assert found.notes
        assert shown(found) == shown(long_way(index, texts[0]))


def test_usual_searches_end_with_their_index(tmp_path):
    text = "one text that is stored here"
    with la.open(tmp_path / "store", kinds="minhash") as index:
        index.add("a", text)
        with la.open(tmp_path / "store", read_only=True) as other:
            for each in (index, other):
                each.search(text)
                assert is_usual(each, text)
        assert other._usual.find(text, None) is None
        with pytest.raises(la.StoreError, match="closed"):
            other.search(text)
        assert is_usual(index, text)
        beside = open_beside(index, "more", create=True)
        with beside:
            beside.add("b", text)
            beside.search(text)
            assert is_usual(beside, text)
        assert beside._usual.find(text, None) is None  # the store is open
        index._store._direct_near._look(index._store)
        index._store.usual.close()
        index._store._direct_near._look(index._store)
        assert index._usual.find(text, None) is None  # for good


def test_usual_searches_keep_no_more_connections_than_others(tmp_path):
    text = "one text that is stored here"
    with la.open(tmp_path / "store", kinds="minhash") as index:
        index.add("a", text)
        index.search(text)
        readings = index._store.place.readings
        several = _native.UsualSearches(readings.idle, readings.give_back, 0)
        given_back = []
        none = _native.UsualSearches(readings.idle, lambda *held: given_back.append(held), 0)
        direct_near = index._store._direct_near
        for each in (several, none):
            direct_near._tell(each)
        assert [match.id for match in several.find(text, None)] == ["a"]
        assert len(readings.idle) == 1
        assert [match.id for match in none.find(text, "near")] == ["a"]
        assert [good for _, good in given_back] == [True]
        assert none.find(text, None) is None  # there is no connection that is open
        readings.idle.append(given_back[0][0])
