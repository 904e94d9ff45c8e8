"""Fingerprints for the searches in PostgreSQL, what is asked of them, and what the right answers are."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray

HOT = np.uint64(0x7FF | 0x3FF << 32)  # the bits of block 0
KS = (1, 3, 4, 6, 8)
AT_A_TIME = 1_000_000
MORE = 200_000  # rows for a table that has its indexes
PATIENCE = 20.0  # seconds for the queries of a round
Connection = psycopg.Connection[tuple[Any, ...]]


def fingerprints(rows: int) -> NDArray[np.uint64]:
    """80 % are random, 20 % their neighbours' with up to three flips; 1 % of all share a block."""
    chance = np.random.default_rng(1)
    values = chance.integers(0, 2**64, rows, dtype=np.uint64)
    near = np.arange(5, rows, 5)
    values[near] = values[near - 1]
    for _ in range(3):
        values[near] ^= np.uint64(1) << chance.integers(0, 64, len(near), dtype=np.uint64)
    values[7::100] &= ~HOT
    return values


@dataclass
class Query:
    value: int
    near: dict[int, int]  # id: distance, of all within the largest k

    @property
    def signed(self) -> int:
        return self.value - (self.value >> 63 << 64)


def queries(values: NDArray[np.uint64], count: int, *, hot: bool) -> list[Query]:
    """Half of them have a neighbour, which the hot ones have not; their right answers by comparing with everything."""
    step = max(len(values) // count // 100 * 100, 100)
    places = range(7, len(values), step) if hot else [first + place % 2 * 3 for place, first in enumerate(range(11, len(values) - 3, step))]
    found = []
    for place in list(places)[:count]:
        near: dict[int, int] = {}
        for start in range(0, len(values), AT_A_TIME):
            distances = np.bitwise_count(values[start : start + AT_A_TIME] ^ values[place])
            near |= {start + int(at): int(distances[at]) for at in np.flatnonzero(distances <= max(KS))}
        found.append(Query(int(values[place]), near))
    return found


def timed(connection: Connection, search: str, asked: list[Query], k: int, parameters: Callable[[Query], dict[str, Any]]) -> dict[str, Any]:
    """Milliseconds of each query after all were run once, and how much of what is there was found. Nothing else may be found.

    Where queries take seconds a few of them have to do.
    """
    took, cpu, found, there = [], [], 0, 0
    for warm in (False, True):
        end = time.perf_counter() + PATIENCE
        for number, query in enumerate(asked):
            if number >= 3 and time.perf_counter() > end:
                break
            given = parameters(query)
            watch = Watch(connection)
            rows = connection.execute(search, given, prepare=True).fetchall()
            seconds, worked = watch.seconds()
            if not warm:
                continue
            took.append(seconds * 1000)
            cpu.append(worked * 1000)
            right = {id_ for id_, distance in query.near.items() if distance <= k}
            answer = {row[0] for row in rows}
            assert answer <= right, "found what is not near"
            found, there = found + len(answer), there + len(right)
    took.sort()
    p50, p95 = statistics.median(took), took[int(len(took) * 0.95)]
    times = {"p50_ms": round(p50, 3), "p95_ms": round(p95, 3), "cpu_p50_ms": round(statistics.median(cpu), 3)}
    return {"k": k, "queries": len(took), "recall": found / there} | times


@dataclass
class Watch:
    """The clock, and the processor time of the server's process, which does not depend on what else the machine does."""

    connection: Connection

    def __post_init__(self) -> None:
        self._worked = self._server_seconds()
        self._began = time.perf_counter()  # behind what takes time itself

    def seconds(self) -> tuple[float, float]:
        """Since it was made: by the clock, and of the processor; 0 where that cannot be seen."""
        return time.perf_counter() - self._began, self._server_seconds() - self._worked

    def _server_seconds(self) -> float:
        try:
            return int(Path(f"/proc/{self.connection.info.backend_pid}/schedstat").read_text().split()[0]) / 1e9
        except OSError:
            return 0.0


def one(connection: Connection, query: str) -> Any:
    found = connection.execute(query).fetchone()
    assert found is not None
    return found[0]
