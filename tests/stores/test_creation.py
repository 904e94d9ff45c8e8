"""A store whose making was interrupted is finished by whoever opens it next."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
import subprocess
from pathlib import Path

import pytest

import lookalike as la
from lookalike.testing import corpus

# What changes files, and so may leave a store half-made.
CALLS = ("mkdir", "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "rename", "unlink")


def make_traced(path: Path, *options: str) -> bool:
    """Make a store in a child that strace watches; whether it lived to the end."""
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.read(told, 1)
            la.open(path).close()
        finally:
            os._exit(0 if path.exists() else 1)
    tracer = subprocess.Popen(["strace", "-f", "-p", str(child), *options], stderr=subprocess.PIPE, text=True)
    assert tracer.stderr is not None
    attached = "attached" in tracer.stderr.readline()
    if not attached:
        os.kill(child, signal.SIGKILL)
    os.write(tell, b"x")
    _, status = os.waitpid(child, 0)
    tracer.communicate()
    os.close(told), os.close(tell)
    if not attached:
        pytest.skip("not applicable: strace may not attach to processes here")
    return os.WIFEXITED(status)


def said_to_a_reader(path: Path) -> str:
    """Nothing where there is a store, otherwise the words that matter of an error that says what to do."""
    try:
        la.open(path, read_only=True).close()
    except la.StoreError as error:
        found = re.search("half-made|does not exist|no collection", str(error))
        return found[0] if found else str(error)
    return ""


@pytest.mark.skipif(shutil.which("strace") is None, reason="not applicable: there is no strace")
def test_killed_at_every_step_of_making_it(tmp_path: Path) -> None:
    log = tmp_path / "log"
    la.open(tmp_path / "first").close()  # everything is imported now
    assert make_traced(tmp_path / "whole", "-e", f"trace={','.join(CALLS)}", "-o", str(log))
    made = [call[1] for line in log.read_text().splitlines() if (call := re.match(r"(?:\d+ +)?(\w+)\(", line)) and call[1] in CALLS]
    assert len(made) > 20
    assert {"mkdir", "pwrite64", "fdatasync"} <= set(made)
    killed = 0
    for place, call in enumerate(made):
        path, number = tmp_path / f"store{place}", made[: place + 1].count(call)
        killed += not make_traced(path, "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}", "-o", os.devnull)
        assert said_to_a_reader(path) in ("", "half-made", "does not exist", "no collection"), (call, number)
        with la.open(path) as index:
            index.add(corpus(3))
        with la.open(path, read_only=True) as index:
            assert (len(index), index.check().problems) == (3, []), (call, number)
        shutil.rmtree(path)
    assert killed > len(made) * 0.8


def test_a_failure_while_making_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk after each statement of the schema."""
    from lookalike.stores.embedded import database

    whole = database.SCHEMA
    for count in range(1, len(whole.split(";\n"))):
        path = tmp_path / f"store{count}"
        monkeypatch.setattr(database, "SCHEMA", ";\n".join([*whole.split(";\n")[:count], "SELECT no_such_function()"]))
        with pytest.raises(la.StoreError):
            la.open(path)
        monkeypatch.setattr(database, "SCHEMA", whole)
        with la.open(path) as index:
            index.add(corpus(3))
            assert len(index) == 3


def test_an_empty_database_is_the_beginning_of_a_store(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "store.sqlite").touch()
    with pytest.raises(la.StoreError, match="half-made"):
        la.open(tmp_path / "store", read_only=True)
    with la.open(tmp_path / "store") as index:
        index.add(corpus(3))
    with la.open(tmp_path / "store") as index:
        assert len(index) == 3


def test_what_is_something_else_stays_untouched(tmp_path: Path) -> None:
    for name, make in (
        ("a database", lambda path: sqlite3.connect(path / "store.sqlite").execute("CREATE TABLE mine (x)").connection.close()),
        ("a file", lambda path: (path / "mine.txt").write_text("mine")),
        ("no database", lambda path: (path / "store.sqlite").write_text("nothing that SQLite knows, but long enough to look at" * 9)),
    ):
        path = tmp_path / name
        path.mkdir()
        make(path)
        before = {each.name: each.read_bytes() for each in path.iterdir()}
        with pytest.raises(la.StoreError):
            la.open(path)
        assert {each.name: each.read_bytes() for each in path.iterdir()} == before


def test_a_database_that_was_lost_is_not_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.stores.embedded.store.SEAL_AT_CLOSE", 1)
    with la.open(tmp_path / "store") as index:
        index.add(corpus(3))
    for lose in (lambda path: path.write_bytes(b""), lambda path: path.unlink()):
        lose(tmp_path / "store" / "store.sqlite")
        with pytest.raises(la.Corrupt, match=r"store\.sqlite"):
            la.open(tmp_path / "store")
