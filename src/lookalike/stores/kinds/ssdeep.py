"""The kind ``ssdeep``: files that have pieces in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lookalike.fingerprints.fuzzy_ssdeep import Ssdeep, ssdeep, ssdeeps
from lookalike.segments.fuzzy import SsdeepSegment
from lookalike.stores.kinds.columns import Column
from lookalike.stores.kinds.digests import ByDigest, DigestKind, Fuzzy, NearDigests


class NearSsdeep(NearDigests):
    kind, best_first = "ssdeep", -1
    candidates = (
        "SELECT ordinal, ssdeep FROM lookalike.documents"
        " WHERE collection = %s AND ssdeep IS NOT NULL AND split_part(ssdeep, ':', 1) = ANY (%s)"
    )

    def keys(self) -> list[str]:
        """Letters at one block size say nothing of letters at another: only neighbours have one in common."""
        size = int(self.digest.partition(":")[0])
        return [str(size), str(2 * size), str(size // 2)]


class _BySsdeep(ByDigest):
    name, scale, place = "ssdeep", "ssdeep", 6
    digest = Ssdeep

    def make(self, thing: Any) -> Ssdeep:
        return ssdeep(thing)

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


SSDEEP = _Ssdeep()
