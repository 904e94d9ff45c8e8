"""The benchmark runs without data and without a language model."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_runs(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    command = [sys.executable, str(ROOT / "benchmarks" / "representation.py"), "--pairs", "40", "--tags", "5", "--json", str(out)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["generated"]
    model = found["models"]["use-multilingual"]
    assert set(model["quality"]) == {f"{align}, {centre}" for align in ("order", "best") for centre in ("plain", "pages", "given")}
    assert all(0 <= value <= 1 for rows in (found["tags"], model["quality"]) for row in rows.values() for value in row.values())
    assert model["cosines"]["plain"] == sorted(model["cosines"]["plain"])
    assert model["speed"]["tags_per_cpu_s"] > 0
