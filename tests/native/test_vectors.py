"""The kernels of vectors against the definition, and hostile input."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference_vectors as reference
from lookalike import _native

FINITE = st.floats(-(2.0**99), 2.0**99, width=32)
NEVER = 1 << 40


def halves_of(vectors: np.ndarray) -> np.ndarray:
    return np.asarray(_native.unit_halves(np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1), vectors.shape[1]))


def searched(halves, queries, dimensions, least, limit, workers=1):
    squares, asked = (np.asarray(_native.vector_squares(each, dimensions)) for each in (halves, queries))
    offsets, places, cosines, totals = map(
        np.asarray, _native.nearest_vectors(halves, squares, queries, asked, dimensions, least, limit, workers)
    )
    found = [list(zip(places[a:b].tolist(), cosines[a:b].tolist(), strict=True)) for a, b in pairwise(offsets.tolist())]
    return found, totals.tolist()


@given(st.lists(FINITE, min_size=1, max_size=40))
def test_unit_halves_are_the_nearest(vector: list[float]) -> None:
    found = halves_of(np.array([vector]))
    assert found.view(np.float16).tolist() == reference.unit_halves(vector)
    assert not (found == 0x8000).any()  # there is one zero


@given(st.integers(1, 40), st.integers(0, 30), st.floats(-1, 1), st.integers(1, 9), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_nearest_equals_the_definition(dimensions: int, count: int, least: float, limit: int, chance) -> None:
    rng = np.random.default_rng(chance.randrange(2**32))
    vectors = rng.standard_normal((count, dimensions))
    vectors[rng.random(count) < 0.2] = 0
    if count:
        vectors[rng.integers(0, count, count // 3)] = vectors[rng.integers(0, count)]  # equal ones
    halves, queries = halves_of(vectors), halves_of(np.vstack([vectors[:2], rng.standard_normal((2, dimensions))]))
    lists = halves.view(np.float16).reshape(-1, dimensions).tolist()
    asked = queries.view(np.float16).reshape(-1, dimensions).tolist()
    expected = [reference.nearest(lists, query, least, limit) for query in asked]
    found, totals = searched(halves, queries, dimensions, least, limit)
    assert found == [best for best, _ in expected]
    assert totals == [total for _, total in expected]


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("limit", [1, 10, NEVER])
def test_many_chunks_equal_one_product(workers: int, limit: int) -> None:
    rng = np.random.default_rng(3)
    dimensions, count = 48, 9500  # three chunks
    vectors = rng.standard_normal((count, dimensions))
    vectors[5000:5040] = vectors[7]
    halves, queries = halves_of(vectors), halves_of(vectors[:70])  # two groups
    wide = halves.view(np.float16).reshape(-1, dimensions).astype(np.float64)
    squares = (wide * wide).sum(axis=1)
    found, totals = searched(halves, queries, dimensions, 0.3, limit, workers)
    for q in range(70):
        cosines = np.clip(wide @ wide[q] / np.sqrt(squares * squares[q]), -1, 1)  # sums of halves are exact in any order
        order = np.lexsort((np.arange(count), -cosines))
        order = order[cosines[order] >= 0.3]
        assert found[q] == [(int(place), float(cosines[place])) for place in order[:limit]]
        assert totals[q] == len(order)


def test_a_vector_is_like_itself_to_the_last_bit() -> None:
    vectors = np.random.default_rng(1).standard_normal((200, 512))
    halves = halves_of(vectors)
    found, _ = searched(halves, halves, 512, 0.9, 1)
    assert found == [[(n, 1.0)] for n in range(200)]


def test_cosines_of_opposite_vectors() -> None:
    halves = halves_of(np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0]]))
    assert searched(halves, halves[:2], 2, -1.0, 9)[0] == [[(0, 1.0), (2, 0.0), (1, -1.0)]]


def test_what_is_wrong_is_said() -> None:
    f, h, d = np.ones(8, np.float32), np.zeros(8, np.uint16), np.zeros(2)
    for values, dimensions in ((f, 0), (f, 3), (f, 16385), (np.full(8, np.nan, np.float32), 4), (np.full(8, 1e31, np.float32), 4)):
        with pytest.raises(ValueError, match=r"dimensions|vectors"):
            _native.unit_halves(values, dimensions)
    for halves in (np.full(8, 0x3C01, np.uint16), np.full(8, 0x7C00, np.uint16), np.full(8, 0xFE00, np.uint16)):
        with pytest.raises(ValueError, match="from -1 to 1"):
            _native.vector_squares(halves, 4)
    good = (h, d, h, d, 4, 0.0, 1, 1)
    for place, wrong in (
        (1, d[:1]),
        (1, np.array([0.0, np.nan])),
        (1, np.array([0.0, -1.0])),
        (3, d[:1]),
        (4, 3),
        (5, 1.5),
        (5, float("nan")),
        (6, 0),
        (7, 0),
    ):
        with pytest.raises(ValueError, match=r"."):
            _native.nearest_vectors(*good[:place], wrong, *good[place + 1 :])
    for call, arguments in (
        (_native.unit_halves, (f.astype(np.float64), 4)),
        (_native.unit_halves, (f[::2], 4)),
        (_native.vector_squares, (h.astype(np.int64), 4)),
        (_native.nearest_vectors, (h, d, h, d, 4, 0, 1, 1)),
    ):
        with pytest.raises(TypeError):
            call(*arguments)
    assert searched(h, h, 4, -1.0, 5) == ([[], []], [0, 0])
    assert searched(h[:0], h, 4, -1.0, 5) == ([[], []], [0, 0])
    assert searched(h, h[:0], 4, -1.0, 5) == ([], [])
