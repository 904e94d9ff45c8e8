"""What fuzzy hashes of bytes and files share; each has a file of its own, ``fuzzy_ssdeep`` and so on.

Digests and scores equal those of the reference tools. All hash raw bytes: a ``str`` is hashed as its UTF-8 bytes, a ``Path`` is
streamed. An input that has no digest gives a fingerprint whose ``value`` is None and whose ``status`` says why; such a fingerprint
cannot be compared.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeVar

from lookalike.checks import check_several, check_workers
from lookalike.errors import InputError
from lookalike.fingerprints.base import check_pair, field, pack, unpack
from lookalike.io import read_blocks
from lookalike.recipe import require_same

Data = bytes | bytearray | memoryview | str | Path

OK = "ok"
EMPTY = "empty"
GROUP = 32 << 20  # bytes that one call of a batch takes, for each worker

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


Fuzzy = TypeVar("Fuzzy", bound=FuzzyHash)
JoinedHash = Callable[[bytes | memoryview, "array[int]", int], list[Fuzzy]]


def values_of(left: Fuzzy, right: Fuzzy) -> tuple[str, str]:
    check_pair(left, right)  # type: ignore[arg-type]  # every one of them is a fingerprint
    if left.value is None or right.value is None:
        status = left.status if left.value is None else right.status
        raise InputError(f"a {left.kind} fingerprint without a value cannot be compared; its status: {status}")
    return left.value, right.value


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


class _State(Protocol):
    def update(self, data: bytes | memoryview, /) -> None: ...


State = TypeVar("State", bound=_State)


def streamed(path: Path, state: State) -> State:
    """The state of a hash after a whole file."""
    for block in read_blocks(path):
        state.update(block)
    return state


def batch(items: Iterable[Data], workers: int, hash_one: Callable[[Data], Fuzzy], hash_joined: JoinedHash[Fuzzy]) -> list[Fuzzy]:
    check_workers(workers)
    if isinstance(items, str | bytes | bytearray | memoryview | Path):
        raise InputError(f"items: expected several inputs, not one {type(items).__name__}: pass a list")
    inputs = list(check_several("items", items, "a list of bytes, texts or Paths"))
    found: dict[int, Fuzzy] = {}
    for group in _groups(inputs, GROUP * workers):
        offsets = array("q", accumulate(map(len, group.values()), initial=0))
        joined = b"".join(group.values()) if len(group) > 1 else next(iter(group.values()))
        found.update(zip(group, hash_joined(joined, offsets, workers), strict=True))
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
