"""Rows of tables by several columns: the rule against brute force, every kind of input, the verbs."""

from __future__ import annotations

import csv
import functools
import io
import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from lookalike.cli import main
from made_records import changed, made_record

COLUMNS = {"title": 0.4, "payer": 0.6}
PEOPLE = [
    {"id": "a", "name": "Ann Lee", "address": "12 High Street, Leeds", "age": 41},
    {"id": "b", "name": "Ann  Lee", "address": "12 High St, Leeds", "age": 41},
    {"id": "c", "name": "Bob Ray", "address": "7 Mill Lane, York", "age": None},
    {"id": "d", "name": "", "address": None, "age": None},
    {"id": "e", "name": "Ann Lee", "address": "12 High Street, Leeds", "age": 80},
]


def made_rows(count: int, seed: int) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    made: list[dict[str, Any]] = []
    for number in range(count):
        base = made_record(chance) if number % 3 == 0 else changed(made[chance.randrange(len(made))]["of"], chance, chance.randrange(4))
        payer = base["schema"].get("payer", [""])[0]
        made.append({"id": number, "title": base["title"], "payer": payer, "pages": base["pages"], "of": base})
    return [{name: value for name, value in row.items() if name != "of"} for row in made]


def leaders(rows: list[dict[str, Any]], threshold: float) -> dict[int, tuple[int, float]]:
    """Who goes and why, each compared with all that were kept before it."""

    def of(row: dict[str, Any]) -> la.RecordPrint:
        return la.record({name: row[name] for name in COLUMNS if row[name]}, weights=COLUMNS)

    kept: list[dict[str, Any]] = []
    removed: dict[int, tuple[int, float]] = {}
    for row in rows:
        best = max(((of(other).similarity(of(row)), -place) for place, other in enumerate(kept)), default=(0.0, 0))
        if kept and best[0] >= threshold:
            removed[row["id"]] = kept[-best[1]]["id"], best[0]
        else:
            kept.append(row)
    return removed


def removed_of(report: la.DedupeReport) -> dict[Any, tuple[Any, float]]:
    return {member.id: (cluster.kept, member.similarity) for cluster in report.clusters() for member in cluster.removed}


@pytest.mark.parametrize("threshold", [0.7, 0.9])
def test_the_rule_is_that_of_leaders(threshold: float) -> None:
    rows = made_rows(300, 7)
    expected = leaders(rows, threshold)
    found = removed_of(la.dedupe(rows, method="record", columns=COLUMNS, threshold=threshold))
    assert len(expected) > 50
    assert found == expected


