"""Stretches of documents: what segments are built from, whether it was just added or comes from the database."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.stores.base import Additions
from lookalike.stores.kinds import column_named
from lookalike.stores.kinds.base import Kind
from lookalike.stores.kinds.columns import present


class Stretch(NamedTuple):
    """Rows, ascending, and for each column the documents that have it and their values."""

    rows: NDArray[np.int64]
    columns: dict[str, tuple[NDArray[np.int64], Any]]

    @classmethod
    def stored(cls, rows: Sequence[int], values: Mapping[str, Sequence[Any]], *, records: bool = False) -> Self:
        """From values as SQLite has them, or as ``records`` have them, any of which may be missing."""
        numbers = np.array(rows, dtype=np.int64)
        found = {}
        for name, each in values.items():
            here, kept = present(numbers, each)
            of = column_named(name)
            found[name] = here, of.of_records(kept) if records else of.gathered(kept)
        return cls(numbers, found)

    @classmethod
    def added(cls, first_row: int, batch: Additions, kinds: Sequence[Kind]) -> Self:
        """From a batch that was written with rows from ``first_row`` on."""
        rows = np.arange(first_row, first_row + len(batch), dtype=np.int64)
        values = {"text": batch.texts} | batch.columns
        found = {}
        for name in dict.fromkeys(name for kind in kinds for name in kind.built_from):
            of = column_named(name)
            found[name] = of.present(rows, values[name]) if name in values else (rows[:0], of.gathered([]))
        return cls(rows, found)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Several with the same columns, one after the other, as one; at least one."""
        if len(parts) == 1:
            return parts[0]
        rows = np.concatenate([part.rows for part in parts])
        found = {}
        for name in parts[0].columns:
            own = [part.columns[name] for part in parts]
            here = rows if sum(len(each) for each, _ in own) == len(rows) else np.concatenate([each for each, _ in own])
            values = [each for _, each in own]
            found[name] = here, np.concatenate(values) if isinstance(values[0], np.ndarray) else list(chain.from_iterable(values))
        return cls(rows, found)

    def nbytes(self) -> int:
        """What it takes in memory: a text has up to four bytes for each character, and its UTF-8 beside it once somebody asked for that."""
        return self.text_bytes() + sum(values.nbytes for _, values in self.columns.values() if isinstance(values, np.ndarray))

    def text_bytes(self) -> int:
        """Of this, what grows with the texts."""
        return sum(sum(map(sys.getsizeof, values)) for _, values in self.columns.values() if not isinstance(values, np.ndarray))
