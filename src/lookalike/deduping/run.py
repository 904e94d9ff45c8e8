"""A run up to the decision: read, sketch, compare. Nothing is written here but working files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lookalike.corpus.batches import NO_TEXTS, Batch, Report, SourcePart, character_counts
from lookalike.corpus.row import Problem
from lookalike.deduping.ledger import Growing, Ledger, id_hashes
from lookalike.deduping.problems import Problems, empty_file
from lookalike.deduping.progress import StageTimes
from lookalike.deduping.settings import Criteria, Resources
from lookalike.deduping.threads import Threads
from lookalike.deduping.waiting import Waiting
from lookalike.deduping.working_files import BatchEntry, Journal, Workspace
from lookalike.leaders.decider import Decider, Rows
from lookalike.leaders.sketching import Sketchers, Sketches, by_any_thread, can_be_made_again

if TYPE_CHECKING:
    from lookalike import _native
    from lookalike.deduping.against import Stored

OFFERED_AT_A_TIME = 4096
HOT_BUCKETS = 20
MADE_OF_A_ROW = 4  # times its bytes take what is made of it until it is decided, roughly
READ_AHEAD_SHARE = 16  # of the budget may be rows that were read and not decided
LEAST_READ_AHEAD = 4 << 20


class BatchReader(Protocol):
    """The documents of one source."""

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int | None: ...  # in bytes, if somebody knows

    @property
    def row_file(self) -> _native.RowFile | None: ...  # where texts can be read again at the extents of their rows

    def batches(self, report: Report, start: tuple[int, int] = (0, 1)) -> Iterator[Batch]: ...

    def parts(self, report: Report, start: tuple[int, int] = (0, 1)) -> Iterator[SourcePart]: ...


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


class Written(Protocol):
    """Where rows go while later ones are still read."""

    def rows(self, source: int, batch: Batch, kept: NDArray[np.bool_]) -> None: ...

    def end(self, source: int, used: bool) -> None: ...

    def give_up(self) -> None: ...


class _Taken(NamedTuple):
    """What comes next of a source; without a part, its end."""

    source: int
    problems: list[Problem]  # found on the way to it
    part: SourcePart | None


class _SketchedBatch(NamedTuple):
    """The same, read and sketched."""

    source: int
    problems: list[Problem]
    batch: Batch | None
    sketches: Sketches | None


@dataclass(frozen=True, slots=True)
class Means:
    """What a run works with."""

    workspace: Workspace
    problems: Problems
    times: StageTimes
    threads: Threads[Any, Any]
    record: bool = False
    stored: Stored | None = None
    written: Written | None = None


class Run:
    """Documents go in as batches; decisions come out."""

    def __init__(self, settings: Criteria, resources: Resources, means: Means, readers: Sequence[BatchReader]) -> None:
        self.settings, self.problems, self.times = settings, means.problems, means.times
        self._readers = readers
        self._threads, self._written, self._stored = means.threads, means.written, means.stored
        workspace, stored = means.workspace, means.stored
        self.ledger = Ledger()
        self.ledger.store = stored.name if stored else ""
        self._in_order = settings.keep.order == "first"
        # A store is asked before anything is sketched, in order; and not everybody's words and models can be asked by several threads.
        self._side_by_side = stored is None and by_any_thread(settings.rule)
        again = self._side_by_side and can_be_made_again(settings.rule)
        files = [reader.row_file if again else None for reader in readers]
        # Who is decided at the end is decided with documents of all files.
        self._files = files if self._in_order or None not in files else [None] * len(files)
        self._found: tuple[Growing, Growing] = (Growing("int64"), Growing("float64"))
        self._waiting = Waiting()
        needs_file = not self._in_order and settings.method in ("minhash", "meaning", "record") and None in self._files
        self._journal = Journal(workspace.folder()) if means.record or needs_file else None
        key = self._journal.key if self._journal else None
        self._decider = Decider(settings.rule, resources.budget, workspace.folder, resources.threads, key)
        self._sketchers = Sketchers(settings.rule, 1 if self._side_by_side else resources.threads, key)
        self._room = max(resources.budget // READ_AHEAD_SHARE, LEAST_READ_AHEAD)

    def decide(self) -> Decisions:
        with self._journal or nullcontext():
            self._read()
            return self._finish()

    def _read(self) -> None:
        readers = self._readers
        source, start = self._replayed()
        if self._written and (source, start) != (0, (0, 1)):
            self._written.give_up()  # of what an earlier run read, the rows are not at hand
            self._written = None
        sizes = [reader.size for reader in readers]
        total = sum(size or 0 for size in sizes) if all(size is not None for size in sizes) else None
        done = [sum(size or 0 for size in sizes[:number]) for number in range(len(sizes))]
        made = self._threads.in_order(self._parts(source, start), self._make, size=_size_of, room=self._room)
        seen_before = self.problems.seen
        for each in made:
            if each.source == len(self.ledger.readers):
                self.ledger.begin(readers[each.source].name)
                seen_before = self.problems.seen
            for problem in each.problems:
                self.problems.report(problem)
            if each.batch is None:
                self._end(each.source, seen_before)
            elif len(each.batch):
                read = done[each.source] + each.batch.resume_at[0] if total and each.batch.resume_at else 0
                if total and read and self._in_order and not self.ledger.documents:
                    with self.times.timed("compare"):
                        self._decider.expect(len(each.batch) * total // read)
                self._take(each.source, each.batch, each.sketches)
                if read:
                    self.times.step("read", read, total, "bytes")
                else:
                    self.times.step("read", self.ledger.documents, None, "documents")
        for problem in self.ledger.repeated_ids():
            self.problems.report(problem)

    def _parts(self, source: int, start: tuple[int, int]) -> Iterator[_Taken]:
        """All that is left of all sources. One thread at a time is here."""
        found: list[Problem] = []
        for number in range(source, len(self._readers)):
            parts = self._readers[number].parts(found.append, start)
            part: SourcePart | None = None
            while True:
                with self.times.timed("read"):
                    part = next(parts, None)
                yield _Taken(number, found.copy(), part)
                found.clear()
                if part is None:
                    break
            start = (0, 1)

    def _make(self, taken: _Taken) -> _SketchedBatch:
        """Any thread is here, several at a time."""
        source, problems, part = taken
        if part is None:
            return _SketchedBatch(source, problems, None, None)
        with self.times.timed("read"):
            batch = part.make(problems.append)
            batch.id_hashes = id_hashes(batch.ids)
        if self._written is None and batch.lines:
            batch.lines.let_go()
            batch.lines = None
        return _SketchedBatch(source, problems, batch, self._sketched(source, batch) if self._side_by_side and len(batch) else None)

    def _sketched(self, source: int, batch: Batch) -> Sketches:
        with self.times.timed("sketch"):
            if self.settings.keep.order == "longest":
                batch.ranks = character_counts(batch.texts)
            sketches = self._sketchers.sketch(batch.texts, keep=self._files[source] is None)
            batch.texts = NO_TEXTS  # nobody needs them any more, and the batch may wait for its turn
            return sketches

    def _take(self, source: int, batch: Batch, sketches: Sketches | None) -> None:
        """The next batch, in its turn."""
        if self._stored:
            with self.times.timed("store"):
                batch = self._stored.without_stored(batch, self.ledger)
        if sketches is None:
            sketches = self._sketched(source, batch)
        self._place(source, batch, sketches, self._recorded(source, batch, sketches), stay=True)
        if self._written and batch.lines:
            kept = np.ones(len(batch), np.bool_)
            kept[slice(None) if batch.has_text is None else batch.has_text] = self._found[0].last() < 0
            self._written.rows(source, batch, kept)

    def _end(self, source: int, seen_before: int) -> None:
        reader = self._readers[source]
        any_documents = self.ledger.readers[source] < self.ledger.documents
        if reader.name and not any_documents and self.problems.seen == seen_before:
            self.problems.report(empty_file(reader.name))
        if self._journal:
            self._journal.finish_source(self.problems.take_recent())
        if self._written:
            self._written.end(source, any_documents or reader.name not in self.problems.unreadable)

    def _replayed(self) -> tuple[int, tuple[int, int]]:
        """Takes over what an earlier run left: the source to go on with, and where in it."""
        source, start = 0, (0, 1)
        pending: list[BatchEntry] = []
        for item in self._journal.replay() if self._journal else ():
            with self.times.timed("resume"):
                if isinstance(item, list):
                    self._adopt(source, pending, item)
                    pending, source, start = [], source + 1, (0, 1)
                    continue
                pending.append(item)
                if item.batch.resume_at:
                    start = item.batch.resume_at
                    self._adopt(source, pending, [])
                    pending = []
        # What is pending belongs to a source that cannot be entered in its middle: it is read again.
        if self._journal and pending:
            self._journal.drop_unfinished()
        return source, start

    def _adopt(self, source: int, entries: list[BatchEntry], problems: list[Problem]) -> None:
        if source == len(self.ledger.readers):
            self.ledger.begin(self._readers[source].name)
        for entry in entries:
            self._place(source, entry.batch, entry.sketches, entry.features_at)
            problems = [*entry.problems, *problems]
        for problem in problems:
            self.problems.add(problem)

    def _recorded(self, source: int, batch: Batch, sketches: Sketches) -> int:
        """The place of the batch's first feature in the journal."""
        if not self._journal:
            return 0
        with self.times.timed("record"):
            recorded = sketches if self._files[source] is None else sketches.without_features()
            return self._journal.append(source, batch, recorded, self.problems.take_recent())

    def _place(self, source: int, batch: Batch, sketches: Sketches, place: int, stay: bool = False) -> None:
        self.ledger.add(batch)
        self.ledger.empty += len(sketches) - int(np.count_nonzero(sketches.digests[::2] | sketches.digests[1::2]))
        file = self._files[source]
        if self._in_order:
            self._offer(sketches, stay, _rows(file, batch) if file else None)
        else:
            self._waiting.add(sketches.without_features() if file else sketches, place)

    def _offer(self, sketches: Sketches, stay: bool = False, texts: Rows | None = None) -> None:
        rows = MADE_OF_A_ROW * self._threads.may_hold + (self._threads.may_wait if self._written else 0)
        others = self.ledger.nbytes + self._waiting.nbytes + rows
        with self.times.timed("compare"):
            leaders, similarities = self._decider.offer(sketches, others, stay=stay, rows=texts)
        self._found[0].add(leaders)
        self._found[1].add(similarities)

    def _rows_of(self, documents: NDArray[np.int64]) -> Rows | None:
        """Where documents of any files stand; None: nobody knows of all."""
        files = [file for file in self._files if file]
        if not files or len(files) < len(self._files):
            return None
        numbers = np.searchsorted(self.ledger.readers, documents, side="right") - 1
        return Rows(files, numbers.astype(np.uint32), self.ledger.extents_of(documents).reshape(-1))

    def _finish(self) -> Decisions:
        order = self.ledger.offered()
        if not self._in_order:
            ranked = np.argsort(-self.ledger.ranks(), kind="stable")  # of equal ranks the first one is kept
            order = order[ranked]
            features = self._journal.features() if self._journal else np.zeros(0, np.uint64)
            self._decider.expect(len(ranked))
            for first in range(0, len(ranked), OFFERED_AT_A_TIME):
                last = first + OFFERED_AT_A_TIME
                self._offer(self._waiting.taken(ranked[first:last], features), texts=self._rows_of(order[first:last]))
                self.times.step("compare", first, len(ranked), "documents")
        leaders, similarities = np.full(self.ledger.documents, -1, np.int64), np.zeros(self.ledger.documents)
        found = self._found[0].whole()
        leaders[order] = np.where(found < 0, -1, order[found]) if len(order) else found
        similarities[order] = self._found[1].whole()
        for document, (number, similarity) in self.ledger.outside.items():
            leaders[document], similarities[document] = self.ledger.documents + number, similarity
        hot = tuple(HotBucket(band, refused, int(order[document])) for band, refused, document in self._decider.hot_buckets(HOT_BUCKETS))
        return Decisions(leaders, similarities, self._decider.compared, hot, self._decider.spilled)


