"""Repeated passages and sentences are cut but for one; spans are true to the text, and the slow reference gives the same."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import lookalike as la
from crafted_collisions import COLLIDING
from dedupe_corpora import read_jsonl, write_jsonl
from lookalike import _native
from lookalike.corpus.batches import join_texts
from reference_passages import cut_units, repeated, sentences

FOOTER = "All rights reserved. No part of this page may be copied, sold or printed."
STORY = "The river rose by {0} metres, and {0} people had to leave their houses. "

pieces = st.sampled_from(
    ["a b c d ", "B, C! d. ", "e. f? ", "Ｇ ", "相似文本", "。", "é ", "\n\n", "--- ", "\ud800", "\0", "😀 ", "x y z a b c d "]
)
texts = st.lists(pieces, max_size=8).map("".join)


def token_texts(text: str, unit: str) -> list[str]:
    return [token.text for token in la.tokenize(text, "chars" if unit == "characters" else "auto")]


@given(
    st.lists(texts, max_size=6),
    st.integers(1, 7),
    st.booleans(),
    st.sampled_from(["tokens", "characters"]),
    st.sampled_from(["first", "longest"]),
)
@example(["a b c d a b c d"], 2, True, "tokens", "first")
@settings(max_examples=400, deadline=None)
def test_as_the_reference(corpus: list[str], length: int, within: bool, unit: str, keep: str) -> None:
    rows = [{"id": i, "text": text} for i, text in enumerate(corpus)]
    report = la.dedupe(rows, level="substring", min_length=length, within=within, unit=unit, keep=keep, workers=1)
    documents = [token_texts(text, unit) for text in corpus]
    order = sorted(range(len(corpus)), key=lambda i: (-len(corpus[i]) if keep == "longest" else 0, i))
    expected = sorted(repeated(documents, length, within, order), key=lambda each: each.document)
    assert [(each.id, each.kept_id) for each in report.removed] == [(each.document, each.source) for each in expected]
    cut = cut_units(expected)
    assert report.figures is not None
    assert (report.figures.units, report.figures.cut) == (sum(map(len, documents)), len(cut))
    for removed, passage in zip(report.removed, expected, strict=True):
        wanted = documents[passage.document][passage.first : passage.first + passage.length]
        spans = [la.tokenize(corpus[i], "chars" if unit == "characters" else "auto") for i in (passage.document, passage.source)]
        for span, tokens, first in ((removed.span, spans[0], passage.first), (removed.kept_span, spans[1], passage.source_first)):
            assert span == (tokens[first].start, tokens[first + passage.length - 1].end)
            assert [token.text for token in tokens[first : first + passage.length]] == wanted
    for i, row in enumerate(report.kept):
        left = [token for place, token in enumerate(documents[i]) if (i, place) not in cut]
        if unit == "tokens" and any(each.isalnum() for each in left):  # a text without any word is read by its characters
            assert token_texts(row["text"], unit) == left


def corpus_with_footers(count: int = 40) -> list[dict[str, Any]]:
    chance = random.Random(5)
    rows = []
    for i in range(count):
        story = STORY.format(i) * chance.randint(1, 3)
        rows.append({"id": f"d{i}", "text": f"{story}\n\n{FOOTER if i % 3 else FOOTER.upper()}\n\nPage {i} of many.", "n": i})
    return rows


def test_boilerplate_is_cut() -> None:
    rows = [{"id": i, "text": f"Story told once by {i}.\n\n{FOOTER}\n\n{i} ends."} for i in range(3)]
    report = la.dedupe(rows, level="substring", min_length=10)
    assert [row["text"] for row in report.kept] == [rows[0]["text"], "Story told once by 1.\n\n1 ends.", "Story told once by 2.\n\n2 ends."]
    assert [(each.id, each.kept_id, each.similarity) for each in report.removed] == [(1, 0, 1.0), (2, 0, 1.0)]
    assert report.headline() == "3 documents: 2 passages cut, 28 of 63 tokens (44.4%)"
    found = report.to_dict()
    assert (found["documents"], found["kept"], found["removed"], found["clusters"], found["unit"]) == (3, 1, 2, 1, "passages")
    assert found["text"] == {"unit": "tokens", "units": 63, "cut": 28}
    assert (found["settings"]["min_length"], found["settings"]["unit"], found["settings"]["within"]) == (10, "tokens", True)


def test_the_result_depends_on_neither_workers_nor_memory(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "in.jsonl", corpus_with_footers(400))
    outputs = []
    for number, options in enumerate(({"workers": 1}, {"workers": 3}, {"workers": 2, "memory": "1M"})):
        out, removed = tmp_path / f"out{number}.jsonl", tmp_path / f"removed{number}.jsonl"
        la.dedupe(path, out=out, removed=removed, level="substring", min_length=9, **options)  # type: ignore[arg-type]
        outputs.append((out.read_bytes(), removed.read_bytes()))
    assert outputs[0] == outputs[1] == outputs[2]
    assert len(outputs[0][1].splitlines()) >= 399


def test_units_beyond_the_budget_go_to_a_file(tmp_path: Path) -> None:
    rows = corpus_with_footers(3000)
    path = write_jsonl(tmp_path / "in.jsonl", rows)
    report = la.dedupe(path, level="substring", min_length=9, memory="1M")
    assert report.to_dict()["spilled_bytes"] > 500_000
    plain = la.dedupe(path, level="substring", min_length=9)
    assert plain.to_dict()["spilled_bytes"] == 0
    assert list(report.removed) == list(plain.removed)


def test_within_or_across() -> None:
    rows = [{"id": 1, "text": f"{FOOTER} one {FOOTER} two"}, {"id": 2, "text": f"three {FOOTER}"}]
    within = la.dedupe(rows, level="substring", min_length=8)
    assert [(each.id, each.kept_id) for each in within.removed] == [(1, 1), (2, 1)]
    across = la.dedupe(rows, level="substring", min_length=8, within=False)
    assert [(each.id, each.kept_id) for each in across.removed] == [(2, 1)]
    assert across.kept[0] == rows[0]


@pytest.mark.parametrize(("keep", "owner"), [("first", 0), ("longest", 2), ("best:score", 1), ("newest:day", 2)])
def test_the_document_that_is_kept_keeps_it(keep: str, owner: int) -> None:
    rows = [
        {"text": f"{FOOTER} a", "score": 1, "day": "2024-01-01"},
        {"text": f"{FOOTER} b", "score": 9, "day": "2023-01-01"},
        {"text": f"{FOOTER} much longer", "score": 3, "day": "2025-01-01"},
    ]
    found = [row["text"] for row in la.dedupe(rows, level="substring", min_length=8, keep=keep).kept]
    assert [FOOTER in text for text in found] == [i == owner for i in range(3)]


def test_formats(tmp_path: Path) -> None:
    rows = corpus_with_footers(12)
    expected = [row["text"] for row in la.dedupe(rows, level="substring", min_length=9).kept]
    path = write_jsonl(tmp_path / "in.jsonl", rows)
    la.dedupe(path, out=tmp_path / "out.jsonl", removed=tmp_path / "r.jsonl", level="substring", min_length=9)
    assert read_jsonl(tmp_path / "out.jsonl") == [{**row, "text": text} for row, text in zip(rows, expected, strict=True)]
    first = read_jsonl(tmp_path / "r.jsonl")[0]
    assert set(first) == {"id", "kept_id", "similarity", "file", "row", "span", "kept_span"}
    pl.DataFrame(rows).write_parquet(tmp_path / "in.parquet")
    la.dedupe(tmp_path / "in.parquet", out=tmp_path / "out.parquet", removed=tmp_path / "r.parquet", level="substring", min_length=9)
    assert pq.read_table(tmp_path / "out.parquet").column("text").to_pylist() == expected
    with open(tmp_path / "in.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    la.dedupe(tmp_path / "in.csv", out=tmp_path / "out.csv", removed=tmp_path / "r.csv", level="substring", min_length=9)
    with open(tmp_path / "out.csv", newline="") as file:
        assert [row["text"] for row in csv.DictReader(file)] == expected
    folder = tmp_path / "texts"
    folder.mkdir()
    for row in rows:
        (folder / f"{row['n']:02}.txt").write_text(row["text"], "utf-8")
    la.dedupe(folder, out=tmp_path / "cut", level="substring", min_length=9)
    assert [path.read_text("utf-8") for path in sorted((tmp_path / "cut").iterdir())] == expected


def test_pages_are_not_cut(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>text", "utf-8")
    with pytest.raises(la.InputError, match="pages cannot be cut"):
        la.dedupe(tmp_path / "a.html", out=tmp_path / "out", level="substring")


def test_rows_without_text_and_empty_texts_stay() -> None:
    rows: list[dict[str, Any]] = [{"text": None}, {"text": ""}, {"text": "!?"}, {"text": FOOTER}, {"text": None}, {"text": FOOTER}]
    report = la.dedupe(rows, level="substring", min_length=8)
    assert [row["text"] for row in report.kept] == [None, "", "!?", FOOTER, None, ""]
    assert (report.removed[0].id, report.removed[0].kept_id) == (5, 3)
    nothing = la.dedupe([], level="substring")
    assert (nothing.documents, len(nothing.removed), nothing.kept) == (0, 0, [])


def test_texts_whose_public_hashes_collide_are_not_the_same() -> None:
    words = [word for word in COLLIDING if word.isascii()]
    rows = [{"text": " ".join(words)}, {"text": " ".join(COLLIDING[word] for word in words)}]
    assert len(la.dedupe(rows, level="substring", min_length=2).removed) == 0
    assert len(la.dedupe([*rows, rows[1]], level="substring", min_length=2).removed) == 1


def test_a_limit_is_a_share_of_the_text() -> None:
    rows = [{"id": i, "text": f"Story told once by {i}.\n\n{FOOTER}\n\n{i} ends."} for i in range(3)]
    with pytest.raises(la.TooManyRemoved, match="28 of 63 tokens would be removed"):
        la.dedupe(rows, level="substring", min_length=10, max_removed="40%")
    assert len(la.dedupe(rows, level="substring", min_length=10, max_removed="50%").removed) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": "substring", "min_length": 0}, "min_length"),
        ({"level": "substring", "min_length": 10**9}, "min_length"),
        ({"level": "substring", "min_length": 2.5}, "min_length"),
        ({"level": "substring", "unit": "bytes"}, "unit"),
        ({"level": "substring", "within": 1}, "within"),
        ({"level": "sentences", "unit": "tokens"}, "counts sentences"),
        ({"level": "line", "min_length": 5}, "is for level='substring'"),
        ({"level": "document", "unit": "tokens"}, "is for level='substring'"),
        ({"level": "paragraph", "within": False}, "is for level='substring'"),
        ({"level": "substring", "method": "bytes"}, "leave out method='bytes'"),
        ({"level": "substring", "recipe": "simhash-py", "method": "simhash"}, "choose such a recipe"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(la.InputError, match=message):
        la.dedupe(write_jsonl(tmp_path / "in.jsonl", [{"text": "a"}]), **options)


sentence_pieces = st.sampled_from(
    ["One. ", "Two two! ", "three? ", "Mr. X said “no.” ", "e.g.this ", "四。", "五！」", "\n", "... ", "(Six.) ", "7.5 "]
)


@given(st.lists(st.lists(sentence_pieces, max_size=8).map("".join), max_size=5), st.integers(1, 4), st.booleans())
@settings(max_examples=300, deadline=None)
def test_sentences_as_the_reference(corpus: list[str], length: int, within: bool) -> None:
    report = la.dedupe([{"id": i, "text": text} for i, text in enumerate(corpus)], level="sentences", min_length=length, within=within)
    split = [[each for each in sentences(text) if la.tokenize(each)] for text in corpus]
    documents = [[tuple(token.text for token in la.tokenize(each)) for each in found] for found in split]
    expected = repeated(documents, length, within)
    assert [(each.id, each.kept_id) for each in report.removed] == [(each.document, each.source) for each in expected]
    for removed, passage in zip(report.removed, expected, strict=True):
        assert removed.span is not None
        first, last = split[passage.document][passage.first], split[passage.document][passage.first + passage.length - 1]
        shown = corpus[passage.document][slice(*removed.span)]
        assert shown.startswith(first.strip())
        assert shown.endswith(last.strip())


def test_three_sentences_as_c4_has_them() -> None:
    shared = "Click here. Accept all cookies? Then go on!"
    rows = [
        {"text": f"Alpha came first. {shared} Beta."},
        {"text": f"Gamma. {shared.lower()} Delta."},
        {"text": "Click here. Accept all cookies? No."},
    ]
    report = la.dedupe(rows, level="sentences")
    assert [row["text"] for row in report.kept] == [rows[0]["text"], "Gamma. Delta.", rows[2]["text"]]
    assert report.headline() == "3 documents: 1 passage cut, 3 of 13 sentences (23.1%)"


@given(
    st.lists(st.lists(st.one_of(sentence_pieces, pieces), max_size=8).map("".join), max_size=4),
    st.integers(0, 4),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_units_and_their_spans_are_the_same_in_number(batch: list[str], mode: int, fold: bool, by_sentence: bool) -> None:
    if mode == 3:
        mode = 2
    data, offsets = join_texts(batch)
    _, ends = _native.unit_hashes(data, offsets, mode, fold, by_sentence)
    counts = np.diff(np.asarray(ends))
    wanted = np.concatenate([*(np.arange(count) for count in counts), np.zeros(0, np.int64)]).astype(np.uint32)
    begins, stops, nexts = map(np.asarray, _native.unit_spans(data, offsets, mode, fold, by_sentence, wanted, np.asarray(ends)))
    at = 0
    for text, count in zip(batch, counts.tolist(), strict=True):
        own = slice(at, at + count)
        assert (begins[own] <= stops[own]).all()
        assert (nexts[own] <= len(text)).all()
        if count:
            assert nexts[own][-1] == len(text)
            assert (nexts[own][:-1] == begins[own][1:]).all()
        at += count
    too_many = np.array([max(counts.tolist(), default=0)], np.uint32)
    if batch:
        with pytest.raises(ValueError, match="fewer units"):
            _native.unit_spans(data, offsets, mode, fold, by_sentence, too_many, np.array([0] + [1] * len(batch)))


def test_the_page_of_a_run(tmp_path: Path) -> None:
    report = la.dedupe(corpus_with_footers(10), level="substring", min_length=9)
    html = report.to_html()
    assert "passages removed" in html
    assert "NO PART OF THIS PAGE" in html or "No part of this page" in html
    json.dumps(report.to_dict())
