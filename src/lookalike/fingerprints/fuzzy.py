"""Fuzzy hashes of bytes and files: ssdeep (context-triggered piecewise hashing) and TLSH.

Digests and scores equal those of the reference tools, ssdeep and tlsh. Both hash raw bytes: a ``str`` is hashed as its
UTF-8 bytes, a ``Path`` is streamed. An input that has no digest gives a fingerprint whose ``value`` is None and whose
``status`` says why; such a fingerprint cannot be compared.
"""

from __future__ import annotations

import base64
import re
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from lookalike import _native
from lookalike.checks import check_bool, check_several
from lookalike.errors import InputError
from lookalike.fingerprints.base import check_pair, check_workers, field, pack, unpack
from lookalike.io import read_blocks
from lookalike.recipe import require_same

Data = bytes | bytearray | memoryview | str | Path

OK = "ok"
EMPTY = "empty"
GROUP = 32 << 20  # bytes that one call of a batch takes, for each worker

SSDEEP_LEVELS = 31
SSDEEP_MAX_SIZE = 3 << 36
TLSH_MIN_SIZE = 50
TLSH_MAX_SIZE = 4_224_281_216
TLSH_UNLIKE = 300  # the distance from which on the similarity is 0

_BLOCK_SIZES = {str(3 << level): level for level in range(SSDEEP_LEVELS)}
_STATUS, _VALUE = b"\x00", b"\x01"  # what follows in the compact form


@dataclass(frozen=True, slots=True)
class FuzzyHash(ABC):
    """A digest, or the reason why there is none."""

    value: str | None
    status: str = OK

    kind: ClassVar[str]
    _syntax: ClassVar[re.Pattern[str]]
    _described: ClassVar[str]

    def __post_init__(self) -> None:
        if self.value is None:
            if not isinstance(self.status, str) or self.status in ("", OK) or not self.status.isprintable():
                raise InputError(f"{self.kind} fingerprint: status={self.status!r} should say in a printable line why there is no value")
        elif not isinstance(self.value, str) or self._syntax.fullmatch(self.value) is None:
            raise InputError(f"{self.kind} fingerprint: value={self.value!r} is not a digest: give {self._described}")
        elif self.status != OK:
            raise InputError(f"{self.kind} fingerprint: status={self.status!r} contradicts the value: leave it out")

    @property
    def recipe(self) -> str:
        return f"{self.kind}.1"

    @staticmethod
    @abstractmethod
    def _pack_digest(value: str) -> bytes: ...
    @classmethod
    @abstractmethod
    def _unpack_digest(cls, payload: bytes) -> str: ...

    def to_dict(self) -> dict[str, Any]:
        entries: dict[str, Any] = {"value": self.value, "recipe": self.recipe}
        return entries if self.value is not None else entries | {"status": self.status}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        value = field(data, "value", cls.kind, str, type(None))
        found = cls(value) if value is not None else cls(None, field(data, "status", cls.kind, str))
        require_same(found.recipe, field(data, "recipe", cls.kind, str))
        return found

    def to_bytes(self) -> bytes:
        if self.value is None:
            return pack(self.kind, self.recipe, _STATUS + self.status.encode())
        return pack(self.kind, self.recipe, _VALUE + self._pack_digest(self.value))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        recipe, payload = unpack(cls.kind, data)
        if payload[:1] == _VALUE:
            found = cls(cls._unpack_digest(payload[1:]))
        elif payload[:1] == _STATUS:
            found = cls(None, payload[1:].decode("utf-8", "replace"))
        else:
            raise InputError(f"{cls.kind} fingerprint: the payload starts with {payload[:1]!r}, not with 0 or 1")
        require_same(found.recipe, recipe)
        return found


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
        level, first, second = payload[:3] if len(payload) >= 3 else (SSDEEP_LEVELS, 0, 0)
        letters = base64.b64encode(payload[3:]).decode()
        value = f"{3 << level}:{letters[:first]}:{letters[first : first + second]}"
        if level >= SSDEEP_LEVELS or first > 64 or second > 32 or cls._pack_digest(value) != payload:
            raise InputError(f"ssdeep fingerprint: {len(payload)} bytes do not hold a digest: give what to_bytes() made")
        return value


@dataclass(frozen=True, slots=True)
class Tlsh(FuzzyHash):
    """A TLSH digest of version 1: ``T1`` and 70 hexadecimal digits."""

    kind: ClassVar[str] = "tlsh"
    _syntax: ClassVar[re.Pattern[str]] = re.compile(r"T1[0-9A-F]{70}")
    _described: ClassVar[str] = "T1 and 70 upper-case hexadecimal digits"

    def similarity(self, other: Self, /) -> float:
        """1 - distance / 300, and 0 from a distance of 300 on. TLSH itself defines only the distance."""
        return max(0.0, 1.0 - self.distance(other) / TLSH_UNLIKE)

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


Fuzzy = TypeVar("Fuzzy", bound=FuzzyHash)
PackedHash = Callable[[bytes | memoryview, "array[int]", int], list[Fuzzy]]


def values_of(left: Fuzzy, right: Fuzzy) -> tuple[str, str]:
    check_pair(left, right)  # type: ignore[arg-type]  # every one of them is a fingerprint
    if left.value is None or right.value is None:
        status = left.status if left.value is None else right.status
        raise InputError(f"a {left.kind} fingerprint without a value cannot be compared; its status: {status}")
    return left.value, right.value


