"""CPU time of a cold start: importing the package, and the smallest useful command. Each runs in a process of its own.

python benchmarks/startup.py [--json OUT]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

REPEATS = 9


def cpu_seconds(command: list[str]) -> float:
    """User and system time of one process, its children included."""
    before = os.times()
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    return (after.children_user - before.children_user) + (after.children_system - before.children_system)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        left, right = Path(folder) / "left.txt", Path(folder) / "right.txt"
        left.write_text("The quick brown fox jumps over the lazy dog.", encoding="utf-8")
        right.write_text("The quick brown fox leaps over the lazy dog.", encoding="utf-8")
        cli = [sys.executable, "-c", "from lookalike.cli import main; main()"]
        jobs = {
            "python -c pass": ([sys.executable, "-c", "pass"], None),
            "import lookalike": ([sys.executable, "-c", "import lookalike"], 150),
            "import lookalike; lookalike.simhash('text')": ([sys.executable, "-c", "import lookalike; lookalike.simhash('text')"], None),
            "lookalike compare A B": ([*cli, "compare", str(left), str(right)], 400),
            "lookalike compare A B --json": ([*cli, "compare", str(left), str(right), "--json"], 400),
        }
        figures = {}
        for name, (command, wanted) in jobs.items():
            cpu_seconds(command)  # byte code and page cache
            milliseconds = round(statistics.median(cpu_seconds(command) for _ in range(REPEATS)) * 1000)
            figures[name] = milliseconds
            verdict = "" if wanted is None else f"  (wanted: under {wanted}) {'ok' if milliseconds < wanted else 'miss'}"
            print(f"{milliseconds:5d} ms CPU  {name}{verdict}")
    if options.json:
        options.json.write_text(json.dumps({"cpu_milliseconds": figures, "repeats": REPEATS}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
