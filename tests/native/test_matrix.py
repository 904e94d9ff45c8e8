"""Products of matrices against their definition: to the bit, whatever stands in the other rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_vectors as reference
from lookalike import _native

NUMBERS = st.floats(-(2.0**30), 2.0**30, width=32, allow_subnormal=False)


def product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    found = _native.matrix_product(np.ascontiguousarray(left).reshape(-1), np.ascontiguousarray(right).reshape(-1), len(right))
    return np.asarray(found).reshape(len(left), right.shape[1])


@settings(deadline=None)
@given(data=st.data(), rows=st.integers(1, 14), inner=st.integers(1, 5), columns=st.integers(1, 34))
def test_it_is_the_definition(data: st.DataObject, rows: int, inner: int, columns: int) -> None:
    left = data.draw(st.lists(st.lists(NUMBERS, min_size=inner, max_size=inner), min_size=rows, max_size=rows))
    right = data.draw(st.lists(st.lists(NUMBERS, min_size=columns, max_size=columns), min_size=inner, max_size=inner))
    found = product(np.array(left, dtype=np.float32), np.array(right, dtype=np.float32))
    assert found.tolist() == reference.matrix_product(left, right)


@pytest.mark.parametrize(("rows", "inner", "columns"), [(1, 512, 768), (13, 1280, 256), (64, 700, 17), (385, 512, 33)])
def test_a_row_does_not_depend_on_the_others(rows: int, inner: int, columns: int) -> None:
    random = np.random.default_rng(rows)
    left = random.standard_normal((rows, inner)).astype(np.float32)
    right = random.standard_normal((inner, columns)).astype(np.float32)
    whole = product(left, right)
    assert np.allclose(whole, left.astype(np.float64) @ right.astype(np.float64), rtol=0, atol=1e-3)
    for row in {0, rows // 2, rows - 1}:
        assert np.array_equal(whole[row], product(left[row : row + 1], right)[0])
    for column in {0, columns // 2, columns - 1}:
        assert np.array_equal(whole[:, column], product(left, right[:, column : column + 1])[:, 0])


def test_nothing_and_what_does_not_fit() -> None:
    nothing = np.zeros(0, dtype=np.float32)
    assert np.asarray(_native.matrix_product(nothing, np.ones(6, dtype=np.float32), 3)).size == 0
    assert np.asarray(_native.matrix_product(np.ones(6, dtype=np.float32), nothing, 3)).size == 0
    for left, right, inner in [(5, 6, 3), (6, 5, 3), (6, 6, 0)]:
        with pytest.raises(ValueError, match="inner"):
            _native.matrix_product(np.ones(left, dtype=np.float32), np.ones(right, dtype=np.float32), inner)
