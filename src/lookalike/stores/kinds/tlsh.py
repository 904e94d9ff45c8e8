"""The kind ``tlsh``: files whose bytes are distributed alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lookalike.fingerprints.fuzzy_tlsh import UNLIKE, Tlsh, tlsh, tlshs
from lookalike.segments.fuzzy import TlshSegment
from lookalike.segments.hamming import NO_LIMIT
from lookalike.stores.base import Additions
from lookalike.stores.kinds.columns import Column
from lookalike.stores.kinds.digests import ByDigest, DigestKind, FuzzyFound, NearDigests
from lookalike.stores.postgres.digests import add_block, compact_blocks, make_blocks, near_tlsh, wrong_blocks
from lookalike.stores.settings import Settings

if TYPE_CHECKING:
    from lookalike.stores.postgres.connections import Connection
    from lookalike.stores.postgres.reading import PostgresReader


class NearTlsh(NearDigests):
    kind, best_first = "tlsh", 1

    def in_postgres(self, tables: PostgresReader) -> FuzzyFound:
        return self.best(*near_tlsh(tables.connection, tables.collection, tables.kept, self.digest, self.bound, NO_LIMIT))


class _ByTlsh(ByDigest):
    name, scale, place = "tlsh", "tlsh", 5
    digest, make = Tlsh, staticmethod(tlsh)

    def near(self, digest: str, threshold: float, limit: int) -> NearDigests:
        return NearTlsh(digest, int((1 - threshold) * UNLIKE + 1e-9), limit)

    def scored(self, value: int) -> tuple[float, int]:
        return max(0.0, 1 - value / UNLIKE), value


class _Tlsh(DigestKind):
    name = "tlsh"
    columns = (Column("tlsh", text=True),)
    segment = TlshSegment
    built_from = ("tlsh",)
    ways = (_ByTlsh(),)
    digest = Tlsh

    def digests(self, things: Sequence[Any], workers: int) -> Sequence[Tlsh]:
        return tlshs(things, workers)

    # PostgreSQL: blocks of many digests, which are read whole

    def add_rows(self, connection: Connection, collection: int, ordinals: Sequence[int], batch: Additions, prepared: Any) -> None:
        add_block(connection, collection, ordinals, batch.columns.get("tlsh") or [None] * len(batch))

    def drop_unused(self, connection: Connection, collection: int) -> None:
        compact_blocks(connection, collection)

    def wrong_tables(self, connection: Connection, collection: int, settings: Settings) -> dict[int, Any]:
        return wrong_blocks(connection, collection)

    def problem(self, wrong: int) -> str:
        return f"tlsh: {wrong} digests are in no block, or others are"

    def put_right(self, connection: Connection, collection: int, wrong: Mapping[int, Any]) -> None:
        make_blocks(connection, collection)


TLSH = _Tlsh()
