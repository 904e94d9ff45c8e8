"""Two collections of one store that one process has open, while another process writes: both stay current."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import lookalike as la

READER = """
import sys
import lookalike as la

first, second = la.open(sys.argv[1], read_only=True), None
print(len(first), flush=True)
for line in sys.stdin:
    if line.strip() == "open":
        second = la.open(sys.argv[1], collection="second", read_only=True)
    print(len(first), None if second is None else len(second), flush=True)
"""


def test_opening_another_collection_leaves_the_first_one_current(tmp_path: Path) -> None:
    """To close the database's file gives up the locks of SQLite: then the writer would take away the log that readers read."""
    store = tmp_path / "store"
    for collection in ("default", "second"):
        with la.open(store, collection=collection) as index:
            index.add("a", "some words to begin with")
    process = subprocess.Popen([sys.executable, "-c", READER, str(store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None

    def seen(command: str = "look") -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{command}\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    try:
        assert process.stdout.readline().strip() == "1"
        for number in range(4):
            with la.open(store) as index:
                index.add(f"b{number}", "more words")
            with la.open(store, collection="second") as index:
                index.add(f"b{number}", "more words")
                assert seen("open") == f"2 {number + 2}"
            with la.open(store) as index:
                index.remove(f"b{number}")
                assert seen() == f"1 {number + 2}"
    finally:
        process.stdin.close()
        process.wait(30)


def locks_on(path: Path) -> list[str]:
    """The locks of this process on a file."""
    of = f":{path.stat().st_ino} "
    lines = Path("/proc/locks").read_text().splitlines()
    return sorted(
        line.partition(":")[2] for line in lines if of in line and f" {os.getpid()} " in line
    )  # the number before is of all locks


@pytest.mark.skipif(sys.platform != "linux", reason="/proc/locks is of Linux")
def test_nothing_gives_up_the_locks_of_sqlite(tmp_path: Path) -> None:
    """A process that opens and closes the database's file by other means than SQLite loses all its locks on it."""
    store = tmp_path / "store"
    with la.open(store, collection="second") as index:
        index.add("a", "some words to begin with")
    with la.open(store) as index:
        index.add("a", "some words to begin with")
        held = locks_on(store / "store.sqlite")
        assert held
        for use in (
            lambda: la.open(store, read_only=True).close(),
            lambda: la.open(store, collection="second", read_only=True).close(),
            lambda: len(la.open(store, collection="second", read_only=True)),
            lambda: index.check(),
            lambda: index.stats(),
            lambda: index.search("some words"),
            lambda: index.export(tmp_path / "out.jsonl"),
            lambda: list(la.documents(tmp_path)),
        ):
            use()
            assert locks_on(store / "store.sqlite") == held
        with pytest.raises(la.StoreError, match="no collection"):
            la.open(store, collection="third", read_only=True)
        assert locks_on(store / "store.sqlite") == held
        index.add("b", "more words")
        assert index.check().ok


LEFT_IN_THE_LOG = """
import os, sys
import lookalike as la
from lookalike.stores.embedded.connections import WriteConnection
WriteConnection.close = lambda self: None
index = la.open(sys.argv[1])
index.add("a", "some words to begin with")
os._exit(0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc/locks is of Linux")
def test_a_store_that_is_still_in_its_log(tmp_path: Path) -> None:
    """Its maker was killed before anything was written into the database file itself, which so does not say whose it is."""
    store = tmp_path / "store"
    subprocess.run([sys.executable, "-c", LEFT_IN_THE_LOG, store], check=True)
    with la.open(store, read_only=True) as first:
        assert len(first) == 1
        held = locks_on(store / "store.sqlite")
        assert held
        with la.open(store, read_only=True) as second:
            assert len(second) == 1
            assert set(held) <= set(locks_on(store / "store.sqlite"))
