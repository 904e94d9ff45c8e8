"""What one request may cost, and what one client may ask for. Beyond a limit the answer is 413, 422, 429 or 503, with when to come back."""

from __future__ import annotations

import time
from dataclasses import dataclass

from lookalike.checks import check_int


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """Limits of a service; each has a flag of ``lookalike serve``."""

    body: int = 32 << 20  # bytes of a request, unpacked; NDJSON streams are limited by line
    text: int = 4_000_000  # characters of one text
    line: int = 8 << 20  # bytes of one line of NDJSON
    pairs: int = 4_000_000  # characters of all documents that are compared each with each
    seconds: float = 30.0  # of a request, waiting included
    heavy: int = 2  # searches by passages or meaning, comparisons and clusters at a time, per process
    waiting: int = 32  # and how many more of them may wait
    writes: int = 2_000  # documents that wait to be written, per process
    connections: int = 4_000  # per process
    rate: float = 0.0  # requests per second and client; 0: any
    burst: int = 200  # how many may come at once before the rate counts

    def __post_init__(self) -> None:
        for name in ("body", "text", "line", "pairs", "heavy", "waiting", "writes", "connections", "burst"):
            check_int(name, getattr(self, name), 1)


class Busy(Exception):
    """Too much at once, or too often: come back later."""

    def __init__(self, status: int, message: str, hint: str, after: int = 1) -> None:
        super().__init__(message)
        self.status, self.hint, self.after = status, hint, after


class Buckets:
    """A bucket of permits per client, refilled at a rate. Clients that stopped asking are forgotten."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate, self._burst = rate, float(burst)
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, client: str, now: float | None = None) -> None:
        if not self._rate:
            return
        now = time.monotonic() if now is None else now
        left, before = self._left.get(client, (self._burst, now))
        left = min(self._burst, left + (now - before) * self._rate)
        if left < 1:
            raise Busy(
                429, "too many requests", "ask less often, or send many texts in one request", max(1, round((1 - left) / self._rate))
            )
        if len(self._left) > 10_000:
            self._left = {name: each for name, each in self._left.items() if now - each[1] < self._burst / self._rate}
        self._left[client] = (left - 1, now)
