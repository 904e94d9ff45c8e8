"""Threads that work ahead for one who takes their results in order, and works with them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from threading import Condition, Thread
from types import TracebackType
from typing import Generic, Self, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

NAME = "lookalike-worker"
AHEAD = 4  # tasks taken in advance for each thread: enough for the others while the caller works on a result for long
JOBS = 2  # left for later for each thread


class Threads(Generic[Task, Result]):
    """``workers`` threads in all, the caller's own among them: with one, everything happens where it is asked for.

    Tasks come from an iterator, which one thread at a time asks for the next; the work on them is done side by side, and the results come
    out in the order of the tasks. Besides, jobs can be left for later: those of one lane are done one after the other, in order. What
    fails in a thread is raised where the results are taken.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._helpers: list[Thread] = []
        self._changed = Condition()
        self._version = 0  # of everything below: who found nothing to do waits until it changes
        self._tasks: Iterator[Task] = iter(())
        self._work: Callable[[Task], Result] | None = None
        self._size: Callable[[Task], int] = lambda task: 0
        self._asking = self._closed = self._more = False
        self._taken = self._handed_out = 0
        self._sizes: dict[int, int] = {}  # of the tasks whose results were not handed out yet
        self._most, self._room = 1, 0
        self._largest = 0  # of all sizes so far
        self._results: dict[int, Result | _Failure] = {}
        self._lanes: dict[object, deque[Callable[[], object]]] = {}
        self._busy: set[object] = set()
        self._failure: BaseException | None = None  # of a job

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._change(closed=True)
        for helper in self._helpers:
            helper.join()

    @property
    def may_hold(self) -> int:
        """How large the tasks whose results were not handed out yet can become together, as far as their sizes are known."""
        with self._changed:
            most = self._most * self._largest
            return min(most, self._room + self._largest) if self._room else most

    @property
    def may_wait(self) -> int:
        """The same of tasks for which a job each is left for later."""
        return JOBS * self._workers * self._largest

    def in_order(
        self, tasks: Iterator[Task], work: Callable[[Task], Result], *, size: Callable[[Task], int] = lambda task: 0, room: int = 0
    ) -> Iterator[Result]:
        """The results. So many tasks are taken in advance that all threads have some; of tasks that have a size, in bytes, beyond the
        first no more than fit into the room."""
        self._tasks, self._work, self._size, self._more = tasks, work, size, True
        self._most, self._room = AHEAD * self._workers if self._workers > 1 else 1, room
        for _ in range(self._workers - 1 - len(self._helpers)):
            self._helpers.append(Thread(target=self._help, name=NAME, daemon=True))
            self._helpers[-1].start()
        while True:
            with self._changed:
                seen = self._version
                self._raise_failure()
                found = self._results.pop(self._handed_out, None)
                if found is not None:
                    self._sizes.pop(self._handed_out)
                    self._handed_out += 1
                    self._notify()
                elif not self._more and self._handed_out == self._taken:
                    return
            if isinstance(found, _Failure):
                raise found.error
            if found is not None:
                yield found
            elif not self._step():
                self._wait(seen)

    def later(self, lane: object, job: Callable[[], object]) -> None:
        """Does a job some time. Where many wait already, the caller helps first."""
        with self._changed:
            self._lanes.setdefault(lane, deque()).append(job)
            self._notify()
        self._work_off(JOBS * self._workers)

    def finish_jobs(self) -> None:
        """Returns when no job is left."""
        self._work_off(0)

    def _work_off(self, most: int) -> None:
        while True:
            with self._changed:
                seen = self._version
                self._raise_failure()
                if sum(map(len, self._lanes.values())) + len(self._busy) <= most:
                    return
            if not self._step(jobs_only=True):
                self._wait(seen)

    def _help(self) -> None:
        while True:
            with self._changed:
                seen = self._version
                if self._closed:
                    return
            if not self._step():
                self._wait(seen)

    def _step(self, jobs_only: bool = False) -> bool:
        """Does a piece of work; False: there was none to do."""
        with self._changed:
            lane = None if self._closed or self._failure else next((lane for lane in self._lanes if lane not in self._busy), None)
            if lane is not None:
                job = self._lanes[lane].popleft()
                if not self._lanes[lane]:
                    del self._lanes[lane]
                self._busy.add(lane)
            elif jobs_only or not self._may_ask():
                return False
            else:
                self._asking = True
        if lane is not None:
            self._do(lane, job)
        else:
            self._do_next()
        return True

    def _may_ask(self) -> bool:
        if self._closed or self._asking or not self._more or len(self._sizes) >= self._most:
            return False
        return not self._sizes or sum(self._sizes.values()) < self._room or not self._room

    def _do(self, lane: object, job: Callable[[], object]) -> None:
        failure = None
        try:
            job()
        except BaseException as error:  # raised where results are taken
            failure = error
        with self._changed:
            self._busy.discard(lane)
            self._failure = self._failure or failure
            self._notify()

    def _do_next(self) -> None:
        """Asks for the next task, and works on it."""
        task, failure, ended = None, None, False
        try:
            task = next(self._tasks)
        except StopIteration:
            ended = True
        except BaseException as error:  # raised where its result is wanted
            failure, ended = _Failure(error), True
        with self._changed:
            self._asking, number = False, self._taken
            self._more = not ended
            if failure or not ended:
                self._taken += 1
                self._sizes[number] = self._size(task) if task is not None else 0
                self._largest = max(self._largest, self._sizes[number])
            if failure:
                self._results[number] = failure
            self._notify()
        if ended:
            return
        result: Result | _Failure
        try:
            result = self._work(task)  # type: ignore[misc, arg-type]  # they come together
        except BaseException as error:
            result = _Failure(error)
        with self._changed:
            self._results[number] = result
            self._notify()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            self._lanes.clear()
            raise failure

    def _notify(self) -> None:
        self._version += 1
        self._changed.notify_all()

    def _change(self, closed: bool) -> None:
        with self._changed:
            self._closed = closed
            self._notify()

    def _wait(self, seen: int) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._version != seen)


class _Failure:
    def __init__(self, error: BaseException) -> None:
        self.error = error
