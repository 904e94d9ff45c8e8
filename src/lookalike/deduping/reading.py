"""All documents of a run, in order, with something that any thread made of each batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from lookalike.corpus.batches import Batch, SourcePart
from lookalike.corpus.row import Problem
from lookalike.deduping.ledger import Ledger, id_hashes
from lookalike.deduping.problems import empty_file
from lookalike.deduping.run import LEAST_READ_AHEAD, READ_AHEAD_SHARE, BatchReader, Means

Made = TypeVar("Made")


class _ReadPart(NamedTuple):
    source: int
    problems: list[Problem]  # found on the way to it
    part: SourcePart | None  # None: the end of the source


class _Done(NamedTuple, Generic[Made]):
    source: int
    problems: list[Problem]
    batch: Batch | None
    made: Made | None


class Reading(Generic[Made]):
    """Reads, and lets threads make something of each batch. The ledger has the documents of a batch when it is handed out."""

    def __init__(self, means: Means, ledger: Ledger, budget: int, make: Callable[[Batch], Made]) -> None:
        self._means, self._ledger, self._make_of = means, ledger, make
        self._room = max(budget // READ_AHEAD_SHARE, LEAST_READ_AHEAD)

    def batches(self, readers: Sequence[BatchReader]) -> Iterator[tuple[Batch, Made]]:
        problems, ledger, times = self._means.problems, self._ledger, self._means.times
        sizes = [reader.size for reader in readers]
        total = sum(size or 0 for size in sizes) if all(size is not None for size in sizes) else None
        before = [sum(size or 0 for size in sizes[:number]) for number in range(len(sizes))]
        seen_before = problems.seen
        for each in self._means.threads.in_order(self._parts(readers), self._made, size=_size_of, room=self._room):
            if each.source == len(ledger.readers):
                ledger.begin(readers[each.source].name)
                seen_before = problems.seen
            for problem in each.problems:
                problems.report(problem)
            name = readers[each.source].name
            if each.batch is None:
                if name and ledger.readers[each.source] == ledger.documents and problems.seen == seen_before:
                    problems.report(empty_file(name))
            elif len(each.batch) and each.made is not None:
                ledger.add(each.batch)
                yield each.batch, each.made
                if total is not None and each.batch.resume_at:
                    times.step("read", before[each.source] + each.batch.resume_at[0], total, "bytes")
                else:
                    times.step("read", ledger.documents, None, "documents")
        for problem in ledger.repeated_ids():
            problems.report(problem)

    def _parts(self, readers: Sequence[BatchReader]) -> Iterator[_ReadPart]:
        """One thread at a time is here."""
        found: list[Problem] = []
        for number, reader in enumerate(readers):
            parts = reader.parts(found.append)
            part: SourcePart | None = None
            while True:
                with self._means.times.timed("read"):
                    part = next(parts, None)
                yield _ReadPart(number, found.copy(), part)
                found.clear()
                if part is None:
                    break

    def _made(self, taken: _ReadPart) -> _Done[Made]:
        """Any thread is here, several at a time."""
        source, problems, part = taken
        if part is None:
            return _Done(source, problems, None, None)
        with self._means.times.timed("read"):
            batch = part.make(problems.append)
            batch.id_hashes = id_hashes(batch.ids)
        made = self._make_of(batch) if len(batch) else None
        if batch.lines:
            batch.lines.let_go()
            batch.lines = None
        return _Done(source, problems, batch, made)


def _size_of(taken: _ReadPart) -> int:
    return taken.part.size if taken.part else 0
