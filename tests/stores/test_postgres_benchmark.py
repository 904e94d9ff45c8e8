"""The benchmark of PostgreSQL runs, and finds what it looks for. Nothing here looks at the clock."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from postgres_server import empty_database

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "postgres.py"


def test_every_layout_is_measured(tmp_path: Path) -> None:
    out = tmp_path / "result.json"
    command = [sys.executable, str(SCRIPT), "--dsn", empty_database(), "--rows", "3000", "--queries", "5", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text(encoding="utf-8"))
    layouts = {row["layout"].partition(",")[0] for row in result["measured"]}
    assert layouts == {"blocks", "parallel scan", "8 slices", "6 slices", "4 slices"}
    assert all(row["recall"] == 1 for row in result["measured"] if "recall" in row)
    assert {row["k"] for row in result["measured"] if row["hot"]} == {1, 3, 4, 6, 8}
    assert done.stdout.count("\n") == len(result["measured"]) + 2 + 2 * len(result["in_turns"])


def test_documents_are_measured(tmp_path: Path) -> None:
    out = tmp_path / "result.json"
    command = [
        sys.executable,
        str(SCRIPT.with_name("postgres_documents.py")),
        "--dsn",
        empty_database(),
        "--documents",
        "200",
        "--out",
        str(out),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text(encoding="utf-8"))
    assert [row["by"] for row in result["searching"]][-5:] == ["near", "simhash", "passages", "tlsh", "ssdeep"]
    assert len(result["adding"]) == 3