def test_any_input_and_any_way_to_name_columns_gives_the_same(tmp_path: Path) -> None:
    pa, pl, pd = (pytest.importorskip(name) for name in ("pyarrow", "polars", "pandas"))
    import pyarrow.parquet as pq

    rows = made_rows(120, 3)
    expected = removed_of(la.dedupe(rows, method="record", columns=COLUMNS))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    with open(tmp_path / "rows.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet")
    for name in ("rows.jsonl", "rows.json", "rows.csv", "rows.parquet"):
        out = tmp_path / f"clean-{name}"
        report = la.dedupe(tmp_path / name, out=out, method="record", columns="title:0.4, payer:0.6", workers=2)
        assert {int(id_): (int(kept), score) for id_, (kept, score) in removed_of(report).items()} == expected
        assert len(list(la.documents(out, columns=[]))) == 120 - len(expected)
    for table in (pa.Table.from_pylist(rows), pl.DataFrame(rows), pd.DataFrame(rows)):
        assert removed_of(la.dedupe(table, method="record", columns=COLUMNS)) == expected
    kept = (tmp_path / "clean-rows.jsonl").read_text(encoding="utf-8").splitlines()
    assert set(kept) <= set((tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines())  # as they came


def test_missing_values_and_all_columns() -> None:
    found = la.dedupe(PEOPLE, method="record", threshold=0.85)
    assert removed_of(found) == {"b": ("a", la.record(_data(PEOPLE[0])).similarity(la.record(_data(PEOPLE[1]))))}
    assert found.to_dict()["without_text"] == 1
    by_name = la.dedupe(PEOPLE, method="record", columns=["name", "address"], keep="best:age", threshold=0.85)
    assert set(removed_of(by_name)) == {"a", "b"}
    measured = la.dedupe(PEOPLE, method="record", columns={"name": (1, "exact"), "address": 0}, threshold=1.0)
    assert set(removed_of(measured)) == {"e"}


@pytest.mark.parametrize("nothing", [float("nan"), float("inf"), -float("inf"), None, "", b""], ids=repr)
def test_what_is_no_number_is_missing(tmp_path: Path, nothing: object) -> None:
    """As null is: two rows are not alike because both lack a number."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [{"id": 1, "name": "Ann Lee", "paid": nothing}, {"id": 2, "name": "Zoe Quist", "paid": nothing}]
    assert removed_of(la.dedupe(rows, method="record", threshold=0.4)) == {}
    tables = ["parquet"] if isinstance(nothing, bytes) else ["jsonl", "parquet"]
    for table in tables:
        path = tmp_path / f"rows.{table}"
        if table == "parquet":
            pq.write_table(pa.Table.from_pylist(rows), path)
        else:
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        assert removed_of(la.dedupe(path, out=tmp_path / f"out.{table}", method="record", threshold=0.4)) == {}
        assert [document.record for document in la.documents(path, columns=[])] == [{"name": "Ann Lee"}, {"name": "Zoe Quist"}]


def _data(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "id" and value not in (None, "")}


def test_misuse_is_explained(tmp_path: Path) -> None:
    for columns, message in [
        ("name:x", "weight 'x', which is no number"),
        ("name:0", "every weight is 0"),
        ("", "no name of a column"),
        ([], "there are none"),
        (["name", "name"], "there twice"),
        ({"name": -1}, "record weight of 'name'"),
        (["nothing"], "no row has a column 'nothing'"),
        (["id"], "the column of the id"),
        (3, "columns is a int"),
    ]:
        with pytest.raises(la.InputError, match=message):
            la.dedupe(PEOPLE, method="record", columns=columns)
    with pytest.raises(la.InputError, match="columns= is for method='record'"):
        la.dedupe(PEOPLE, columns=["name"])
    with pytest.raises(la.InputError, match="is for documents"):
        la.dedupe(PEOPLE, method="record", level="line")
    with pytest.raises(la.InputError, match="plan reads texts"):
        la.plan(tmp_path, method="record")
    (tmp_path / "a.txt").write_text("text", encoding="utf-8")
    with pytest.raises(la.InputError, match="no columns"):
        la.dedupe(tmp_path / "a.txt", method="record")
    with pytest.raises(la.InputError, match="is for tables"):
        la.documents(tmp_path / "a.txt", columns=[])


def test_the_verbs(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*arguments: str, code: int = 0, given: str = "") -> str:
        monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": io.BytesIO(given.encode())}))
        capfd.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(list(arguments))
        assert int(stop.value.code or 0) == code
        return capfd.readouterr().out

    rows, store = tmp_path / "people.jsonl", str(tmp_path / "store")
    rows.write_text("".join(json.dumps(row) + "\n" for row in PEOPLE), encoding="utf-8")
    found = json.loads(
        run("dedupe", str(rows), "--out", str(tmp_path / "clean.jsonl"), "--as", "record", "--columns", "name:0.4,address:0.6", "--json")
    )
    assert (found["kept"], found["removed"], found["settings"]["columns"]) == (3, 2, {"name": [0.4], "address": [0.6]})
    run("add", store, str(rows), "--as", "record", "--columns", "name:0.4,address:0.6,age", "--quiet")
    query = json.dumps(_data(PEOPLE[0]))
    answer = json.loads(run("search", store, "--as", "record", "--text", query, "--json"))
    assert [match["id"] for match in answer] == ["a", "b"]
    assert answer[1]["fields"]["age"]["shared"] == 41
    (tmp_path / "query.json").write_text(query, encoding="utf-8")
    assert json.loads(run("search", store, str(tmp_path / "query.json"), "--by", "record", "--json")) == answer
    assert json.loads(run("search", store, "-", "--as", "record", "--json", given=query)) == answer
    # A row as it stands in a file: its id is no part of the record, as in ``add``.
    row = json.dumps(json.loads(query) | {"id": "any"})
    assert json.loads(run("search", store, "--as", "record", "--text", row, "--json")) == answer
    named = json.dumps(json.loads(query) | {"number": "any"})
    assert json.loads(run("search", store, "-", "--as", "record", "--id-column", "number", "--json", given=named)) == answer
    assert "mean of fields" in run("search", store, "--as", "record", "--text", query)
    assert [cluster["kept"] for cluster in json.loads(run("clusters", store, "--by", "record", "--json"))] == ["a"]
    run("search", store, "--as", "record", "--by", "near", "--text", query, code=2)
    run("search", store, "--as", "text", "--by", "record", "--text", query, code=2)
    run("search", store, "--as", "record", "--text", "[1]", code=2)
    run("add", store, str(rows), "--columns", "name", code=2)
    run("dedupe", str(rows), "--out", "-", "--columns", "name", code=2)
    run("dedupe", str(rows), "--out", "-", "--as", "record", "--method", "exact", code=2)


BAD: dict[str, Any] = {
    "deep": {"day": "2024-01-01", "more": functools.reduce(lambda inner, _: [inner], range(70), [])},
    "huge": {"day": "2024-01-01", "more": 1 << 1100},
    "no date": {"day": "soon"},
    "long": {"day": "2024-01-01", "more": {"inner": "x" * 200_001}},
}


@pytest.mark.parametrize("bad", BAD)
def test_a_row_that_cannot_be_compared_costs_that_row(bad: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    good = [{"id": place, "day": "2024-01-01", "more": ["x"]} for place in range(2)]
    rows = [good[0], {"id": "bad", **BAD[bad]}, good[1]]
    settings: dict[str, Any] = {"method": "record", "columns": "day:1:date,more:0.5"}
    with pytest.raises(la.InputError, match=r"row 1: unusable columns: record field .*on_error='skip'"):
        la.dedupe(rows, **settings)
    report = la.dedupe(rows, on_error="skip", **settings)
    assert (report.kept, report.skipped) == ([rows[0]], 1)
    path, store = tmp_path / "rows.jsonl", tmp_path / "store"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(SystemExit) as stop:
        main(["add", str(store), str(path), "--as", "record", "--columns", settings["columns"]])
    out, err = capfd.readouterr()
    assert (stop.value.code, "2 documents: 2 added" in out, "document 'bad': unusable columns" in err) == (0, True, True)
    if bad != "no date":  # pairs have no measures of their own
        problems: list[la.Problem] = []
        assert len(la.pairs(path, kind="record", on_problem=problems.append).pairs) == 1
        assert len(problems) == 1
    with la.open(store) as index:
        with pytest.raises(la.InputError, match="document 'bad': record field"):
            index.add("bad", BAD[bad])
        assert len(index.search({"day": "2024-01-02", "more": ["x"]})) == 2
        assert len(index.clusters("record")) == 1
