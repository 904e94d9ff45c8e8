"""Dedupe against a store: what it has goes, what stays can be added."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from dedupe_corpora import near_copies, read_jsonl, rows_of, write_jsonl

TEXTS = near_copies(21, 120, 200)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "news.lookalike"
    with la.open(path) as index:
        index.add([(f"s{i}", text) for i, text in enumerate(TEXTS[:40])])
    return path


@pytest.mark.parametrize("keep", ["first", "longest"])
def test_what_the_store_has_goes(store: Path, tmp_path: Path, keep: str) -> None:
    rows = [*rows_of(TEXTS[20:]), {"id": "null", "text": None}]
    source = write_jsonl(tmp_path / "in.jsonl", rows)
    report = la.dedupe(source, out=tmp_path / "out.jsonl", removed=tmp_path / "removed.jsonl", against=store, keep=keep)
    texts = {row["id"]: row["text"] for row in rows} | {f"s{i}": text for i, text in enumerate(TEXTS[:40])}
    kept = {row["id"] for row in read_jsonl(tmp_path / "out.jsonl")}
    stored = 0
    for removed in report.removed:
        left, right = (set(la.shingles(texts[name])) for name in (removed.id, removed.kept_id))
        assert removed.similarity == len(left & right) / len(left | right) >= 0.8
        assert removed.kept_id in kept or removed.kept_id.startswith("s")
        stored += removed.kept_id.startswith("s")
    assert stored >= 20
    assert "null" in kept
    assert report.to_dict()["without_text"] == 1
    assert len(read_jsonl(tmp_path / "removed.jsonl")) == len(report.removed)
    with la.open(store) as index:
        assert len(index) == 40


def test_what_stays_is_added(store: Path, tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "in.jsonl", rows_of(TEXTS[40:]))
    report = la.dedupe(source, out=tmp_path / "out.jsonl", against=store, add=True)
    kept = [row["id"] for row in read_jsonl(tmp_path / "out.jsonl")]
    assert report.added == len(kept) == len(report.kept) > 0
    with la.open(store) as index:
        assert len(index) == 40 + len(kept)
        assert all(name in index for name in kept)
    again = la.dedupe(source, out=tmp_path / "again.jsonl", against=store)
    assert len(again.kept) == 0


def test_annotations_and_tables(store: Path, tmp_path: Path) -> None:
    rows = [
        {"id": "new", "text": "something else altogether, never seen before"},
        {"id": "old", "text": TEXTS[3]},
        {"id": "too", "text": TEXTS[3]},
    ]
    la.dedupe(write_jsonl(tmp_path / "in.jsonl", rows), out=tmp_path / "out.jsonl", annotate=True, against=store)
    found = read_jsonl(tmp_path / "out.jsonl")
    assert [row["kept"] for row in found] == [True, False, False]
    assert found[1]["kept_id"] == found[2]["kept_id"]
    assert found[1]["cluster"] == found[2]["cluster"] != found[0]["cluster"]
    report = la.dedupe(rows, against=store)
    assert [row["id"] for row in report.kept] == ["new"]
    assert [removed.row for removed in report.removed] == [2, 3]
    assert "Similarity" in report.to_html()


def test_simhash(store: Path) -> None:
    report = la.dedupe([{"text": TEXTS[5]}, {"text": "other words here"}, {"text": ""}], method="simhash", against=store)
    assert [row["text"] for row in report.kept] == ["other words here", ""]
    assert report.removed[0].similarity == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "exact"}, "method='minhash', 'simhash' or 'meaning'"),
        ({"level": "line"}, "for documents"),
        ({"threshold": 0.3}, "finds similarities from"),
        ({"recipe": "chars"}, "made with recipe"),
    ],
)
def test_stores_that_do_not_fit(store: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises((la.InputError, la.RecipeMismatch), match=message):
        la.dedupe([{"text": "a"}], against=store, **options)


def test_a_store_without_texts_cannot_verify(tmp_path: Path) -> None:
    with la.open(tmp_path / "thin", keep_text=False) as index:
        index.add("a", "some text")
    with pytest.raises(la.InputError, match="keeps no texts"):
        la.dedupe([{"text": "a"}], against=tmp_path / "thin")
    with pytest.raises(la.InputError, match="name it"):
        la.dedupe([{"text": "a"}], add=True)
    with pytest.raises(la.LookalikeError):
        la.dedupe([{"text": "a"}], against=tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()
