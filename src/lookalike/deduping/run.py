"""A run up to the decision: read, sketch, compare. Nothing is written here but working files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lookalike.corpus.batches import Batch, Report, character_counts
from lookalike.corpus.row import Problem
from lookalike.deduping.ahead import read_ahead
from lookalike.deduping.ledger import Growing, Ledger
from lookalike.deduping.problems import EMPTY, Problems
from lookalike.deduping.progress import StageTimes
from lookalike.deduping.settings import Resources, Settings
from lookalike.deduping.working_files import Entry, Journal, Workspace
from lookalike.leaders.decider import Decider
from lookalike.leaders.sketching import Sketcher, Sketches

if TYPE_CHECKING:
    from lookalike.deduping.against import Stored

OFFERED_AT_A_TIME = 4096
HOT_BUCKETS = 20


class Reader(Protocol):
    """The documents of one source."""

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int | None: ...  # in bytes, if somebody knows

    def batches(self, report: Report, start: tuple[int, int] = (0, 1)) -> Iterator[Batch]: ...


class HotBucket(NamedTuple):
    """A bucket that had no room for more kept documents, and one of those in it."""

    band: int
    refused: int
    document: int


@dataclass(slots=True)
class Decisions:
    """Which documents stay. Numbers are those of the ledger."""

    leaders: NDArray[np.int64]  # the kept document that each one points at, -1 where it is kept
    similarities: NDArray[np.float64]  # to it; 0 where it is kept
    compared: int = 0
    hot_buckets: tuple[HotBucket, ...] = ()
    spilled: int = 0


class Run:
    """Documents go in as batches; decisions come out."""

    def __init__(
        self,
        settings: Settings,
        resources: Resources,
        workspace: Workspace,
        problems: Problems,
        times: StageTimes,
        record: bool = False,
        stored: Stored | None = None,
    ) -> None:
        self.settings, self.problems, self.times = settings, problems, times
        self._ahead = resources.workers > 1
        self.ledger = Ledger()
        self._stored = stored
        self.ledger.store = stored.name if stored else ""
        self._decider = Decider(settings.rule, resources.budget, workspace.folder, resources.workers)
        self._in_order = settings.keep.order == "first"
        self._found: tuple[Growing, Growing] = (Growing("int64"), Growing("float64"))
        self._waiting = _Waiting()
        needs_file = not self._in_order and settings.method in ("minhash", "meaning", "record")
        self._journal = Journal(workspace.folder()) if record or needs_file else None
        self._sketcher = Sketcher(settings.rule, resources.workers, self._journal.key if self._journal else None)

    def decide(self, readers: Sequence[Reader]) -> Decisions:
        with self._journal or nullcontext():
            self._read(readers)
            return self._finish()

    def _read(self, readers: Sequence[Reader]) -> None:
        source, start = self._replayed(readers)
        sizes = [reader.size for reader in readers]
        total = sum(size or 0 for size in sizes) if all(size is not None for size in sizes) else None
        for number in range(source, len(readers)):
            reader = readers[number]
            if number == len(self.ledger.readers):
                self.ledger.begin(reader.name)
            done, problems_before = sum(size or 0 for size in sizes[:number]), self.problems.seen
            for batch in self._timed(self._batches(reader, start)):
                if self._stored:
                    with self.times.timed("store"):
                        batch = self._stored.without_stored(batch, self.ledger)
                with self.times.timed("sketch"):
                    if self.settings.keep.order == "longest":
                        batch.ranks = character_counts(batch.texts)
                    sketches = self._sketcher.sketch(batch.texts)
                self._place(batch, sketches, self._recorded(number, batch, sketches))
                if total is not None and batch.resume_at:
                    self.times.step("read", done + batch.resume_at[0], total, "bytes")
                else:
                    self.times.step("read", self.ledger.documents, None, "documents")
            start = (0, 1)
            if reader.name and self.ledger.readers[number] == self.ledger.documents and self.problems.seen == problems_before:
                self.problems.report(Problem(EMPTY, reader.name, "there are no rows in it"))
            if self._journal:
                self._journal.finish_source(self.problems.take_recent())
        for problem in self.ledger.repeated_ids():
            self.problems.report(problem)

    def _batches(self, reader: Reader, start: tuple[int, int]) -> Iterator[Batch]:
        if self._ahead:
            return read_ahead(partial(reader.batches, start=start), self.problems.report)
        return reader.batches(self.problems.report, start)

    def _timed(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        while True:
            with self.times.timed("read"):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    def _replayed(self, readers: Sequence[Reader]) -> tuple[int, tuple[int, int]]:
        """Takes over what an earlier run left: the source to go on with, and where in it."""
        source, start = 0, (0, 1)
        pending: list[Entry] = []
        for item in self._journal.replay() if self._journal else ():
            with self.times.timed("resume"):
                if isinstance(item, list):
                    self._adopt(source, readers, pending, item)
                    pending, source, start = [], source + 1, (0, 1)
                    continue
                pending.append(item)
                if item.batch.resume_at:
                    start = item.batch.resume_at
                    self._adopt(source, readers, pending, [])
                    pending = []
        # What is pending belongs to a source that cannot be entered in its middle: it is read again.
        if self._journal and pending:
            self._journal.drop_unfinished()
        return source, start

    def _adopt(self, source: int, readers: Sequence[Reader], entries: list[Entry], problems: list[Problem]) -> None:
        if source == len(self.ledger.readers):
            self.ledger.begin(readers[source].name)
        for entry in entries:
            self._place(entry.batch, entry.sketches, entry.features_at)
            problems = [*entry.problems, *problems]
        for problem in problems:
            self.problems.add(problem)

    def _recorded(self, source: int, batch: Batch, sketches: Sketches) -> int:
        """The place of the batch's first feature in the journal."""
        if not self._journal:
            return 0
        with self.times.timed("record"):
            return self._journal.append(source, batch, sketches, self.problems.take_recent())

    def _place(self, batch: Batch, sketches: Sketches, place: int) -> None:
        self.ledger.add(batch)
        self.ledger.empty += int((sketches.digests.reshape(-1, 2) == 0).all(axis=1).sum())
        if self._in_order:
            self._offer(sketches)
        else:
            self._waiting.add(sketches, place)

    def _offer(self, sketches: Sketches) -> None:
        with self.times.timed("compare"):
            leaders, similarities = self._decider.offer(sketches, self.ledger.nbytes + self._waiting.nbytes)
        self._found[0].add(leaders)
        self._found[1].add(similarities)

    def _finish(self) -> Decisions:
        order = self.ledger.offered()
        if not self._in_order:
            ranked = np.argsort(-self.ledger.ranks(), kind="stable")  # of equal ranks the first one is kept
            order = order[ranked]
            features = self._journal.features() if self._journal else np.zeros(0, np.uint64)
            for first in range(0, len(ranked), OFFERED_AT_A_TIME):
                self._offer(self._waiting.taken(ranked[first : first + OFFERED_AT_A_TIME], features))
                self.times.step("compare", first, len(ranked), "documents")
        leaders, similarities = np.full(self.ledger.documents, -1, np.int64), np.zeros(self.ledger.documents)
        found = self._found[0].whole()
        leaders[order] = np.where(found < 0, -1, order[found]) if len(order) else found
        similarities[order] = self._found[1].whole()
        for document, (number, similarity) in self.ledger.outside.items():
            leaders[document], similarities[document] = self.ledger.documents + number, similarity
        hot = tuple(HotBucket(band, refused, int(order[document])) for band, refused, document in self._decider.hot_buckets(HOT_BUCKETS))
        return Decisions(leaders, similarities, self._decider.compared, hot, self._decider.spilled)


