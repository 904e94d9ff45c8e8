"""What a verb says while it works: a count on a terminal, and the problems of its input."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

from lookalike.cli.options import note
from lookalike.figures import shown_share
from lookalike.reports.escaping import printable

if TYPE_CHECKING:
    from lookalike import Problem

PROGRESS_AFTER = 2.0  # seconds
SHOWN_PROBLEMS = 20


class Counter:
    """A count and its rate on standard error, if that is a terminal and the work takes a while."""

    def __init__(self, quiet: bool, things: str) -> None:
        self._shown = not quiet and sys.stderr.isatty()
        self._things = things
        self._count = 0
        self._started = time.monotonic()
        self._next = self._started + PROGRESS_AFTER
        self._drawn = False

    def step(self, _done: object = None) -> None:
        self.at(self._count + 1)

    def at(self, count: int) -> None:
        self._count = count
        now = time.monotonic()
        if self._shown and now >= self._next:
            self._next = now + 0.5
            self._drawn = True
            rate = count / max(now - self._started, 1e-9)
            click.echo(f"\r\x1b[K{count:,} {self._things}, {rate:,.0f} per second", err=True, nl=False)

    def again(self, things: str) -> None:
        """From the start, of something else."""
        self._things, self._count, self._started = things, 0, time.monotonic()

    def clear(self) -> None:
        if self._drawn:
            click.echo("\r\x1b[K", err=True, nl=False)
            self._drawn = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.clear()


class StageCounter(Counter):
    """The stage of a long job, how far it is, its rate and the time that remains."""

    def __init__(self, quiet: bool) -> None:
        super().__init__(quiet, "documents")

    def stage(self, progress: Any) -> None:
        """Takes a ``Counter`` of ``lookalike.deduping.progress``."""
        if self._shown and time.monotonic() >= self._next:
            self._next = time.monotonic() + 0.5
            self._drawn = True
            click.echo(f"\r\x1b[K{stage_line(progress)}", err=True, nl=False)


def stage_line(progress: Any) -> str:
    in_bytes = progress.unit == "bytes"
    rate = progress.done / progress.seconds if progress.seconds > 0 else 0.0
    amount = f"{progress.done / 1e6:,.0f} MB" if in_bytes else f"{progress.done:,} {progress.unit}"
    if progress.total:
        amount += f" ({shown_share(progress.done / progress.total, 0)})"
    parts = [progress.stage, amount, f"{rate / 1e6:,.0f} MB/s" if in_bytes else f"{rate:,.0f} per second"]
    if progress.total and rate:
        parts.append(f"{(progress.total - progress.done) / rate:,.0f} s left")
    return ", ".join(parts)


class ProblemNotes:
    """Names the first problems on standard error, and counts those that left something out."""

    def __init__(self, progress: Counter, quiet: bool) -> None:
        self._progress, self._quiet = progress, quiet
        self.seen = 0
        self.skipped = 0

    def __call__(self, problem: Problem) -> None:
        self.seen += 1
        self.skipped += problem.skipped
        if self.seen <= SHOWN_PROBLEMS:
            self._progress.clear()
            note(printable(f"{problem.place}: {problem.kind}: {problem.message}"), self._quiet)

    def finish(self, remedy: str = "") -> None:
        self._progress.clear()
        if self.seen > SHOWN_PROBLEMS:
            note(f"… and {self.seen - SHOWN_PROBLEMS} more problem{'' if self.seen == SHOWN_PROBLEMS + 1 else 's'}{remedy}", self._quiet)
