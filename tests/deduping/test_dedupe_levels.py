"""Repeated paragraphs and lines are cut; the first ones stay, and the audit trail says where both stand."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

import datasets
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from dedupe_corpora import read_jsonl, write_jsonl
from lookalike.deduping.levels import units

FOOTER = "All rights reserved.\nNo part may be copied."
TEXTS = [
    f"First article.\n\nIt has two paragraphs.\n\n{FOOTER}",
    f"Second article.\n\n{FOOTER.upper()}\n\nAnd an end.",
    f"Third one,\nin two lines.\n \n\n{FOOTER}\n",
    FOOTER,
]
CUT = [TEXTS[0], "Second article.\n\nAnd an end.", "Third one,\nin two lines.", ""]


def test_paragraphs() -> None:
    report = la.dedupe([{"id": i, "text": text} for i, text in enumerate(TEXTS)], level="paragraph")
    assert [row["text"] for row in report.kept] == CUT
    removed = report.removed[0]
    assert (removed.id, removed.kept_id, removed.similarity) == (1, 0, 1.0)
    assert removed.span is not None
    assert removed.kept_span is not None
    assert TEXTS[1][slice(*removed.span)].strip() == FOOTER.upper()
    assert TEXTS[0][slice(*removed.kept_span)] == FOOTER
    found = report.to_dict()
    assert (found["documents"], found["removed"], found["clusters"]) == (4, 3, 1)
    assert found["kept"] + found["removed"] == 3 + 3 + 2 + 1


def test_lines() -> None:
    texts = ["one\ntwo\n---\n}\n", "two\r\nthree\n---\n}\nTWO", "\n\nfour"]
    report = la.dedupe([{"text": text} for text in texts], level="line")
    assert [row["text"] for row in report.kept] == ["one\ntwo\n---\n}\n", "three\n---\n}", "\n\nfour"]
    assert [(removed.id, removed.kept_id) for removed in report.removed] == [(1, 0), (1, 0)]


@pytest.mark.parametrize(("keep", "owner"), [("first", 0), ("longest", 2), ("best:score", 1)])
def test_the_document_that_is_kept_keeps_it(keep: str, owner: int) -> None:
    rows = [
        {"text": "shared line\na", "score": 1},
        {"text": "shared line\nb", "score": 9},
        {"text": "shared line\nmuch longer", "score": 3},
    ]
    texts = [row["text"] for row in la.dedupe(rows, level="line", keep=keep).kept]
    assert ["shared line" in text for text in texts] == [i == owner for i in range(3)]


@given(st.text(alphabet="ab \n\t\r", max_size=60), st.sampled_from(["line", "paragraph"]))
def test_units_cover_the_text(text: str, level: str) -> None:
    spans = list(units(text, level))
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)
    for start, end in spans:
        inner = text[start:end].rstrip()
        assert "\n" not in inner or level == "paragraph"
        assert level == "line" or not any(not line.strip() for line in inner.lstrip().split("\n")[:-1])


def test_formats(tmp_path: Path) -> None:
    rows = [{"id": i, "text": text, "n": [i]} for i, text in enumerate(TEXTS)]
    la.dedupe(write_jsonl(tmp_path / "in.jsonl", rows), out=tmp_path / "out.jsonl", removed=tmp_path / "removed.jsonl", level="paragraph")
    assert read_jsonl(tmp_path / "out.jsonl") == [{**row, "text": text} for row, text in zip(rows, CUT, strict=True)]
    assert list(read_jsonl(tmp_path / "removed.jsonl")[0]) == ["id", "kept_id", "similarity", "file", "row", "span", "kept_span"]
    (tmp_path / "in.json").write_text(json.dumps(rows))
    la.dedupe(tmp_path / "in.json", out=tmp_path / "out.json", level="paragraph")
    assert [row["text"] for row in json.loads((tmp_path / "out.json").read_text())] == CUT
    with (tmp_path / "in.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["n", "text"], *([i, text] for i, text in enumerate(TEXTS))])
    la.dedupe(tmp_path / "in.csv", out=tmp_path / "out.csv", removed=tmp_path / "removed.csv", level="paragraph")
    with (tmp_path / "out.csv").open(newline="") as file:
        assert [row["text"] for row in csv.DictReader(file)] == CUT
    table = pa.table({"text": TEXTS, "n": range(4)})
    pq.write_table(table, tmp_path / "in.parquet")
    la.dedupe(tmp_path / "in.parquet", out=tmp_path / "out.parquet", level="paragraph")
    assert pq.read_table(tmp_path / "out.parquet").equals(table.set_column(0, "text", pa.array(CUT)))


@pytest.mark.parametrize(
    "make", [pa.table, pl.DataFrame, pd.DataFrame, datasets.Dataset.from_dict], ids=["arrow", "polars", "pandas", "datasets"]
)
def test_tables(make: Any) -> None:
    kept = la.dedupe(make({"text": [*TEXTS, None], "n": list(range(5))}), level="paragraph").kept
    assert type(kept) is type(make({"a": [1]}))
    assert list(kept["text"].to_pylist() if hasattr(kept["text"], "to_pylist") else kept["text"])[:4] == CUT
    assert len(kept) == 5


def test_text_files(tmp_path: Path) -> None:
    for i, text in enumerate(TEXTS):
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / f"{i}.txt").write_bytes(text.encode("utf-16"))
    la.dedupe(tmp_path / "in", out=tmp_path / "out", level="paragraph")
    assert [(tmp_path / "out" / f"{i}.txt").read_bytes().decode("utf-16").removeprefix("\ufeff") for i in range(4)] == CUT
    (tmp_path / "in" / "page.html").write_text("<p>x</p>")
    with pytest.raises(la.InputError, match="markup"):
        la.dedupe(tmp_path / "in", out=tmp_path / "new", level="line")


def test_limits_and_reports(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "in.jsonl", [{"text": text} for text in TEXTS])
    with pytest.raises(la.TooManyRemoved, match="3 of 9 paragraphs"):
        la.dedupe(source, out=tmp_path / "out.jsonl", level="paragraph", max_removed=2)
    report = la.dedupe(source, level="paragraph")
    assert "copied" in report.to_html()
    assert report.rethreshold(0.9).to_dict()["removed"] == 3


@pytest.mark.parametrize("keep", ["first", "longest"])
def test_what_is_known_of_lines_goes_to_files_beyond_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: str) -> None:
    draw = random.Random(7)
    rows = [{"id": i, "text": "\n".join(f"line {draw.randrange(400)} of some text" for _ in range(20))} for i in range(200)]
    source = write_jsonl(tmp_path / "in.jsonl", rows)
    whole = la.dedupe(source, level="line", keep=keep, out=tmp_path / "whole.jsonl")
    monkeypatch.setattr("lookalike.deduping.levels.LEAST_IN_MEMORY", 1 << 12)
    monkeypatch.setattr("lookalike.corpus.formats.lines.BLOCK", 10_000)
    spilled = la.dedupe(source, level="line", keep=keep, memory="1M", out=tmp_path / "spilled.jsonl")
    assert spilled.to_dict()["spilled_bytes"] > 100_000
    assert whole.to_dict()["spilled_bytes"] == 0
    assert [tuple(each) for each in spilled.removed] == [tuple(each) for each in whole.removed]
    assert len(whole.removed) > 3000
    assert (tmp_path / "spilled.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "spilled.jsonl", "whole.jsonl"]


def _written(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return [row | {name: json.loads(row[name]) for name in ("cut", "repeats") if name in row} for row in csv.DictReader(file)]
    if path.suffix == ".parquet":
        found: list[dict[str, Any]] = pq.ParquetFile(path).read().to_pylist()
        return found
    return read_jsonl(path) if path.suffix == ".jsonl" else json.loads(path.read_text(encoding="utf-8"))


def _without(text: str, cut: list[list[int]]) -> str:
    """What docs/dedupe.md says that a reader of the marks does."""
    kept = "".join(text[end:begin] for (_, end), (begin, _) in zip([[0, 0], *cut], [*cut, [len(text), 0]], strict=True))
    return kept.rstrip() if cut and cut[-1][1] == len(text) else kept


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet", ".json"])
@pytest.mark.parametrize(
    "options", [{"level": "paragraph"}, {"level": "line"}, {"level": "substring", "min_length": 4}, {"level": "sentences", "min_length": 1}]
)
def test_marks_instead_of_cuts(tmp_path: Path, ending: str, options: dict[str, Any]) -> None:
    """With annotate texts stay; cutting by the marks gives what a run without it writes, and repeats are the audit trail."""
    draw = random.Random(4)
    rows = [{"id": f"é{i}", "text": text, "n": i} for i, text in enumerate([*TEXTS, "", *draw.choices(TEXTS, k=5)])]
    given = tmp_path / f"in{ending}"
    if ending == ".csv":
        with given.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, ["id", "text", "n"])
            table.writeheader()
            table.writerows(rows)
    elif ending == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), given)
    else:
        given.write_text("\n".join(map(json.dumps, rows)) if ending == ".jsonl" else json.dumps(rows))
    cut = tmp_path / f"cut{ending}"
    la.dedupe(given, out=cut, **options)
    removed, marked = tmp_path / "removed.jsonl", tmp_path / f"marked{ending}"
    la.dedupe(given, out=marked, removed=removed, annotate=True, **options)
    found = _written(marked)
    assert [row["text"] for row in found] == [row["text"] for row in rows]
    assert [_without(row["text"], row["cut"]) for row in found] == [row["text"] for row in _written(cut)]
    listed = [{"id": row["id"], **each} for row in found for each in row["repeats"]]
    assert listed == [{name: row[name] for name in ("id", "span", "kept_id", "kept_span")} for row in read_jsonl(removed)]
    assert len(listed) > 5
    with pytest.raises(la.InputError, match="'cut' already, which annotate adds"):
        la.dedupe(marked, out=tmp_path / f"again{ending}", annotate=True, **options)
