"""Documents that are nothing but numbers, an id and a SimHash, as COPY reads them: made by numpy, all rows of a batch at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lookalike.stores.base import Batch
from lookalike.stores.postgres.rows import COPIED, HEADER, TRAILER

NULL = -1  # as the length of a field


def only_numbers(batch: Batch) -> bool:
    """Whether every document of it is an id, an integer, and a SimHash."""
    others = (batch.digests, batch.minhash, batch.winnowing, batch.ssdeep, batch.tlsh, batch.vector)
    if batch.simhash is None or any(column is not None for column in others):
        return False
    return all(type(id_) is int for id_ in batch.ids) and _nothing(batch.texts) and _nothing(batch.metas)


def _nothing(column: Sequence[str | None]) -> bool:
    return all(value is None for value in column)


def copied_numbers(batch: Batch, collection: int, ordinals: Sequence[int], bits: int) -> bytes:
    import numpy as np

    assert batch.simhash is not None  # noqa: S101 - only_numbers saw to it
    words = batch.simhash
    columns: dict[str, Any] = {"ordinal": ordinals, "id_number": batch.ids, "simhash": words.view(np.int64)}
    if bits == 128:
        columns |= {"simhash": words[0::2].view(np.int64), "simhash_high": words[1::2].view(np.int64)}
    fields: list[tuple[str, str]] = [("fields", ">i2")]
    for name in COPIED:
        fields.append((f"{name} length", ">i4"))
        if name == "collection":
            fields.append((name, ">i4"))
        elif name in columns:
            fields.append((name, ">i8"))
    rows = np.empty(len(batch), dtype=fields)
    rows["fields"] = len(COPIED)
    rows["collection"] = collection
    for name in COPIED:
        rows[f"{name} length"] = 4 if name == "collection" else 8 if name in columns else NULL
    for name, values in columns.items():
        rows[name] = values
    return HEADER + rows.tobytes() + TRAILER
