"""TLSH: locality-sensitive hashes of bytes and files, equal to those of the tool of that name."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from lookalike import _native
from lookalike.checks import check_bool
from lookalike.fingerprints.fuzzy import EMPTY, Data, FuzzyHash, batch, buffer_of, streamed, values_of

MIN_SIZE = 50
MAX_SIZE = 4_224_281_216
UNLIKE = 300  # the distance from which on the similarity is 0


@dataclass(frozen=True, slots=True)
class Tlsh(FuzzyHash):
    """A TLSH digest of version 1: ``T1`` and 70 hexadecimal digits."""

    kind: ClassVar[str] = "tlsh"
    _syntax: ClassVar[re.Pattern[str]] = re.compile(r"T1[0-9A-F]{70}")
    _described: ClassVar[str] = "T1 and 70 upper-case hexadecimal digits"

    def similarity(self, other: Self, /) -> float:
        """1 - distance / 300, and 0 from a distance of 300 on. TLSH itself defines only the distance."""
        return max(0.0, 1.0 - self.distance(other) / UNLIKE)

    def distance(self, other: Self, /, *, with_length: bool = True) -> int:
        """0 for (almost) equal inputs, growing without a fixed end. ``with_length=False`` leaves the lengths out."""
        left, right = values_of(self, other)
        return _native.tlsh_distance(self._pack_digest(left), self._pack_digest(right), check_bool("with_length", with_length))

    @staticmethod
    def _pack_digest(value: str) -> bytes:
        return bytes.fromhex(value[2:])

    @classmethod
    def _unpack_digest(cls, payload: bytes) -> str:
        return "T1" + payload.hex().upper()


def tlsh(data: Data) -> Tlsh:
    """The TLSH digest of bytes, of a text's UTF-8 bytes, or of a file."""
    if isinstance(data, Path):
        state = streamed(data, _native.TlshState())
        return _tlsh_print(*state.digest(), state.size)
    buffer = buffer_of(data, "data")
    return _tlsh_print(*_native.tlsh_hash(buffer), len(buffer))


def tlshs(items: Iterable[Data], workers: int = 1) -> list[Tlsh]:
    """The TLSH digests of many inputs. The result does not depend on the number of workers."""
    return batch(items, workers, tlsh, _joined_tlshs)


def _tlsh_print(status: int, record: bytes, size: int) -> Tlsh:
    if status == 0:
        return Tlsh("T1" + record.hex().upper())
    if size == 0:
        return Tlsh(None, EMPTY)
    reasons = {
        1: f"too short: {size} bytes, TLSH needs at least {MIN_SIZE}",
        2: "too little variety: TLSH needs more than half of its buckets filled",
        3: f"too long: {size} bytes, TLSH takes at most {MAX_SIZE}",
    }
    return Tlsh(None, reasons[status])


def _joined_tlshs(data: bytes | memoryview, offsets: array[int], workers: int) -> list[Tlsh]:
    statuses, digests = _native.tlsh_hashes(data, offsets, workers)
    records = digests.tobytes()
    return [_tlsh_print(status, records[35 * i : 35 * i + 35], offsets[i + 1] - offsets[i]) for i, status in enumerate(statuses.tolist())]
