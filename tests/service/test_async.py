"""Verbs that are awaited: the answers of the index underneath, many at a time, while the event loop goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import lookalike as la
from running_service import running

DOCUMENTS = [
    (f"d{i}", f"The council of town {i} decided to repair the old bridge over the river before winter {i}.", {"n": i}) for i in range(250)
]


@pytest.mark.parametrize("where", ["memory", "service"])
def test_the_same_answers(tmp_path: Path, where: str) -> None:
    async def use(location: str) -> None:
        async with la.AsyncIndex(la.open(location)) as index:
            assert tuple(await index.add(DOCUMENTS)) == (250, 0)
            many = await asyncio.gather(*(index.search(text, threshold=0.99, limit=1) for _, text, _ in DOCUMENTS[:40]))
            assert [found[0].id for found in many] == [id_ for id_, _, _ in DOCUMENTS[:40]]
            assert [document.id async for document in index.documents()] == [id_ for id_, _, _ in DOCUMENTS]
            assert [id_ async for id_ in index.ids(where={"n": {"<": 3}})] == ["d0", "d1", "d2"]
            with pytest.raises(la.NotFound):
                await index.get("nobody")
            assert await index.remove(["d0"]) == 1
            assert (await index.stats())["documents"] == 249
            assert "default" in index.settings["recipe_id"]
            assert "search" in dir(index)

    if where == "memory":
        asyncio.run(use("memory://"))
    else:
        with running(tmp_path, str(tmp_path / "store"), "--processes", "1", "--quiet") as service:
            asyncio.run(use(service.address))


def test_the_loop_goes_on(tmp_path: Path) -> None:
    async def use() -> int:
        async with la.AsyncIndex(la.open("memory://"), threads=2) as index:
            adding, turns = asyncio.create_task(index.add(DOCUMENTS * 8)), 0
            while not adding.done():
                await asyncio.sleep(0.001)
                turns += 1
            return turns

    assert asyncio.run(use()) > 3


def test_what_cannot_be_awaited() -> None:
    with pytest.raises(la.InputError, match=r"la\.open"):
        la.AsyncIndex("store")  # type: ignore[arg-type]
    with la.open("memory://") as index:
        with pytest.raises(la.InputError):
            la.AsyncIndex(index, threads=0)
        with pytest.raises(AttributeError):
            la.AsyncIndex(index).nonsense  # noqa: B018
