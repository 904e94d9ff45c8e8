"""The benchmark runs on generated text and has every row. Nothing here looks at the clock."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


def test_the_benchmark_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in ("corpus", "machine", "dedupe"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    benchmark = importlib.import_module("dedupe")
    monkeypatch.setattr(benchmark, "RUNS", 1)
    result = benchmark.main(["--documents", "40", "--slow-minutes", "0.1", "--json", str(tmp_path / "result.json")])
    assert [row["program"] for row in result["speed"]] == ["lookalike", "rensa", "gaoya", "copy"]
    assert all("skipped" in row or row["rows"] > 0 for row in result["speed"])
    assert [row["program"] for row in result["slow"]] == ["text-dedup", "datatrove"]
    assert all("skipped" in row or row["rows"] > 0 for row in result["slow"])
    assert all(row["precision"] == 1.0 for row in result["quality"])
    assert result["skew"]["skewed"]["rows"] == 20
    assert [row["documents"] for row in result["growth"]["rows"]] == [5, 10, 20, 40]
    assert (tmp_path / "result.json").read_text().startswith("{")
    for name in ("corpus", "machine", "dedupe"):
        sys.modules.pop(name, None)


def test_the_benchmarks_of_passages_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = ("corpus", "machine", "dedupe", "substrings", "decontaminate")
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    found = importlib.import_module("substrings").main(
        ["--mb", "1", "--peer-mb", "1", "--copies", "10", "--json", str(tmp_path / "a.json")]
    )
    assert found["large"]["passages"] > 0
    assert found["copies"]["with"]["passages"] >= found["copies"]["with"]["rows"] - 1
    arguments = ["--documents", "300", "--questions", "20", "--peer-documents", "100", "--json", str(tmp_path / "b.json")]
    held = importlib.import_module("decontaminate").main(arguments)["large"]
    assert (held["holding"], held["found"], held["wrongly"]) == (3, 3, 0)
    for name in names:
        sys.modules.pop(name, None)
