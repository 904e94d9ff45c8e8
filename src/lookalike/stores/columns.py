"""Columns of documents: what segments are built from, whether it was just added or comes from the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from lookalike import _native
from lookalike.segments.vectors import has_direction
from lookalike.stores.base import Batch
from lookalike.stores.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ONE_VALUE = ("text", "winnowing", "ssdeep", "tlsh", "structure")


@dataclass(slots=True)
class Columns:
    """Rows, ascending, and for each kind of column the documents that have it and their values."""

    rows: NDArray[np.int64]
    simhash: tuple[NDArray[np.int64], NDArray[np.uint64]] | None = None
    sketches: tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint32]] | None = None  # rows, digests, band keys
    vectors: tuple[NDArray[np.int64], NDArray[np.uint16]] | None = None
    lines: dict[str, tuple[NDArray[np.int64], Sequence[Any]]] = field(default_factory=dict)  # of texts and what else is one value each

    @classmethod
    def stored(cls, rows: Sequence[int], values: Mapping[str, Sequence[Any]], bits: int) -> Self:
        """From the database, where any value may be missing."""
        import numpy as np

        numbers = np.array(rows, dtype=np.int64)
        found = cls(numbers)
        if "simhash" in values:
            here, kept = _present(numbers, values["simhash"])
            if bits == 128:
                found.simhash = here, np.frombuffer(b"".join(kept), dtype=np.uint64)
            else:
                found.simhash = here, np.array(kept, dtype=np.int64).view(np.uint64)
        if "bands" in values:
            here, kept = _present(numbers, values["bands"])
            digests = np.array([digest for digest in values["digest"] if digest is not None], dtype=np.int64).view(np.uint64)
            found.sketches = here, digests, np.frombuffer(b"".join(kept), dtype=np.uint32)
        if "vector" in values:
            here, kept = _present(numbers, values["vector"])
            found.vectors = here, np.frombuffer(b"".join(kept), dtype=np.uint16)
        for name in ONE_VALUE:
            if name in values:
                found.lines[name] = _present(numbers, values[name])
        return found

    @classmethod
    def added(cls, first_row: int, batch: Batch, settings: Settings) -> Self:
        """From a batch that was written with rows from ``first_row`` on."""
        import numpy as np

        rows = np.arange(first_row, first_row + len(batch), dtype=np.int64)
        found = cls(rows)
        nothing = np.zeros(0, dtype=np.int64)
        found.simhash = (nothing, np.zeros(0, np.uint64)) if batch.simhash is None else (rows, batch.simhash)
        if batch.minhash is None or batch.digests is None:
            found.sketches = nothing, np.zeros(0, np.uint64), np.zeros(0, np.uint32)
        else:
            banding = settings.banding
            keys = np.asarray(_native.band_keys(batch.minhash, settings.size, banding.bands, banding.rows))
            found.sketches = rows, batch.digests, keys
        found.vectors = _directed(rows, batch.vector)
        lines = (batch.texts, batch.winnowing, batch.ssdeep, batch.tlsh, batch.structure)
        for name, values in zip(ONE_VALUE, lines, strict=True):
            found.lines[name] = _present(rows, values or [None] * len(batch))
        return found


def _directed(rows: NDArray[np.int64], halves: NDArray[np.uint16] | None) -> tuple[NDArray[np.int64], NDArray[np.uint16]]:
    import numpy as np

    if halves is None or not len(rows):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint16)
    dimensions = len(halves) // len(rows)
    there = has_direction(halves, dimensions)
    return (rows, halves) if there.all() else (rows[there], halves.reshape(-1, dimensions)[there].reshape(-1))


def _present(rows: NDArray[np.int64], values: Sequence[Any]) -> tuple[NDArray[np.int64], Sequence[Any]]:
    import numpy as np

    if None not in values:
        return rows, values
    there = [value is not None for value in values]
    return rows[np.array(there, dtype=bool)], [value for value in values if value is not None]