def placed_texts(batch: Batch) -> Iterator[tuple[int, str]]:
    """The texts of a batch, each with its place in it."""
    places = np.arange(len(batch)) if batch.has_text is None else np.flatnonzero(batch.has_text)
    return zip(places.tolist(), batch.texts.texts(), strict=True)


def batches_again(readers: Sequence[Reader]) -> Iterator[tuple[int, Batch]]:
    """All batches once more, each with the number of its first document. Problems were reported by the first reading."""
    number = 0
    for reader in readers:
        for batch in reader.batches(lambda problem: None):
            yield number, batch
            number += len(batch)


def read_again(readers: Sequence[Reader], wanted: set[int]) -> dict[int, str]:
    """The texts of some documents, by their numbers."""
    found: dict[int, str] = {}
    for first, batch in batches_again(readers) if wanted else ():
        if any(first <= each < first + len(batch) for each in wanted):
            found |= {first + place: text for place, text in placed_texts(batch) if first + place in wanted}
        if len(found) == len(wanted):
            break
    return found


class _Waiting:
    """Sketches of documents that are decided once all are read. Their features stay in the file."""

    def __init__(self) -> None:
        self._starts, self._counts = Growing("int64"), Growing("int64")
        self._digests, self._keys, self._simhashes = Growing("uint64"), Growing("uint32"), Growing("uint64")

    @property
    def nbytes(self) -> int:
        return sum(each.nbytes for each in (self._starts, self._counts, self._digests, self._keys, self._simhashes))

    def add(self, sketches: Sketches, features_at: int) -> None:
        self._starts.add(sketches.offsets[:-1] + features_at)
        self._counts.add(np.diff(sketches.offsets))
        self._digests.add(np.array(sketches.digests))
        self._keys.add(np.array(sketches.keys))
        self._simhashes.add(np.array(sketches.simhashes))

    def taken(self, documents: NDArray[np.int64], features: NDArray[np.uint64]) -> Sketches:
        starts, counts = self._starts.whole()[documents], self._counts.whole()[documents]
        pieces = [features[start : start + count] for start, count in zip(starts.tolist(), counts.tolist(), strict=True)]
        simhashes: Any = self._simhashes.whole()
        return Sketches(
            np.concatenate(pieces) if pieces else np.zeros(0, np.uint64),
            np.concatenate(([0], np.cumsum(counts))),
            np.ascontiguousarray(self._digests.whole().reshape(-1, 2)[documents]).reshape(-1),
            self._of_each(self._keys.whole(), documents),
            simhashes[documents] if len(simhashes) else simhashes,
        )

    def _of_each(self, keys: NDArray[np.uint32], documents: NDArray[np.int64]) -> NDArray[np.uint32]:
        if not len(keys):
            return keys
        return keys.reshape(len(self._starts.whole()), -1)[documents].reshape(-1)
