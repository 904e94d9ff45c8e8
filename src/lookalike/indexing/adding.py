"""Adding documents: while one batch is being stored, the next is being fingerprinted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from lookalike.errors import InputError
from lookalike.fingerprints.base import check_workers
from lookalike.indexing.fingerprinting import Given, check_id, fingerprinted
from lookalike.stores.base import Added, Batch, Id, Store
from lookalike.stores.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BATCH_DOCUMENTS = 4096
BATCH_CHARACTERS = 16_000_000
BATCH_SIMHASHES = 200_000


def add_documents(store: Store, documents: Iterable[object], progress: Callable[[int], object] | None, workers: int) -> Added:
    check_workers(workers)
    added = updated = 0

    def store_batch(batch: Batch) -> None:
        nonlocal added, updated
        counts = store.write(batch)
        added, updated = added + counts.added, updated + counts.updated
        if progress:
            progress(added + updated)

    batches = _batches(documents)
    first = next(batches, None)
    if first is None:
        return Added(0, 0)
    second = next(batches, None)
    if second is None:  # a single batch has nothing to run beside
        store_batch(fingerprinted(first, store.settings, workers))
        return Added(added, updated)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(fingerprinted, first, store.settings, workers)
        following: Given | None = second
        while following is not None:
            ready = waiting.result()
            waiting = pool.submit(fingerprinted, following, store.settings, workers)
            store_batch(ready)
            following = next(batches, None)
        store_batch(waiting.result())
    return Added(added, updated)


def _batches(documents: Iterable[object]) -> Iterator[Given]:
    given = Given()
    characters = 0
    for item in documents:
        given.append(item)
        characters += len(given.texts[-1])
        if len(given) == BATCH_DOCUMENTS or characters >= BATCH_CHARACTERS:
            yield given
            given, characters = Given(), 0
    if len(given):
        yield given


def simhash_batches(ids: Sequence[Id] | NDArray[Any], words: NDArray[np.uint64], settings: Settings) -> Iterator[Batch]:
    """SimHashes of documents that are elsewhere."""
    if "simhash" not in settings.kinds:
        raise InputError(f"this collection has no simhash fingerprints, only {', '.join(settings.kinds)}")
    listed: Sequence[Id] = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    each = 2 if settings.bits == 128 else 1
    if len(listed) * each != len(words):
        raise InputError(f"ids: {len(listed)} ids for {len(words) // each} values")
    for id_ in listed:
        check_id(id_)
    for first in range(0, len(listed), BATCH_SIMHASHES):
        part = listed[first : first + BATCH_SIMHASHES]
        nothing: Sequence[None] = [None] * len(part)
        yield Batch(part, nothing, nothing, simhash=words[first * each : (first + len(part)) * each])
