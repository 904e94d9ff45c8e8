"""Where work is done. Cheap searches of a local store run where they are asked for: handing them to a thread costs as much as they do.

What may take long has threads of its own and a queue with an end, so that it cannot keep cheap requests waiting.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from lookalike.service.limits import Busy, ServiceLimits
from lookalike.service.metrics import Metrics

Result = TypeVar("Result")


class Lane:
    """Threads with a queue that ends."""

    def __init__(self, name: str, threads: int, waiting: int, seconds: float, metrics: Metrics) -> None:
        self._name, self._most, self._seconds, self._metrics = name, threads + waiting, seconds, metrics
        self._threads, self._inside = threads, 0
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=f"lookalike-{name}")

    async def run(self, work: Callable[[], Result]) -> Result:
        if self._inside >= self._most:
            raise Busy(503, f"{self._inside} requests of this kind are waiting", "come back later, or ask for less at a time", 2)
        self._change(1)
        loop = asyncio.get_running_loop()  # before the callback that uses it: the work may be done at once
        future = self._pool.submit(work)
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(self._change, -1))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._seconds)
        except TimeoutError:
            # A thread cannot be stopped: it keeps its place in the lane until it is done.
            raise Busy(
                503, f"no answer within {self._seconds:g} s", "ask for less: a smaller text, a higher threshold, a limit", 5
            ) from None

    def _change(self, by: int) -> None:
        self._inside += by
        if self._name == "heavy":
            running = min(self._inside, self._threads)
            self._metrics.set("heavy_running", running)
            self._metrics.set("heavy_waiting", self._inside - running)

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


class Lanes:
    """``cheap`` for what takes a fraction of a millisecond, ``heavy`` for the rest."""

    def __init__(self, limits: ServiceLimits, metrics: Metrics, local: bool) -> None:
        self._local = local
        self._heavy = Lane("heavy", limits.heavy, limits.waiting, limits.seconds, metrics)
        # Where a database answers, a thread waits for it.
        self._cheap = None if local else Lane("cheap", 16, 1000, limits.seconds, metrics)

    async def cheap(self, work: Callable[[], Result]) -> Result:
        return work() if self._cheap is None else await self._cheap.run(work)

    async def heavy(self, work: Callable[[], Result]) -> Result:
        return await self._heavy.run(work)

    def close(self) -> None:
        for lane in (self._heavy, self._cheap):
            if lane is not None:
                lane.close()
