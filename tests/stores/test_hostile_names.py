"""What a store, an export, a recipe or a fingerprint names is never imported, read or fetched, unless it is registered or the caller says so."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner

import lookalike as la
from lookalike import recipe as recipes
from lookalike.cli import group, main
from lookalike.testing import corpus, tiny_model
from lookalike.text.maximum_matching import register_words
from postgres_server import empty_store

MODULE = "canary_that_sings"
CODE = """
from pathlib import Path
Path(__file__).with_name("sang").touch()
import numpy
def vectors(texts): return numpy.ones((len(texts), 4), dtype=numpy.float32)
def cut(text): return text.split()
"""


class Canary:
    """A module that leaves a file behind when it is imported, a word list and a model folder that nobody should read."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.words = folder, folder / "words.txt"
        (folder / f"{MODULE}.py").write_text(CODE)
        self.words.write_text("river\nbridge\n")
        self.model = folder / "model"
        self.model.mkdir()
        (self.model / "config.json").write_text(json.dumps({"model_type": "model2vec"}))

    def names(self) -> list[tuple[str, str]]:
        """Fields of a recipe with what a stranger would write there."""
        return [
            ("embedder", f"{MODULE}:vectors"),
            ("embedder", "subprocess:getoutput"),
            ("embedder", str(self.model)),
            ("embedder", "hub:somebody/model"),
            ("tokenizer", f"{MODULE}:cut"),
            ("tokenizer", f"fmm:{self.words}"),
            ("tokenizer", f"ltp:{self.model}"),
            ("tokenizer", f"pkuseg:{self.model}"),
            ("stop_words", str(self.words)),
            ("idf", str(self.words)),
        ]

    def sang(self) -> bool:
        return MODULE in sys.modules or (self.folder / "sang").exists()


@pytest.fixture
def canary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Canary]:
    folder = tmp_path / "canary"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    opened: list[str] = []

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if watching and event == "open" and str(arguments[0]).startswith(str(folder)):
            opened.append(str(arguments[0]))
        if watching and event in ("subprocess.Popen", "os.system", "socket.connect", "socket.getaddrinfo"):
            opened.append(event)

    watching = True
    sys.addaudithook(watch)
    found = Canary(folder)
    opened.clear()
    yield found
    watching = False
    sys.modules.pop(MODULE, None)
    assert not opened, "something that only data named was read or run"


def forged(settings: str, field: str, name: str) -> str:
    """Settings as a store has them, with another name in the recipe."""
    data = json.loads(settings)
    if field in ("stop_words", "idf"):
        data["recipe"] |= {"ngram": 1, "weights": "tfidf", "idf": "jieba"}
        data["kinds"] = ["simhash"]
    data["recipe"][field] = name
    if field == "embedder":
        data |= {"dimensions": 4, "kinds": [*data["kinds"], "vector"]}
    return json.dumps(data)


def attack(open_store: Any, field: str) -> None:
    """Open it and ask it everything: an error that names the remedy, where the name would be needed."""
    if field != "embedder":
        with pytest.raises(la.UnknownName, match="trust="):
            open_store(read_only=True)
        with pytest.raises(la.UnknownName, match="trust="):
            open_store()
        return
    with open_store(read_only=True) as index:
        assert index.get(corpus(5)[0][0]).text == corpus(5)[0][1]
        assert index.search(corpus(5)[0][1])
        assert index.stats()["documents"] == 5
        with pytest.raises(la.UnknownName, match="model="):
            index.search("id > /dev/null", by="meaning")
    with open_store() as index, pytest.raises(la.UnknownName, match="model="):
        index.add("new", "a river")


def test_an_edited_sqlite_store_runs_nothing(tmp_path: Path, canary: Canary) -> None:
    for number, (field, name) in enumerate(canary.names()):
        path = tmp_path / f"store{number}"
        with la.open(path) as index:
            index.add(corpus(5))
        with sqlite3.connect(path / "store.sqlite") as database:
            (stored,) = database.execute("SELECT settings FROM collections").fetchone()
            if field == "embedder":
                database.execute("ALTER TABLE documents ADD COLUMN vector BLOB")
            database.execute("UPDATE collections SET settings = ?", (forged(stored, field, name),))
        database.close()
        attack(lambda path=path, **how: la.open(path, **how), field)
        assert not canary.sang(), name


@pytest.fixture
def url() -> str:
    return empty_store()


