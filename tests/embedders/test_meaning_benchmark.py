"""The benchmark runs without data and has every column. Nothing here looks at the clock."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_quality_has_every_column(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    command = [sys.executable, str(ROOT / "benchmarks" / "meaning.py"), "--only", "quality", "--json", str(out)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["generated"] is True
    rows = found["quality"]["generated"]
    assert {"jaccard", "score", "characters", "meaning", "hybrid", "minilm"} <= set(rows)
    assert rows["jaccard"] > 80  # the label is the share of words that was kept
    assert all(-100 <= value <= 100 for name, value in rows.items() if name != "characters")  # every text has all letters
