"""Searching by meaning: the model of a collection, and what its vectors find."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lookalike.embedders.base import Embedder
from lookalike.embedders.opening import embedder
from lookalike.errors import InputError, RecipeMismatch
from lookalike.indexing.matches import Cluster, Match, Matches
from lookalike.search.hamming import NO_LIMIT
from lookalike.search.vectors import encoded, has_direction, unit_halves
from lookalike.stores.base import Reader, Record
from lookalike.stores.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lookalike.indexing.clustering import Progress

THRESHOLD = 0.0  # of a search: the best first, however far they are
MANY = 20_000  # documents, from which on a search is worth several threads
CLUSTER_THRESHOLD = 0.9  # of documents that say the same


def require_vectors(settings: Settings) -> int:
    """The dimensions of a collection's vectors."""
    if "vector" not in settings.kinds or settings.dimensions is None:
        raise InputError(
            f"this collection has no vectors to search by meaning, only {', '.join(settings.kinds)}: make another one with a model"
            " (model='use-multilingual', --model)"
        )
    return settings.dimensions


def model_of(settings: Settings) -> Embedder:
    """The model that the collection's vectors are of. The recipe's id covers its version; what it gives is looked at all the same."""
    dimensions = require_vectors(settings)
    model = embedder(settings.model)
    if model.dimensions != dimensions:
        found = f"embedder {settings.model!r} gives vectors of {model.dimensions} dimensions"
        raise RecipeMismatch(f"{found}, and the collection holds some of {dimensions}: use the model that it was made with")
    return model


def text_vectors(texts: Sequence[str], settings: Settings) -> NDArray[np.uint16]:
    return encoded(model_of(settings), texts)[0]


def query_vector(text: str, settings: Settings) -> tuple[NDArray[np.uint16], list[str]]:
    """The vector of a query, and what whoever asks should know about it."""
    return encoded(model_of(settings), [text])


def given_vectors(vectors: Any, settings: Settings, name: str = "vectors") -> NDArray[np.uint16]:
    """Vectors that were made elsewhere, a row each, or a single one."""
    import numpy as np

    dimensions = require_vectors(settings)
    rows = np.asarray(vectors)[None] if name == "vector" and getattr(np.asarray(vectors), "ndim", 0) == 1 else vectors
    return unit_halves(rows, dimensions, name)


def meaning(
    reader: Reader,
    settings: Settings,
    halves: NDArray[np.uint16],
    threshold: float | None,
    limit: int,
    approximate: bool,
    notes: Sequence[str] = (),
) -> Matches:
    """Documents by the cosine of their vectors with one query's."""
    if not has_direction(halves, require_vectors(settings)).all():
        return Matches([], 0, ["the query has no meaning to search by: it is empty, or the model knows nothing of it"])
    workers = (os.cpu_count() or 1) if reader.count() >= MANY else 1
    found = reader.near_vectors(halves, THRESHOLD if threshold is None else threshold, limit, workers, approximate)
    records = reader.records(found.rows.tolist(), ())
    pairs = zip(found.rows.tolist(), found.cosines.tolist(), strict=True)
    # Without a threshold nothing says which documents match: then there are as many as were asked for.
    total = int(found.totals[0]) if threshold else None
    return Matches((Match(records[row].id, cosine, 1 - cosine) for row, cosine in pairs), total, [*notes, *found.notes])


def meaning_clusters(reader: Reader, settings: Settings, threshold: float, progress: Progress) -> list[Cluster]:
    from lookalike.indexing.clustering import NEIGHBOURS, Leaders, in_batches

    dimensions = require_vectors(settings)
    leaders = Leaders()
    for batch in in_batches(reader.scan(("vector",)), progress):
        records = [record for record in batch if record.vector is not None]
        if not records:
            continue
        halves = stored_halves(records)
        found = reader.near_vectors(halves, threshold, NEIGHBOURS, 1)
        for i, record in enumerate(records):
            here = slice(int(found.offsets[i]), int(found.offsets[i + 1]))
            rows, cosines = found.rows[here].tolist(), found.cosines[here].tolist()
            best = _best_leader(rows, cosines, record.row, leaders.ids)
            if best is None and int(found.totals[i]) > len(rows):
                own = halves[i * dimensions : (i + 1) * dimensions]
                more = reader.near_vectors(own, threshold, NO_LIMIT, 1)
                best = _best_leader(more.rows.tolist(), more.cosines.tolist(), record.row, leaders.ids)
            if best is None:
                leaders.keep(record)
            else:
                leaders.join(best[0], record, best[1])
    return leaders.clusters()


def _best_leader(rows: Sequence[int], cosines: Sequence[float], own: int, leaders: dict[int, Any]) -> tuple[int, float] | None:
    """The most similar leader, the oldest of equals."""
    return next(((row, cosine) for row, cosine in zip(rows, cosines, strict=True) if row < own and row in leaders), None)


def stored_halves(records: Sequence[Record]) -> NDArray[np.uint16]:
    import numpy as np

    return np.frombuffer(b"".join(record.vector or b"" for record in records), dtype=np.uint16)