def _rows(file: _native.RowFile, batch: Batch) -> Rows:
    """Where the texts of a batch stand: what has such a file says it of every row."""
    assert batch.extents is not None  # noqa: S101 - features that are not to be kept would be taken for distinct ones
    extents = batch.extents.reshape(-1, 2)
    extents = np.ascontiguousarray(extents if batch.has_text is None else extents[batch.has_text])
    return Rows([file], np.zeros(len(extents), np.uint32), extents.reshape(-1))


def placed_texts(batch: Batch) -> Iterator[tuple[int, str]]:
    """The texts of a batch, each with its place in it."""
    places = np.arange(len(batch)) if batch.has_text is None else np.flatnonzero(batch.has_text)
    return zip(places.tolist(), batch.texts.texts(), strict=True)


def batches_again(readers: Sequence[BatchReader]) -> Iterator[tuple[int, Batch]]:
    """All batches once more, each with the number of its first document. Problems were reported by the first reading."""
    number = 0
    for reader in readers:
        for batch in reader.batches(lambda problem: None):
            yield number, batch
            number += len(batch)


def read_again(readers: Sequence[BatchReader], wanted: set[int]) -> dict[int, str]:
    """The texts of some documents, by their numbers."""
    found: dict[int, str] = {}
    for first, batch in batches_again(readers) if wanted else ():
        if any(first <= each < first + len(batch) for each in wanted):
            found |= {first + place: text for place, text in placed_texts(batch) if first + place in wanted}
        if len(found) == len(wanted):
            break
    return found


def _size_of(taken: _Taken) -> int:
    return taken.part.size if taken.part else 0
