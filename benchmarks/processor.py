"""Processor time, of processes that start others."""

from __future__ import annotations

import os
from pathlib import Path


def tree_seconds(pid: int) -> float:
    """Processor seconds of a process and all that it started, also of those that are over."""
    ticks = os.sysconf("SC_CLK_TCK")
    children: dict[int, list[int]] = {}
    used: dict[int, float] = {}
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                fields = (each / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(each.name))
            used[int(each.name)] = sum(map(int, fields[11:15])) / ticks
    total, waiting = 0.0, [pid]
    while waiting:
        own = waiting.pop()
        total += used.get(own, 0.0)
        waiting += children.get(own, [])
    return total
