"""Reading ahead: the next batch is made while this one is worked on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from queue import Empty, Queue
from threading import Event, Thread
from typing import NamedTuple

from lookalike.corpus.batches import Batch, Report
from lookalike.corpus.row import Problem

PATIENCE = 0.1  # seconds until one who wants no more looks again whether the reader has ended


class _Read(NamedTuple):
    problems: list[Problem]  # found on the way to the batch
    batch: Batch | None = None  # None: there are no more
    error: BaseException | None = None


def read_ahead(batches: Callable[[Report], Iterator[Batch]], report: Report) -> Iterator[Batch]:
    """The batches, read by a thread of their own. Problems are reported here, each before the batch it was found on the way to."""
    made: Queue[_Read] = Queue(maxsize=1)
    abandoned = Event()
    reader = Thread(target=_read, args=(batches, made, abandoned), name="lookalike-reader", daemon=True)
    reader.start()
    try:
        while True:
            read = made.get()
            for problem in read.problems:
                report(problem)
            if read.error is not None:
                raise read.error
            if read.batch is None:
                return
            yield read.batch
    finally:
        abandoned.set()
        while reader.is_alive():
            try:
                made.get(timeout=PATIENCE)  # it may wait for room
            except Empty:
                continue
        reader.join()


def _read(batches: Callable[[Report], Iterator[Batch]], made: Queue[_Read], abandoned: Event) -> None:
    problems: list[Problem] = []
    try:
        for batch in batches(problems.append):
            made.put(_Read(problems.copy(), batch))
            problems.clear()
            if abandoned.is_set():
                return
        made.put(_Read(problems))
    except BaseException as error:  # raised where the batch is wanted
        made.put(_Read(problems, error=error))
