from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import lookalike as la
from lookalike.cli import main

ROOT = Path(__file__).parents[2]
DRAFTS = str(ROOT / "examples" / "drafts.jsonl")


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(["feedback", *arguments])
    return int(stop.value.code or 0)


def test_table(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(DRAFTS, "--by", "model,author") == 0
    out, err = capfd.readouterr()
    for part in ("12 pairs: 66.7% usable", "light edit", "fern-1", "林", "week from", "总而言之", "d12"):
        assert part in out
    assert "empty final" in err


def test_json(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(DRAFTS, "--json", "--rows", "--by", "author") == 0
    found = json.loads(capfd.readouterr().out)
    assert found == la.feedback(Path(DRAFTS), by="author").to_dict(rows=True)
    assert list(found)[:5] == ["pairs", "skipped", "aggregates", "by", "trend"]
    assert run(DRAFTS, "--json") == 0
    assert "rows" not in json.loads(capfd.readouterr().out)


def test_files(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    html, rows, problems = tmp_path / "a.html", tmp_path / "a.csv", tmp_path / "p.jsonl"
    assert run(DRAFTS, "--html", str(html), "--rows-out", str(rows), "--problems-out", str(problems), "--quiet") == 0
    assert capfd.readouterr().err == ""
    assert html.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert len(rows.read_text(encoding="utf-8").splitlines()) == 13
    assert json.loads(problems.read_text())["kind"] == "empty final"


def test_skipped_pairs_are_named_and_counted(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"draft": "a b", "final": "a b"}\n{oops\n' + '{"draft": null, "final": "x"}\n' * 30)
    assert run(str(path)) == 0
    out, err = capfd.readouterr()
    assert "1 pair: 100.0% usable" in out
    assert f"{path}:2: invalid JSON" in err
    assert "… and 11 more problems" in err
    assert "31 of 32 pairs skipped (invalid JSON: 1, null draft: 30)" in err


def test_a_column_that_no_row_has_is_named_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"id": 1, "body": "x"}\n' * 30)
    assert run(str(path)) == 2
    err = capfd.readouterr().err.splitlines()
    assert len(err) == 2
    assert "choose one of them (--draft-column)" in err[-1]


@pytest.mark.parametrize("data", ["", "{oops\n", '{"draft": 1, "final": 2}\n'])
def test_nothing_to_judge(tmp_path: Path, data: str, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(data)
    assert run(str(path)) == 2
    assert "no pair could be judged" in capfd.readouterr().err


def test_standard_input() -> None:
    code = "import sys; from lookalike.cli import main; main(['feedback', '-', '--json', '-q'])"
    found = subprocess.run([sys.executable, "-c", code], input=Path(DRAFTS).read_bytes(), capture_output=True, check=False)
    assert (found.returncode, found.stderr) == (0, b"")
    assert json.loads(found.stdout)["pairs"] == 12


def test_bounds(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(DRAFTS, "--json", "--bounds", "0,1,1,1") == 0
    assert json.loads(capfd.readouterr().out)["aggregates"]["verdicts"]["light edit"] == 9  # an empty final text is discarded in any case


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bounds", "0,1"], "four numbers"),
        (["--bounds", "a,b,c,d"], "four numbers"),
        (["--rows-out", "rows.xlsx"], ".jsonl or .csv"),
        (["--rows-out", DRAFTS], "is the input"),
        (["--by", "modle"], "by='modle': no row has a column 'modle'; the columns are 'id', 'model', 'author'"),
        (["--time-column", "tme"], "time_column='tme': no row has a column 'tme'"),
        (["--id-column", "key"], "id_column='key': no row has"),
        (["--draft-column", "text"], "draft_column='text': no row has"),
        (["--workers", "0"], "workers="),
        (["--by", "kept"], "by="),
        (["--encoding", "utf-16"], "encoding="),
        (["--max-side", "0"], "max-side"),
    ],
)
def test_wrong_usage(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(DRAFTS, *arguments) == 2
    assert message in capfd.readouterr().err