def ssdeep(data: Data) -> Ssdeep:
    """The ssdeep digest of bytes, of a text's UTF-8 bytes, or of a file."""
    if isinstance(data, Path):
        state = _native.SsdeepState()
        _read(data, state)
        return _ssdeep_print(state.digest(), state.size)
    buffer = buffer_of(data, "data")
    return _ssdeep_print(_native.ssdeep_hash(buffer), len(buffer))


def tlsh(data: Data) -> Tlsh:
    """The TLSH digest of bytes, of a text's UTF-8 bytes, or of a file."""
    if isinstance(data, Path):
        state = _native.TlshState()
        _read(data, state)
        return _tlsh_print(*state.digest(), state.size)
    buffer = buffer_of(data, "data")
    return _tlsh_print(*_native.tlsh_hash(buffer), len(buffer))


def ssdeeps(items: Iterable[Data], workers: int = 1) -> list[Ssdeep]:
    """The ssdeep digests of many inputs. The result does not depend on the number of workers."""
    return batch(items, workers, ssdeep, _packed_ssdeeps)


def tlshs(items: Iterable[Data], workers: int = 1) -> list[Tlsh]:
    """The TLSH digests of many inputs. The result does not depend on the number of workers."""
    return batch(items, workers, tlsh, _packed_tlshs)


def _ssdeep_print(value: str, size: int) -> Ssdeep:
    if size == 0:
        return Ssdeep(None, EMPTY)
    if size > SSDEEP_MAX_SIZE:
        return Ssdeep(None, f"too long: {size} bytes, ssdeep takes at most {SSDEEP_MAX_SIZE}")
    return Ssdeep(value)


def _tlsh_print(status: int, record: bytes, size: int) -> Tlsh:
    if status == 0:
        return Tlsh("T1" + record.hex().upper())
    if size == 0:
        return Tlsh(None, EMPTY)
    reasons = {
        1: f"too short: {size} bytes, TLSH needs at least {TLSH_MIN_SIZE}",
        2: "too little variety: TLSH needs more than half of its buckets filled",
        3: f"too long: {size} bytes, TLSH takes at most {TLSH_MAX_SIZE}",
    }
    return Tlsh(None, reasons[status])


def buffer_of(data: object, name: str) -> bytes | memoryview:
    if isinstance(data, str):
        return data.encode("utf-8", "surrogatepass")
    if isinstance(data, bytes):
        return data
    if not isinstance(data, bytearray | memoryview):
        raise InputError(f"{name}: expected bytes, a text or a Path, not {type(data).__name__}")
    try:
        return memoryview(data).cast("B")
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: this memoryview is not plain contiguous memory ({error}): pass bytes({name})") from error


def _read(path: Path, state: _native.SsdeepState | _native.TlshState) -> None:
    for block in read_blocks(path):
        state.update(block)


def batch(items: Iterable[Data], workers: int, hash_one: Callable[[Data], Fuzzy], hash_packed: PackedHash[Fuzzy]) -> list[Fuzzy]:
    check_workers(workers)
    if isinstance(items, str | bytes | bytearray | memoryview | Path):
        raise InputError(f"items: expected several inputs, not one {type(items).__name__}: pass a list")
    inputs = list(check_several("items", items, "a list of bytes, texts or Paths"))
    found: dict[int, Fuzzy] = {}
    for group in _groups(inputs, GROUP * workers):
        offsets = array("q", accumulate(map(len, group.values()), initial=0))
        packed = b"".join(group.values()) if len(group) > 1 else next(iter(group.values()))
        found.update(zip(group, hash_packed(packed, offsets, workers), strict=True))
    paths = {index: item for index, item in enumerate(inputs) if isinstance(item, Path)}
    if paths:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(workers) as pool:
            found.update(zip(paths, pool.map(hash_one, paths.values()), strict=True))
    return [found[index] for index in range(len(inputs))]


def _groups(inputs: list[Data], limit: int) -> Iterator[dict[int, bytes | memoryview]]:
    """What lies in memory, by position, in groups that end where they reach ``limit`` bytes."""
    group: dict[int, bytes | memoryview] = {}
    size = 0
    for index, item in enumerate(inputs):
        if isinstance(item, Path):
            continue
        group[index] = buffer_of(item, f"items[{index}]")
        size += len(group[index])
        if size >= limit:
            yield group
            group, size = {}, 0
    if group:
        yield group


def _packed_ssdeeps(data: bytes | memoryview, offsets: array[int], workers: int) -> list[Ssdeep]:
    packed, ends = _native.ssdeep_hashes(data, offsets, workers)
    text, at = packed.decode(), ends.tolist()
    return [_ssdeep_print(text[at[i] : at[i + 1]], offsets[i + 1] - offsets[i]) for i in range(len(at) - 1)]


def _packed_tlshs(data: bytes | memoryview, offsets: array[int], workers: int) -> list[Tlsh]:
    statuses, packed = _native.tlsh_hashes(data, offsets, workers)
    records = packed.tobytes()
    return [_tlsh_print(status, records[35 * i : 35 * i + 35], offsets[i + 1] - offsets[i]) for i, status in enumerate(statuses.tolist())]
