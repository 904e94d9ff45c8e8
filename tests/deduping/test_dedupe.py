"""What dedupe promises: verified leaders, the same answer however the work is cut, and the audit trail."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
import reference_dedupe
from dedupe_corpora import near_copies, read_jsonl, rows_of, write_jsonl
from lookalike.corpus.formats import lines
from lookalike.deduping import run
from lookalike.leaders.rule import cheapest_banding

TEXTS = near_copies(3, 400, 160)


def decided(report: la.DedupeReport) -> list[tuple[Any, Any, float]]:
    return [(each.id, each.kept_id, each.similarity) for each in report.removed]


def by_reference(texts: list[str], threshold: float, *, all_pairs: bool = False) -> list[tuple[int, int, float]]:
    banding = cheapest_banding(threshold)
    documents = []
    for text in texts:
        features = set(la.shingles(text, unique=True))
        keys = [0] if all_pairs else reference_dedupe.band_keys(features, banding.bands * banding.rows, banding.bands, banding.rows)
        documents.append((tuple(la.shingles(text)), features, keys))
    decisions = reference_dedupe.leaders(documents, threshold)
    return [(i, leader, similarity) for i, (leader, similarity) in enumerate(decisions) if leader is not None]


def numbered(texts: list[str]) -> list[dict[str, Any]]:
    return [{"text": text} for text in texts]


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from([0.5, 0.8, 0.95]))
def test_the_reference_agrees(seed: int, threshold: float) -> None:
    texts = near_copies(seed, 40)
    assert decided(la.dedupe(numbered(texts), threshold=threshold)) == by_reference(texts, threshold)


@pytest.mark.parametrize(
    ("threshold", "bands", "rows"), [(0.05, 104, 1), (0.5, 40, 3), (0.7, 20, 4), (0.8, 14, 5), (0.9, 6, 5), (1.0, 1, 3)]
)
def test_bandings(threshold: float, bands: int, rows: int) -> None:
    found = cheapest_banding(threshold)
    assert (found.bands, found.rows) == (bands, rows)
    assert found.recall(threshold) >= 0.995


def test_recall_against_all_pairs() -> None:
    found = decided(la.dedupe(numbered(TEXTS)))
    expected = by_reference(TEXTS, 0.8, all_pairs=True)
    assert len(expected) > 100
    assert len(set(found) & set(expected)) >= 0.985 * len(expected)


@pytest.mark.parametrize("keep", ["first", "longest", "newest:day", "best:score"])
def test_a_removed_document_was_verified_against_a_kept_one(keep: str) -> None:
    draw = random.Random(5)
    rows = rows_of(TEXTS, day=[f"2026-01-{draw.randint(1, 28):02}" for _ in TEXTS], score=[draw.random() for _ in TEXTS])
    report = la.dedupe(rows, keep=keep, threshold=0.7)
    by_id = {row["id"]: row for row in rows}
    kept = {row["id"] for row in report.kept}
    assert len(report.removed) > 50
    for removed in report.removed:
        left, right = (set(la.shingles(by_id[name]["text"], unique=True)) for name in (removed.id, removed.kept_id))
        assert removed.similarity == reference_dedupe.jaccard(left, right) >= 0.7
        assert removed.kept_id in kept
        assert removed.id not in kept
        if keep == "longest":
            assert len(by_id[removed.kept_id]["text"]) >= len(by_id[removed.id]["text"])
        elif keep != "first":
            column = keep.partition(":")[2]
            assert by_id[removed.kept_id][column] >= by_id[removed.id][column]


def chain(length: int, step: int) -> list[str]:
    """Texts of which neighbours are alike and others are not."""
    words = [f"w{i}" for i in range(100 + length * step)]
    return [" ".join(words[i * step : i * step + 100]) for i in range(length)]


def test_a_chain_never_loses_both_ends() -> None:
    texts = chain(3, 6)
    near = [reference_dedupe.jaccard(*(set(la.shingles(text)) for text in pair)) for pair in [*pairwise(texts), (texts[0], texts[2])]]
    assert near[0] >= 0.8
    assert near[1] >= 0.8
    assert near[2] < 0.8
    report = la.dedupe(numbered(texts))
    assert [row["text"] for row in report.kept] == [texts[0], texts[2]]
    assert decided(report) == [(1, 0, near[0])]  # the more similar one, and of equals the first


def test_copies_share_the_fate_of_their_original() -> None:
    first, second, third = chain(3, 6)
    report = la.dedupe(numbered([first, second, second.upper(), third, third + "!"]))
    assert [(removed.id, removed.kept_id) for removed in report.removed] == [(1, 0), (2, 0), (4, 3)]
    assert report.removed[1].similarity == report.removed[0].similarity
    assert report.removed[2].similarity == 1.0


def test_clusters_and_sizes() -> None:
    report = la.dedupe(
        [{"id": name, "text": text} for name, text in [("a", "x y"), ("b", "p q"), ("c", "P q"), ("d", "x y"), ("e", "X y")]]
    )
    clusters = list(report.clusters())
    assert [(cluster.kept, [each.id for each in cluster.removed]) for cluster in clusters] == [("a", ["d", "e"]), ("b", ["c"])]
    assert report.cluster_sizes().tolist() == [3, 2]
    found = report.to_dict()
    assert (found["documents"], found["kept"], found["removed"], found["clusters"]) == (5, 2, 3, 2)
    assert set(found["stages"]) >= {"read", "sketch", "compare"}


def test_empty_and_short_texts() -> None:
    """Nothing is alike to nothing; below five tokens a text is one shingle, so only copies are removed."""
    rows = numbered(["", "a b c", " \u200b\n", "a b d", "A, b; c", "!!!", "???", "!!!"])
    report = la.dedupe(rows)
    assert [(removed.id, removed.kept_id) for removed in report.removed] == [(2, 0), (4, 1), (7, 5)]
    assert report.to_dict()["empty_texts"] == 2


@pytest.mark.parametrize("method", ["minhash", "simhash", "exact"])
def test_nothing_and_one(method: str) -> None:
    assert la.dedupe([], method=method).documents == 0
    assert len(la.dedupe([{"text": "one"}], method=method).kept) == 1


def test_exact() -> None:
    rows = numbered(["One, two.", "one two", "one two three", "ONE TWO"])
    assert decided(la.dedupe(rows, method="exact")) == [(1, 0, 1.0), (3, 0, 1.0)]


def test_simhash() -> None:
    texts = near_copies(11, 200, 200)
    report = la.dedupe(numbered(texts), method="simhash", distance=6)
    values = [int(la.simhash(text)) for text in texts]
    expected = reference_dedupe.simhash_leaders(
        [(tuple(la.shingles(text)), value) for text, value in zip(texts, values, strict=True)], 6, 64
    )
    assert decided(report) == [(i, leader, similarity) for i, (leader, similarity) in enumerate(expected) if leader is not None]
    assert len(report.removed) > 20


def test_rethreshold_is_a_run_with_that_threshold() -> None:
    report = la.dedupe(numbered(TEXTS), threshold=0.6)
    again = report.rethreshold(0.9)
    assert decided(again) == decided(la.dedupe(numbered(TEXTS), threshold=0.9))
    assert len(again.removed) < len(report.removed)
    assert again.settings.threshold == 0.9


@pytest.mark.parametrize("recipe", ["chars", la.Recipe(ngram=2), la.Recipe(tokenizer="jieba", ngram=2)])
def test_recipes(recipe: Any) -> None:
    texts = ["相似的文本在这里出现了两次", "相似的文本在这里出现了三次", "something else altogether"]
    features = [set(la.shingles(text, recipe, unique=True)) for text in texts]
    report = la.dedupe(numbered(texts), recipe=recipe, threshold=0.5)
    assert decided(report) == [(1, 0, reference_dedupe.jaccard(features[0], features[1]))]


def outputs(folder: Path, name: str) -> tuple[bytes, bytes]:
    return (folder / f"{name}.jsonl").read_bytes(), (folder / f"{name}.removed.jsonl").read_bytes()


def deduped(folder: Path, name: str, inputs: Any, **options: Any) -> tuple[bytes, bytes]:
    la.dedupe(inputs, out=folder / f"{name}.jsonl", removed=folder / f"{name}.removed.jsonl", **options)
    return outputs(folder, name)


@pytest.mark.parametrize("keep", ["first", "longest"])
def test_workers_blocks_and_memory_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: str) -> None:
    source = write_jsonl(tmp_path / "corpus.jsonl", rows_of(TEXTS))
    expected = deduped(tmp_path, "one", source, keep=keep, workers=1)
    assert deduped(tmp_path, "workers", source, keep=keep, workers=3) == expected
    assert deduped(tmp_path, "budget", source, keep=keep, memory="1M") == expected
    for size in (100, 5000):
        monkeypatch.setattr(lines, "BLOCK", size)
        monkeypatch.setattr(run, "OFFERED_AT_A_TIME", 7)
        assert deduped(tmp_path, f"block{size}", source, keep=keep) == expected


def test_file_splits_do_not_matter(tmp_path: Path) -> None:
    rows = rows_of(TEXTS)
    whole = write_jsonl(tmp_path / "whole.jsonl", rows)
    parts = [write_jsonl(tmp_path / f"part{i}.jsonl", rows[i * 100 : i * 100 + 100]) for i in range(4)]
    assert deduped(tmp_path, "a", whole)[0] == deduped(tmp_path, "b", parts)[0]
    assert deduped(tmp_path, "c", str(tmp_path / "part?.jsonl"))[0] == outputs(tmp_path, "a")[0]


def test_rows_are_written_as_they_came(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    kept = ['{"text":"one\\u00e9 two", "n":1e2,"id":7}\r\n', '  {"text": "three", "deep": {"a": [1, 2.50]}}\n', '{"text": "four"}']
    source.write_bytes("".join([kept[0], kept[1], "\n", '{"text": "ONEé two", "id": "8"}\n', kept[2]]).encode())
    la.dedupe(source, out=tmp_path / "out.jsonl", removed=tmp_path / "removed.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == "".join(kept).encode() + b"\n"
    assert read_jsonl(tmp_path / "removed.jsonl") == [{"id": "8", "kept_id": 7, "similarity": 1.0, "file": str(source), "row": 4}]


def test_ids_are_made_from_file_and_row(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "in.jsonl", [{"text": "a b"}, {"text": "a b", "id": None}, {"text": "a b", "id": ""}])
    report = la.dedupe(source)
    assert [(removed.id, removed.kept_id, removed.row) for removed in report.removed] == [
        (f"{source}:2", f"{source}:1", 2),
        (f"{source}:3", f"{source}:1", 3),
    ]
    assert list(report.kept) == [f"{source}:1"]


def test_annotate(tmp_path: Path) -> None:
    rows = [{"id": "a", "text": "x y z"}, {"text": "other", "id": "b"}, {"id": "c", "text": "X y z"}, {"id": "d", "text": None}]
    la.dedupe(write_jsonl(tmp_path / "in.jsonl", rows), out=tmp_path / "out.jsonl", annotate=True)
    assert read_jsonl(tmp_path / "out.jsonl") == [
        {**rows[0], "cluster": 0, "kept": True, "kept_id": "a", "similarity": 1.0},
        {**rows[1], "cluster": 1, "kept": True, "kept_id": "b", "similarity": 1.0},
        {**rows[2], "cluster": 0, "kept": False, "kept_id": "a", "similarity": 1.0},
        {**rows[3], "cluster": 2, "kept": True, "kept_id": "d", "similarity": 1.0},
    ]
    with pytest.raises(la.InputError, match=r"in.jsonl:1: there is a column 'kept' already"):
        la.dedupe(write_jsonl(tmp_path / "in.jsonl", [{"text": "a", "kept": 1}]), out=tmp_path / "new.jsonl", annotate=True)


def test_rows_without_text_are_kept_and_counted(tmp_path: Path) -> None:
    rows = [{"text": None, "id": 1}, {"text": "a", "id": 2}, {"text": None, "id": 3}, {"text": "a", "id": 4}]
    report = la.dedupe(write_jsonl(tmp_path / "in.jsonl", rows), out=tmp_path / "out.jsonl")
    assert read_jsonl(tmp_path / "out.jsonl") == rows[:3]
    assert report.to_dict()["without_text"] == 2


def test_keep_orders(tmp_path: Path) -> None:
    rows = [
        {"id": 1, "text": "a b", "day": "2026-01-05T00:00:00Z", "score": None},
        {"id": 2, "text": "a b", "day": "2026-02-01", "score": 3},
        {"id": 3, "text": "a b!!", "day": None, "score": "7.5"},
        {"id": 4, "text": "A b", "score": 7.5},
    ]
    source = write_jsonl(tmp_path / "in.jsonl", rows)
    kept = {keep: list(la.dedupe(source, keep=keep).kept) for keep in ("first", "longest", "newest:day", "best:score")}
    assert kept == {"first": [1], "longest": [3], "newest:day": [2], "best:score": [3]}
    with pytest.raises(la.InputError, match=r"in.jsonl:3: wrong type: 'score' is '7.5x'"):
        la.dedupe(write_jsonl(tmp_path / "in.jsonl", [*rows[:2], {"text": "x", "score": "7.5x"}]), keep="best:score")


@pytest.mark.parametrize(
    ("limit", "allowed"),
    [("50%", True), (0.5, True), (2, True), ("2", True), ("49%", False), (0.1, False), (1, False), (0, False), ("0%", False)],
)
def test_max_removed(tmp_path: Path, limit: Any, allowed: bool) -> None:
    source = write_jsonl(tmp_path / "in.jsonl", [{"text": text} for text in ("a", "a", "b", "b")])
    call = {"out": tmp_path / "out.jsonl", "removed": tmp_path / "removed.jsonl", "max_removed": limit}
    if allowed:
        assert len(la.dedupe(source, **call).removed) == 2
        return
    with pytest.raises(la.TooManyRemoved, match="2 of 4 documents"):
        la.dedupe(source, **call)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 0}, "threshold=0"),
        ({"threshold": 1.5}, "threshold=1.5"),
        ({"threshold": 0.01}, "too low"),
        ({"method": "other"}, "method='other'"),
        ({"method": "simhash", "distance": 99}, "distance=99"),
        ({"keep": "newest"}, "keep='newest'"),
        ({"keep": "first:x"}, "keep='first:x'"),
        ({"memory": "lots"}, "memory='lots'"),
        ({"max_removed": "130%"}, "max_removed='130%'"),
        ({"max_removed": -1}, "max_removed=-1"),
        ({"workers": 0}, "workers=0"),
        ({"level": "word"}, "level='word'"),
        ({"on_error": "ignore"}, "on_error='ignore'"),
        ({"text_column": "id"}, "both 'id'"),
        ({"recipe": "simhash-py"}, "recipe hash='md5'"),
        ({"out": "x.jsonl"}, "out= is for files"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(la.InputError, match=message.replace("(", r"\(")):
        la.dedupe([{"text": "a"}], **options)


def test_unknown_corpus() -> None:
    with pytest.raises(la.InputError, match=r"corpus is a builtins\.int"):
        la.dedupe(3)
