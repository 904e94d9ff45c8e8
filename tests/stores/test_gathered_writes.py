"""Small writes of SQLite's that become large ones: the same files, the same states for every reader, and the same errors, with fewer calls."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random

import pytest

from lookalike.stores.embedded.library import gathering_files

pytestmark = pytest.mark.skipif(not gathering_files(), reason="the library of this Python cannot")
ROWS = "SELECT number, text FROM rows ORDER BY number"


def opened(path: Path, *, gathering: bool = True, page: int = 8192) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode=rwc{gathering_files() if gathering else ''}"
    connection = sqlite3.connect(address, uri=True, isolation_level=None)
    connection.execute(f"PRAGMA page_size = {page}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("CREATE TABLE IF NOT EXISTS rows (number INTEGER PRIMARY KEY, text)")
    return connection


def change(connection: sqlite3.Connection, chance: Random) -> None:
    """A transaction of a few changes, or of many that do not fit into memory, that is perhaps undone, in part or as a whole."""
    connection.execute(f"PRAGMA cache_size = {chance.choice([5, 2000])}")
    connection.execute("BEGIN IMMEDIATE")
    for _ in range(chance.choice([1, 1, 30, 300])):
        number, size = chance.randrange(2000), chance.choice([0, 10, 1000, 5000, 40_000])
        if chance.random() < 0.7:
            connection.execute("INSERT OR REPLACE INTO rows VALUES (?, ?)", (number, chance.randbytes(8).hex() * (size // 16)))
        else:
            connection.execute("DELETE FROM rows WHERE number BETWEEN ? AND ?", (number, number + chance.choice([0, 100])))
        if chance.random() < 0.02:
            connection.execute("SAVEPOINT part")
            connection.execute("INSERT INTO rows SELECT number + 10000, text FROM rows WHERE number < 100")
            connection.execute("ROLLBACK TO part")
    connection.execute("ROLLBACK" if chance.random() < 0.2 else "COMMIT")


@pytest.mark.parametrize("page", [512, 8192, 65536])
@pytest.mark.parametrize("seed", range(3))
def test_the_same_files_as_without(tmp_path: Path, page: int, seed: int) -> None:
    paths = [tmp_path / "gathered", tmp_path / "plain"]
    for path in paths:
        chance = Random(seed)
        with closing(opened(path, gathering=path is paths[0], page=page)) as writer:
            for _ in range(40):
                change(writer, chance)
                with closing(sqlite3.connect(path)) as reader:  # by other means
                    assert reader.execute(ROWS).fetchall() == writer.execute(ROWS).fetchall()
                if chance.random() < 0.3:
                    writer.execute(f"PRAGMA wal_checkpoint({chance.choice(['PASSIVE', 'FULL', 'RESTART', 'TRUNCATE'])})")
                if chance.random() < 0.03:
                    writer.execute("VACUUM")
        assert not path.with_name(f"{path.name}-wal").exists(), "the last one moves the log into the database"
    assert paths[0].read_bytes() == paths[1].read_bytes()
    with closing(sqlite3.connect(paths[0])) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_readers_see_their_states_while_a_part_of_the_log_is_moved(tmp_path: Path) -> None:
    path = tmp_path / "database"
    with closing(opened(path)) as writer, closing(sqlite3.connect(path, isolation_level=None)) as old:
        chance = Random(1)
        for _ in range(20):
            change(writer, chance)
            before = writer.execute(ROWS).fetchall()
            old.execute("BEGIN")
            assert old.execute(ROWS).fetchall() == before
            change(writer, chance)
            _, pages, moved = writer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            assert moved <= pages
            assert old.execute(ROWS).fetchall() == before
            with closing(sqlite3.connect(path)) as new:
                assert new.execute(ROWS).fetchall() == writer.execute(ROWS).fetchall()
            old.execute("COMMIT")


def add_many(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO rows VALUES (?, ?)", [(number, "x" * 4000) for number in range(2, 200)])
    connection.execute("COMMIT")


KILLED = """
import os, signal, sys
from pathlib import Path
from test_gathered_writes import opened
writer = opened(Path(sys.argv[1]))
writer.execute("PRAGMA cache_size = 5")
for number in range(3):
    writer.execute("INSERT INTO rows VALUES (?, ?)", (number, "committed" * 5000))
writer.execute("BEGIN")
for number in range(3, 300):
    writer.execute("INSERT INTO rows VALUES (?, ?)", (number, "on its way" * 500))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_committed_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "database"
    done = subprocess.run([sys.executable, "-c", KILLED, path], cwd=Path(__file__).parent, check=False)
    assert done.returncode == -signal.SIGKILL
    with closing(opened(path)) as connection:
        assert connection.execute("SELECT number, length(text) FROM rows").fetchall() == [(number, 45_000) for number in range(3)]
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("cache", [5, 2000], ids=["pages are written early", "pages stay in memory"])
def test_a_write_that_fails_undoes_its_transaction_and_no_other(tmp_path: Path, cache: int) -> None:
    path = tmp_path / "database"
    with closing(opened(path)) as writer, closing(sqlite3.connect(path)) as reader:
        writer.execute(f"PRAGMA cache_size = {cache}")
        writer.execute("INSERT INTO rows VALUES (1, 'committed')")
        for limit in (100_000, 300_000, 500_000):
            with files_of_at_most(limit):
                with pytest.raises(sqlite3.OperationalError, match=r"disk I/O error|database or disk is full"):
                    add_many(writer)
                if writer.in_transaction:
                    writer.execute("ROLLBACK")
                assert writer.execute(ROWS).fetchall() == reader.execute(ROWS).fetchall() == [(1, "committed")]
        writer.execute("UPDATE rows SET text = 'and goes on'")
        assert reader.execute(ROWS).fetchall() == [(1, "and goes on")]
        assert writer.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_checkpoint_that_fails_leaves_all_of_it_in_the_log(tmp_path: Path) -> None:
    path = tmp_path / "database"
    with closing(opened(path)) as writer:
        writer.execute("INSERT INTO rows VALUES (1, 'first')")
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        add_many(writer)
        expected = writer.execute(ROWS).fetchall()
        for limit in (os.path.getsize(path), 100_000, 700_000):
            with files_of_at_most(limit):
                try:
                    busy, pages, moved = writer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                    assert busy or moved < pages
                except sqlite3.OperationalError:
                    pass
                with closing(sqlite3.connect(path)) as reader:
                    assert reader.execute(ROWS).fetchall() == writer.execute(ROWS).fetchall() == expected
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert writer.execute(ROWS).fetchall() == expected
    with closing(sqlite3.connect(path)) as reader:
        assert reader.execute(ROWS).fetchall() == expected


def calls_that_write() -> int:
    lines = Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("syscw"))


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="the system does not count them")
def test_there_are_fewer_calls(tmp_path: Path) -> None:
    counts = []
    for gathering in (True, False):
        with closing(opened(tmp_path / f"{gathering}", gathering=gathering)) as writer:
            before = calls_that_write()
            writer.execute("BEGIN")
            for number in range(1000):
                writer.execute("INSERT INTO rows VALUES (?, ?)", (number, "x" * 4000))
            writer.execute("COMMIT")
            written = calls_that_write()
            writer.execute("PRAGMA wal_checkpoint(PASSIVE)")
            counts.append((written - before, calls_that_write() - written))
    (logged, moved), (plainly_logged, plainly_moved) = counts
    assert logged < plainly_logged / 10
    assert moved < plainly_moved / 5
