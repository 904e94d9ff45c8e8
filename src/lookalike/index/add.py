"""Adding documents: while one batch is being stored, the next is being fingerprinted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from lookalike import _native
from lookalike.checks import check_several
from lookalike.errors import InputError
from lookalike.fingerprints.base import check_workers
from lookalike.fingerprints.minhash import MinHash
from lookalike.index.fingerprinting import Given, fingerprinted, listed_ids
from lookalike.recipe import require_same
from lookalike.stores.base import Added, Batch, Id, Store
from lookalike.stores.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BATCH_DOCUMENTS = 8192
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

    batches = _batches(documents, "structure" in store.settings.kinds)
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


def _batches(documents: Iterable[object], structures: bool) -> Iterator[Given]:
    given = Given(keeps_structures=structures)
    characters = 0
    for item in documents:
        given.append(item)
        characters += len(given.texts[-1])
        if len(given) == BATCH_DOCUMENTS or characters >= BATCH_CHARACTERS:
            yield given
            given, characters = Given(keeps_structures=structures), 0
    if len(given):
        yield given


def _listed(ids: Sequence[Id] | NDArray[Any], values: int, kind: str, settings: Settings) -> list[Id]:
    """The ids, checked, of so many fingerprints."""
    if kind not in settings.kinds:
        raise InputError(f"this collection has no {kind} fingerprints, only {', '.join(settings.kinds)}")
    listed = listed_ids(ids)
    if len(listed) != values:
        raise InputError(f"ids: {len(listed)} ids for {values} values")
    return listed


def _without_text(ids: list[Id]) -> Batch:
    nothing: Sequence[None] = [None] * len(ids)
    return Batch(ids, nothing, nothing)


def simhash_batches(ids: Sequence[Id] | NDArray[Any], words: NDArray[np.uint64], settings: Settings) -> Iterator[Batch]:
    """SimHashes of documents that are elsewhere."""
    each = 2 if settings.bits == 128 else 1
    listed = _listed(ids, len(words) // each, "simhash", settings)
    for first in range(0, len(listed), BATCH_SIMHASHES):
        batch = _without_text(listed[first : first + BATCH_SIMHASHES])
        batch.simhash = words[first * each : (first + len(batch)) * each]
        yield batch


def vector_batches(ids: Sequence[Id] | NDArray[Any], vectors: Any, settings: Settings) -> Iterator[Batch]:
    """Vectors of documents that are elsewhere."""
    from lookalike.index.meaning import given_vectors, require_vectors

    dimensions = require_vectors(settings)
    halves = given_vectors(vectors, settings)
    listed = _listed(ids, len(halves) // dimensions, "vector", settings)
    for first in range(0, len(listed), BATCH_DOCUMENTS):
        batch = _without_text(listed[first : first + BATCH_DOCUMENTS])
        batch.vector = halves[first * dimensions : (first + len(batch)) * dimensions]
        yield batch


def minhash_batches(ids: Sequence[Id] | NDArray[Any], sketches: Sequence[MinHash], settings: Settings) -> Iterator[Batch]:
    """MinHashes of documents that are elsewhere, or of sets."""
    import numpy as np

    sketches = list(check_several("sketches", sketches, "a list of MinHashes, as la.minhash makes them"))
    listed = _listed(ids, len(sketches), "minhash", settings)
    for place, sketch in enumerate(sketches):
        if not isinstance(sketch, MinHash):
            raise InputError(f"sketches[{place}] is a {type(sketch).__name__}: give MinHashes, as la.minhash makes them")
        require_same(sketch.recipe, settings.recipe_of("minhash"))
    for first in range(0, len(listed), BATCH_DOCUMENTS):
        batch = _without_text(listed[first : first + BATCH_DOCUMENTS])
        values = np.array([sketch.values for sketch in sketches[first : first + len(batch)]], dtype=np.uint32)
        batch.minhash = values.reshape(-1)
        # Equal sketches stand for equal contents here: there is nothing else to tell them apart by.
        batch.digests = np.array([_native.checksum(row.view(np.uint8)) for row in values], dtype=np.uint64)
        yield batch
