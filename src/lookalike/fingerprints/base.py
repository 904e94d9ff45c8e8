"""What all fingerprints share: one grammar, one dictionary form, one compact binary form."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

from lookalike.errors import InputError
from lookalike.recipe import require_same

MAGIC = b"LK"
FORMAT = 1
_HEADER = struct.Struct("<2sBBH")  # magic, format, length of the kind's name, length of the recipe id


@runtime_checkable
class Fingerprint(Protocol):
    """Anything ``la.fingerprint`` returns."""

    kind: ClassVar[str]

    @property
    def recipe(self) -> str: ...
    def similarity(self, other: Self, /) -> float: ...
    def distance(self, other: Self, /) -> float: ...
    def to_dict(self) -> dict[str, Any]: ...
    def to_bytes(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class NoFingerprint:
    """What stands in for a fingerprint that the thing is too short, too uniform or of the wrong kind for."""

    kind: str
    status: str
    recipe: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {"value": None, "status": self.status} | ({"recipe": self.recipe} if self.recipe else {})


def pack(kind: str, recipe: str, payload: bytes) -> bytes:
    """Header, kind, recipe id, payload: a fingerprint never travels without its recipe."""
    name, identity = kind.encode(), recipe.encode()
    return _HEADER.pack(MAGIC, FORMAT, len(name), len(identity)) + name + identity + payload


def unpack(kind: str, data: bytes) -> tuple[str, bytes]:
    """The recipe id and the payload, after checking that ``data`` is a fingerprint of this kind."""
    if not isinstance(data, bytes):
        raise InputError(f"a {kind} fingerprint in compact form is bytes, not a {type(data).__name__}")
    if len(data) < _HEADER.size or data[:2] != MAGIC:
        raise InputError(f"these {len(data)} bytes are not a {kind} fingerprint: they do not start with {MAGIC!r}")
    _, version, name_size, id_size = _HEADER.unpack_from(data)
    start = _HEADER.size + name_size
    if version != FORMAT or len(data) < start + id_size:
        raise InputError(f"{kind} fingerprint: truncated, or written by a newer release (format {version})")
    found = data[_HEADER.size : start].decode(errors="replace")
    if found != kind:
        raise InputError(f"expected a {kind} fingerprint, found {found!r}")
    return data[start : start + id_size].decode(errors="replace"), data[start + id_size :]


def pack_words(kind: str, recipe: str, words: Sequence[int]) -> bytes:
    """The same with 32-bit numbers as the payload."""
    return pack(kind, recipe, struct.pack(f"<{len(words)}I", *words))


def unpack_words(kind: str, data: bytes) -> tuple[str, tuple[int, ...]]:
    recipe, payload = unpack(kind, data)
    if len(payload) % 4:
        raise InputError(f"{kind} fingerprint: {len(payload)} bytes of values are not a multiple of 4: some are missing")
    return recipe, struct.unpack(f"<{len(payload) // 4}I", payload)


def check_pair(left: Fingerprint, right: object) -> None:
    """Raise unless ``right`` is a fingerprint of the same kind and recipe."""
    if type(left) is not type(right):
        raise InputError(f"cannot compare a {type(left).__name__} with a {type(right).__name__}")
    require_same(left.recipe, right.recipe)


def field(data: Mapping[str, Any], name: str, kind: str, *types: type) -> Any:
    """A required entry of a fingerprint's dictionary."""
    if not isinstance(data, Mapping):
        raise InputError(f"{kind} fingerprint: expected a dictionary, not a {type(data).__name__}")
    value = data.get(name)
    if not isinstance(value, types) or isinstance(value, bool):
        wanted = " or ".join(t.__name__ for t in types)
        raise InputError(f"{kind} fingerprint: {name!r} should be {wanted}, not {value!r}")
    return value
