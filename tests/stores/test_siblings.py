"""Collections of one store that a process writes together, and collections that are dropped."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import lookalike as la
from lookalike.index.opening import open_beside
from lookalike.stores.embedded.database import ROWS

TEXT = "The council decided to repair the old bridge over the river before the winter, and to close the road"


def beside(index: la.Index, collection: str, create: bool = True) -> la.Index:
    found = open_beside(index, collection, create=create)
    assert found is not None
    return found


def filled(index: la.Index, count: int) -> None:
    index.add([(number, f"{TEXT} {number} {number * 7}") for number in range(count)])


def test_they_are_written_in_turn(tmp_path: Path) -> None:
    with la.open(tmp_path / "store") as first, beside(first, "second") as second, beside(second, "third") as third:
        for number in range(30):
            for index in (first, second, third):
                index.add(number, f"{TEXT} {number}")
                assert index.search(f"{TEXT} {number}", threshold=0.99)[0].id == number
        second.remove(range(10))
        assert [len(index) for index in (first, second, third)] == [30, 20, 30]
        with pytest.raises(la.StoreError, match="no collection"):
            beside(first, "fourth", create=False)
        assert all(index.check().ok for index in (first, second, third))
    for name, count in (("default", 30), ("second", 20), ("third", 30)):
        with la.open(tmp_path / "store", collection=name) as index:
            assert len(index) == count
            assert index.check().ok


def test_one_is_closed_and_the_others_go_on(tmp_path: Path) -> None:
    first = la.open(tmp_path / "store")
    second = beside(first, "second")
    filled(first, 5000)
    filled(second, 5000)
    first.close()
    with pytest.raises(la.StoreError, match="closed"):
        first.add("a", "b")
    second.add("a", TEXT)
    second.compact()
    second.add("b", TEXT)
    with pytest.raises(la.StoreBusy), la.open(tmp_path / "store") as other:
        other.add("a", "the one writer is still there")
    second.close()
    with la.open(tmp_path / "store") as again:
        again.add("a", "the lock is free again")
        assert len(again) == 5001


def test_another_process_waits_for_the_one_writer(tmp_path: Path) -> None:
    script = "import sys, lookalike as la\nwith la.open(sys.argv[1], collection='second') as index: index.add('x', 'y')"
    with la.open(tmp_path / "store") as first, beside(first, "second") as second:
        second.add("a", TEXT)
        done = subprocess.run([sys.executable, "-c", script, tmp_path / "store"], capture_output=True, text=True)
        assert "StoreBusy" in done.stderr


def test_nothing_of_a_dropped_collection_stays(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with la.open(store, collection="kept") as kept:
        filled(kept, 3000)
    with la.open(store, collection="gone", keyed=True) as gone:
        filled(gone, 3000)
        gone.add([("late", TEXT)], expires="2999-01-01")
        gone.remove(range(100))
    with la.open(store, collection="kept", read_only=True) as kept:
        segments = set((store / "segments").iterdir())
        assert la.drop_collection(str(store), "gone") == 2901
        assert kept.stats()["collections"] == ["kept"]
        assert len(kept.search(f"{TEXT} 7 49", threshold=0.99)) == 1
    assert set((store / "segments").iterdir()) < segments
    connection = sqlite3.connect(store / "store.sqlite")
    assert connection.execute("SELECT count(*) FROM documents WHERE row >= ?", (ROWS,)).fetchone() == (0,)
    for table in ("removed", "segments", "secrets"):
        assert connection.execute(f"SELECT count(*) FROM {table} WHERE collection = 1").fetchone() == (0,)
    assert connection.execute("SELECT count(*) FROM expiring").fetchone() == (0,)
    connection.close()
    with pytest.raises(la.StoreError, match="no collection"):
        la.drop_collection(str(store), "gone")
    with la.open(store, collection="kept") as kept:
        assert kept.check().ok
        assert len(kept) == 3000


def test_a_reader_of_a_dropped_collection_takes_nothing_of_it_for_the_new_one(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with la.open(store, collection="name") as old:
        filled(old, 3000)
        old.remove([5])
    with la.open(store, collection="name", read_only=True) as reader:
        assert reader.search(f"{TEXT} 7 49", threshold=0.99)[0].id == 7
        la.drop_collection(str(store), "name")
        with pytest.raises(la.StoreError, match="any more"):
            reader.search(TEXT)
        with la.open(store, collection="name") as new:
            new.add([(number, f"quite another document with the number {number}") for number in range(3000)])
        with pytest.raises(la.StoreError, match="any more"):  # whoever had the old one open stays with it
            reader.search("quite another document with the number 5")
    with la.open(store, collection="name", read_only=True) as reader:
        assert reader.search(f"{TEXT} 7 49") == []
        assert reader.search("quite another document with the number 5", threshold=0.99)[0].id == 5
        assert len(reader) == 3000


def test_the_last_one_can_be_dropped_and_made_again(tmp_path: Path) -> None:
    with la.open(tmp_path / "store") as index:
        filled(index, 10)
    assert la.drop_collection(str(tmp_path / "store"), "default") == 10
    with la.open(tmp_path / "store") as index:
        assert len(index) == 0
        filled(index, 3)
        assert index.check().ok
