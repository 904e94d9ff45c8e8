"""A run that is told to stop (Ctrl-C, SIGTERM) stops its jobs in silence: what tasks say when they are killed helps nobody."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SILENCE = 5.0  # seconds


@contextmanager
def stoppable(session: SparkSession) -> Iterator[None]:
    """While it lasts, both signals end the run by an exception, so that its working folder is removed. Signals are the main thread's."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    context = session.sparkContext

    def stop(number: int, frame: Any) -> NoReturn:
        _silence(context)
        context.cancelAllJobs()
        _wait(context)
        if number == signal.SIGTERM:
            raise SystemExit(128 + number)
        raise KeyboardInterrupt

    # Somebody who handles SIGTERM has reasons; SIGINT is Python's, or Spark's, which does the same but for the silence.
    chosen = [signal.SIGINT, *([signal.SIGTERM] if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL else [])]
    before = {number: signal.signal(number, stop) for number in chosen}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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
