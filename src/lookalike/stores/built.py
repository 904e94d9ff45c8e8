"""Segments that are made of documents as they are read: for questions that nothing else answers, and for some of the documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.stores.base import StoredDocument
from lookalike.stores.kinds import kind_named
from lookalike.stores.kinds.base import in_parts
from lookalike.stores.settings import Settings
from lookalike.stores.stretches import Stretch

AT_A_TIME = 10_000


def stretch_of(records: Sequence[StoredDocument], columns: Sequence[str]) -> Stretch:
    """Documents, whose rows ascend, as segments are built from them."""
    values = {name: [each.text if name == "text" else each.columns[name] for each in records] for name in columns}
    return Stretch.stored([each.row for each in records], values, records=True)


class BuiltSegments:
    """See ``stores.base.Segments``: one segment of all documents that are given, of which none was removed."""

    def __init__(self, kind: str, records: Iterator[StoredDocument], settings: Settings, documents: int) -> None:
        of = kind_named(kind)
        stretches = (stretch_of(part, of.built_from) for part in in_parts(records, AT_A_TIME))
        self.all: list[Any] = [of.build_all(stretches, settings)]
        self.settings, self.documents = settings, documents
        self.removed: NDArray[np.int64] = np.zeros(0, np.int64)

    def live(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.ones(len(rows), dtype=bool)

    def through_graphs(self, queries: NDArray[np.uint16], limit: int, workers: int) -> tuple[list[Any], str]:
        return [segment.search(queries, 0.0, limit, workers, self.removed) for segment in self.all], ""
