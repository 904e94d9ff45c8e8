"""Counts of all processes in one mapped file: each writes its own rows, and whichever is asked adds them up for Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
_STATUSES = ("2xx", "3xx", "4xx", "5xx")
_SUM = len(_STATUSES) + len(BUCKETS) + 1
COLUMNS = _SUM + 1
GAUGES = ("heavy_running", "heavy_waiting", "writes_waiting", "requests_running")


class Metrics:
    """The counters of one process, and the sums over all."""

    def __init__(self, path: Path | None, processes: int, own: int, routes: Sequence[str]) -> None:
        shape = (processes, len(routes) + 1, max(COLUMNS, len(GAUGES)))
        if path is None:
            self._all: NDArray[np.float64] = np.zeros(shape)
        else:
            size = int(np.prod(shape)) * 8
            with path.open("ab") as file:
                file.truncate(size)
            self._all = np.memmap(path, dtype=np.float64, mode="r+", shape=shape)
        self._routes = list(routes)
        # Plain numbers in the same memory: every request changes some, and numpy takes ten times as long for one.
        self._own = memoryview(self._all[own]).cast("B").cast("d")
        self._places = {name: place * shape[2] for place, name in enumerate(routes)}
        self._gauges = {name: len(routes) * shape[2] + place for place, name in enumerate(GAUGES)}
        self._all[own, len(routes)] = 0  # gauges of a process that died are not those of the one in its place

    def count(self, route: str, status: int, seconds: float) -> None:
        own, row = self._own, self._places[route]
        own[row + min(max(status // 100, 2), 5) - 2] += 1
        own[row + len(_STATUSES) + bisect_left(BUCKETS, seconds)] += 1
        own[row + _SUM] += seconds

    def gauge(self, name: str, change: int) -> None:
        self._own[self._gauges[name]] += change

    def set(self, name: str, value: float) -> None:
        self._own[self._gauges[name]] = value

    def text(self, more: Mapping[str, float]) -> str:
        """In the format of Prometheus."""
        total = self._all.sum(axis=0)
        lines = ["# HELP lookalike_requests_total Requests that were answered.", "# TYPE lookalike_requests_total counter"]
        for name, row in zip(self._routes, total, strict=False):
            lines += [
                f'lookalike_requests_total{{route="{name}",status="{status}"}} {row[place]:.0f}'
                for place, status in enumerate(_STATUSES)
                if row[place]
            ]
        lines += ["# HELP lookalike_request_seconds Time from a request to its answer.", "# TYPE lookalike_request_seconds histogram"]
        for name, row in zip(self._routes, total, strict=False):
            cumulated = np.cumsum(row[len(_STATUSES) : _SUM])
            if cumulated[-1]:
                for bound, count in zip((*map(str, BUCKETS), "+Inf"), cumulated, strict=True):
                    lines.append(f'lookalike_request_seconds_bucket{{route="{name}",le="{bound}"}} {count:.0f}')
                lines.append(f'lookalike_request_seconds_sum{{route="{name}"}} {row[_SUM]:.6f}')
                lines.append(f'lookalike_request_seconds_count{{route="{name}"}} {cumulated[-1]:.0f}')
        gauges = {name: total[len(self._routes), place] for place, name in enumerate(GAUGES)}
        for name, value in (gauges | dict(more)).items():
            lines += [f"# TYPE lookalike_{name} gauge", f"lookalike_{name} {value:g}"]
        return "\n".join(lines) + "\n"
