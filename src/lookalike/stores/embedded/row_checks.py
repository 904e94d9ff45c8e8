"""Checks of documents: a checksum of 32 bits for each value of a row, in one column, so that what is read is verified and nothing else.

Check number i, of ``COLUMNS[i]``, is at byte 4·i; those at the end that are 0 may be left out. 0 is the check of NULL. docs/format.md
defines the others. The columns of further kinds, which the table got later, follow in the order in which the table has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lookalike import _native

# The order is that of the format: the usual ones first, so that a row of a SimHash alone has 8 bytes of checks. It never changes.
COLUMNS = ("id", "simhash", "digest", "text", "meta", "bands", "ssdeep", "tlsh", "minhash", "winnowing", "structure", "vector")
_UNCHECKED = ("row", "collection", "checks")


class Damaged(Exception):
    """A row is not what was written; ``stores.database.sql_errors`` says of which store."""


def further_columns(table: Iterable[str]) -> tuple[str, ...]:
    """Of the columns of a table, those of further kinds. A column is only ever added at the end, so their checks stay where they are."""
    return tuple(name for name in table if name not in COLUMNS and name not in _UNCHECKED)


def places_of(names: Iterable[str], further: tuple[str, ...] = ()) -> list[int]:
    """The numbers of the checks of these columns."""
    every = COLUMNS + further
    return [every.index(name) for name in names]


def check_bytes(columns: Mapping[str, Sequence[Any]], first_row: int, further: tuple[str, ...] = ()) -> list[bytearray]:
    """The checks of rows from the first on, as they are stored. The values of a column are numbers, texts, bytes or None."""
    return _native.packed_checks(list(columns.values()), places_of(columns, further), first_row)


def wrong(held: list[Sequence[Any]], places: list[int], all_checked: bool, most: int = 1 << 62) -> list[tuple[int, int]]:
    """Of rows as they were read, each with its number, the values of columns and its checks, those that are not what was written.

    They are given as the place in the list and the number of the column; a row that lost its checks has that of the checks.
    """
    try:
        return _native.wrong_values(held, places, all_checked, most)
    except (TypeError, OverflowError, UnicodeError) as error:
        raise Damaged(f"store.sqlite: a row holds what no document has ({error}); restore it from a copy or an export") from error


class Verifier:
    """Compares columns of a table with their checks, which are to be read behind them."""

    def __init__(self, names: tuple[str, ...], all_checked: bool, further: tuple[str, ...]) -> None:
        self._names, self.all_checked = names, all_checked
        self.places = places_of(names, further)

    def verify(self, held: list[Sequence[Any]]) -> None:
        """Raise ``Damaged`` unless these rows are what was written."""
        if found := wrong(held, self.places, self.all_checked, 1):
            raise self._damaged(held[found[0][0]], found[0][1])

    def _damaged(self, row: Sequence[Any], column: int) -> Damaged:
        if column == len(self._names):
            return Damaged(f"store.sqlite: row {row[0]} has lost its checks; run 'lookalike check --repair'")
        name = self._names[column]
        which = f"document {row[1 + self._names.index('id')]!r:.80}" if "id" in self._names and name != "id" else f"row {row[0]}"
        return Damaged(
            f"store.sqlite: the {name} of {which} is not what was stored; run 'lookalike check --repair' to see what is lost, "
            "and add it again or restore a copy"
        )
