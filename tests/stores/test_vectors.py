"""Vectors in the embedded store: segments, damage, stores that were made before, models that changed."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner

import lookalike as la
from lookalike.cli import group
from lookalike.embedders.opening import embedders
from lookalike.stores.embedded import sealing
from lookalike.stores.settings import Settings
from lookalike.testing import TinyEmbedder, corpus, tiny_model


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """300 documents, in several segments of which some documents were removed."""
    monkeypatch.setattr(sealing, "SEAL_ROWS", 100)
    with la.open(tmp_path / "store", model=tiny_model()) as index:
        for first in range(0, 300, 60):
            index.add(corpus(300)[first : first + 60])
        index.remove([id_ for id_, _ in corpus(300)[::9]])
        index.compact()
        index.add("late", "a river and a bridge")
    return tmp_path / "store"


def answers(path: Path) -> list[list[dict[str, object]]]:
    with la.open(path, read_only=True) as index:
        return [[match.to_dict() for match in index.search(text, by="meaning", threshold=0.5)] for _, text in corpus(300)[:40:3]]


def digest_of(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_reading_changes_no_byte(store: Path) -> None:
    assert list((store / "segments").glob("*.vector"))
    before = digest_of(store)
    assert answers(store) == answers(store)
    assert digest_of(store) == before


def test_a_damaged_segment_is_found_and_made_anew(store: Path, caplog: pytest.LogCaptureFixture) -> None:
    expected = answers(store)
    segment = next((store / "segments").glob("*.vector"))
    good = segment.read_bytes()
    for damaged in (b"", good[:100], good[:-1], good[: len(good) // 2] + b"\xff" + good[len(good) // 2 + 1 :], b"\0" * len(good)):
        segment.write_bytes(damaged)
        caplog.clear()
        assert answers(store) == expected
        assert "rebuilt" in caplog.text
    segment.unlink()
    assert answers(store) == expected
    with la.open(store) as index:
        assert not index.check().ok
        report = index.check(repair=True)
        assert report.ok
        assert any(".vector" in problem for problem in report.repaired)
    assert answers(store) == expected


def test_a_damaged_database_is_named(store: Path) -> None:
    for path in (store / "segments").glob("*.vector"):
        path.unlink()
    with sqlite3.connect(store / "store.sqlite") as database:
        database.execute("UPDATE documents SET vector = x'0102' WHERE row = (SELECT min(row) FROM documents)")
    with la.open(store, read_only=True) as index, pytest.raises(la.Corrupt, match=r"vector of .* is not what was stored"):
        index.search("river", by="meaning")


def test_stores_without_a_model_stay_as_they_were(tmp_path: Path) -> None:
    with la.open(tmp_path / "store") as index:
        index.add(corpus(10))
        assert "vector" not in index.settings["kinds"]
        assert "dimensions" not in index.settings
    assert "embedder" not in Settings().to_json()
    with sqlite3.connect(tmp_path / "store" / "store.sqlite") as database:
        assert "vector" not in [name for _, name, *_ in database.execute("PRAGMA table_info(documents)")]
    with la.open(tmp_path / "store", collection="with", model=tiny_model()) as index:
        index.add(corpus(10))
        assert index.search(corpus(10)[0][1], by="meaning")[0].score == 1.0
    with la.open(tmp_path / "store") as index:
        index.add(corpus(20))
        assert len(index) == 20
        assert index.export(tmp_path / "all.jsonl") == 20
        assert index.check().ok
    assert "vector" not in (tmp_path / "all.jsonl").read_text()


def test_a_model_that_changed_is_refused(tmp_path: Path) -> None:
    model = TinyEmbedder()
    embedders.register("lookalike-changing", model, version="1")
    with la.open(tmp_path / "store", model="lookalike-changing") as index:
        index.add("a", "a river")
    model.dimensions = 16  # without saying so
    with la.open(tmp_path / "store") as index:
        for call in (lambda: index.add("b", "a bridge"), lambda: index.search("river", by="meaning")):
            with pytest.raises(la.RecipeMismatch, match="16 dimensions"):
                call()
        assert len(index) == 1
    embedders.register("lookalike-changing", TinyEmbedder(), version="2")
    with pytest.raises(la.RecipeMismatch, match="was made with recipe"):
        la.open(tmp_path / "store")


def test_kinds_and_recipes(tmp_path: Path) -> None:
    recipe = la.Recipe(embedder=tiny_model())
    with la.open("memory://", recipe=recipe, kinds="vector,simhash") as index:
        assert index.settings["kinds"] == ["simhash", "vector"]
    with la.open("memory://", recipe=recipe, model="lookalike-tiny") as index:
        assert index.settings["recipe_id"] == recipe.id
    for options, message in (
        ({"recipe": recipe, "model": tiny_model("lookalike-tiny-2")}, "names another"),
        ({"model": "no such model"}, "neither a folder nor"),
        ({"model": ""}, "name of a model"),
        ({"model": 7}, "name of a model"),
        ({"kinds": "vector"}, "need a model"),
    ):
        with pytest.raises((la.InputError, la.UnknownName), match=message):
            la.open(tmp_path / "nothing", **options)  # type: ignore[arg-type]
    assert not (tmp_path / "nothing").exists()


def test_on_the_command_line(tmp_path: Path) -> None:
    tiny_model()
    rows = tmp_path / "in.jsonl"
    rows.write_text("".join(json.dumps({"id": id_, "text": text}) + "\n" for id_, text in corpus(30)))
    run = CliRunner()
    made = run.invoke(group, ["add", str(tmp_path / "store"), str(rows), "--model", "lookalike-tiny", "--json"])
    assert json.loads(made.output)["added"] == 30
    found = run.invoke(group, ["search", str(tmp_path / "store"), "--text", corpus(30)[4][1], "--by", "meaning", "--limit", "3", "--json"])
    matches = json.loads(found.output)
    assert matches[0]["id"] == "doc-4"
    assert matches[0]["score"] == 1.0
    assert len(matches) == 3
    shown = run.invoke(group, ["search", str(tmp_path / "store"), "--text", corpus(30)[4][1], "--by", "meaning", "--threshold", "0.9999"])
    assert "doc-4" in shown.output
    removed = tmp_path / "removed.jsonl"
    done = run.invoke(
        group,
        [
            "dedupe",
            str(rows),
            "--out",
            str(tmp_path / "out.jsonl"),
            "--method",
            "meaning",
            "--model",
            "lookalike-tiny",
            "--removed",
            str(removed),
            "--json",
        ],
    )
    assert json.loads(done.output)["removed"] == len(removed.read_text().splitlines()) > 0
    planned = run.invoke(group, ["plan", str(rows), "--method", "meaning", "--model", "lookalike-tiny", "--json"])
    assert json.loads(planned.output)["documents"] == 30
    for arguments in (
        ["add", str(tmp_path / "store"), str(rows), "--model", "nothing-of-this-name"],
        ["dedupe", str(rows), "--out", "-", "--method", "meaning", "--model", str(tmp_path)],
        ["dedupe", str(rows), "--out", "-", "--model", "lookalike-tiny"],
    ):
        assert isinstance(run.invoke(group, arguments).exception, la.InputError | la.UnknownName), arguments


def test_the_default_model_finds_across_languages() -> None:
    with la.open("memory://", model="use-multilingual", kinds="vector") as index:
        index.add(
            [("cat", "The cat sleeps on the sofa."), ("猫", "猫在沙发上睡觉。"), ("tax", "The new tax law was passed in parliament.")]
        )
        found = index.search("A kitten naps on the couch", by="meaning", limit=2)
        assert {match.id for match in found} == {"cat", "猫"}
        assert found[1].score > 0.5
        vectors = la.embedder("use-multilingual").encode(["猫在沙发上睡觉。"])
        assert index.search(vector=vectors[0])[0].id == "猫"
        assert index.search("word " * 2000, by="meaning").notes == [
            "use-multilingual@0.2.1-2: 1 of 1 texts were read in windows, up to 6, and averaged"
        ]
