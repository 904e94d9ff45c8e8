"""A run that is told to stop (Ctrl-C, SIGTERM) stops its jobs in silence: what tasks say when they are killed helps nobody."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SILENCE = 5.0  # seconds


@contextmanager
def stoppable(session: SparkSession) -> Iterator[None]:
    """While it lasts, both signals end the run by an exception, when no task writes any more. Signals are the main thread's."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    context, ended = session.sparkContext, threading.Event()
    told: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        told.append(number)
        # A thread has one connection to Java, and that of this one may wait for an answer: another one speaks, and the answer will be
        # that the job was cancelled. To raise here would leave the answer to whoever asks next.
        threading.Thread(target=_cancel, args=(context, ended), daemon=True).start()
        if not _waits_for_java(frame):
            raise _end(number)

    # Somebody who handles SIGTERM has reasons; SIGINT is Python's, or Spark's, which does the same but for the silence.
    chosen = [signal.SIGINT, *([signal.SIGTERM] if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL else [])]
    before = {number: signal.signal(number, stop) for number in chosen}
    try:
        yield
    except BaseException:
        if not told:
            raise
        _wait(context)
        raise _end(told[0]) from None
    finally:
        ended.set()
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int) -> BaseException:
    return SystemExit(128 + number) if number == signal.SIGTERM else KeyboardInterrupt()


def _waits_for_java(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("py4j."):
            return True
        frame = frame.f_back
    return False


def _cancel(context: Any, ended: threading.Event) -> None:
    """Again and again: the run may have been about to start a job."""
    _silence(context)
    while not ended.is_set():
        context.cancelAllJobs()
        ended.wait(0.2)


class _Silence:
    """Java would print a stack trace for every task; who goes on with the session hears it again in a while."""

    level = ""
    again: threading.Timer | None = None


def _silence(context: Any) -> None:
    if _Silence.again is not None and _Silence.again.is_alive():
        _Silence.again.cancel()  # a run before this one was stopped, too
    else:
        _Silence.level = context._jvm.org.apache.logging.log4j.LogManager.getRootLogger().getLevel().toString()
    context.setLogLevel("OFF")
    _Silence.again = threading.Timer(SILENCE, context.setLogLevel, (_Silence.level,))
    _Silence.again.daemon = True
    _Silence.again.start()


def _wait(context: Any) -> None:
    """Until no task writes any more: then the working folder can go."""
    end = time.monotonic() + SILENCE / 2
    while time.monotonic() < end and context.statusTracker().getActiveJobsIds():
        time.sleep(0.1)
    time.sleep(0.2)
