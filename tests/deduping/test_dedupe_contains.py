"""Decontamination: documents that hold a reference are removed or marked; references come from files, folders and stores."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
import reference_passages
from dedupe_corpora import read_jsonl, write_jsonl

WORDS = [f"word{i}" for i in range(400)]


def question(i: int, size: int = 30) -> str:
    return " ".join(random.Random(f"question {i}").choices(WORDS, k=size)).capitalize() + "?"


def page(i: int, inside: str = "") -> str:
    chance = random.Random(f"page {i}")
    return f"{' '.join(chance.choices(WORDS, k=150))}. {inside} {' '.join(chance.choices(WORDS, k=150))}."


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "benchmark.jsonl", [{"id": i, "question": question(i)} for i in range(20)])


@pytest.fixture
def web(tmp_path: Path) -> tuple[Path, list[dict[str, Any]]]:
    rows = [{"id": f"p{i}", "text": page(i, question(i).upper() if i % 5 == 0 else "")} for i in range(40)]
    return write_jsonl(tmp_path / "web.jsonl", rows), rows


@pytest.mark.parametrize("by", ["ngrams", "passages"])
def test_every_question_inside_a_page_is_found(web: tuple[Path, list[dict[str, Any]]], benchmark: Path, tmp_path: Path, by: str) -> None:
    path, rows = web
    out, removed, listed = (tmp_path / name for name in ("clean.jsonl", "removed.jsonl", "references.jsonl"))
    report = la.dedupe(
        path, out=out, removed=removed, references=listed, against=benchmark, against_column="question", contains=0.8, contains_by=by
    )
    assert [(each.id, each.kept_id, each.similarity) for each in report.removed] == [(f"p{i}", i, 1.0) for i in range(0, 20, 5)]
    assert read_jsonl(out) == [row for i, row in enumerate(rows) if i % 5 or i >= 20]
    for row in read_jsonl(removed):
        text = rows[int(row["id"][1:])]["text"]
        assert text[slice(*row["span"])] == question(row["kept_id"]).upper().rstrip("?")
        assert row["kept_span"] == [0, len(question(row["kept_id"]))]
    found = read_jsonl(listed)
    assert [(each["id"], each["documents"], each["largest"] == 1.0) for each in found] == [
        (i, int(i % 5 == 0), i % 5 == 0) for i in range(20)
    ]
    assert report.to_dict()["references"] == {"count": 20, "held": 4, "too_short": 0}
    assert report.headline() == "40 documents: 36 kept, 4 removed (10.0%)"


def test_pages_that_are_alike_stay(benchmark: Path) -> None:
    """Nothing goes but what holds a reference."""
    rows = [{"text": page(1)}, {"text": page(1)}]
    assert len(la.dedupe(rows, against=benchmark, against_column="question", contains=0.5).removed) == 0


def test_marking(web: tuple[Path, list[dict[str, Any]]], benchmark: Path, tmp_path: Path) -> None:
    path, rows = web
    la.dedupe(path, out=tmp_path / "out.jsonl", annotate=True, against=benchmark, against_column="question", contains=0.8)
    marked = read_jsonl(tmp_path / "out.jsonl")
    assert [row["text"] for row in marked] == [row["text"] for row in rows]
    assert [row["kept"] for row in marked] == [bool(i % 5) or i >= 20 for i in range(40)]
    assert (marked[5]["kept_id"], marked[5]["similarity"]) == (5, 1.0)


words = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=25).map(" ".join)


@given(
    st.lists(words, min_size=1, max_size=4),
    st.lists(words, max_size=5),
    st.integers(1, 12),
    st.sampled_from(["ngrams", "passages"]),
    st.data(),
)
@settings(max_examples=200, deadline=None)
def test_as_the_reference(texts: list[str], corpus: list[str], n: int, by: str, data: st.DataObject) -> None:
    share = data.draw(st.sampled_from([0.1, 0.5, 0.7, 1.0]))
    rows = [{"id": i, "text": text} for i, text in enumerate(corpus)]
    with TemporaryDirectory() as folder:
        path = write_jsonl(Path(folder, "references.jsonl"), [{"id": i, "text": text} for i, text in enumerate(texts)])
        report = la.dedupe(rows, against=path, contains=share, ngram=n, contains_by=by, workers=2)
    expected = []
    for i, text in enumerate(corpus):
        shares = []
        for r, reference in enumerate(texts):
            if len(reference.split()) >= min(8, n):
                amount, size = reference_passages.held(reference.split(), text.split(), n, by == "passages")
                shares.append((amount / size, -r))
        if shares and max(shares)[0] >= share:
            expected.append((i, -max(shares)[1], max(shares)[0]))
    assert [(each.id, each.kept_id, each.similarity) for each in report.removed] == expected


def test_an_edited_question_is_found_by_its_share(tmp_path: Path) -> None:
    words = question(3, 40).split()
    words[20] = "changed"
    rows = [{"id": 1, "text": page(1, " ".join(words))}]
    path = write_jsonl(tmp_path / "q.jsonl", [{"text": question(3, 40)}])
    by_grams = la.dedupe(rows, against=path, contains=0.5, ngram=8)
    assert by_grams.removed[0].similarity == pytest.approx(25 / 33)
    assert la.dedupe(rows, against=path, contains=0.95, ngram=8, contains_by="passages").removed[0].similarity == pytest.approx(39 / 40)


def test_references_of_a_few_words_are_not_looked_for(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "q.jsonl", [{"text": "Yes."}, {"text": "one two three four five six seven eight nine"}])
    report = la.dedupe([{"text": "yes yes"}, {"text": "x one two three four five six seven eight nine y"}], against=path, contains=1.0)
    assert [each.id for each in report.removed] == [1]
    assert report.references is not None
    assert [(each.too_short, each.documents, each.tokens) for each in report.references] == [(True, 0, 1), (False, 1, 9)]


def test_references_from_a_folder_a_list_and_a_store(web: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    path, _ = web
    folder = tmp_path / "questions"
    folder.mkdir()
    for i in range(10):
        (folder / f"{i}.txt").write_text(question(i), "utf-8")
    of_folder = la.dedupe(path, against=folder, contains=0.9)
    assert [(each.id, str(each.kept_id).rsplit("/", 1)[-1]) for each in of_folder.removed] == [("p0", "0.txt"), ("p5", "5.txt")]
    of_list = la.dedupe(path, against=[folder / "5.txt", folder / "7.txt"], contains=0.9)
    assert [each.id for each in of_list.removed] == ["p5"]
    with la.open(tmp_path / "store.lookalike") as index:
        index.add([(f"q{i}", question(i)) for i in range(20)])
    of_store = la.dedupe(path, against=tmp_path / "store.lookalike", contains=0.9)
    assert [each.kept_id for each in of_store.removed] == ["q0", "q5", "q10", "q15"]


def test_equal_ids_in_two_files_are_told_apart(tmp_path: Path) -> None:
    one = write_jsonl(tmp_path / "one.jsonl", [{"id": 1, "text": question(1)}])
    two = write_jsonl(tmp_path / "two.jsonl", [{"id": 1, "text": question(2)}])
    report = la.dedupe([{"text": page(1, question(2))}], against=[one, two], contains=1.0)
    assert str(report.removed[0].kept_id).endswith("two.jsonl:1")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_list_of_references_in_other_formats(
    web: tuple[Path, list[dict[str, Any]]], benchmark: Path, tmp_path: Path, ending: str
) -> None:
    listed = tmp_path / f"list.{ending}"
    la.dedupe(web[0], against=benchmark, against_column="question", contains=0.8, references=listed)
    if ending == "csv":
        with open(listed, newline="") as file:
            rows: list[Any] = list(csv.DictReader(file))
    else:
        rows = pq.read_table(listed).to_pylist()
    assert [int(row["documents"]) for row in rows] == [int(i % 5 == 0) for i in range(20)]


def test_near_duplicates_of_files(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "old.jsonl", [{"id": "old", "text": page(1)}, {"id": "older", "text": page(2)}])
    rows = [{"id": 1, "text": page(2).upper()}, {"id": 2, "text": page(3)}, {"id": 3, "text": page(1) + " more"}]
    for method in ("minhash", "simhash"):
        report = la.dedupe(rows, against=path, method=method)
        assert [(each.id, each.kept_id) for each in report.removed] == [(1, "older"), (3, "old")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"contains": 0.5}, "needs references"),
        ({"against": "FILE", "contains": 0.0}, "contains"),
        ({"against": "FILE", "contains": 1.5}, "contains"),
        ({"against": "FILE", "contains": True}, "contains"),
        ({"against": "FILE", "contains": float("nan")}, "contains"),
        ({"against": "FILE", "contains": 0.5, "ngram": 0}, "ngram"),
        ({"against": "FILE", "contains": 0.5, "contains_by": "words"}, "contains_by"),
        ({"against": "FILE", "ngram": 8}, "belongs to contains"),
        ({"against": "FILE", "references": "x.jsonl"}, "which share"),
        ({"against_column": "question"}, "name the files"),
        ({"against": "FILE", "contains_by": "passages"}, "belongs to contains"),
        ({"against": "FILE", "contains": 0.5, "level": "line"}, "leave out level"),
        ({"against": "FILE", "contains": 0.5, "method": "exact"}, "leave out level"),
        ({"against": "FILE", "contains": 0.5, "add": True}, "leave one of them out"),
        ({"against": "FILE", "add": True}, "needs a store"),
        ({"against": "FILE", "contains": 0.5, "against_column": "nothing"}, "nothing"),
        ({"against": "EMPTY", "contains": 0.5}, "no reference|no rows|does not exist|no text"),
        ({"against": 5, "contains": 0.5}, "against"),
        ({"against": "FILE", "contains": 0.5, "references": "x.txt"}, "jsonl, .csv or .parquet"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "q.jsonl", [{"text": question(1)}])
    (tmp_path / "empty.jsonl").write_bytes(b"")
    named = {"FILE": path, "EMPTY": tmp_path / "empty.jsonl"}
    if "references" in options:
        options = options | {"references": tmp_path / "x.txt"}
    if isinstance(options.get("against"), str):
        options = options | {"against": named[options["against"]]}
    with pytest.raises(la.InputError, match=message):
        la.dedupe([{"text": "a"}], **options)


def test_another_share(benchmark: Path) -> None:
    words = question(3).split()
    words[15] = "changed"
    rows = [{"text": page(1, " ".join(words))}]
    report = la.dedupe(rows, against=benchmark, against_column="question", contains=0.9, ngram=8)
    assert (len(report.removed), len(report.rethreshold(0.5).removed)) == (0, 1)


def test_the_page_and_json(web: tuple[Path, list[dict[str, Any]]], benchmark: Path) -> None:
    report = la.dedupe(web[0], against=benchmark, against_column="question", contains=0.8)
    assert "p15" in report.to_html()
    json.dumps(report.to_dict())
