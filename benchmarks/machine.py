"""Where and on what a benchmark ran: the machine, the versions, the commit. No names and no paths."""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

import lookalike as la


def describe() -> dict[str, Any]:
    return {
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "commit": _git("rev-parse", "HEAD"),
        "uncommitted_changes": bool(_git("status", "--porcelain", "--", "src", "native", "CMakeLists.txt")),
        "machine": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "kernels": la.info()["cpu"],
            "system": f"{platform.system()} {platform.machine()}",
            "load_average": round(os.getloadavg()[0], 1),
        },
        "versions": {"lookalike": la.__version__, "python": platform.python_version(), "numpy": version("numpy")},
    }


def finish(result: dict[str, Any], path: Path | None) -> dict[str, Any]:
    """Prints a result, and writes it where that was asked."""
    shown = json.dumps(result, indent=1)
    print(shown)
    if path is not None:
        path.write_text(shown + "\n", encoding="utf-8")
    return result


def _git(*arguments: str) -> str | None:
    """What git says, None outside of a clone."""
    try:
        done = subprocess.run(["git", *arguments], cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
