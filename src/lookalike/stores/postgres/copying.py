"""Values as COPY reads them in its binary format: arrays of numbers need no Python object for each number then."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

WORD = 1 << 64
HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
TRAILER = b"\xff\xff"
_INTEGER = struct.Struct("!iq")
_LENGTH = struct.Struct("!i")
_ARRAY = struct.Struct("!iiiiii")  # bytes, dimensions, no NULLs, type of the elements, how many, the first one's number
_BIGINT, _INTEGER_TYPE = 20, 23  # of the elements
_ELEMENT = np.dtype([("length", ">i4"), ("value", ">i8")])
NULL = _LENGTH.pack(-1)


def integer_field(value: int | None) -> bytes:
    return NULL if value is None else _INTEGER.pack(8, value)


def bytes_field(value: bytes | None) -> bytes:
    return NULL if value is None else _LENGTH.pack(len(value)) + value


def text_field(value: str | None) -> bytes:
    return NULL if value is None else bytes_field(value.encode())


def binary_array(values: NDArray[np.int64]) -> bytes:
    """An array of ``bigint`` as the server sends and takes it."""
    return _header(len(values))[_LENGTH.size :] + _elements(values, ">i8")


def array_field(values: NDArray[np.int64] | None) -> bytes:
    return NULL if values is None else bytes_field(binary_array(values))


def array_fields(values: NDArray[np.int64] | NDArray[np.int32], offsets: NDArray[np.int64]) -> list[bytes]:
    """The arrays of many documents, one after the other in ``values``; NULL where one is empty."""
    size = 4 + values.dtype.itemsize
    data = _elements(values, values.dtype.newbyteorder(">"))
    type_ = _BIGINT if values.dtype == np.int64 else _INTEGER_TYPE
    places = pairwise(offsets.tolist())
    return [_header(end - first, size, type_) + data[first * size : end * size] if end > first else NULL for first, end in places]


def rows_of_arrays(collection: int, numbers: NDArray[np.int64], arrays: NDArray[np.int64]) -> bytes:
    """Whole rows, each of them a collection, a number and an array of numbers."""
    count, length = arrays.shape
    fields = [("fields", ">i2"), ("collection length", ">i4"), ("collection", ">i4"), ("number length", ">i4"), ("number", ">i8")]
    rows = np.empty(count, dtype=[*fields, ("header", np.void, len(_header(length))), ("elements", _ELEMENT, (length,))])
    rows["fields"], rows["collection length"], rows["collection"] = 3, 4, collection
    rows["number length"], rows["number"] = 8, numbers
    rows["header"] = np.void(_header(length))
    rows["elements"]["length"], rows["elements"]["value"] = 8, arrays
    return HEADER + rows.tobytes() + TRAILER


def _header(count: int, size: int = 12, type_: int = _BIGINT) -> bytes:
    return _ARRAY.pack(20 + count * size, 1, 0, type_, count, 1)


def _elements(values: NDArray[np.generic], type_: object) -> bytes:
    elements = np.empty(len(values), dtype=[("length", ">i4"), ("value", type_)])
    elements["length"], elements["value"] = values.dtype.itemsize, values
    return elements.tobytes()


def distinct_of_each(values: NDArray[np.uint64], offsets: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Of the numbers of many documents, one after the other, the distinct ones of each, ascending, and where those of each begin."""
    document = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.argsort(values)  # twice by one thing: in a third of the time of lexsort
    small = np.uint16 if len(offsets) <= 1 << 16 else np.int64
    order = order[np.argsort(document[order].astype(small), kind="stable")]
    values, document = values[order], document[order]
    first = np.ones(len(values), dtype=bool)
    first[1:] = (values[1:] != values[:-1]) | (document[1:] != document[:-1])
    return values[first], np.searchsorted(document[first], np.arange(len(offsets)))


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
