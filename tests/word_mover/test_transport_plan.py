"""The solver against a linear program: cheapest plans, exact amounts, degenerate problems, limits."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import reference_word_mover as reference
from lookalike import _native


def plan(supplies: Any, demands: Any, costs: Any) -> tuple[float, int]:
    """The cost of the plan and its pivots; the plan is checked to ship exactly what there is."""
    given_, wanted, table = np.array(supplies, dtype=np.uint64), np.array(demands, dtype=np.uint64), np.array(costs, dtype=np.float64)
    rows, columns, amounts, pivots = _native.transport_plan(given_, wanted, table.reshape(-1))
    shipped = np.zeros(table.shape, dtype=np.uint64)
    for i, j, amount in zip(rows, columns, amounts, strict=True):
        assert amount > 0
        assert shipped[i, j] == 0
        shipped[i, j] = amount
    assert (shipped.sum(axis=1) == given_).all()
    assert (shipped.sum(axis=0) == wanted).all()
    assert len(amounts) <= len(given_) + len(wanted) - 1
    return float((shipped.astype(np.float64) * table).sum()), pivots


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[int], list[int], np.ndarray]:
    """Amounts with equal sums, often with equal partial sums, and costs with many ties."""
    n, m = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    amount = draw(st.sampled_from([st.just(1), st.integers(1, 3), st.integers(1, 1000)]))
    supplies = draw(st.lists(amount, min_size=n, max_size=n))
    demands = draw(st.lists(amount, min_size=m, max_size=m))
    total = np.lcm(sum(supplies), sum(demands))
    supplies, demands = ([int(each * (total // sum(side))) for each in side] for side in (supplies, demands))
    cost = draw(
        st.sampled_from([st.just(1.0), st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1e-3, 1.0, 1e3]), st.floats(0, 2, width=32)])
    )
    return supplies, demands, np.array(draw(st.lists(cost, min_size=n * m, max_size=n * m))).reshape(n, m)


@given(problems())
@settings(max_examples=100, deadline=None)
def test_as_cheap_as_the_linear_program(problem: tuple[list[int], list[int], np.ndarray]) -> None:
    supplies, demands, costs = problem
    total = sum(supplies)
    found = plan(supplies, demands, costs)[0] / total
    assert found == pytest.approx(reference.cheapest(np.array(supplies) / total, np.array(demands) / total, costs), rel=1e-6, abs=1e-9)
    turned = plan(demands, supplies, costs.T.copy())[0] / total
    assert turned == pytest.approx(found, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("n", "m"), [(60, 70), (70, 60), (1, 90), (90, 1), (2, 80)])
def test_larger_problems(n: int, m: int) -> None:
    chance = np.random.default_rng(n)
    supplies, demands = chance.integers(1, 30, n), chance.integers(1, 30, m)
    costs = reference.ground(chance.normal(size=(n, 5)), chance.normal(size=(m, 5)))
    given_, wanted = supplies * int(demands.sum()), demands * int(supplies.sum())
    total = int(given_.sum())
    assert plan(given_, wanted, costs)[0] / total == pytest.approx(reference.cheapest(given_ / total, wanted / total, costs), rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_assignments_are_degenerate_through_and_through(seed: int) -> None:
    """Equal amounts: every partial sum equals another one, where a simplex without care turns in circles."""
    chance = np.random.default_rng(seed)
    costs = chance.integers(0, 4, (50, 50)).astype(np.float64)
    rows, columns = linear_sum_assignment(costs)
    cost, pivots = plan([1] * 50, [1] * 50, costs)
    assert cost == costs[rows, columns].sum()
    assert pivots < 50 * 50


@pytest.mark.parametrize("cost", [0.0, 1.0, 1e-280, 1e300])
def test_equal_costs(cost: float) -> None:
    found, pivots = plan([3, 2, 1], [1, 5], np.full((3, 2), cost))
    assert found == pytest.approx(6 * cost, rel=1e-12)
    assert pivots == 0


def test_a_case_by_hand() -> None:
    costs = [[1.0, 9.0, 9.0], [9.0, 1.0, 9.0], [9.0, 9.0, 1.0]]
    assert plan([2, 3, 4], [4, 3, 2], costs)[0] == 7 * 1 + 2 * 9
    assert [list(part) for part in _native.transport_plan(*(np.array([1], dtype=np.uint64),) * 2, np.array([5.0]))[:3]] == [[0], [0], [1]]


def test_every_order_of_rows_and_columns_costs_the_same() -> None:
    chance = np.random.default_rng(9)
    supplies, demands = np.array([5, 1, 2]), np.array([3, 3, 1, 1])
    costs = chance.random((3, 4))
    found = {
        round(plan(supplies[list(rows)], demands[list(columns)], costs[list(rows)][:, list(columns)])[0], 12)
        for rows in itertools.permutations(range(3))
        for columns in itertools.permutations(range(4))
    }
    assert len(found) == 1


def test_the_largest_amounts() -> None:
    half = 2**48
    assert plan([half, half], [half - 1, 1, half], [[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])[0] == 1.0


def test_costs_that_differ_by_far() -> None:
    """Costs are rounded to a part in 10^11 of the largest; what is cheap beside it is still told apart."""
    assert plan([1, 1], [1, 1], [[1e-9, 1e9], [1e9, 1e-9]])[0] == pytest.approx(2e-9)
    assert plan([1, 1], [1, 1], [[1.0, 1.0 + 1e-10], [1.0, 1.0]])[0] == 2.0


ONE = np.array([1], dtype=np.uint64)


@pytest.mark.parametrize(
    ("supplies", "demands", "costs", "message"),
    [
        (ONE[:0], ONE, np.zeros(0), "at least one"),
        (ONE, np.array([2], dtype=np.uint64), np.zeros(1), "sums differ"),
        (np.array([0], dtype=np.uint64), np.array([0], dtype=np.uint64), np.zeros(1), "positive"),
        (np.array([2**50], dtype=np.uint64), np.array([2**50], dtype=np.uint64), np.zeros(1), "at most"),
        (np.array([2**63, 2**63], dtype=np.uint64), ONE, np.zeros(2), "at most"),
        (ONE, ONE, np.zeros(2), "one per pair"),
        (ONE, ONE, np.array([np.nan]), "costs"),
        (ONE, ONE, np.array([np.inf]), "costs"),
        (ONE, ONE, np.array([-1.0]), "costs"),
        (ONE, ONE, np.array([1e-300]), "costs"),
        (np.ones(5000, dtype=np.uint64), np.ones(5000, dtype=np.uint64), np.zeros(0), "16,777,216"),
    ],
    ids=["empty", "sums", "zero", "large", "overflow", "shape", "nan", "infinite", "negative", "tiny", "cells"],
)
def test_what_cannot_be_solved(supplies: Any, demands: Any, costs: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _native.transport_plan(supplies, demands, costs)


def test_types_are_not_converted() -> None:
    with pytest.raises(TypeError):
        _native.transport_plan(ONE.astype(np.float64), ONE, np.zeros(1))
    with pytest.raises(TypeError):
        _native.transport_plan(ONE, ONE, np.zeros(1, dtype=np.float32))
