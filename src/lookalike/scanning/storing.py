"""Documents on their way into a store: some are stored while the files of others are read, and compared while they are at hand."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from lookalike.errors import InputError
from lookalike.index.index import Index
from lookalike.io import open_file
from lookalike.model import Document
from lookalike.scanning.folder import unreadable
from lookalike.stores.base import Added, StoredDocument
from lookalike.stores.clustering import Clustering
from lookalike.stores.clusters import Clusters
from lookalike.stores.embedded.store import EmbeddedStore
from lookalike.stores.kinds.near import text_clustering

# Documents that are stored at a time: what a scan that is stopped does not have to read again. Of long ones fewer, as they are in memory.
BATCH, BATCH_SIZE = 64, 4_000_000  # documents, and characters and bytes
WAITING = 4  # batches. Now and then storing takes as long as reading several, when segments are merged
# Bytes of texts that are built into segments at a time: they wait in memory, and building takes about twice as much again.
SEALED = 32 << 20
# Bytes of the largest file that is made by merging: it is made in memory. Four segments of so many texts make one of 64 MB, which stays.
MERGED = 100 << 20
MEMORY = 176 << 20  # for comparing, with what a process takes anyway: 32 MB are features of texts


class Storing:
    """Stores what it takes in its order, in a thread of its own."""

    def __init__(self, index: Index, threshold: float) -> None:
        self._index = index
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="lookalike-storing")
        self._waiting: deque[Future[None]] = deque()
        self._batch: list[Document] = []
        self._size = 0
        self._stored = 0
        self._clustering = _clustering_of(index, threshold)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._pool.shutdown(cancel_futures=True)
        if self._clustering is not None:
            self._clustering.close()

    def take(self, documents: Sequence[Document]) -> None:
        self._batch += documents
        self._size += sum(len(each.text or "") + len(each.data or b"") for each in documents)
        if len(self._batch) >= BATCH or self._size >= BATCH_SIZE:
            self._hand_over()

    def _hand_over(self) -> None:
        if len(self._waiting) >= WAITING:
            self._waiting.popleft().result()
        self._waiting.append(self._pool.submit(self._store, self._batch))
        self._batch, self._size = [], 0

    def _store(self, batch: list[Document]) -> None:
        added = self._add(batch)
        self._stored += added.added
        if self._clustering is None:
            return
        if added.added == len(batch):
            self._clustering.offer([StoredDocument(0, each.id, each.text) for each in batch if each.text is not None])
        else:  # two files with one name: which of them is in the store, and behind which others, the store knows
            self._clustering.close()
            self._clustering = None

    def _add(self, batch: list[Document]) -> Added:
        """Files may go, or be locked, after their text was read and before their digests are taken: that costs these files alone."""
        while True:
            try:
                return self._index.add(batch)
            except InputError:
                lost = {place: said for place, each in enumerate(batch) if each.path is not None and (said := _problem(each.path))}
                if not lost:
                    raise
                for place, said in lost.items():
                    batch[place] = unreadable(str(batch[place].meta["file"]), said)

    def finish(self) -> Clusters | None:
        """Waits until all is stored. Near-copies, as ``index.clusters("near")`` finds them, if the store holds nothing else."""
        if self._batch:
            self._hand_over()
        while self._waiting:
            self._waiting.popleft().result()
        return self._clustering.clusters() if self._clustering is not None and len(self._index) == self._stored else None


def _problem(path: Path) -> str | None:
    try:
        with open_file(path):
            return None
    except InputError as error:
        return str(error)


def merge_in_little_memory(index: Index) -> None:
    """A scan takes as much memory for many files as for some thousand. Whoever opens the store to add more merges what is left."""
    store = getattr(index, "_store", None)
    if isinstance(store, EmbeddedStore):
        store.most_merged_bytes, store.most_sealed_bytes = MERGED, SEALED


def _clustering_of(index: Index, threshold: float) -> Clustering | None:
    """Only of a new store, and of one that has documents in the order in which they were added."""
    store = getattr(index, "_store", None)  # one elsewhere has none
    if not isinstance(store, EmbeddedStore) or len(index):
        return None
    return text_clustering(store.settings, threshold, MEMORY)
