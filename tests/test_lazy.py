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


def test_the_collector_rests_until_the_last_thread_has_left() -> None:
    first, second = uncollected(), uncollected()
    with first:
        second.__enter__()
    assert not gc.isenabled()
    second.__exit__(None, None, None)
    assert gc.isenabled()
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_child_of_a_fork_collects_though_a_thread_of_its_parent_did_not() -> None:
    inside, done = threading.Event(), threading.Event()

    def rest() -> None:
        with uncollected():
            inside.set()
            done.wait(60)

    thread = threading.Thread(target=rest)
    thread.start()
    try:
        assert inside.wait(60)
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            found = gc.isenabled()
            with uncollected():
                found = found and not gc.isenabled()
            os._exit(7 if found and gc.isenabled() else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    finally:
        done.set()
        thread.join()
