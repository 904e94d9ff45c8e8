"""Reports that cannot be written, or would destroy something: said before a verb has done all its work, and nothing is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text("The ferry leaves the island at noon and comes back in the evening.")
    rows = [{"draft": "one text", "final": "another text"}]
    (folder / "rows.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    return folder


VERBS = {
    "compare": ("compare", "a.txt", "b.txt"),
    "pairs": ("pairs", "a.txt", "b.txt"),
    "scan": ("scan", "."),
    "feedback": ("feedback", "rows.jsonl"),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("report", "said"), [("missing/x.html", "the folder does not exist"), ("folder", " is a "), ("-", "name one"), ("", "file")]
)
def test_reports_that_cannot_be_written(verb: str, report: str, said: str, inputs: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(inputs)
    (inputs / "folder").mkdir()
    done = run(*VERBS[verb], "--html", report)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "--html" in done.stderr


@pytest.mark.parametrize("verb", ["compare", "pairs", "feedback"])
def test_inputs_are_not_overwritten(verb: str, inputs: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(inputs)
    target = Path(VERBS[verb][1])
    before = target.read_bytes()
    done = run(*VERBS[verb], "--html", inputs / target)
    assert (done.returncode, done.stdout) == (2, "")
    assert "input" in done.stderr
    assert target.read_bytes() == before


@pytest.mark.parametrize("given", ["pairs .", "pairs *.txt", "scan ."])
def test_files_of_folders_are_not_overwritten(given: str, inputs: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(inputs)
    before = (inputs / "a.txt").read_bytes()
    done = run(*given.split(), "--html", "a.txt")
    assert (done.returncode, done.stdout) == (2, "")
    assert "is the input 'a.txt' too" in done.stderr
    assert (inputs / "a.txt").read_bytes() == before


def test_two_reports_have_two_files(inputs: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(inputs)
    done = run(*VERBS["pairs"], "--html", "one", "--csv", "./one")
    assert done.returncode == 2
    assert "give every output a file of its own" in done.stderr
    assert not (inputs / "one").exists()
