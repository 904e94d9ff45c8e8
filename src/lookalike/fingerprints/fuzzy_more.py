"""Two more fuzzy hashes of bytes and files: Nilsimsa and mmdt. Digests and similarities equal those of the packages ``nilsimsa`` and
``python_mmdt``; what is said of the others in ``fuzzy`` holds here too.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from lookalike import _native
from lookalike.errors import InputError
from lookalike.fingerprints.fuzzy import EMPTY, Data, FuzzyHash, batch, buffer_of, values_of
from lookalike.io import read_blocks

NILSIMSA_BITS, NILSIMSA_MIN_SIZE = 256, 3
MMDT_FARTHEST = 1020  # between digests of which all 16 bytes differ as much as they can
MMDT_MAX_SIZE = 1 << 30


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
        return max(0.0, 1.0 - self.distance(other) / (NILSIMSA_BITS // 2))

    @staticmethod
    def _pack_digest(value: str) -> bytes:
        return bytes.fromhex(value)

    @classmethod
    def _unpack_digest(cls, payload: bytes) -> str:
        return payload.hex()


@dataclass(frozen=True, slots=True)
class Mmdt(FuzzyHash):
    """An mmdt digest: 8 hexadecimal digits to look it up by, a colon, and 32 that are compared."""

    kind: ClassVar[str] = "mmdt"
    _syntax: ClassVar[re.Pattern[str]] = re.compile(r"[0-9A-F]{8}:[0-9A-F]{32}")
    _described: ClassVar[str] = "8 upper-case hexadecimal digits, a colon and 32 more"

    def distance(self, other: Self, /) -> float:
        """Between the 16 bytes that are compared, as points: 0 to 1020."""
        left, right = (bytes.fromhex(value.partition(":")[2]) for value in values_of(self, other))
        return math.sqrt(sum((one - two) ** 2 for one, two in zip(left, right, strict=True)))

    def similarity(self, other: Self, /) -> float:
        """1 - distance / 1020. Unrelated files often come out above 0.8: they are told apart from 0.95 on."""
        return 1 - self.distance(other) / MMDT_FARTHEST

    @staticmethod
    def _pack_digest(value: str) -> bytes:
        return bytes.fromhex(value.replace(":", ""))

    @classmethod
    def _unpack_digest(cls, payload: bytes) -> str:
        return f"{payload[:4].hex()}:{payload[4:].hex()}".upper()


def nilsimsa(data: Data) -> Nilsimsa:
    """The Nilsimsa digest of bytes, of a text's UTF-8 bytes, or of a file."""
    if isinstance(data, Path):
        state = _native.NilsimsaState()
        for block in read_blocks(data):
            state.update(block)
        return _nilsimsa_print(state.digest(), state.size)
    own = buffer_of(data, "data")
    return _packed_nilsimsas(own, array("q", (0, len(own))), 1)[0]


def mmdt(data: Data) -> Mmdt:
    """The mmdt digest of bytes, of a text's UTF-8 bytes, or of a file, which is read into memory: up to 1 GiB."""
    if isinstance(data, Path):
        blocks, size = [], 0
        for block in read_blocks(data):
            size += len(block)
            if size > MMDT_MAX_SIZE:
                return Mmdt(None, f"too long: more than {MMDT_MAX_SIZE} bytes, mmdt takes no more")
            blocks.append(bytes(block))
        data = b"".join(blocks)
    own = buffer_of(data, "data")
    return _packed_mmdts(own, array("q", (0, len(own))), 1)[0]


def nilsimsas(items: Iterable[Data], workers: int = 1) -> list[Nilsimsa]:
    """The Nilsimsa digests of many inputs. The result does not depend on the number of workers."""
    return batch(items, workers, nilsimsa, _packed_nilsimsas)


def mmdts(items: Iterable[Data], workers: int = 1) -> list[Mmdt]:
    """The mmdt digests of many inputs. The result does not depend on the number of workers."""
    return batch(items, workers, mmdt, _packed_mmdts)


def _nilsimsa_print(digest: bytes, size: int) -> Nilsimsa:
    if size == 0:
        return Nilsimsa(None, EMPTY)
    if size < NILSIMSA_MIN_SIZE:
        return Nilsimsa(None, f"too short: {size} bytes, Nilsimsa needs at least {NILSIMSA_MIN_SIZE}")
    return Nilsimsa(digest.hex())


def _packed_nilsimsas(data: bytes | memoryview, offsets: array[int], workers: int) -> list[Nilsimsa]:
    digests = _native.nilsimsa_hashes(data, offsets, workers).tobytes()
    return [_nilsimsa_print(digests[32 * i : 32 * i + 32], offsets[i + 1] - offsets[i]) for i in range(len(offsets) - 1)]


def _packed_mmdts(data: bytes | memoryview, offsets: array[int], workers: int) -> list[Mmdt]:
    sizes = [offsets[i + 1] - offsets[i] for i in range(len(offsets) - 1)]
    if max(sizes, default=0) > MMDT_MAX_SIZE:
        raise InputError(f"data of {max(sizes)} bytes: mmdt takes up to {MMDT_MAX_SIZE}")
    digests = _native.mmdt_hashes(data, offsets, workers).tobytes()
    return [Mmdt(None, EMPTY) if not size else Mmdt(Mmdt._unpack_digest(digests[20 * i : 20 * i + 20])) for i, size in enumerate(sizes)]
