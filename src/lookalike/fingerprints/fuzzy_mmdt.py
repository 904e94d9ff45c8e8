"""mmdt: digests of bytes and files, equal to those of the package ``python_mmdt``."""

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

FARTHEST = 1020  # between digests of which all 16 bytes differ as much as they can
MAX_SIZE = 1 << 30


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
        return 1 - self.distance(other) / FARTHEST

    @staticmethod
    def _pack_digest(value: str) -> bytes:
        return bytes.fromhex(value.replace(":", ""))

    @classmethod
    def _unpack_digest(cls, payload: bytes) -> str:
        return f"{payload[:4].hex()}:{payload[4:].hex()}".upper()


def mmdt(data: Data) -> Mmdt:
    """The mmdt digest of bytes, of a text's UTF-8 bytes, or of a file, which is read into memory: up to 1 GiB."""
    if isinstance(data, Path):
        blocks, size = [], 0
        for block in read_blocks(data):
            size += len(block)
            if size > MAX_SIZE:
                return Mmdt(None, f"too long: more than {MAX_SIZE} bytes, mmdt takes no more")
            blocks.append(bytes(block))
        data = b"".join(blocks)
    own = buffer_of(data, "data")
    return _joined_mmdts(own, array("q", (0, len(own))), 1)[0]


def mmdts(items: Iterable[Data], workers: int = 1) -> list[Mmdt]:
    """The mmdt digests of many inputs. The result does not depend on the number of workers."""
    return batch(items, workers, mmdt, _joined_mmdts)


def _joined_mmdts(data: bytes | memoryview, offsets: array[int], workers: int) -> list[Mmdt]:
    sizes = [offsets[i + 1] - offsets[i] for i in range(len(offsets) - 1)]
    if max(sizes, default=0) > MAX_SIZE:
        raise InputError(f"data of {max(sizes)} bytes: mmdt takes up to {MAX_SIZE}")
    digests = _native.mmdt_hashes(data, offsets, workers).tobytes()
    return [Mmdt(None, EMPTY) if not size else Mmdt(Mmdt._unpack_digest(digests[20 * i : 20 * i + 20])) for i, size in enumerate(sizes)]
