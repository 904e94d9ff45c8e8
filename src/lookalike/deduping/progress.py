"""How far a run is, and how long each part of it took."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple


class Progress(NamedTuple):
    """Where a run is. ``total`` is None where nobody knows."""

    stage: str
    done: int
    total: int | None
    unit: str  # "documents" or "bytes"
    seconds: float  # since the stage began


@dataclass(slots=True)
class StageTimes:
    """Seconds by stage, in the order in which they first came; those of all threads together."""

    seconds: dict[str, float] = field(default_factory=dict)
    on_progress: Callable[[Progress], object] | None = None
    _begun: dict[str, float] = field(default_factory=dict)
    _adding: Lock = field(default_factory=Lock)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        begin = time.perf_counter()
        try:
            yield
        finally:
            with self._adding:
                self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin

    def step(self, stage: str, done: int, total: int | None, unit: str) -> None:
        if self.on_progress:
            now = time.perf_counter()
            self.on_progress(Progress(stage, done, total, unit, now - self._begun.setdefault(stage, now)))

    def to_dict(self) -> dict[str, float]:
        return {name: round(seconds, 3) for name, seconds in self.seconds.items()}
