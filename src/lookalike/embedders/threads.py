"""Work for several cores, where the libraries below release the interpreter's lock."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, TypeVar

from lookalike.errors import InputError

T = TypeVar("T")
R = TypeVar("R")


def usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def checked_threads(threads: int | None) -> int:
    if threads is None:
        return usable_cores()
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= 256:
        raise InputError(f"threads={threads!r}: choose 1 to 256, or None for every core")
    return threads


def each(work: Callable[[T], R], items: Iterable[T], threads: int) -> Iterator[R]:
    """``work`` of every item, in their order, by several threads; a few items ahead of the reader at most."""
    waiting = iter(items)
    if threads == 1:
        yield from map(work, waiting)
        return
    with ThreadPoolExecutor(threads) as pool:
        ahead = deque(pool.submit(work, item) for item in islice(waiting, 2 * threads))
        while ahead:
            done = ahead.popleft()
            ahead.extend(pool.submit(work, item) for item in islice(waiting, 1))
            yield done.result()


class SingleThreadedBlas:
    """Keeps numpy's matrix products to one thread while anybody is inside: the threads are ours, and the bits are the same.

    The setting belongs to the process, so those inside are counted, and the last one out restores it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limit: Any = None
        self._controller: Any = None

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            if not self._inside:
                self._limit = self._found().limit(limits=1, user_api="blas")
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    self._limit.restore_original_limits()

    def _found(self) -> Any:
        if self._controller is None:
            import numpy  # noqa: F401  # its library must be loaded to be found
            from threadpoolctl import ThreadpoolController

            self._controller = ThreadpoolController()
        return self._controller


single_threaded_blas = SingleThreadedBlas()
