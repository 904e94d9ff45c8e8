"""Texts to vectors, many at a time: repeated texts once, known ones from the cache, the rest sorted by length."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lookalike.checks import check_int
from lookalike.embedders.base import Embedder
from lookalike.embedders.cache import VectorCache, chosen_cache
from lookalike.embedders.opening import Model, embedder, embedder_id
from lookalike.embedders.texts import checked_texts
from lookalike.embedders.vectors import checked, unit_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BATCH = 1024  # texts that a model gets at a time, and after which progress is told and the cache is written


@dataclass(frozen=True, slots=True)
class Encoded:
    """A row a text. ``windows`` says in how many parts each text was read: 0 where the model knows nothing of it (its row is 0)."""

    vectors: NDArray[np.float32]
    windows: list[int]
    model: str  # its id

    @property
    def notes(self) -> list[str]:
        """What a reader of the result should know: which texts were longer than the model reads, and which say nothing to it."""
        long, unknown = sum(count > 1 for count in self.windows), self.windows.count(0)
        notes = []
        if long:
            most = max(self.windows)
            notes.append(f"{self.model}: {long} of {len(self.windows)} texts were read in windows, up to {most}, and averaged")
        if unknown:
            notes.append(f"{self.model}: {unknown} of {len(self.windows)} texts have no word that the model knows")
        return notes


def encode(
    texts: Sequence[str],
    model: Model = None,
    *,
    cache: VectorCache | str | os.PathLike[str] | bool | None = None,
    batch_size: int = BATCH,
    progress: Callable[[int], None] | None = None,
) -> Encoded:
    """The vectors of texts, of length 1. A text's vector does not depend on the other texts.

    ``cache``: a folder that keeps vectors, False for none, or None for the one that ``LOOKALIKE_CACHE`` names. ``progress`` is
    told how many texts are done.
    """
    import numpy as np

    check_int("batch_size", batch_size, 1, remedy="give the number of texts at a time")
    asked = checked_texts(texts)
    opened, kept = embedder(model), chosen_cache(cache)
    identity = embedder_id(opened)
    distinct = {text: row for row, text in enumerate(dict.fromkeys(asked))}
    vectors = np.zeros((len(distinct), opened.dimensions), dtype=np.float32)
    windows = [0] * len(distinct)
    missing = list(distinct)
    if kept is not None:
        found = kept.find(identity, missing)
        missing = [text for text in missing if text not in found or len(found[text].vector) != opened.dimensions]
        for text in found.keys() - set(missing):
            vectors[distinct[text]], windows[distinct[text]] = found[text]
    done = len(distinct) - len(missing)
    missing.sort(key=len)
    for at in range(0, len(missing), batch_size):
        some = missing[at : at + batch_size]
        made, counts = computed(opened, some)
        rows = [distinct[text] for text in some]
        vectors[rows] = made
        for row, count in zip(rows, counts, strict=True):
            windows[row] = count
        if kept is not None:
            kept.keep(identity, zip(some, made, counts, strict=True))
        done += len(some)
        if progress is not None:
            progress(done)
    order = [distinct[text] for text in asked]
    return Encoded(vectors[order], [windows[row] for row in order], identity)


def computed(model: Embedder, texts: list[str]) -> tuple[NDArray[np.float32], list[int]]:
    """Rows of length 1, and the windows of each text: 1 where the model does not say, and 0 for a row of zeros."""
    counted: Any = getattr(model, "encode_windows", None)
    if counted is not None:
        vectors, windows = counted(texts)
        return vectors, windows
    vectors = unit_rows(checked(model.encode(texts), len(texts), model.dimensions, model.name))
    return vectors, [int(any(row)) for row in vectors]
