"""Faults at every n-th call that changes the disk: `make torture`, or python tests/torture/run.py --points 1200.

Each operation (make an empty store, create one with documents, add, remove, compact, load, close) is struck in four ways: one call fails
(eio), the disk is full from then on (full), the process is killed before a call (kill) or in the middle of a write (torn). --points 0
takes every single call.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import which
from typing import Any

HERE = Path(__file__).parent
OPERATIONS = ("make", "create", "add", "remove", "compact", "load", "close")
KINDS = ("eio", "full", "kill", "torn")
BEYOND = 1 << 40  # no call has this number: counts only


def build(folder: Path) -> Path:
    """The shim, by the system's C compiler."""
    compiler = which("cc") or which("gcc") or which("clang")
    if compiler is None:
        raise SystemExit("a C compiler is missing: apt-get install gcc")
    shim = folder / "faults.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(shim), str(HERE / "faults.c"), "-ldl"], check=True)
    return shim


def points(shim: Path, operation: str, kinds: str, first: int, stride: int) -> Iterator[dict[str, Any]]:
    """What came of each point; the first line has the number of calls."""
    # In memory where there is such a folder: what is tested is the order of calls, and a disk would only be waited for.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="torture", dir=memory) as folder:
        command = [sys.executable, str(HERE / "points.py"), operation, kinds, str(first), str(stride), folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "LD_PRELOAD": str(shim)}) as process:
            assert process.stdout is not None
            yield from map(json.loads, process.stdout)
        if process.returncode:
            yield {"operation": operation, "kind": kinds, "at": 0, "problems": [f"points.py ended with {process.returncode}"]}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--points", type=int, default=1200, help="about how many; 0: all")
    options.add_argument("--operations", default=",".join(OPERATIONS))
    options.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = options.parse_args()
    operations = given.operations.split(",")
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(given.workers) as pool:
        shim = build(Path(folder))
        counted = {operation: list(points(shim, operation, "count", BEYOND, 1)) for operation in operations}
        calls = {operation: int(lines[0].get("total", 0)) for operation, lines in counted.items()}
        print("calls that change the disk:", ", ".join(f"{operation} {count}" for operation, count in calls.items()), flush=True)
        stride = max(1, sum(calls.values()) * len(KINDS) // given.points) if given.points else 1
        # As in points.py the four ways begin at different calls.
        jobs = [(operation, kind, 1 + place * stride // len(KINDS)) for operation in operations for place, kind in enumerate(KINDS)]
        results = pool.map(lambda job: list(points(shim, job[0], job[1], job[2], stride)), jobs)
        passed: Counter[str] = Counter()
        failed: list[dict[str, Any]] = []
        for (operation, kind, _), lines in zip(jobs, results, strict=True):
            struck = [line for line in lines if line["kind"] != "count" or line["problems"]]
            bad = [line for line in struck if line["problems"]]
            passed[operation] += len(struck) - len(bad)
            failed += bad
            print(f"{operation:8} {kind:5} {len(struck):5} points, {len(bad)} failed", flush=True)
    for line in failed:
        print(f"FAILED {line['operation']} {line['kind']} at call {line['at']}: {'; '.join(line['problems'])[:3000]}")
    print(f"{sum(passed.values())} points passed, {len(failed)} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    raise SystemExit(main())