def test_an_edited_postgresql_row_runs_nothing(url: str, canary: Canary) -> None:  # in this order: starting a server runs programs
    for number, (field, name) in enumerate(canary.names()):
        collection = f"c{number}"
        with la.open(url, collection=collection) as index:
            index.add(corpus(5))
        with psycopg.connect(url) as database:
            found = database.execute("SELECT settings FROM lookalike.collections WHERE name = %s", (collection,)).fetchone()
            assert found is not None
            changed = (forged(found[0], field, name), collection)
            database.execute("UPDATE lookalike.collections SET settings = %s WHERE name = %s", changed)
        attack(lambda collection=collection, **how: la.open(url, collection=collection, **how), field)
        assert not canary.sang(), name


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """One line on standard error, and exit code 2."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    said = capsys.readouterr()
    assert (ended.value.code, said.out, said.err.count("\n")) == (2, "", 1), said
    return said.err


def test_the_command_line_runs_nothing(tmp_path: Path, canary: Canary, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "store"
    with la.open(path) as index:
        index.add(corpus(5))
    with sqlite3.connect(path / "store.sqlite") as database:
        (stored,) = database.execute("SELECT settings FROM collections").fetchone()
        database.execute("UPDATE collections SET settings = ?", (forged(stored, "tokenizer", f"{MODULE}:cut"),))
    database.close()
    export = tmp_path / "export.jsonl"
    for arguments in (
        ["search", str(path), "--text", "river"],
        ["stats", str(path)],
        ["check", str(path)],
        ["get", str(path), "doc-0"],
        ["export", str(path), str(export)],
    ):
        assert "--trust" in refused(arguments, capsys)
    assert not canary.sang()


def test_an_edited_export_runs_nothing(tmp_path: Path, canary: Canary) -> None:
    source, edited = tmp_path / "export.jsonl", tmp_path / "edited.jsonl"
    with la.open(tmp_path / "store", keep_text=False) as index:
        index.add(corpus(5))
        index.export(source)
    rows = [json.loads(line) for line in source.read_text().splitlines()]
    for _, name in canary.names():
        for row in rows:
            row["recipe"] = name
            for fingerprint in row["fingerprints"].values():
                fingerprint["recipe"] = name
        edited.write_text("".join(json.dumps(row) + "\n" for row in rows))
        with la.open(tmp_path / "copy", keep_text=False) as index, pytest.raises(la.InputError):
            index.load(edited)
        assert not canary.sang(), name


def test_a_recipe_that_was_written_down_runs_nothing(canary: Canary) -> None:
    for field, name in canary.names():
        data = la.Recipe().to_dict() | {field: name}
        if field in ("stop_words", "idf"):
            data |= {"ngram": 1, "weights": "tfidf", "idf": name if field == "idf" else "jieba"}
        with pytest.raises(la.UnknownName, match="trust="):
            la.Recipe.from_dict(data)
        assert la.Recipe.from_dict(data, trust=[name]).to_dict() == data  # named by the caller, and not used yet
        assert not canary.sang(), name


def test_a_fingerprint_that_was_written_down_runs_nothing(canary: Canary) -> None:
    for _, name in canary.names():
        data = la.record({"a": 1}).to_dict() | {"measures": {"a": name}}
        with pytest.raises((la.UnknownName, la.InputError, la.RecipeMismatch)):
            la.RecordPrint.from_dict(data)
        hashed = la.SimHash.from_dict({"value": "0x1", "bits": 64, "recipe": f"simhash-64/{name}"})
        with pytest.raises(la.RecipeMismatch):
            hashed.similarity(la.simhash("river"))
        assert not canary.sang(), name


def test_every_named_part_of_a_recipe_has_a_door_for_data() -> None:
    assert recipes.COMPONENT_IDS.keys() == recipes.REGISTERED.keys()


def vectors_of_mine(texts: list[str]) -> Any:
    import numpy as np

    return np.array([[len(text), text.count("e"), 1.0] for text in texts], dtype=np.float32)


def test_a_caller_who_names_it_too_gets_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the model, by the recipe, or by trust; and under another path to the same contents."""
    path, mine = tmp_path / "store", f"{__name__}:vectors_of_mine"
    with la.open(path, model=mine) as index:
        index.add(corpus(5))
        expected = [match.to_dict() for match in index.search("a river", by="meaning")]
    for known in ({"model": mine}, {"recipe": la.Recipe(embedder=mine)}, {"trust": mine}, {"trust": [mine]}):
        with la.open(path, **known) as index:
            assert [match.to_dict() for match in index.search("a river", by="meaning")] == expected
    with la.open(path) as index:
        assert index.settings["recipe"]["embedder"] == mine
        assert index.search(corpus(5)[0][1])
        with pytest.raises(la.UnknownName):
            index.search("a river", by="meaning")
        assert index.search(vector=[1.0, 2.0, 3.0])
        index.export(tmp_path / "export.jsonl")
    with pytest.raises(la.RecipeMismatch):
        la.open(path, model=tiny_model())
    found = CliRunner().invoke(group, ["search", str(path), "--text", "a river", "--by", "meaning", "--json", "--trust", mine])
    assert json.loads(found.stdout) == expected
    assert mine in refused(["search", str(path), "--text", "a river", "--by", "meaning"], capsys)


def test_a_word_list_by_its_contents(tmp_path: Path) -> None:
    words, moved = tmp_path / "words.txt", tmp_path / "moved.txt"
    words.write_text("river\nbridge\n")
    recipe = la.Recipe(tokenizer=f"fmm:{words}", ngram=1)
    with la.open(tmp_path / "store", recipe=recipe) as index:
        index.add(corpus(5))
    words.rename(moved)
    with pytest.raises(la.UnknownName, match="trust="):
        la.open(tmp_path / "store")
    with la.open(tmp_path / "store", recipe=recipe.replace(tokenizer=f"fmm:{moved}")) as index:
        assert index.search(corpus(5)[0][1])


def test_a_registered_word_list_needs_no_word(tmp_path: Path) -> None:
    register_words("two-words-of-a-test", ["river", "bridge"])
    recipe = la.Recipe(tokenizer="fmm:two-words-of-a-test", ngram=1)
    with la.open(tmp_path / "store", recipe=recipe) as index:
        index.add(corpus(5))
    with la.open(tmp_path / "store") as index:
        assert index.search(corpus(5)[0][1])
    assert la.Recipe.from_dict(recipe.to_dict()) == recipe
