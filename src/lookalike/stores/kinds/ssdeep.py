"""The kind ``ssdeep``: files that have pieces in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.fingerprints.fuzzy_ssdeep import Ssdeep, ssdeep, ssdeeps
from lookalike.segments.fuzzy import SsdeepSegment
from lookalike.segments.hamming import NO_LIMIT
from lookalike.stores.base import Additions, StoredDocument
from lookalike.stores.kinds.columns import Column
from lookalike.stores.kinds.digests import ByDigest, DigestKind, Fuzzy, FuzzyFound, NearDigests
from lookalike.stores.postgres.copying import array_fields
from lookalike.stores.postgres.digests import ssdeep_pieces, write_pieces
from lookalike.stores.settings import Settings

if TYPE_CHECKING:
    from lookalike.stores.postgres.connections import Connection
    from lookalike.stores.postgres.reading import PostgresReader


CANDIDATES = """
SELECT ordinal, ssdeep FROM lookalike.documents
WHERE collection + 0 = %s AND pieces IS NOT NULL AND pieces && %s::integer[] ORDER BY ordinal
"""  # "+ 0": through the index of pieces
STORED = "SELECT ordinal, pieces FROM lookalike.documents WHERE collection = %s AND ordinal = ANY (%s)"


class NearSsdeep(NearDigests):
    kind, best_first = "ssdeep", -1

    def in_postgres(self, tables: PostgresReader) -> FuzzyFound:
        pieces, _ = ssdeep_pieces([self.digest], tables.collection)
        found = tables.connection.execute(CANDIDATES, (tables.collection, pieces.tolist())).fetchall()
        segment = SsdeepSegment.build(np.array([row for row, _ in found], dtype=np.int64), [digest for _, digest in found])
        near = segment.search(self.digest, self.bound, NO_LIMIT)
        return self.best(near.rows, near.values.astype(np.int64))


class _BySsdeep(ByDigest):
    name, scale, place = "ssdeep", "ssdeep", 6
    digest, make = Ssdeep, staticmethod(ssdeep)

    def near(self, digest: str, threshold: float, limit: int) -> NearDigests:
        return NearSsdeep(digest, max(1, -int(-threshold * 100 + 1e-9)), limit)

    def scored(self, value: int) -> tuple[float, int]:
        return value / 100, 100 - value


class _Ssdeep(DigestKind):
    name = "ssdeep"
    columns = (Column("ssdeep", text=True),)
    segment = SsdeepSegment
    built_from = ("ssdeep",)
    ways = (Fuzzy(), _BySsdeep())
    digest = Ssdeep

    def digests(self, things: Sequence[Any], workers: int) -> Sequence[Ssdeep]:
        return ssdeeps(things, workers)

    # PostgreSQL: pieces of each digest, behind an index

    checked_columns = ("ssdeep",)

    def prepared(self, batch: Additions, collection: int, settings: Settings) -> Any:
        digests = batch.columns.get("ssdeep")
        return None if digests is None else ssdeep_pieces(digests, collection)

    def copied(self, batch: Additions, prepared: Any, collection: int, settings: Settings) -> dict[str, Iterable[bytes]]:
        more = {} if prepared is None else {"pieces": array_fields(*prepared)}
        return super().copied(batch, prepared, collection, settings) | more

    def wrong_rows(self, connection: Connection, collection: int, records: Sequence[StoredDocument], settings: Settings) -> dict[int, Any]:
        digests = {each.row: each.columns["ssdeep"] for each in records if each.columns["ssdeep"] is not None}
        values, offsets = ssdeep_pieces(list(digests.values()), collection)
        stored: dict[int, list[int] | None] = dict(connection.execute(STORED, (collection, list(digests))).fetchall())
        places = pairwise(offsets.tolist())
        return {row: digests[row] for row, (a, b) in zip(digests, places, strict=True) if stored.get(row) != values[a:b].tolist()}

    def problem(self, wrong: int) -> str:
        return f"ssdeep: the pieces of {wrong} digests do not fit them"

    def put_right(self, connection: Connection, collection: int, wrong: Mapping[int, Any]) -> None:
        write_pieces(connection, collection, wrong)


SSDEEP = _Ssdeep()
