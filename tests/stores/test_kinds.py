"""A kind of one's own: one file (letters_kind.py), one registration, and every store keeps it, searches by it and checks it."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import lookalike as la
from letters_kind import ByLetters, Letters, alike, bits_of, letters_of, register
from lookalike.stores.kinds import kind_names, kinds, way_names
from lookalike.stores.kinds.base import Kind
from lookalike.stores.kinds.columns import Column, Number
from lookalike.testing import KindContract, corpus
from postgres_server import empty_database
from stores_under_test import InMemory, InPostgres, OnDisk


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    register()
    yield
    del kinds._entries["letters"]


class LettersContract(KindContract):
    kind = by = "letters"

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return [alike(bits_of(letters_of(query)), bits_of(letters_of(text))) for text in texts]


class TestMemory(InMemory, LettersContract):
    pass


class TestEmbedded(OnDisk, LettersContract):
    pass


class TestPostgres(InPostgres, LettersContract):
    pass


def test_the_table_offers_it_and_nobody_gets_it_unasked(tmp_path: Path) -> None:
    assert kind_names()[-1] == "letters"
    assert way_names()[-1] == "letters"
    assert way_names(of_clusters=True) == ["near", "simhash", "meaning", "structure", "record", "letters"]
    with la.open("memory://") as index:
        assert "letters" not in index.settings["kinds"]
        with pytest.raises(la.InputError, match="no letters fingerprints"):
            index.search("a text", by="letters")
        with pytest.raises(la.InputError, match="structure, record, letters"):
            index.search("a text", by="nothing")


def test_a_store_without_the_plug_in_says_what_is_missing(tmp_path: Path) -> None:
    la.open(tmp_path / "store", kinds="simhash,letters").close()
    del kinds._entries["letters"]
    with pytest.raises(la.StoreError, match="'letters' cannot be kept"):
        la.open(tmp_path / "store")
    register()
    la.open(tmp_path / "store").close()


def test_damaged_values_of_the_kind_are_found_and_made_again(tmp_path: Path) -> None:
    documents = corpus(20)
    with la.open(tmp_path / "store", kinds="simhash,letters") as index:
        index.add(documents)
    with sqlite3.connect(tmp_path / "store" / "store.sqlite") as connection:
        connection.execute("UPDATE documents SET letters = 'abc' WHERE row = 3")
    connection.close()
    with la.open(tmp_path / "store") as index:
        with pytest.raises(la.Corrupt, match="the letters of"):
            index.search(documents[0][1], by="letters")
        report = index.check()
        assert [problem.startswith("document 'doc-3': letters not as stored") for problem in report.problems] == [True]
        assert index.check(repair=True).ok
        assert index.search(documents[3][1], by="letters", threshold=1.0)[0].score == 1.0


def test_what_somebody_wrote_into_the_column_of_postgres_is_found(tmp_path: Path) -> None:
    import psycopg

    url = empty_database()
    with la.open(url, kinds="letters") as index:
        index.add([("a", "abc"), ("b", "bcd")])
        assert index.check().ok
        with psycopg.connect(url) as connection:
            connection.execute("UPDATE lookalike.documents SET letters = 'xyz' WHERE id_text = 'a'")
        assert not index.check().ok
        assert index.check(repair=True).ok
        assert [match.id for match in index.search("abc", by="letters", threshold=1.0)] == ["a"]


@pytest.mark.parametrize(
    ("name", "columns", "wrong"),
    [
        ("Letters", (), "cannot be the name"),
        ("text", (), "cannot be the name"),
        ("gone", (), "cannot be the name"),
        ("a" * 41, (), "cannot be the name"),
        ("x; drop", (), "cannot be the name"),
        ("odd", (Column("simhash"),), "must be called 'odd', or 'odd_…'"),
        ("odd", (Number("odd_one"), Column("digest")), "cannot be the name"),
    ],
)
def test_names_that_would_be_in_the_way_are_refused(name: str, columns: tuple[Column, ...], wrong: str) -> None:
    kind = type("Odd", (Letters,), {"name": name, "columns": columns})()
    kinds.register(name, kind)
    try:
        with pytest.raises(la.InputError, match=wrong):
            la.open("memory://", kinds=name)
    finally:
        del kinds._entries[name]


def test_a_kind_may_be_called_like_a_word_of_sql(tmp_path: Path) -> None:
    """Names stand in statements as names, whatever they mean there."""
    way = type("ByOrder", (ByLetters,), {"name": "order"})()
    renamed = {"name": "order", "columns": (Column("order", text=True),), "built_from": ("order",), "ways": (way,)}
    made = {"made": lambda self, given, settings, workers: {"order": list(map(letters_of, given.texts))}, "remade": Kind.remade}
    kinds.register("order", type("Order", (Letters,), renamed | made)())
    try:
        for location in (str(tmp_path / "store"), empty_database()):
            with la.open(location, kinds="order") as index:
                index.add([("a", "some letters"), ("b", "others")])
                assert index.export(tmp_path / "all.jsonl") == 2
                assert index.check().ok
            assert "order" in json.loads((tmp_path / "all.jsonl").read_text().splitlines()[0])["settings"]["kinds"]
    finally:
        del kinds._entries["order"]


def test_the_command_line_offers_the_kind_of_an_installed_package(tmp_path: Path) -> None:
    info = tmp_path / "lookalike_letters-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lookalike-letters\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[lookalike.kind]\nletters = letters_kind:LETTERS\n", encoding="utf-8")
    (tmp_path / "letters_kind.py").write_text((Path(__file__).parents[1] / "letters_kind.py").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text('{"id": "a", "text": "abc abc"}\n{"id": "b", "text": "xyz"}\n', encoding="utf-8")

    def run(*arguments: str) -> str:
        code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from lookalike.cli import main; main()"
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True, cwd=tmp_path)
        return done.stdout

    assert "1 document" not in run("add", "store", "rows.jsonl", "--kinds", "simhash,letters")
    found = json.loads(run("search", "store", "--text", "cba", "--by", "letters", "--json"))
    assert [(match["id"], match["score"], match["scale"]) for match in found] == [("a", 1.0, "jaccard of letters")]
    assert "letters" in run("search", "--help")
    assert "letters" in run("clusters", "--help")
    assert json.loads(run("clusters", "store", "--by", "letters", "--json")) == []
