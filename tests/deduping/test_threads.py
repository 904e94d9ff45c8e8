"""Working ahead changes when things are done, and nothing else: order, errors, how much is held, and that no thread is left behind."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from lookalike.deduping.threads import AHEAD, JOBS, NAME, Threads

WORKERS = [1, 2, 5]


def helpers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == NAME]


@pytest.mark.parametrize("workers", WORKERS)
def test_results_come_in_the_order_of_tasks(workers: int) -> None:
    def work(number: int) -> tuple[int, int]:
        time.sleep((number * 7 % 5) / 2000)
        return number, threading.get_ident()

    with Threads[int, tuple[int, int]](workers) as threads:
        found = list(threads.in_order(iter(range(60)), work))
    assert [number for number, _ in found] == list(range(60))
    assert len({thread for _, thread in found}) <= workers
    assert not helpers()


@pytest.mark.parametrize("workers", WORKERS)
def test_an_error_comes_where_its_result_would_have_come(workers: int) -> None:
    def work(number: int) -> int:
        if number in (5, 6):
            raise ValueError(f"no {number}")
        return number

    with Threads[int, int](workers) as threads:
        results = threads.in_order(iter(range(20)), work)
        assert [next(results) for _ in range(5)] == list(range(5))
        with pytest.raises(ValueError, match="no 5"):
            next(results)
    assert not helpers()


@pytest.mark.parametrize("workers", WORKERS)
def test_an_error_of_the_tasks_themselves(workers: int) -> None:
    def tasks() -> Iterator[int]:
        yield from range(4)
        raise OSError("the disk is gone")

    with Threads[int, int](workers) as threads:
        results = threads.in_order(tasks(), lambda number: number)
        assert [next(results) for _ in range(4)] == list(range(4))
        with pytest.raises(OSError, match="the disk is gone"):
            next(results)


@pytest.mark.parametrize("workers", WORKERS)
def test_who_stops_early_leaves_nobody_behind(workers: int) -> None:
    made: list[int] = []

    def tasks() -> Iterator[int]:
        for number in range(1000):
            made.append(number)
            yield number

    with Threads[int, int](workers) as threads:
        next(threads.in_order(tasks(), lambda number: number))
    assert len(made) <= AHEAD * workers + 1
    assert not helpers()


@pytest.mark.parametrize(("room", "most"), [(0, 3 * AHEAD), (1, 1), (25, 3)])
def test_no_more_is_held_than_there_is_room_for(room: int, most: int) -> None:
    """Tasks of ten bytes: one is always taken, and another while those that are held leave room."""
    held, largest, guard = set(), 0, threading.Lock()

    def tasks() -> Iterator[int]:
        nonlocal largest
        for number in range(50):
            with guard:
                held.add(number)
                largest = max(largest, len(held))
            yield number

    with Threads[int, int](3) as threads:
        for number in threads.in_order(tasks(), lambda number: number, size=lambda task: 10, room=room):
            with guard:
                held.discard(number)
        assert 10 * most <= threads.may_hold < 10 * (most + 1)
        assert threads.may_wait == 3 * JOBS * 10
    assert largest <= most + 1  # the one that is handed out has left room before it is taken off here


@pytest.mark.parametrize("workers", WORKERS)
def test_jobs_of_a_lane_are_done_in_order_one_at_a_time(workers: int) -> None:
    done: dict[str, list[int]] = {"a": [], "b": []}
    at_work: set[str] = set()

    def job(lane: str, number: int) -> None:
        assert lane not in at_work
        at_work.add(lane)
        time.sleep(0.0005)
        done[lane].append(number)
        at_work.discard(lane)

    with Threads[int, int](workers) as threads:
        for number in threads.in_order(iter(range(40)), lambda number: number):
            lane = "ab"[number % 2]
            threads.later(lane, lambda lane=lane, number=number: job(lane, number))  # type: ignore[misc]
        threads.finish_jobs()
        assert done == {"a": list(range(0, 40, 2)), "b": list(range(1, 40, 2))}


@pytest.mark.parametrize("workers", WORKERS)
def test_a_job_that_fails_ends_the_run(workers: int) -> None:
    def fails() -> None:
        raise OSError("no room")

    def run() -> None:
        with Threads[Any, Any](workers) as threads:
            for _ in threads.in_order(iter(range(1000)), lambda number: number):
                threads.later("lane", fails)
            threads.finish_jobs()

    with pytest.raises(OSError, match="no room"):
        run()
    assert not helpers()
