"""Paragraphs and lines that the corpus has already: the first one stays, later ones are cut out of their documents.

Two are the same if their tokens are: case, punctuation and white space do not count; with the method ``bytes`` if they are the same
to the byte, line breaks at the end aside. What has no letter or digit is never cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lookalike.corpus.batches import character_counts, join_texts
from lookalike.deduping.ledger import Growing, Ledger
from lookalike.deduping.parts import Parts
from lookalike.deduping.problems import Problems
from lookalike.deduping.progress import StageTimes
from lookalike.deduping.run import BatchReader, Decisions
from lookalike.deduping.settings import Criteria, Resources
from lookalike.deduping.verdicts import DocumentVerdicts, TextCuts, Verdicts
from lookalike.deduping.working_files import Workspace
from lookalike.leaders.decider import RESERVED, Decider
from lookalike.leaders.rule import Rule
from lookalike.leaders.sketching import Sketcher, of_digests
from lookalike.text.columns import Joined

_ENDS = {"line": re.compile(r"\n"), "paragraph": re.compile(r"\n(?:[^\S\n]*\n)+")}
LAST_BREAKS = re.compile(r"\n(?:[^\S\n]*\n)*\Z")  # the last line of a text has none, and is the same line
WORDLIKE = re.compile(r"[^\W_]")
OFFERED_AT_A_TIME = 1 << 16
LEAST_IN_MEMORY = 16 << 20


def units(text: str, level: str) -> Iterator[tuple[int, int]]:
    """Where the paragraphs or lines of a text stand, each with the line breaks behind it."""
    start = 0
    for found in _ENDS[level].finditer(text):
        yield start, found.end()
        start = found.end()
    if start < len(text):
        yield start, len(text)


@dataclass(frozen=True, slots=True)
class Units(Parts):
    """The paragraphs or lines of a corpus."""

    _owners: Growing = field(default_factory=lambda: Growing("int64"))
    _spans: Growing = field(default_factory=lambda: Growing("int64"))

    @property
    def nbytes(self) -> int:
        return self._owners.nbytes + self._spans.nbytes

    def move_out(self, folder: Path) -> int:
        return self._owners.move_out(folder) + self._spans.move_out(folder)

    def add(self, owners: list[int], spans: list[tuple[int, int]]) -> None:
        self._owners.add(np.array(owners, np.int64))
        self._spans.add(np.array(spans, np.int64).reshape(-1, 2))

    def owners(self) -> NDArray[np.int64]:
        return self._owners.whole()

    def part(self, number: int) -> tuple[int, int] | None:
        start, end = self._spans.whole().reshape(-1, 2)[number].tolist()
        return start, end

    def owner(self, number: int) -> int:
        return int(self.owners()[number])


class LevelRun:
    """Reads a corpus and decides which of its paragraphs or lines stay."""

    def __init__(self, settings: Criteria, resources: Resources, workspace: Workspace, problems: Problems, times: StageTimes) -> None:
        self.settings, self.problems, self.times = settings, problems, times
        self._budget, self._workspace, self._spilled = resources.budget, workspace, 0
        self.units = Units(Ledger())
        self._rule = Rule("bytes" if settings.method == "bytes" else "exact", settings.recipe)
        self._sketcher = Sketcher(self._rule, resources.threads)
        self._digests = Growing("uint64")
        self._numbers = Growing("int64")  # of the units that may be cut
        self._count = 0

    def decide(self, readers: Sequence[BatchReader]) -> Verdicts:
        """The verdicts on the units."""
        ledger = self.units.ledger
        for reader in readers:
            ledger.begin(reader.name)
            batches = reader.batches(self.problems.report)
            while True:
                with self.times.timed("read"):
                    batch = next(batches, None)
                if batch is None:
                    break
                if self.settings.keep.order == "longest":
                    batch.ranks = character_counts(batch.texts)
                ledger.add(batch)
                with self.times.timed("sketch"):
                    self._split(batch.texts, ledger.last_offered())
                self.times.step("read", ledger.documents, None, "documents")
        for problem in ledger.repeated_ids():
            self.problems.report(problem)
        with self.times.timed("compare"):
            return Verdicts(self.units, self._decided())

    def _split(self, texts: Joined, documents: NDArray[np.int64]) -> None:
        owners: list[int] = []
        spans: list[tuple[int, int]] = []
        contents: list[str] = []
        numbers: list[int] = []
        for document, text in zip(documents.tolist(), texts.texts(), strict=True):
            for start, end in units(text, self.settings.level):
                content = text[start:end]
                if WORDLIKE.search(content):
                    contents.append(LAST_BREAKS.sub("", content) if self.settings.method == "bytes" else content)
                    numbers.append(self._count + len(owners))
                owners.append(document)
                spans.append((start, end))
        self.units.add(owners, spans)
        self._count += len(owners)
        self._numbers.add(np.array(numbers, np.int64))
        self._digests.add(self._sketcher.sketch(join_texts(contents)).digests)
        self._keep_within_budget()

    def _keep_within_budget(self) -> None:
        """What is known of the units goes to files when it gets too much. The table that compares them is made at the end and stays."""
        allowed = max(self._budget - RESERVED - self.units.ledger.nbytes, LEAST_IN_MEMORY)
        if self.units.nbytes + self._numbers.nbytes + self._digests.nbytes > allowed:
            folder = self._workspace.folder()
            self._spilled += sum(each.move_out(folder) for each in (self.units, self._numbers, self._digests))

    def _decided(self) -> Decisions:
        numbers, digests = self._numbers.whole(), self._digests.whole().reshape(-1, 2)
        order = np.arange(len(numbers))
        if self.settings.keep.order != "first":
            ranks = np.full(self.units.documents, -np.inf)
            ranks[self.units.ledger.offered()] = self.units.ledger.ranks()
            order = np.argsort(-ranks[self.units.owners()[numbers]], kind="stable")
        decider = Decider(self._rule, self._budget, self._workspace.folder)
        found = Growing("int64")
        for first in range(0, len(order), OFFERED_AT_A_TIME):
            found.add(decider.offer(of_digests(digests[order[first : first + OFFERED_AT_A_TIME]]))[0])
        in_order = numbers[order]
        all_leaders = np.full(self._count, -1, np.int64)
        all_leaders[in_order] = np.where(found.whole() < 0, -1, in_order[found.whole()]) if len(order) else -1
        return Decisions(all_leaders, (all_leaders >= 0).astype(np.float64), spilled=self._spilled)

    def whole(self, verdicts: Verdicts, column: str) -> DocumentVerdicts:
        """The documents: all of them stay, and some get shorter."""
        nothing = Decisions(np.full(self.units.documents, -1, np.int64), np.zeros(self.units.documents))
        return DocumentVerdicts(self.units.ledger, nothing, _edits(verdicts, self.units, column), verdicts)


def _edits(verdicts: Verdicts, units: Units, column: str) -> TextCuts:
    cuts: dict[int, list[tuple[int, int]]] = {}
    for unit in verdicts.removed_numbers().tolist():
        span = units.part(unit)
        if span is not None:
            cuts.setdefault(units.owner(unit), []).append(span)
    return TextCuts(column, cuts)
