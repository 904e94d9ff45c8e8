"""Values as COPY reads them in its binary format: arrays of numbers need no Python object for each number then."""

from __future__ import annotations

import struct
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

WORD = 1 << 64
_INTEGER = struct.Struct("!iq")
_LENGTH = struct.Struct("!i")
_ARRAY = struct.Struct("!iiiiii")  # bytes, dimensions, no NULLs, type of the elements, how many, the first one's number
_BIGINT = 20
NULL = _LENGTH.pack(-1)


def integer_field(value: int | None) -> bytes:
    return NULL if value is None else _INTEGER.pack(8, value)


def bytes_field(value: bytes | None) -> bytes:
    return NULL if value is None else _LENGTH.pack(len(value)) + value


def text_field(value: str | None) -> bytes:
    return NULL if value is None else bytes_field(value.encode())


def array_field(values: NDArray[np.int64] | None) -> bytes:
    if values is None:
        return NULL
    elements = np.empty(len(values), dtype=[("length", ">i4"), ("value", ">i8")])
    elements["length"], elements["value"] = 8, values
    data = elements.tobytes()
    return _ARRAY.pack(20 + len(data), 1, 0, _BIGINT, len(values), 1) + data


def pieces(array: NDArray[np.generic], count: int) -> Iterable[bytes]:
    """The parts of an array, one for each document."""
    data = array.tobytes()
    width = len(data) // count
    return (data[i : i + width] for i in range(0, len(data), width))


def mixing(collection: int) -> int:
    """What the keys of a collection are mixed with, so that collections share an index and no entries (splitmix64)."""
    value = (collection + 1) * 0x9E3779B97F4A7C15 % WORD
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % WORD
    value = (value ^ value >> 27) * 0x94D049BB133111EB % WORD
    return value ^ value >> 31


def mixed(values: NDArray[np.uint64], collection: int) -> NDArray[np.int64]:
    return (values ^ np.uint64(mixing(collection))).view(np.int64)
