"""``AsyncIndex``: the verbs of an index as coroutines.

There is no second implementation: each verb runs in a thread, on the index that it was given. What a service or a database takes to
answer, and what a kernel computes, leaves the event loop free.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from itertools import islice
from types import TracebackType
from typing import Any, Self

from lookalike.checks import check_int
from lookalike.errors import InputError
from lookalike.index.index import Index

TOGETHER = 100  # documents that an iterator fetches at a time
ITERATORS = ("documents", "ids")


class AsyncIndex:
    """An index whose verbs are awaited: ``async with la.AsyncIndex(la.open("http://…")) as index: await index.search("text")``.

    ``documents`` and ``ids`` are asynchronous iterators. At most ``threads`` verbs run at a time; the rest wait in line.
    """

    def __init__(self, index: Index, *, threads: int = 8) -> None:
        if not isinstance(index, Index):
            raise InputError(f"index={index!r:.60}: give what la.open returned")
        self._index = index
        self._pool = ThreadPoolExecutor(check_int("threads", threads, 1, 1000), thread_name_prefix="lookalike-async")

    def __repr__(self) -> str:
        return f"Async{self._index!r}"

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name for name in dir(self._index) if not name.startswith("_"))})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._index, name)
        if not callable(found):
            return found
        return self._iterator(found) if name in ITERATORS else self._coroutine(found)

    def _coroutine(self, verb: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
        @wraps(verb)
        async def call(*given: Any, **options: Any) -> Any:
            return await self._run(lambda: verb(*given, **options))

        return call

    def _iterator(self, verb: Callable[..., Iterator[Any]]) -> Callable[..., AsyncIterator[Any]]:
        @wraps(verb)
        async def iterate(*given: Any, **options: Any) -> AsyncIterator[Any]:
            rows = await self._run(lambda: verb(*given, **options))
            while some := await self._run(lambda: list(islice(rows, TOGETHER))):
                for row in some:
                    yield row

        return iterate

    async def _run(self, work: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    async def close(self) -> None:
        """Waits for what is running, then closes the index."""
        await asyncio.to_thread(self._pool.shutdown)
        await asyncio.to_thread(self._index.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()
