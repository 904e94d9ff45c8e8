"""The checks of rows: the kernel against the definition of docs/format.md."""

from __future__ import annotations

from pathlib import Path

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


def packed_as_defined(columns: list[list[object]], places: list[int], first: int) -> list[bytes]:
    found = []
    for row, of_row in enumerate(zip(*columns, strict=True), first):
        checks = [0] * (max(places) + 1)
        for place, value in zip(places, of_row, strict=True):
            checks[place] = reference_check(value, row)
        found.append(b"".join(check.to_bytes(4, "little") for check in checks))
    return found


@given(st.lists(st.tuples(values, values, values), max_size=20), st.permutations(range(12)), st.integers(0, 2**40))
def test_checks_are_as_defined(rows: list[tuple[object, ...]], order: list[int], first: int) -> None:
    columns = [[row[i] for row in rows] for i in range(3)]
    expected = packed_as_defined(columns, order[:3], first)
    assert _native.packed_checks(columns, order[:3], first) == _native.packed_checks([*map(tuple, columns)], order[:3], first) == expected


@given(st.lists(st.tuples(values, values), min_size=1, max_size=9), st.data())
def test_every_change_is_found(rows: list[tuple[object, object]], data: st.DataObject) -> None:
    names = ["id", "text"]
    columns = [list(column) for column in zip(*rows, strict=True)]
    numbers = list(range(5, 5 + len(rows)))
    places = row_checks.places_of(names)
    stored: list[bytes | None] = [bytes(each) for each in row_checks.check_bytes(dict(zip(names, columns, strict=True)), 5)]

    def wrong(all_checked: bool = True) -> list[tuple[int, int]]:
        return row_checks.wrong([*zip(numbers, *columns, stored, strict=True)], places, all_checked)

    assert wrong() == []
    place, column = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.integers(0, 1))
    other = data.draw(
        values.filter(lambda value: reference_check(value, numbers[place]) != reference_check(rows[place][column], numbers[place]))
    )
    columns[column][place] = other
    assert wrong() == [(place, column)]
    stored[place] = None
    assert wrong(all_checked=False) == []
    assert wrong() == [(place, len(names))]


def test_what_comes_from_outside_is_checked() -> None:
    for wrong in ([1.5], ["\ud800"], [2**64], "text", {1}):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            _native.packed_checks([wrong], [0], 0)
    for columns, places in (([[1]], []), ([], []), ([[1], [1, 2]], [0, 1]), ([[1]], [64]), ([[1]], [2**62]), ([[1]], [-1])):
        with pytest.raises((TypeError, ValueError)):
            _native.packed_checks(columns, places, 0)
    for row, places in (
        ((1, 1, b""), []),
        ((1, 1), [0]),
        ((), [0]),
        ((1, 1, 2, b""), [0]),
        ((1, 1, 7), [0]),
        (("a", 1, b""), [0]),
        ((2**70, 1, b""), [0]),
        ((1, 1, b""), [2**70]),
        (7, [0]),
    ):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            _native.wrong_values([row], places, True, 1)
    assert _native.wrong_values([(1, 1, b"abc")], [2**62], True, 1) == [(0, 0)]


def test_a_stamp_tells_one_file_from_another(tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert _native.file_stamp(str(path)) is None
    path.write_bytes(b"abc")
    status = path.stat()
    expected = status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    assert _native.file_stamp(str(path)) == expected
    (tmp_path / "other").write_bytes(b"abc")
    (tmp_path / "other").replace(path)
    assert _native.file_stamp(str(path)) != expected
    with pytest.raises(OSError, match="file/below"):
        _native.file_stamp(str(path / "below"))
