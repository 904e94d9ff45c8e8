"""Going through a store in memory: some documents at a time, all of one state, in time that grows with their number."""

from __future__ import annotations

import random

import pytest

import lookalike as la
from lookalike.stores.embedded.readings import PAGE_ROWS


def filled(count: int) -> la.Index:
    index = la.open("memory://", kinds="simhash")
    index.add((number, f"text {number}") for number in range(count))
    return index


@pytest.mark.parametrize("kept", [0, 1, 5, PAGE_ROWS, 3 * PAGE_ROWS, 999, 1000])
@pytest.mark.parametrize("seed", [1, 2])
def test_documents_between_removed_ones(kept: int, seed: int) -> None:
    """Rows of removed documents are not used again: few may be left far apart, or side by side."""
    stay = set(random.Random(seed).sample(range(1000), kept) if seed == 1 else range(500, 500 + kept))
    with filled(1000) as index:
        index.remove([number for number in range(1000) if number not in stay])
        assert [document.id for document in index.documents()] == sorted(stay & set(range(1000)))


def test_a_walk_sees_the_state_in_which_it_began() -> None:
    with filled(1000) as index:
        walk = index.documents()
        seen = [next(walk).id]
        index.remove(list(range(0, 1000, 3)))
        index.add((number, "more") for number in range(2000, 2100))
        seen += [document.id for document in walk]
        assert seen == list(range(1000))
        assert len(list(index.documents())) == len(index) == 766


def steps_of_a_walk(count: int) -> int:
    """What SQLite itself counts, in hundreds of its instructions."""
    with filled(count) as index:
        steps = 0

        def step() -> int:
            nonlocal steps
            steps += 1
            return 0

        index._store._readings.connection.set_progress_handler(step, 100)
        assert sum(1 for _ in index.documents()) == count
        return steps


def test_the_work_grows_with_the_documents() -> None:
    few, many = steps_of_a_walk(2000), steps_of_a_walk(8000)
    assert many < 5 * few
