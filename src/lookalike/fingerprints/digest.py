"""Cryptographic digests: are two things the same, byte for byte?

A digest says equal or different and nothing between, so its similarity is 1.0 or 0.0. Files are read in blocks: their
size does not matter. SHAKE has no length of its own; here SHAKE128 gives 32 bytes and SHAKE256 gives 64, the lengths
at which they are as hard to collide as their names promise.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Self

from lookalike.checks import check_workers
from lookalike.errors import InputError, UnknownName
from lookalike.fingerprints.base import check_pair, field, pack, unpack
from lookalike.io import read_blocks

SIZES: Mapping[str, int] = {
    "md5": 16,
    "sha1": 20,
    "sha224": 28,
    "sha256": 32,
    "sha384": 48,
    "sha512": 64,
    "sha3_224": 28,
    "sha3_256": 32,
    "sha3_384": 48,
    "sha3_512": 64,
    "blake2s": 32,
    "blake2b": 64,
    "shake_128": 32,
    "shake_256": 64,
}
"""Bytes of every algorithm's digest. The table is written out, so that it is the same on every Python."""
ALGORITHMS = tuple(SIZES)

Data = bytes | bytearray | memoryview | str | Path

_ITEMS_A_WORKER = 64  # how far a batch runs ahead of its results: bounds the memory of a long generator


@dataclass(frozen=True, slots=True)
class Digest:
    """The digest of some bytes: lower-case hex in ``value``."""

    kind: ClassVar[str] = "digest"

    algorithm: str
    value: str

    def __post_init__(self) -> None:
        check_algorithm(self.algorithm)
        size = SIZES[self.algorithm]
        if not isinstance(self.value, str) or len(self.value) != 2 * size or not set(self.value) <= set("0123456789abcdef"):
            raise InputError(f"digest value={self.value!r}: {self.algorithm} has {2 * size} lower-case hex digits")

    @property
    def recipe(self) -> str:
        return f"digest-{self.algorithm}.1"

    def similarity(self, other: Self, /) -> float:
        """1.0 for equal bytes, 0.0 for others."""
        check_pair(self, other)
        return 1.0 if self.value == other.value else 0.0

    def distance(self, other: Self, /) -> float:
        """0.0 for equal bytes, 1.0 for others."""
        return 1.0 - self.similarity(other)

    def to_dict(self) -> dict[str, Any]:
        return {"value": self.value, "recipe": self.recipe}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        recipe = field(data, "recipe", cls.kind, str)
        return cls(_algorithm_of(recipe), field(data, "value", cls.kind, str))

    def to_bytes(self) -> bytes:
        return pack(self.kind, self.recipe, bytes.fromhex(self.value))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        recipe, payload = unpack(cls.kind, data)
        return cls(_algorithm_of(recipe), payload.hex())


def digest(data: Data, algorithm: str = "sha256") -> Digest:
    """The digest of bytes, of a text, or of a file.

    A ``str`` is text, hashed as UTF-8 (a lone surrogate as the three bytes that UTF-8 would have for it); a ``Path`` is
    a file, read in blocks.
    """
    check_algorithm(algorithm)
    hasher = _new(algorithm)
    if isinstance(data, Path):
        for block in read_blocks(data):
            hasher.update(block)
    elif isinstance(data, str):
        hasher.update(data.encode("utf-8", "surrogatepass"))
    elif isinstance(data, memoryview):
        hasher.update(data if data.c_contiguous else data.tobytes())
    elif isinstance(data, bytes | bytearray):
        hasher.update(data)
    else:
        raise InputError(f"data of type {type(data).__name__}: give bytes, a str for text, or a Path for a file")
    return _finished(algorithm, hasher)


def digests(items: Iterable[Data], algorithm: str = "sha256", workers: int = 1) -> list[Digest]:
    """The digests of many things, in their order, by ``workers`` threads."""
    check_algorithm(algorithm)
    if isinstance(items, str | bytes | bytearray | memoryview | Path) or not isinstance(items, Iterable):
        raise InputError(f"items of type {type(items).__name__}: give a list, or call digest() for one thing")
    check_workers(workers)
    if workers == 1:
        return [digest(item, algorithm) for item in items]
    return list(_threaded(iter(items), algorithm, workers))


def check_algorithm(algorithm: str) -> None:
    """Raise unless there is such an algorithm."""
    if not isinstance(algorithm, str):
        raise InputError(f"algorithm={algorithm!r}: give a name, one of {', '.join(ALGORITHMS)}")
    if algorithm not in SIZES:
        close = difflib.get_close_matches(algorithm.lower(), ALGORITHMS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known algorithms: {', '.join(ALGORITHMS)}"
        raise UnknownName(f"unknown digest algorithm {algorithm!r}; {hint}")


def _threaded(items: Iterator[Data], algorithm: str, workers: int) -> Iterator[Digest]:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        while batch := list(islice(items, workers * _ITEMS_A_WORKER)):
            yield from pool.map(lambda item: digest(item, algorithm), batch)


def _new(algorithm: str) -> Any:
    # A fingerprint is no security measure, and a system in FIPS mode would refuse MD5 as one.
    return hashlib.new(algorithm, usedforsecurity=False)


def _finished(algorithm: str, hasher: Any) -> Digest:
    value = hasher.hexdigest(SIZES[algorithm]) if algorithm.startswith("shake") else hasher.hexdigest()
    return Digest(algorithm, value)


def _algorithm_of(recipe: str) -> str:
    algorithm = recipe.removeprefix("digest-").removesuffix(".1")
    if recipe != f"digest-{algorithm}.1" or algorithm not in SIZES:
        raise InputError(f"digest fingerprint: unknown recipe {recipe!r}; this release knows digest-ALGORITHM.1")
    return algorithm
