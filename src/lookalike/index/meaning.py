"""Searching by meaning: the model of a collection, and what its vectors find."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lookalike.embedders.base import Embedder
from lookalike.embedders.opening import embedder
from lookalike.errors import InputError, RecipeMismatch
from lookalike.index.matches import Match, Matches
from lookalike.segments.graphs import GRAPH_NOTE
from lookalike.segments.vectors import encoded, has_direction, unit_halves
from lookalike.stores.base import Reader
from lookalike.stores.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
    # Without a threshold nothing says which documents match, and a graph does not know how many there are: then as many as were found.
    total = None if threshold is None or GRAPH_NOTE in found.notes else int(found.totals[0])
    return Matches((Match(records[row].id, cosine, 1 - cosine) for row, cosine in pairs), total, [*notes, *found.notes])
