"""Arrays on their way between tasks: a row of Spark holds the arrays of one kind for one partition, as bytes.

Millions of documents become thousands of rows, so Spark moves bytes and looks at nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.corpus.arrow_values import arrow

SCHEMA = "p int, kind int, a binary, b binary, c binary"
MOST_BYTES = 64 << 20  # of the arrays of one row
# Kinds of rows.
DIGESTS, ROWS, FACTS, PROBLEMS, COPIES, MEMBERS, PAIRS, WANTED, CELLS, EDGES, OPEN, CODES, OUTSIDE = range(13)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)

Array = NDArray[Any]


class Blob(NamedTuple):
    """What a task gets or gives: a kind, and up to three arrays as bytes."""

    p: int
    kind: int
    a: bytes = b""
    b: bytes = b""
    c: bytes = b""


def blobs_of(batches: Iterable[Any]) -> Iterator[Blob]:
    """The rows that a task gets, one by one."""
    for batch in batches:
        columns = [batch.column(place) for place in range(5)]
        parts, kinds = (np.asarray(column) for column in columns[:2])
        for place in range(len(batch)):
            yield Blob(int(parts[place]), int(kinds[place]), *(column[place].as_buffer() or b"" for column in columns[2:]))


def by_partition(batches: Iterable[Any]) -> list[tuple[int, dict[int, list[Blob]]]]:
    """All rows of a task: for each partition those of each kind. Several partitions may have come to one task."""
    found: dict[int, dict[int, list[Blob]]] = defaultdict(lambda: defaultdict(list))
    for blob in blobs_of(batches):
        found[blob.p][blob.kind].append(blob)
    return sorted(found.items())


def batch_of(blobs: list[Blob]) -> Any:
    pa = arrow("Spark")
    kinds = (pa.int32(), pa.int32(), pa.binary(), pa.binary(), pa.binary())
    columns = zip(*blobs, strict=True) if blobs else ([] for _ in kinds)
    return pa.RecordBatch.from_arrays([pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)], list(Blob._fields))


def batches_of(blobs: Iterable[Blob]) -> Iterator[Any]:
    """Rows as record batches of a size that every side can hold."""
    held: list[Blob] = []
    size = 0
    for blob in blobs:
        held.append(blob)
        size += len(blob.a) + len(blob.b) + len(blob.c) + 64
        if size >= MOST_BYTES:
            yield batch_of(held)
            held, size = [], 0
    if held:
        yield batch_of(held)


def scattered(kind: int, targets: NDArray[np.uint64], names: NDArray[np.int64], *others: Array) -> Iterator[Blob]:
    """Rows for partitions: to each the names that go there, in ascending order, and up to two arrays beside them."""
    order = np.lexsort((names, targets.astype(np.uint16)))
    ends = np.flatnonzero(np.diff(targets[order])) + 1 if len(order) else np.zeros(0, np.int64)
    for part in np.split(order, ends):
        if len(part):
            yield from pieces(int(targets[part[0]]), kind, names[part], *(other[part] for other in others))


def pieces(target: int, kind: int, names: NDArray[np.int64], *others: Array) -> Iterator[Blob]:
    """The same for one partition: as many rows as it takes. Arrays of two dimensions have a row per name."""
    width = 8 + sum(other.itemsize * int(np.prod(other.shape[1:])) for other in others)
    for first in range(0, len(names), step := max(MOST_BYTES // width, 1)):
        chosen = slice(first, first + step)
        yield Blob(target, kind, coded(names[chosen]), *(np.ascontiguousarray(other[chosen]).tobytes() for other in others))


def target_of(values: NDArray[np.uint64], partitions: int) -> NDArray[np.uint64]:
    """The partition of each value: values that are near each other are spread."""
    return (values * _MULTIPLIER >> np.uint64(32)) % np.uint64(partitions)


def names_of(blobs: Iterable[Blob]) -> NDArray[np.int64]:
    return _concatenated([decoded(blob.a) for blob in blobs], np.dtype(np.int64))


def arrays_of(blobs: Iterable[Blob], b: str, c: str | None = None) -> tuple[Array, ...]:
    """Names and the arrays beside them, of all rows."""
    held = list(blobs)
    found = [names_of(held), _concatenated([np.frombuffer(blob.b, b) for blob in held], np.dtype(b))]
    if c is not None:
        found.append(_concatenated([np.frombuffer(blob.c, c) for blob in held], np.dtype(c)))
    return tuple(found)


def is_in(values: Array, ascending: Array) -> NDArray[np.bool_]:
    """Which of the values are among others, which ascend."""
    if not len(ascending) or not len(values):
        return np.zeros(len(values), np.bool_)
    found: NDArray[np.bool_] = ascending[np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)] == values
    return found


def _concatenated(parts: list[Array], kind: np.dtype[Any]) -> Array:
    return np.concatenate(parts) if parts else np.zeros(0, kind)


def coded(names: NDArray[np.int64]) -> bytes:
    """Whole numbers in few bytes: ascending ones as the first and the steps, in the narrowest type that holds them."""
    if not len(names):
        return b""
    steps = np.diff(names)
    if len(steps) and int(steps.min()) < 0:
        return b"\0" + names.astype("<i8", copy=False).tobytes()
    kind = np.min_scalar_type(int(steps.max())) if len(steps) else np.dtype(np.uint8)
    return bytes((kind.itemsize,)) + names[:1].astype("<i8", copy=False).tobytes() + steps.astype(kind).tobytes()


def decoded(data: bytes) -> NDArray[np.int64]:
    view = memoryview(data)
    if not len(view):
        return np.zeros(0, np.int64)
    if view[0] == 0:
        return np.frombuffer(view[1:], "<i8")
    steps = np.frombuffer(view[9:], np.dtype(f"u{view[0]}"))
    found = np.empty(len(steps) + 1, np.int64)
    found[0] = np.frombuffer(view[1:9], "<i8")[0]
    np.cumsum(steps, dtype=np.int64, out=found[1:])
    found[1:] += found[0]
    return found
