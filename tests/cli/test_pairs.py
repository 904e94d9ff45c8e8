"""``lookalike pairs`` as it is typed."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
CLASS = "examples/class"


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "lookalike", "pairs", *map(str, arguments)], cwd=ROOT, capture_output=True, text=True)


def test_the_terminal() -> None:
    done = run(CLASS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "8 documents: 3 pairs share something"
    assert "anna.txt  examples/class/ben.txt" in done.stdout
    assert "the longest passage, of 52 tokens" in done.stdout


def test_json_lines() -> None:
    done = run(CLASS, "--json", "--leave-out", "quotes")
    assert run(CLASS, "--json", "--ignore", "quotes,references").stdout == run(CLASS, "--json", "--leave-out", "quotes,references").stdout
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(Path(row["left"]).stem, Path(row["right"]).stem) for row in rows] == [("anna", "ben"), ("fang", "gao")]
    text = (ROOT / rows[0]["left"]).read_text(encoding="utf-8")
    assert text[slice(*rows[0]["passages"][0]["left"])].startswith("Asphalt stores the heat")


def test_files(tmp_path: Path) -> None:
    names = [tmp_path / name for name in ("r.html", "p.csv", "m.csv")]
    done = run(
        CLASS, "--html", names[0], "--csv", names[1], "--matrix", names[2], "--anonymous", "--ignore", "examples/class-assignment.txt"
    )
    assert done.returncode == 0, done.stderr
    assert "anna" not in names[0].read_text(encoding="utf-8").split('id="data"')[0]
    assert len(list(csv.DictReader(names[1].open(encoding="utf-8")))) == 3
    assert len(list(csv.reader(names[2].open(encoding="utf-8")))) == 9


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing"], "does not exist"),
        (["examples/left.txt"], "pairs need at least two"),
        ([CLASS, "--leave-out", "poems"], "choose from quotes, references"),
        ([CLASS, "--threshold", "7"], "threshold"),
        ([CLASS, "--html", "-"], "name one"),
        ([CLASS, "--anonymous"], "add --html"),
        ([CLASS, "--language", "python"], "--as code"),
        ([CLASS, "--as", "code"], "pairs need at least two"),
        ([CLASS, "--ignore", "missing.txt"], "missing.txt"),
        ([CLASS, "--min-length", "0"], "min_length"),
    ],
)
def test_wrong_usage(arguments: list[str], said: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
