"""Winnowing hashes in the database, as ``segments.shared`` searches them: counted and ranked there, compared here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lookalike.segments.passages import PassageSegment, QueryPrints, Sharing
from lookalike.stores.kinds import kind_named
from lookalike.stores.postgres.copying import mixed

if TYPE_CHECKING:
    from lookalike.stores.postgres.reading import PostgresReader

AT_A_TIME = 500  # documents whose passages are worked out together

# "collection + 0" keeps the planner from reading a whole collection by its primary key, which it likes before it has statistics.
FREQUENCIES = """
SELECT found.documents
FROM unnest(%(hashes)s::bigint[]) WITH ORDINALITY AS h (hash, place), LATERAL (
  SELECT count(*) AS documents FROM lookalike.documents
  WHERE collection + 0 = %(collection)s AND hashes IS NOT NULL AND hashes @> ARRAY[h.hash]
) AS found
ORDER BY h.place
"""
SHARING = """
SELECT ordinal, count(*) AS shared, count(*) OVER () AS total
FROM unnest(%(hashes)s::bigint[]) AS h (hash), LATERAL (
  SELECT ordinal FROM lookalike.documents
  WHERE collection + 0 = %(collection)s AND hashes IS NOT NULL AND hashes @> ARRAY[h.hash]
) AS found
GROUP BY ordinal ORDER BY shared DESC, ordinal LIMIT %(limit)s
"""


class StoredPassages:
    """What ``shared_documents`` asks of a segment. Documents have numbers in the order in which ``sharing`` found them."""

    def __init__(self, tables: PostgresReader) -> None:
        self._tables = tables
        self._rows: NDArray[np.int64]

    def _all(self, query: str, values: NDArray[np.uint64], **more: int) -> list[tuple[Any, ...]]:
        hashes = mixed(values, self._tables.collection).tolist()
        return self._tables.connection.execute(query, {"hashes": hashes, "collection": self._tables.collection, **more}).fetchall()

    def frequencies(self, values: NDArray[np.uint64], removed: NDArray[np.int64] | None = None) -> NDArray[np.uint32]:
        return np.array([count for (count,) in self._all(FREQUENCIES, values)], dtype=np.uint32)

    def sharing(self, values: NDArray[np.uint64], removed: NDArray[np.int64], limit: int) -> Sharing:
        found = self._all(SHARING, values, limit=limit)
        self._rows = np.array([ordinal for ordinal, _, _ in found], dtype=np.int64)
        shared = np.array([count for _, count, _ in found], dtype=np.uint32)
        return Sharing(self._rows, np.arange(len(found), dtype=np.uint32), shared, found[0][2] if found else 0)

    def passages(self, query: QueryPrints, documents: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        counts, edges = [np.zeros(1, np.int64)], [np.zeros((0, 4), np.uint32)]
        for first in range(0, len(documents), AT_A_TIME):
            rows = self._rows[documents[first : first + AT_A_TIME]]
            order = np.argsort(rows)
            places = np.empty(len(rows), dtype=np.uint32)
            places[order] = np.arange(len(rows))
            offsets, found = self._segment(rows[order].tolist()).passages(query, places)
            counts.append(np.diff(offsets))
            edges.append(found)
        return np.concatenate(counts).cumsum(), np.concatenate(edges)

    def _segment(self, rows: Sequence[int]) -> PassageSegment:
        kind = kind_named("winnowing")
        segment: PassageSegment = kind.build(self._tables.stretch(rows, kind.built_from), self._tables.settings)
        return segment
