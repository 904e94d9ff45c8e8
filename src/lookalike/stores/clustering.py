"""Clusters of a whole collection, by leaders: a document joins an older one that was kept, verified against it, or is kept.

The documents are read oldest first and offered to the same rule that dedupe follows (``lookalike.leaders``), with bands for the
threshold that is asked for, whatever the collection's own are made for: the answer is that of dedupe.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from lookalike.leaders.decider import Decider
from lookalike.leaders.rule import Rule
from lookalike.leaders.sketching import Sketches
from lookalike.stores.base import OnProgress, Reader, StoredDocument
from lookalike.stores.clusters import Cluster, Clusters, Member
from lookalike.stores.ids import Id
from lookalike.system import usable_cores

Sketch = Callable[[Sequence[StoredDocument]], Sketches]
AT_A_TIME = 1024
CHARACTERS_AT_A_TIME = 4_000_000
MEMORY = 256 << 20  # what is beyond goes to files
FULL_BUCKETS = 1  # named: one is enough to say so


def having(reader: Reader, column: str, *others: str) -> Iterator[StoredDocument]:
    """The documents with something in a column, oldest first."""
    return (record for record in reader.scan((column, *others)) if record.columns[column] is not None)


def _batches(records: Iterator[StoredDocument]) -> Iterator[list[StoredDocument]]:
    """Some thousand documents at a time, and of long ones fewer."""
    batch: list[StoredDocument] = []
    characters = 0
    for record in records:
        batch.append(record)
        characters += len(record.text or "")
        if len(batch) >= AT_A_TIME or characters >= CHARACTERS_AT_A_TIME:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


class Clustering:
    """Takes documents oldest first, some at a time. What it needs beyond ``memory`` goes to files, until it is closed."""

    def __init__(self, rule: Rule, sketch: Sketch, memory: int = MEMORY) -> None:
        self._sketch = sketch
        self._folders = ExitStack()
        self._decider = Decider(rule, memory, self._folder, usable_cores())
        self._kept: dict[int, Id] = {}
        self._members: dict[int, list[Member]] = {}
        self.done = 0

    def _folder(self) -> Path:
        return Path(self._folders.enter_context(tempfile.TemporaryDirectory(prefix="lookalike-")))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._folders.close()

    def offer(self, batch: Sequence[StoredDocument]) -> None:
        leaders, similarities = self._decider.offer(self._sketch(batch))
        for record, leader, similarity in zip(batch, leaders.tolist(), similarities.tolist(), strict=True):
            if leader < 0:
                self._kept[self.done] = record.id
            else:
                self._members.setdefault(leader, []).append(Member(record.id, similarity))
            self.done += 1

    def clusters(self) -> Clusters:
        """Those of all documents so far."""
        found = Clusters(Cluster(self._kept[leader], tuple(joined)) for leader, joined in sorted(self._members.items()))
        if full := self._decider.hot_buckets(FULL_BUCKETS):
            name = self._kept[full[0][2]]
            found.notes.append(f"many variants of {name!r} are just below the threshold: some documents were not compared with all of them")
        return found


def clusters_of(records: Iterator[StoredDocument], rule: Rule, sketch: Sketch, progress: OnProgress | None) -> Clusters:
    with Clustering(rule, sketch) as clustering:
        for batch in _batches(records):
            clustering.offer(batch)
            if progress:
                progress(clustering.done)
        return clustering.clusters()
