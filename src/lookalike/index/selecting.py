"""Which documents a filter can let through at all, by the fields that a collection has indexed: a few rows instead of all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lookalike.index.where import Both, Compared, Either, Filter
from lookalike.stores.base import Question, Reader, StoredDocument
from lookalike.stores.built import BuiltSegments
from lookalike.stores.fields import FieldRange, key_of
from lookalike.stores.settings import Settings

# Rows that are read and searched one by one. Of a filter that lets more through, enough of what is found fits it anyway.
MOST_SELECTED = 20_000
AT_A_TIME = 1000
Answer = TypeVar("Answer")
Rows = NDArray[np.int64]


def selected(reader: Reader, settings: Settings, fits: Filter) -> Rows | None:
    """The rows that may fit, ascending; those that do are among them. None: they are too many, or no index tells."""
    if isinstance(fits, Both):
        found = [rows for part in fits.parts if (rows := selected(reader, settings, part)) is not None]
        return reduce(lambda left, right: np.intersect1d(left, right, assume_unique=True), found) if found else None
    if isinstance(fits, Either):
        parts = []
        for part in fits.parts:
            rows = selected(reader, settings, part)
            if rows is None:
                return None
            parts.append(rows)
        return _joined(parts)
    if isinstance(fits, Compared) and fits.name in settings.indexed:
        return _within(reader, fits)
    return None


def _within(reader: Reader, fits: Compared) -> Rows | None:
    if fits.sign in ("!=", "exists"):
        return None
    if fits.sign == "in" and len(fits.value) > MOST_SELECTED:
        return None
    parts = []
    for value in fits.value if fits.sign == "in" else [fits.value]:
        key = key_of(value)
        if key is None:  # neither a number nor a text
            return None
        low, high = (None if fits.sign in ("<", "<=") else key), (None if fits.sign in (">", ">=") else key)
        rows = reader.rows_within(FieldRange(fits.name, low, high), MOST_SELECTED)
        if rows is None:
            return None
        parts.append(rows)
    return _joined(parts)


def _joined(parts: Sequence[Rows]) -> Rows | None:
    rows: Rows = np.unique(np.concatenate([np.zeros(0, np.int64), *parts]))
    return rows if len(rows) <= MOST_SELECTED else None


class Selected:
    """A reader that searches and scans some documents only."""

    def __init__(self, reader: Reader, settings: Settings, rows: Rows) -> None:
        self._reader, self._settings, self._rows = reader, settings, rows
        self._segments: dict[str, BuiltSegments] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def scan(self, columns: Sequence[str], first: int = 0) -> Iterator[StoredDocument]:
        rows = self._rows[np.searchsorted(self._rows, first) :].tolist()
        for at in range(0, len(rows), AT_A_TIME):
            there = self._reader.ids_of(rows[at : at + AT_A_TIME])
            found = self._reader.records(sorted(there), columns)
            yield from (found[row] for row in sorted(found))

    def find(self, question: Question[Answer]) -> Answer:
        kind = question.kind
        self._settings.require(kind)
        if kind not in self._segments:
            from lookalike.stores.kinds import kind_named

            records = self.scan(kind_named(kind).built_from)
            self._segments[kind] = BuiltSegments(kind, records, self._settings, self._reader.count())
        return question.in_segments(self._segments[kind])
