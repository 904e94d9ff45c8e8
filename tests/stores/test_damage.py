"""Damage of a store is noticed: never an older state, a changed text or a lost row in silence, and never a false alarm."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
from pathlib import Path

import pytest

import lookalike as la
from first_format import as_first_format
from lookalike.stores.embedded import acknowledged
from lookalike.testing import corpus

BATCHES = 6


def in_child(work) -> int:
    """Do something in a child that ends without closing anything; its wait status."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1]


@pytest.fixture
def logged(tmp_path: Path) -> Path:
    """A store whose writer was killed: everything but its first documents is in the write-ahead log."""
    path = tmp_path / "logged"
    with la.open(path) as index:
        index.add("first", "the first document")

    def write() -> None:
        index = la.open(path)
        for number in range(BATCHES):
            index.add(corpus(60)[number * 10 : number * 10 + 10])
        os.kill(os.getpid(), signal.SIGKILL)

    in_child(write)
    assert (path / "store.sqlite-wal").stat().st_size
    return path


def ids_or_corrupt(path: Path) -> set[object] | None:
    try:
        with la.open(path, read_only=True) as index:
            return {document.id for document in index.documents()}
    except la.Corrupt:
        return None


def test_a_cut_or_flipped_log_is_noticed(logged: Path, tmp_path: Path) -> None:
    whole = ids_or_corrupt(logged)
    assert whole is not None
    assert len(whole) == 61
    log = (logged / "store.sqlite-wal").read_bytes()
    chance, noticed = random.Random(3), 0
    cuts = [log[: len(log) * part // 12] for part in range(12)]
    flips = []
    for _ in range(30):
        place = chance.randrange(len(log))
        flips.append(log[:place] + bytes([log[place] ^ 1 << chance.randrange(8)]) + log[place + 1 :])
    for number, damaged in enumerate([*cuts, *flips]):
        path = tmp_path / f"copy{number}"
        shutil.copytree(logged, path)
        (path / "store.sqlite-shm").unlink(missing_ok=True)
        (path / "store.sqlite-wal").write_bytes(damaged)
        found = ids_or_corrupt(path)
        noticed += found is None
        assert found in (None, whole), number
        shutil.rmtree(path)
    assert noticed >= 20


def test_an_older_state_is_refused_until_it_is_accepted(logged: Path) -> None:
    for suffix in ("-wal", "-shm"):
        (logged / f"store.sqlite{suffix}").unlink()
    with la.open(logged) as index:
        for use in (lambda: index.get("first"), lambda: index.search("first"), lambda: len(index), lambda: index.add("new", "text")):
            with pytest.raises(la.Corrupt, match=r"2 of the 8 changes .* check --repair"):
                use()
        report = index.check()
        assert "older state" in report.problems[0]
        report = index.check(repair=True)
        assert report.ok
        assert "older state" in report.repaired[0]
        index.add("new", "text")
        assert index.check().ok
    with la.open(logged, read_only=True) as index:
        assert list(index.ids()) == ["first", "new"]


def test_killed_between_the_commit_and_the_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing acknowledged is lost, and nobody is alarmed."""
    path = tmp_path / "store"
    with la.open(path) as index:
        index.add("first", "the first document")
    for round_ in range(3):

        def write(round_: int = round_) -> None:
            index = la.open(path)
            index.add(f"said {round_}", "this one is acknowledged")
            acknowledged.AcknowledgedFile.write = lambda self, store, **_: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[method-assign]
            index.add(f"unsaid {round_}", "this one is committed only")

        assert os.WTERMSIG(in_child(write)) == signal.SIGKILL
        with la.open(path, read_only=True) as index:
            assert f"said {round_}" in index
            assert f"unsaid {round_}" in index
            assert index.check().ok
    with la.open(path) as index:
        index.remove("said 0")
        assert (len(index), index.check().problems) == (6, [])


def test_the_record_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error, and before the next commit it is tried again."""
    with la.open(tmp_path / "store") as index:
        index.add("first", "text")
        with monkeypatch.context() as broken:
            broken.setattr(os, "pwrite", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
            for _ in range(2):
                with pytest.raises(la.StoreError, match="acknowledged"):
                    index.add("second", "text")
        index.add("third", "text")
        assert set(index.ids()) == {"first", "second", "third"}
    with la.open(tmp_path / "store", read_only=True) as index:
        assert index.check().ok


def test_a_record_that_is_damaged_missing_or_of_another_store(tmp_path: Path) -> None:
    for name in ("store", "other"):
        with la.open(tmp_path / name) as index:
            for number in range(5):
                index.add(number, f"text {number}")
    record = tmp_path / "store" / "acknowledged"
    good = record.read_bytes()
    for damaged in (b"", good[:60], bytes(len(good)), (tmp_path / "other" / "acknowledged").read_bytes()):
        record.write_bytes(damaged)
        with la.open(tmp_path / "store", read_only=True) as index, pytest.raises(la.Corrupt, match="acknowledged"):
            index.get(1)
    with la.open(tmp_path / "store") as index:
        assert index.check(repair=True).ok
        assert index.get(1).text == "text 1"
    # One half of it is enough: it is that of the change before, or that of the last.
    good = record.read_bytes()
    with la.open(tmp_path / "store") as index:
        index.add("more", "text")
        good = record.read_bytes()
    for half in (slice(0, 512), slice(512, 1024)):
        data = bytearray(good)
        data[half] = bytes(len(data[half]))
        record.write_bytes(data)
        with la.open(tmp_path / "store", read_only=True) as index:
            assert "more" in index


def test_readers_beside_a_writer_are_not_alarmed(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with la.open(path) as index:
        index.add("first", "the first document")
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.read(told, 1)  # until somebody reads
            index = la.open(path)
            for number in range(60):
                index.add(number, f"text {number}")
                if number % 7 == 0:
                    index.remove(number)
            index.close()
        finally:
            os._exit(0)
    looks = 0
    with la.open(path, read_only=True) as index:
        os.write(tell, b"x")
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            looks += len(index) >= 1
            index.search("text 1", by="simhash")
        assert looks > 0, "the reader was there while the writer wrote"
        assert len(index) == 60 - 9 + 1
    os.close(told), os.close(tell)


def test_a_changed_text_is_not_returned(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with la.open(path) as index:
        index.add([(f"d{n}", f"marker{n:03d} a text that is stored as it is, number {n}", {"n": n}) for n in range(40)])
        expected = index.search("marker007 a text that is stored as it is, number 7", by="simhash", k=0)
    file = path / "store.sqlite"
    good = file.read_bytes()
    for old, new in ((b"marker007", b"mArker007"), (b"marker007", b"marker\xff\xfe7"), (b'{"n": 7}', b'{"n": 8}')):
        file.write_bytes(good.replace(old, new))
        with la.open(path, read_only=True) as index:
            with pytest.raises(la.Corrupt, match=r"store\.sqlite|text in the database"):
                index.get("d7")
            with pytest.raises(la.Corrupt):
                list(index.documents())
            assert index.get("d8").meta == {"n": 8}
            (problem,) = index.check().problems
            assert "'d7'" in problem
            assert "add it again, or remove it" in problem
    with la.open(path) as index:
        assert not index.check(repair=True).ok  # a text cannot be made from anything
        index.add("d7", "marker007 a text that is stored as it is, number 7", meta={"n": 7})
        assert index.check().ok
        assert index.search("marker007 a text that is stored as it is, number 7", by="simhash", k=0) == expected


@pytest.mark.parametrize("column", ["simhash", "digest", "bands", "ssdeep", "tlsh"])
def test_a_changed_fingerprint_is_made_again(tmp_path: Path, column: str) -> None:
    path = tmp_path / "store"
    texts = [(id_, text * 20) for id_, text in corpus(20)]
    with la.open(path) as index:
        index.add(texts)
    database = sqlite3.connect(path / "store.sqlite")
    other = "SELECT d.{0} FROM documents d WHERE d.row <> documents.row AND d.{0} <> documents.{0} LIMIT 1"
    database.execute(f"UPDATE documents SET {column} = ({other.format(column)}) WHERE row = 7")
    database.commit()
    database.close()
    with la.open(path) as index:
        report = index.check()
        assert [column in problem for problem in report.problems] == [True]
        report = index.check(repair=True)
        assert (report.problems, len(report.repaired)) == ([], 1)
        assert index.check().ok
        assert index.search(texts[7][1])[0].score == 1


def test_fingerprints_are_compared_with_texts(tmp_path: Path) -> None:
    """Rows that say of themselves that they are whole: as somebody would make them who knows how, or a release without checks."""
    path = tmp_path / "store"
    with la.open(path) as index:
        index.add(corpus(20))
    as_first_format(path)
    database = sqlite3.connect(path / "store.sqlite")
    database.execute("UPDATE documents SET simhash = simhash + 1 WHERE row = 7")
    database.commit()
    database.close()
    with la.open(path) as index:
        (problem,) = index.check().problems
        assert "not those of its text" in problem
        assert index.check(repair=True).ok
        assert index.check().ok


def test_a_zeroed_page_is_an_error_that_says_so(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with la.open(path) as index:
        index.add([(id_, text * 10) for id_, text in corpus(120)])
    good = (path / "store.sqlite").read_bytes()
    expected, corrupt = None, []
    for page in range(-1, len(good) // 8192):
        data = bytearray(good)
        if page >= 0:
            data[page * 8192 : page * 8192 + 8192] = bytes(8192)
        (path / "store.sqlite").write_bytes(data)
        try:
            with la.open(path, read_only=True) as index:
                found = [
                    [document.text for document in index.documents()],
                    [index.get(id_).text for id_, _ in corpus(120)[::17]],
                    [match.id for by in ("near", "simhash", "passages") for match in index.search(corpus(120)[7][1] * 10, by=by)],
                ]
        except la.StoreError as error:  # the first page is the header of the file: without it there is no database
            corrupt.append(isinstance(error, la.Corrupt) or page == 0)
            continue
        expected = expected or found
        assert found == expected, page
    assert corrupt == [True] * len(corrupt)
    assert len(corrupt) > 10


def test_a_store_of_the_first_format(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with la.open(path) as index:
        index.add(corpus(30))
    as_first_format(path)
    before = {each.name: each.read_bytes() for each in path.iterdir() if each.is_file()}
    with la.open(path, read_only=True) as index:
        assert len(index) == 30
        assert index.search(corpus(30)[3][1])
        assert index.check().ok
    assert {each.name: each.read_bytes() for each in path.iterdir() if each.is_file()} == before
    with la.open(path) as index:
        index.add("new", "a new document")
        assert index.check().ok
        index.compact()
        assert index.check().ok
    database = sqlite3.connect(path / "store.sqlite")
    assert database.execute("SELECT count(*) FROM documents WHERE checks IS NULL").fetchone() == (0,)
    assert database.execute("SELECT unchecked FROM store").fetchone() == (0,)
    database.execute("UPDATE documents SET checks = NULL WHERE row = 3")
    database.commit()
    database.close()
    with la.open(path, read_only=True) as index, pytest.raises(la.Corrupt, match="lost its checks"):
        list(index.documents())
