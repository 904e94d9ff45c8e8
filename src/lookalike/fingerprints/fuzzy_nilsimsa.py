"""Nilsimsa: digests of bytes and files, equal to those of the package ``nilsimsa``."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from lookalike import _native
from lookalike.fingerprints.fuzzy import EMPTY, Data, FuzzyHash, batch, buffer_of, streamed, values_of

BITS, MIN_SIZE = 256, 3


@dataclass(frozen=True, slots=True)
class Nilsimsa(FuzzyHash):
    """A Nilsimsa digest: 64 hexadecimal digits."""

    kind: ClassVar[str] = "nilsimsa"
    _syntax: ClassVar[re.Pattern[str]] = re.compile(r"[0-9a-f]{64}")
    _described: ClassVar[str] = "64 lower-case hexadecimal digits"

    def distance(self, other: Self, /) -> int:
        """In how many of 256 bits the two differ; the score of Nilsimsa is 128 less that."""
        left, right = values_of(self, other)
        return (int(left, 16) ^ int(right, 16)).bit_count()

    def similarity(self, other: Self, /) -> float:
        """The score by 128, and 0 from the 128 bits on in which unrelated data differ."""
        return max(0.0, 1.0 - self.distance(other) / (BITS // 2))

    @staticmethod
    def _pack_digest(value: str) -> bytes:
        return bytes.fromhex(value)

    @classmethod
    def _unpack_digest(cls, payload: bytes) -> str:
        return payload.hex()


def nilsimsa(data: Data) -> Nilsimsa:
    """The Nilsimsa digest of bytes, of a text's UTF-8 bytes, or of a file."""
    if isinstance(data, Path):
        state = streamed(data, _native.NilsimsaState())
        return _nilsimsa_print(state.digest(), state.size)
    own = buffer_of(data, "data")
    return _joined_nilsimsas(own, array("q", (0, len(own))), 1)[0]


def nilsimsas(items: Iterable[Data], workers: int = 1) -> list[Nilsimsa]:
    """The Nilsimsa digests of many inputs. The result does not depend on the number of workers."""
    return batch(items, workers, nilsimsa, _joined_nilsimsas)


def _nilsimsa_print(digest: bytes, size: int) -> Nilsimsa:
    if size == 0:
        return Nilsimsa(None, EMPTY)
    if size < MIN_SIZE:
        return Nilsimsa(None, f"too short: {size} bytes, Nilsimsa needs at least {MIN_SIZE}")
    return Nilsimsa(digest.hex())


def _joined_nilsimsas(data: bytes | memoryview, offsets: array[int], workers: int) -> list[Nilsimsa]:
    digests = _native.nilsimsa_hashes(data, offsets, workers).tobytes()
    return [_nilsimsa_print(digests[32 * i : 32 * i + 32], offsets[i + 1] - offsets[i]) for i in range(len(offsets) - 1)]
