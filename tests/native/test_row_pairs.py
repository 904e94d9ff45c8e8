"""Sums over two rows: exactly as defined, for a pair alone and among any others."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike import _native

NUMBERS = st.floats(-1e6, 1e6) | st.sampled_from([0.0, -0.0, 1.0, 0.1, 1e-200, 1e150])


def slow(kind: int, a: list[float], b: list[float]) -> float:
    """Each step rounded once, which is what a fused multiply-add does."""
    found = 0.0
    for x, y in zip(a, b, strict=True):
        difference = x - y
        if kind == 0:
            found = float(Fraction(x) * Fraction(y) + Fraction(found))
        elif kind == 1:
            found = float(Fraction(difference) ** 2 + Fraction(found))
        else:
            found = found + abs(difference) if kind == 2 else max(found, abs(difference))
    return math.sqrt(found) if kind == 1 else found


def is_sure(kind: int, found: list[float]) -> bool:
    return all(1e-140 < each < 1e140 if kind == 1 else math.isfinite(each) for each in found)


@given(st.data(), st.integers(1, 7), st.integers(1, 11), st.integers(1, 19), st.integers(0, 3))
def test_sums(data: st.DataObject, inner: int, rows: int, columns: int, kind: int) -> None:
    a = np.array(data.draw(st.lists(NUMBERS, min_size=rows * inner, max_size=rows * inner)))
    b = np.array(data.draw(st.lists(NUMBERS, min_size=columns * inner, max_size=columns * inner)))
    sums, sure = _native.pair_sums(kind, a, b, inner)
    found = np.asarray(sums).reshape(rows, columns)
    left, right = a.reshape(rows, inner), b.reshape(columns, inner)
    assert found.tolist() == [[slow(kind, x, y) for y in right.tolist()] for x in left.tolist()]
    assert sure is is_sure(kind, found.reshape(-1).tolist())
    pairs = [(i, j) for i in range(rows) for j in range(columns)]
    one, other = (
        np.ascontiguousarray(side[list(places)]).reshape(-1) for side, places in zip((left, right), zip(*pairs, strict=True), strict=True)
    )
    sums, sure_of_rows = _native.row_sums(kind, one, other, inner)
    assert list(sums) == found.reshape(-1).tolist()
    assert sure_of_rows is sure


@pytest.mark.parametrize("kind", range(4))
def test_one_that_is_unsure_among_many(kind: int) -> None:
    """Whichever it is of many blocks of columns, and of rows that are left over."""
    a, b = np.ones((11, 40)), np.zeros((1000, 40))
    for column in (0, 15, 16, 511, 819, 999):
        b[column] = np.float64(1.7e308)
        a[10] = -b[column]
        for rows in (slice(10, 11), slice(0, 11)):
            assert not _native.pair_sums(kind, a[rows].reshape(-1), b.reshape(-1), 40)[1]
        b[column] = 0
        a[10] = 1
    assert _native.pair_sums(kind, a.reshape(-1), b.reshape(-1), 40)[1]


@pytest.mark.parametrize("kind", range(4))
def test_a_long_row_among_many(kind: int) -> None:
    draw = np.random.default_rng(3)
    a, b = draw.normal(size=(37, 301)), draw.normal(size=(353, 301))
    found = np.asarray(_native.pair_sums(kind, a.reshape(-1), b.reshape(-1), 301)[0]).reshape(37, 353)
    for i, j in ((0, 0), (36, 352), (17, 40), (8, 16), (35, 96), (3, 95), (36, 200)):
        assert found[i, j] == slow(kind, a[i].tolist(), b[j].tolist()) == _native.row_sums(kind, a[i].copy(), b[j].copy(), 301)[0][0]


@pytest.mark.parametrize("function", [_native.row_sums, _native.pair_sums])
def test_what_is_refused(function: object) -> None:
    two, three = np.zeros(2), np.zeros(3)
    for arguments, message in (((4, two, two, 1), "kind"), ((0, two, two, 0), "inner"), ((0, two, three, 2), "inner")):
        with pytest.raises(ValueError, match=message):
            function(*arguments)  # type: ignore[operator]
    with pytest.raises(ValueError, match="as many rows"):
        _native.row_sums(0, two, three, 1)
    with pytest.raises(TypeError):
        function(0, np.zeros(2, np.float32), two, 1)  # type: ignore[operator]
