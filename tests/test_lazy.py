"""Values of objects that are made on first use."""

from __future__ import annotations

import gc
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from lookalike.lazy import cached_property, uncollected


class Thing:
    made = 0
    together = threading.Barrier(2, timeout=30)

    @cached_property
    def value(self) -> int:
        """A value."""
        self.made += 1
        return self.made

    @cached_property
    def made_together(self) -> str:
        return f"with {self.together.parties}, {self.together.wait() < 2}"


def test_a_value_is_made_once_and_kept() -> None:
    thing, other = Thing(), Thing()
    assert [thing.value, thing.value, other.value] == [1, 1, 1]
    assert thing.made == 1
    assert vars(thing)["value"] == 1
    assert Thing.value.__doc__ == "A value."
    del thing.value
    assert thing.value == 2


def test_values_of_two_objects_are_made_at_the_same_time() -> None:
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(lambda thing: thing.made_together, (Thing(), Thing()))) == ["with 2, True"] * 2


def test_a_child_of_a_fork_does_not_wait_for_a_thread_that_only_its_parent_has() -> None:
    begun, done = threading.Event(), threading.Event()

    class Slow:
        def __init__(self, waits: bool) -> None:
            self.waits = waits

        @cached_property
        def value(self) -> int:
            if self.waits:
                begun.set()
                done.wait(60)
            return 7

    thread = threading.Thread(target=lambda: Slow(True).value)
    thread.start()
    try:
        assert begun.wait(60)
        child = os.fork()
        if child == 0:
            signal.alarm(30)  # if it waits for ever
            os._exit(Slow(False).value)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    finally:
        done.set()
        thread.join()


def test_the_collector_is_as_it_was_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), uncollected():
        raise ZeroDivisionError
    assert gc.isenabled()
