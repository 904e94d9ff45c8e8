"""The kind ``tlsh``: files whose bytes are distributed alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lookalike.fingerprints.fuzzy_tlsh import UNLIKE, Tlsh, tlsh, tlshs
from lookalike.segments.fuzzy import TlshSegment
from lookalike.stores.kinds.columns import Column
from lookalike.stores.kinds.digests import ByDigest, DigestKind, NearDigests


class NearTlsh(NearDigests):
    kind, best_first = "tlsh", 1
    candidates = (
        "SELECT ordinal, tlsh FROM lookalike.documents WHERE collection = %s AND tlsh IS NOT NULL AND substr(tlsh, 5, 2) = ANY (%s)"
    )

    def keys(self) -> list[str]:
        """The length codes, as a TLSH has them, that alone put no more than the bound between two digests."""
        own = int(self.digest[5] + self.digest[4], 16)  # the low digit comes first
        steps = self.bound // 12 if self.bound >= 24 else min(self.bound, 1)
        return sorted({f"{code % 16:X}{code // 16:X}" for code in ((own + step) % 256 for step in range(-steps, steps + 1))})


class _ByTlsh(ByDigest):
    name, scale, place = "tlsh", "tlsh", 5
    digest = Tlsh

    def make(self, thing: Any) -> Tlsh:
        return tlsh(thing)

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


TLSH = _Tlsh()
