"""Checks of documents: a checksum of 32 bits for each value of a row, in one column, so that what is read is verified and nothing else.

Check number i, of ``COLUMNS[i]``, is at byte 4·i; those at the end that are 0 may be left out. 0 is the check of NULL. docs/format.md
defines the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lookalike import _native

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# The order is that of the format: the usual ones first, so that a row of a SimHash alone has 8 bytes of checks.
COLUMNS = ("id", "simhash", "digest", "text", "meta", "bands", "ssdeep", "tlsh", "minhash", "winnowing", "structure", "vector")
PLACES = {name: place for place, name in enumerate(COLUMNS)}
GOLDEN = 0x9E3779B97F4A7C15


class Damaged(Exception):
    """A row is not what was written; ``stores.database.sql_errors`` says of which store."""


def checks_of(values: Sequence[Any], first_row: int) -> NDArray[np.uint32]:
    """The checks of the values of one column, numbers, texts, bytes or None, in rows from the first on."""
    import numpy as np

    return np.asarray(_native.value_checks(values if isinstance(values, list | tuple) else list(values), first_row))


def checks_of_numbers(numbers: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[np.uint32]:
    """The same of an array of numbers of 64 bits."""
    import numpy as np

    return _salted(numbers.view(np.uint64) * np.uint64(GOLDEN), rows)


def checks_of_parts(array: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[np.uint32]:
    """The same of an array of which every row has a part of the same size, stored as bytes."""
    import numpy as np

    data = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
    offsets = np.arange(len(rows) + 1, dtype=np.int64) * (len(data) // max(len(rows), 1))
    return _salted(np.asarray(_native.hash_strings(data, offsets, False)), rows)


def _salted(hashes: NDArray[np.uint64], rows: NDArray[np.int64]) -> NDArray[np.uint32]:
    """32 bits of a hash and a row, never 0. The row has a part in it: a value of another row is wrong too."""
    import numpy as np

    mixed = (hashes ^ rows.view(np.uint64)) * np.uint64(GOLDEN)
    return np.maximum((mixed >> np.uint64(32)).astype(np.uint32), np.uint32(1))


def packed(checks: dict[str, NDArray[np.uint32]], count: int) -> list[bytearray]:
    """The checks of each row as they are stored."""
    import numpy as np

    width = 1 + max(PLACES[name] for name in checks)
    whole = np.zeros((count, width), dtype="<u4")
    for name, column in checks.items():
        whole[:, PLACES[name]] = column
    data = bytearray(whole.tobytes())
    return [data[i : i + 4 * width] for i in range(0, len(data), 4 * width)]


def packed_row(row: int, names: Iterable[str], values: Iterable[Any]) -> bytes:
    """The checks of one row."""
    checks = dict.fromkeys(COLUMNS, 0) | {name: _native.value_checks((value,), row)[0] for name, value in zip(names, values, strict=True)}
    return b"".join(check.to_bytes(4, "little") for check in checks.values())


def wrong(
    rows: Sequence[int], names: Sequence[str], values: Sequence[Sequence[Any]], stored: Sequence[bytes | None], most: int = 1 << 62
) -> Iterator[tuple[int, str]]:
    """Of rows whose values are given column by column, the places and columns that are not what was written."""
    try:
        places = [PLACES[name] for name in names]
        found = _native.wrong_values(rows, list(values), places, stored, most)  # type: ignore[arg-type]  # lists or tuples, as sqlite3 gives them
    except (TypeError, OverflowError, UnicodeError) as error:
        raise Damaged(f"store.sqlite: a row holds what no document has ({error}); restore it from a copy or an export") from error
    return ((place, names[column]) for place, column in found)


def verify(
    rows: Sequence[int], names: Sequence[str], values: Sequence[Sequence[Any]], stored: Sequence[bytes | None], all_checked: bool
) -> None:
    """Raise ``Damaged`` unless these values are those that were written."""
    if all_checked and None in stored:
        raise Damaged(f"store.sqlite: row {rows[list(stored).index(None)]} has lost its checks; run 'lookalike check --repair'")
    for place, name in wrong(rows, names, values, stored, 1):
        which = f"document {values[names.index('id')][place]!r:.80}" if "id" in names and name != "id" else f"row {rows[place]}"
        raise Damaged(
            f"store.sqlite: the {name} of {which} is not what was stored; run 'lookalike check --repair' to see what is lost, "
            "and add it again or restore a copy"
        )
