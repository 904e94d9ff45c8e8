"""Documents that are about to be added, as a store that can be searched: within a batch they are compared as stored ones are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lookalike.stores.base import Additions, Question, StoredDocument
from lookalike.stores.fields import FieldRange
from lookalike.stores.ids import Id
from lookalike.stores.kinds import column_named, kind_named
from lookalike.stores.settings import Settings
from lookalike.stores.stretches import Stretch

Answer = TypeVar("Answer")


class Newcomers:
    """See ``stores.base.Reader``. A document's row is its place in the batch; only those that were ``shown`` are found."""

    stores_all_columns = True

    def __init__(self, batch: Additions, settings: Settings) -> None:
        self._batch, self.settings = batch, settings
        self._shown = np.zeros(len(batch), dtype=bool)
        self._parts: dict[str, Any] = {}
        self._columns: dict[str, Sequence[Any]] = {}

    def show(self, place: int, shown: bool = True) -> None:
        self._shown[place] = shown

    def count(self) -> int:
        return int(self._shown.sum())

    def rows_of(self, ids: Sequence[Id]) -> dict[Id, int]:
        wanted = set(ids)
        return {id_: place for place, id_ in enumerate(self._batch.ids) if self._shown[place] and id_ in wanted}

    def ids_of(self, rows: Sequence[int]) -> dict[int, Id]:
        return {row: self._batch.ids[row] for row in rows if self._shown[row]}

    def records(self, rows: Sequence[int], columns: Sequence[str]) -> dict[int, StoredDocument]:
        return {row: self._record(row, columns) for row in rows}

    def _record(self, row: int, columns: Sequence[str]) -> StoredDocument:
        values = {name: self._value(name, row) for name in columns if name not in ("text", "meta")}
        return StoredDocument(row, self._batch.ids[row], self._batch.texts[row], self._batch.metas[row], values)

    def _value(self, name: str, row: int) -> Any:
        if name not in self._columns:
            column = self._batch.columns.get(name)
            self._columns[name] = () if column is None else column_named(name).stored(column, len(self._batch))
        stored = self._columns[name]
        value = stored[row] if len(stored) else None
        return None if value is None else column_named(name).read(bytes(value) if isinstance(value, bytearray) else value)

    def scan(self, columns: Sequence[str], first: int = 0) -> Iterator[StoredDocument]:
        return (self._record(row, columns) for row in np.flatnonzero(self._shown).tolist() if row >= first)

    def find(self, question: Question[Answer]) -> Answer:
        self.settings.require(question.kind)
        if question.kind not in self._parts:
            of = kind_named(question.kind)
            self._parts[question.kind] = of.build(Stretch.added(0, self._batch, [of]), self.settings)
        return question.in_segments(_Shown(self, self._parts[question.kind]))

    def rows_within(self, within: FieldRange, most: int) -> None:
        """Nothing of them is indexed."""

    def hidden(self) -> tuple[int, ...]:
        return ()

    def links(self, rows: Sequence[int]) -> dict[int, tuple[int, float]]:
        return {}  # whoever is linked is not shown where only leaders are

    def linked_to(self, rows: Sequence[int] | None) -> list[tuple[int, int, float]]:
        return []

    def expirations(self, rows: Sequence[int]) -> dict[int, int]:
        return {}


class _Shown:
    """See ``stores.base.Segments``: those that are not shown yet count as removed."""

    def __init__(self, among: Newcomers, segment: Any) -> None:
        self.settings, self.documents, self.all = among.settings, among.count(), [segment]
        self._shown = among._shown
        self.removed: NDArray[np.int64] = np.flatnonzero(~self._shown)

    def live(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self._shown[rows]
        return found

    def through_graphs(self, queries: NDArray[np.uint16], limit: int, workers: int) -> tuple[list[Any], str]:
        return [segment.search(queries, 0.0, limit, workers, self.removed) for segment in self.all], ""
