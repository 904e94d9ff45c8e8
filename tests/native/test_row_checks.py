"""The checks of rows: the kernel against the definition of docs/format.md."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike import _native
from lookalike.stores.embedded import row_checks
from reference import token_hash

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
values = st.none() | st.text(st.characters(exclude_categories=["Cs"])) | st.binary() | st.integers(-(2**63), 2**63 - 1)


def reference_check(value: object, row: int) -> int:
    if value is None:
        return 0
    hashed = value * GOLDEN & MASK if isinstance(value, int) else token_hash(value.encode() if isinstance(value, str) else value)
    return max(((hashed ^ row) * GOLDEN & MASK) >> 32, 1)


@given(st.lists(values, max_size=20), st.integers(0, 2**40))
def test_checks_are_as_defined(column: list[object], first: int) -> None:
    expected = [reference_check(value, row) for row, value in enumerate(column, first)]
    assert list(_native.value_checks(column, first)) == list(_native.value_checks(tuple(column), first)) == expected


@given(st.lists(st.integers(0, MASK), min_size=1, max_size=9), st.integers(0, 2**40))
def test_arrays_have_the_checks_of_their_stored_values(numbers: list[int], first: int) -> None:
    array, rows = np.array(numbers, dtype=np.uint64), np.arange(first, first + len(numbers), dtype=np.int64)
    stored = array.view(np.int64).tolist()
    assert row_checks.checks_of_numbers(array, rows).tolist() == list(_native.value_checks(stored, first))
    parts = [number.to_bytes(8, "little") for number in numbers]
    assert row_checks.checks_of_parts(array, rows).tolist() == list(_native.value_checks(parts, first))


@given(st.lists(st.tuples(values, values), min_size=1, max_size=9), st.data())
def test_every_change_is_found(rows: list[tuple[object, object]], data: st.DataObject) -> None:
    names = ["id", "text"]
    columns = [list(column) for column in zip(*rows, strict=True)]
    numbers = list(range(5, 5 + len(rows)))
    stored = [row_checks.packed_row(number, names, row) for number, row in zip(numbers, rows, strict=True)]
    assert list(row_checks.wrong(numbers, names, columns, stored)) == []
    place, column = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.integers(0, 1))
    other = data.draw(
        values.filter(lambda value: reference_check(value, numbers[place]) != reference_check(rows[place][column], numbers[place]))
    )
    columns[column][place] = other
    assert list(row_checks.wrong(numbers, names, columns, stored)) == [(place, names[column])]
    stored[place] = None
    assert list(row_checks.wrong(numbers, names, columns, stored)) == []


def test_what_comes_from_outside_is_checked() -> None:
    for wrong in ([1.5], ["\ud800"], [2**64], "text", {1}):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            _native.value_checks(wrong, 0)
    for arguments in (
        ([1], [[1]], [], [b""], 1),
        ([1], [[1]], [0], [], 1),
        ([1], [[1, 2]], [0], [b""], 1),
        ([1], [[1]], [0], [7], 1),
        (["a"], [[1]], [0], [b""], 1),
        ([1], [[1]], [2**70], [b""], 1),
    ):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            _native.wrong_values(*arguments)
    assert _native.wrong_values([1], [[1]], [2**62], [b"abc"], 1) == [(0, 0)]
