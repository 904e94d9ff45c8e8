"""What is wrong with the input, by policy: the first problem ends the run, or it is counted and its row left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from lookalike.corpus.row import UNREADABLE, Problem
from lookalike.errors import InputError

POLICIES = ("stop", "skip")
EMPTY = "empty file"
MOST_NAMED = 1000  # in the report; all of them are counted


def empty_file(name: str) -> Problem:
    return Problem(EMPTY, name, "there are no rows in it")


class Refused(InputError):
    """A problem that ended the run."""


class Problems:
    def __init__(self, on_error: str = "stop", on_problem: Callable[[Problem], object] | None = None) -> None:
        self._stop, self._on_problem = on_error == "stop", on_problem
        self.named: list[Problem] = []
        self.counts: Counter[str] = Counter()
        self.skipped = self.seen = 0
        self.unreadable: set[str] = set()  # files of which nothing could be used
        self.recent: list[Problem] = []  # since somebody last took them

    def report(self, problem: Problem) -> None:
        if self._stop:
            remedy = "; repair it, or leave such rows out with on_error='skip' (--on-error skip)"
            raise Refused(f"{problem.place}: {problem.kind}: {problem.message}{remedy}")
        self.recent.append(problem)
        self.add(problem)

    def add(self, problem: Problem) -> None:
        """Takes note of a problem that ends nothing."""
        if problem.kind == UNREADABLE:
            self.unreadable.add(problem.place)
        self.counts[problem.kind] += 1
        self.seen += 1
        self.skipped += problem.skipped
        if len(self.named) < MOST_NAMED:
            self.named.append(problem)
        if self._on_problem:
            self._on_problem(problem)

    def check_any(self, documents: int) -> None:
        """Something was skipped, and nothing is left: that is no corpus without duplicates. An empty file is one."""
        wrong = next((problem for problem in self.named if problem.skipped and problem.kind != EMPTY), None)
        if not documents and wrong:
            count = f"{self.skipped:,} problems" if self.skipped > 1 else "one problem"
            raise InputError(f"no document could be read ({count}): {wrong.place}: {wrong.kind}: {wrong.message}")

    def take_recent(self) -> list[Problem]:
        taken, self.recent = self.recent, []
        return taken
