"""Batch measures of vectors against scikit-learn: CPU time, in the same process, in turns, one thread each.

python benchmarks/measures.py [--rows 2000] [--json OUT]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
import numpy as np
from sklearn.metrics import pairwise
from threadpoolctl import threadpool_limits

from lookalike.measures import cosine, euclidean, manhattan

ROUNDS = 5
WANTED = 2.0
PEERS: dict[Any, Callable[..., Any]] = {
    cosine: pairwise.cosine_distances,
    euclidean: pairwise.euclidean_distances,
    manhattan: pairwise.manhattan_distances,
}


def spent(work: Callable[[], Any]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def main(arguments: list[str] | None = None) -> list[dict[str, Any]]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    draw = np.random.default_rng(1)
    rows = []
    for dimensions in (64, 384):
        a, b = draw.normal(size=(2, options.rows, dimensions))
        for measure, peer in PEERS.items():
            with threadpool_limits(1):  # threads of BLAS that wait for work would count as our time
                times = [(spent(lambda: measure.pairwise(a, b)), spent(lambda: peer(a, b))) for _ in range(ROUNDS)]  # noqa: B023
            ours, theirs = (min(each) for each in zip(*times, strict=True))
            row = {"measure": measure.name, "rows": options.rows, "dimensions": dimensions, "ours_s": ours, "sklearn_s": theirs}
            rows.append(row | {"ratio": round(ours / theirs, 2), "wanted": WANTED})
            print(f"{measure.name}, {dimensions} dimensions: {ours:.4f} s, scikit-learn {theirs:.4f} s: {rows[-1]['ratio']}× its time")
    if options.json:
        options.json.write_text(json.dumps(machine.describe() | {"measures": rows}, indent=1) + "\n", encoding="utf-8")
    return rows


if __name__ == "__main__":
    main()
