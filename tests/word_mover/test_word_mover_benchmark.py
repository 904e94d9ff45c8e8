"""The benchmarks run without data and without peers, and what they find is what it must be."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent.parent.parent / "benchmarks"


def run(script: str, out: Path, *options: str) -> dict[str, Any]:
    command = [sys.executable, str(FOLDER / script), *options, "--json", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert str(out.parent) not in out.read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return found


def test_speed(tmp_path: Path) -> None:
    found = run("word_mover.py", tmp_path / "out.json", "--quick", "--no-peer")
    assert [row["words"] for row in found["solver"]] == [10, 50]
    assert found["search"]["same_as_brute_force"]
    assert sum(found["search"]["shares"].values()) == pytest.approx(1)


def test_quality(tmp_path: Path) -> None:
    found = run("quality_word_mover.py", tmp_path / "out.json")
    assert set(found["results"][0]["spearman"]) == {"wmd", "score", "jaccard"}
    assert found["results"][0]["spearman"]["wmd"] > 50  # the label is the share of words that were kept
