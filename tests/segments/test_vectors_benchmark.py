"""The benchmark of vectors runs, and what it compares agrees. Nothing here looks at the clock."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import numpy as np


def test_a_small_run(monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    benchmark = importlib.import_module("vectors")
    try:
        made = np.random.default_rng(0).standard_normal((220, 32)).astype(np.float32)
        made /= np.linalg.norm(made, axis=1, keepdims=True)
        found = json.loads(json.dumps(benchmark.run(made, 20, peers=True)))
    finally:
        for name in ("vectors", "corpus", "machine"):
            sys.modules.pop(name, None)
    assert found["entries"] == 200
    assert found["rounding"]["largest_difference"] < 1e-3
    for name, peer in found["peers"].items():
        assert "skipped" in peer or all(each["recall"] > 0.9 for each in peer.get("breadths", {"": peer}).values()), name
