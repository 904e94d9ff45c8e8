"""Work for several cores, where the libraries below release the interpreter's lock."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

from lookalike.checks import check_int
from lookalike.system import usable_cores

T = TypeVar("T")
R = TypeVar("R")


def checked_threads(threads: int | None) -> int:
    if threads is None:
        return usable_cores()
    return check_int("threads", threads, 1, 256, "choose 1 to 256, or None for every core")


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
