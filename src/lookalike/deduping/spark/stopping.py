"""A run that is told to stop (Ctrl-C, SIGTERM) stops its jobs in silence: what tasks say when they are killed helps nobody."""

from __future__ import annotations

import signal
import threading
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


def _silence(context: Any) -> None:
    """Java would print a stack trace for every task; who goes on with the session hears it again in a while."""
    level = context._jvm.org.apache.logging.log4j.LogManager.getRootLogger().getLevel().toString()
    context.setLogLevel("OFF")
    again = threading.Timer(SILENCE, context.setLogLevel, (level,))
    again.daemon = True
    again.start()
