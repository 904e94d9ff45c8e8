"""The benchmark runs on the pairs it makes itself, and its correlations are right."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "feedback_quality.py"


def test_runs_without_data() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, check=True)
    sets = json.loads(done.stdout)["sets"]
    assert set(sets) == {"made_en", "made_zh"}
    for found in sets.values():
        assert found["edit_share"]["hter"]["spearman"] > max(0.9, found["trigram_jaccard"]["hter"]["spearman"])


def test_correlations() -> None:
    stats = pytest.importorskip("scipy.stats")
    script = runpy.run_path(str(SCRIPT))
    import numpy as np

    x, y = np.array([0, 0, 0.2, 0.5, 0.5, 1]), np.array([1, 0, 3, 2, 2, 9.0])
    assert script["pearson"](script["ranks"](x), script["ranks"](y)) == pytest.approx(stats.spearmanr(x, y)[0], abs=1e-4)
    assert script["pearson"](x, y) == pytest.approx(stats.pearsonr(x, y)[0], abs=1e-4)
