"""A store whose making was interrupted is finished by whoever opens it next."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import lookalike as la
from lookalike.testing import corpus
from torture import run


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run.build(tmp_path_factory.mktemp("shim"))


def test_killed_at_every_step_of_making_it(shim: Path) -> None:
    """Before each call that changes the disk: a reader is told what there is, and the next writer has a store."""
    counted, *struck = run.points(shim, "make", "kill", 1, 1)
    assert counted["problems"] == []
    assert len(struck) == counted["total"] > 50, "the shim sees what the store does"
    assert [line for line in struck if line["problems"]] == []


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
