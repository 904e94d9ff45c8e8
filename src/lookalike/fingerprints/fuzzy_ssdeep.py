"""ssdeep: context-triggered piecewise hashes of bytes and files, equal to those of the tool of that name."""

from __future__ import annotations

import base64
import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from lookalike import _native
from lookalike.errors import InputError
from lookalike.fingerprints.fuzzy import EMPTY, Data, FuzzyHash, batch, buffer_of, streamed, values_of

LEVELS = 31
MAX_SIZE = 3 << 36

_BLOCK_SIZES = {str(3 << level): level for level in range(LEVELS)}


@dataclass(frozen=True, slots=True)
class Ssdeep(FuzzyHash):
    """An ssdeep digest: ``block size:letters:letters at twice the block size``."""

    kind: ClassVar[str] = "ssdeep"
    _syntax: ClassVar[re.Pattern[str]] = re.compile(rf"({'|'.join(_BLOCK_SIZES)}):[A-Za-z0-9+/]{{0,64}}:[A-Za-z0-9+/]{{0,32}}")
    _described: ClassVar[str] = "a block size of 3, 6, 12 …, and after a colon each up to 64 and up to 32 letters"

    def similarity(self, other: Self, /) -> float:
        """The score of the ssdeep tool, on a scale of 0 to 1."""
        return (100 - self.distance(other)) / 100

    def distance(self, other: Self, /) -> int:
        """100 less the score of the ssdeep tool."""
        return 100 - _native.ssdeep_score(*values_of(self, other))

    @staticmethod
    def _pack_digest(value: str) -> bytes:
        size, first, second = value.split(":")
        # The letters are those of Base64, so four of them go into three bytes.
        padding = "A" * (-len(first + second) % 4)
        return bytes((_BLOCK_SIZES[size], len(first), len(second))) + base64.b64decode(first + second + padding)

    @classmethod
    def _unpack_digest(cls, payload: bytes) -> str:
        level, first, second = payload[:3] if len(payload) >= 3 else (LEVELS, 0, 0)
        letters = base64.b64encode(payload[3:]).decode()
        value = f"{3 << level}:{letters[:first]}:{letters[first : first + second]}"
        if level >= LEVELS or first > 64 or second > 32 or cls._pack_digest(value) != payload:
            raise InputError(f"ssdeep fingerprint: {len(payload)} bytes do not hold a digest: give what to_bytes() made")
        return value


def ssdeep(data: Data) -> Ssdeep:
    """The ssdeep digest of bytes, of a text's UTF-8 bytes, or of a file."""
    if isinstance(data, Path):
        state = streamed(data, _native.SsdeepState())
        return _ssdeep_print(state.digest(), state.size)
    buffer = buffer_of(data, "data")
    return _ssdeep_print(_native.ssdeep_hash(buffer), len(buffer))


def ssdeeps(items: Iterable[Data], workers: int = 1) -> list[Ssdeep]:
    """The ssdeep digests of many inputs. The result does not depend on the number of workers."""
    return batch(items, workers, ssdeep, _joined_ssdeeps)


def _ssdeep_print(value: str, size: int) -> Ssdeep:
    if size == 0:
        return Ssdeep(None, EMPTY)
    if size > MAX_SIZE:
        return Ssdeep(None, f"too long: {size} bytes, ssdeep takes at most {MAX_SIZE}")
    return Ssdeep(value)


def _joined_ssdeeps(data: bytes | memoryview, offsets: array[int], workers: int) -> list[Ssdeep]:
    digests, ends = _native.ssdeep_hashes(data, offsets, workers)
    text, at = digests.decode(), ends.tolist()
    return [_ssdeep_print(text[at[i] : at[i + 1]], offsets[i + 1] - offsets[i]) for i in range(len(at) - 1)]
