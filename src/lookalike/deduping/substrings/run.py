"""Passages that the corpus has more than once: found exactly, and cut but for the one that stays.

A window is ``min_length`` units of a document. Windows are taken in the order of ``keep``, and in a document from left to right. A window
is cut if an equal one stands before it of which nothing was cut: in an earlier document, or, unless ``within`` is False, in the same one
and ending before this one begins. A unit is cut if a window that it lies in is cut. So everything that is cut stands whole in what stays.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.corpus.batches import Batch, character_counts
from lookalike.deduping.ledger import Growing, Ledger
from lookalike.deduping.reading import Reading
from lookalike.deduping.report import Figures
from lookalike.deduping.run import BatchReader, Decisions, Means, batches_again
from lookalike.deduping.settings import Criteria, Resources
from lookalike.deduping.substrings.passages import DOCUMENT, FIRST, LENGTH, Passages, Placed, in_parts, kept_passages
from lookalike.deduping.verdicts import DocumentVerdicts, TextCuts, Verdicts
from lookalike.deduping.working_files import Workspace
from lookalike.errors import InputError

DOCUMENTS_AT_A_TIME = 1 << 16  # between two reports of progress
SORTED_SHARE = 4  # of the budget is for what is sorted at a time, and two of these are for units
LEAST_SORTED = 16 << 20


class _Hashed(NamedTuple):
    """The units of a batch's texts."""

    units: Any
    ends: NDArray[np.int64]


class UnitColumn:
    """The units of all documents: in memory that grows where it lies, or beyond the budget in a file that the system maps."""

    def __init__(self, budget: int, workspace: Workspace) -> None:
        self._most, self._workspace = budget, workspace
        self._memory: array[int] | None = array("Q")
        self._file = Growing("uint64")
        self.spilled = 0

    def add(self, units: Any) -> None:
        if self._memory is not None:
            self._memory.frombytes(memoryview(units).cast("B"))
            if 8 * len(self._memory) <= self._most:
                return
            self._file.add(np.frombuffer(self._memory, np.uint64))
            self._memory = None
        else:
            self._file.add(np.asarray(units))
        self.spilled += self._file.move_out(self._workspace.folder())

    def whole(self) -> NDArray[np.uint64]:
        return self._file.whole() if self._memory is None else np.frombuffer(self._memory, np.uint64)


class PassageRun:
    """Reads a corpus and decides which of its passages stay."""

    def __init__(self, settings: Criteria, resources: Resources, means: Means) -> None:
        if settings.passages is None:
            raise InputError(f"level={settings.level!r} is not about passages")
        self._rule, self._settings, self._resources, self._means = settings.passages, settings, resources, means
        self._form = self._rule.units(settings.recipe)
        self.ledger = Ledger()
        self._units = UnitColumn(resources.budget // SORTED_SHARE * 2, means.workspace)
        self._ends = Growing("int64")
        self.figures = Figures(self._rule.unit, 0, 0)

    def decide(self, readers: Sequence[BatchReader]) -> Verdicts:
        """The verdicts on passages."""
        offsets = self._read(readers)
        found = self._repeats(offsets)
        found = found[np.argsort(found[:, DOCUMENT], kind="stable")]
        kept, places = kept_passages(found)
        owners = np.concatenate((found[:, DOCUMENT], kept[:, 0]))
        firsts, lengths = np.concatenate((found[:, FIRST], kept[:, 1])), np.concatenate((found[:, LENGTH], kept[:, 2]))
        with self._means.times.timed("places"):
            spans = self._placed(readers, Placed(owners, firsts, lengths))
        numbers = self.ledger.offered()
        passages = Passages(self.ledger, numbers[owners], firsts, lengths, places + len(found), spans)
        self.figures = Figures(self._rule.unit, int(offsets[-1]), passages.cut_units())
        return Verdicts(passages, passages.decisions(len(found), self._units.spilled))

    def whole(self, verdicts: Verdicts, column: str) -> DocumentVerdicts:
        """The documents: all of them stay, and some get shorter."""
        nothing = Decisions(np.full(self.ledger.documents, -1, np.int64), np.zeros(self.ledger.documents))
        passages = verdicts.ledger
        edits = TextCuts(column, passages.cuts() if isinstance(passages, Passages) else {})
        return DocumentVerdicts(self.ledger, nothing, edits, verdicts)

    def _read(self, readers: Sequence[BatchReader]) -> NDArray[np.int64]:
        """Where the units of each text begin."""
        reading = Reading(self._means, self.ledger, self._resources.budget, self._hashed)
        self._ends.add(np.zeros(1, np.int64))
        total = 0
        for _, made in reading.batches(readers):
            self.ledger.empty += int((np.diff(made.ends) == 0).sum())
            self._units.add(made.units)
            self._ends.add(made.ends[1:] + total)
            total += int(made.ends[-1])
        return self._ends.whole()

    def _hashed(self, batch: Batch) -> _Hashed:
        """Any thread is here, several at a time."""
        with self._means.times.timed("tokens"):
            if self._settings.keep.order == "longest":
                batch.ranks = character_counts(batch.texts)
            units, ends = _native.unit_hashes(batch.texts.data, batch.texts.offsets, *self._form)
            return _Hashed(units, np.asarray(ends))

    def _repeats(self, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        """What is cut, as rows of document, first unit, units, the document that stays and the first unit there; documents are texts."""
        times, rule, documents = self._means.times, self._rule, len(offsets) - 1
        memory = max(self._resources.budget // SORTED_SHARE, LEAST_SORTED)
        repeats = _native.Repeats(self._units.whole(), offsets, rule.length, rule.within, self._resources.threads, memory)
        parts = in_parts(documents, DOCUMENTS_AT_A_TIME)
        for stage in (repeats.mark, repeats.find):
            with times.timed("candidates"):
                for first, last in parts:
                    stage(first, last)
                    times.step("candidates", last, documents, "documents")
        slices = repeats.slices()
        with times.timed("sort"):
            for number in range(slices):
                repeats.collect(number)
                times.step("sort", number + 1, slices, "slices")
        order = np.arange(documents)
        if self._settings.keep.order != "first":
            order = np.argsort(-self.ledger.ranks(), kind="stable")
        with times.timed("compare"):
            found = []
            for first, last in parts:
                found.append(np.asarray(repeats.decide(np.ascontiguousarray(order[first:last]))))
                times.step("compare", last, documents, "documents")
        return np.concatenate([*found, np.zeros(0, np.int64)]).reshape(-1, 5)

    def _placed(self, readers: Sequence[BatchReader], placed: Placed) -> NDArray[np.int64]:
        """Reads again what has such a passage, and finds where it stands in the text."""
        first = 0
        for _, batch in batches_again(readers):
            if first > placed.last:
                break
            count = len(batch.texts.offsets) - 1
            taken, units, ends = placed.wanted(first, count)
            if len(units):
                try:
                    spans = _native.unit_spans(batch.texts.data, batch.texts.offsets, *self._form, units, ends)
                except ValueError as error:
                    raise InputError("the input was changed while it was read: run again") from error
                placed.place(taken, *spans)
            first += count
            self._means.times.step("places", first, placed.last + 1, "documents")
        return placed.spans()
