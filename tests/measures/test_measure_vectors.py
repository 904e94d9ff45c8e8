"""Euclidean, manhattan, chebyshev and cosine: golden values, exact references, scikit-learn, batches, hostile input."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import pairwise as oracle

import reference_measures as reference
from lookalike.errors import InputError
from lookalike.measures import Measure, chebyshev, cosine, euclidean, manhattan
from stable import stable_id

VECTOR_MEASURES = [euclidean, manhattan, chebyshev, cosine]
METRICS = [euclidean, manhattan, chebyshev]
every_vector_measure = pytest.mark.parametrize("measure", VECTOR_MEASURES, ids=lambda m: m.name)
every_metric = pytest.mark.parametrize("measure", METRICS, ids=lambda m: m.name)

TOKENS_1 = ["为什么", "我", "的", "眼里", "常含", "泪水", "因为", "我", "对", "这片", "土地", "爱得", "深沉", "，"]
TOKENS_2 = ["我", "深沉", "的", "爱", "着", "这片", "土地", "所以", "我", "的", "眼里", "常含", "泪水", "，"]

number = st.integers(-(10**6), 10**6) | st.floats(allow_nan=False, allow_infinity=False, width=64)
dense_pairs = st.integers(0, 8).flatmap(lambda n: st.tuples(*[st.lists(number, min_size=n, max_size=n)] * 2))
moderate = st.integers(-1000, 1000) | st.floats(-1e6, 1e6)
tokens = st.lists(st.sampled_from("abcdefg"), max_size=12)


def natural(measure: Measure, a: object, b: object) -> float:
    return measure.similarity(a, b) if measure is cosine else measure.distance(a, b)


def expected(measure: Measure, a: list[float], b: list[float]) -> float:
    return float(getattr(reference, measure.name)(a, b))


class TestPublishedValues:
    def test_euclidean(self) -> None:
        assert euclidean.distance([2, 3], [4, 6]) == 3.605551275463989

    def test_cosine_of_numbers(self) -> None:
        assert cosine.similarity([2, 3], [4, 6]) == 1.0
        assert cosine.distance([2, 3], [4, 6]) == 0.0

    def test_cosine_of_tokens(self) -> None:
        assert cosine.similarity(TOKENS_1, TOKENS_2) == 0.7660323462854266

    @pytest.mark.parametrize("kind", [tuple, Counter, lambda t: dict(Counter(t)), np.array])
    def test_every_form_of_tokens(self, kind: type) -> None:
        assert cosine.similarity(kind(TOKENS_1), kind(TOKENS_2)) == 0.7660323462854266

    def test_cosine_of_count_rows(self) -> None:
        counts = reference.counted(Counter(TOKENS_1), Counter(TOKENS_2))
        assert cosine.similarities([counts[0]], [counts[1]]).tolist() == [0.7660323462854266]
        assert cosine.pairwise_similarity(np.array(counts)).tolist() == [[1.0, 0.7660323462854266], [0.7660323462854266, 1.0]]


@every_vector_measure
class TestAgainstTheReference:
    @given(pair=dense_pairs)
    def test_a_pair(self, measure: Measure, pair: tuple[list[float], list[float]]) -> None:
        try:
            wanted = expected(measure, *pair)
        except OverflowError:
            wanted = math.inf
        if not math.isfinite(wanted) or math.isinf(max(map(abs, (x - y for x, y in zip(*pair, strict=True))), default=0)):
            assume(measure is not cosine)
            with pytest.raises(InputError, match="too large"):
                natural(measure, *pair)
        else:
            assert natural(measure, *pair) == pytest.approx(wanted, rel=1e-12, abs=1e-14 if measure is cosine else 0)

    @given(a=tokens, b=tokens)
    def test_token_counts(self, measure: Measure, a: list[str], b: list[str]) -> None:
        wanted = expected(measure, *reference.counted(Counter(a), Counter(b)))
        assert natural(measure, a, b) == pytest.approx(wanted, rel=1e-15)
        assert natural(measure, Counter(a), b) == natural(measure, a, b)

    @given(pair=dense_pairs)
    @settings(max_examples=50)
    def test_batches_agree_with_pairs(self, measure: Measure, pair: tuple[list[float], list[float]]) -> None:
        a, b = pair
        batch_a, batch_b = [a, b, a], [b, b, a]
        assume(a)
        try:
            distances = [measure.distance(x, y) for x, y in zip(batch_a, batch_b, strict=True)]
        except InputError:
            with pytest.raises(InputError, match="too large"):
                measure.distances(batch_a, batch_b)
            return
        np.testing.assert_allclose(measure.distances(batch_a, batch_b), distances, rtol=1e-13, atol=1e-15 if measure is cosine else 0)
        similarities = [[measure.similarity(x, y) for y in batch_b] for x in batch_a]
        np.testing.assert_allclose(measure.pairwise_similarity(batch_a, batch_b), similarities, rtol=1e-13, atol=1e-15)

    @given(a=st.lists(moderate, min_size=3, max_size=3), b=st.lists(moderate, min_size=3, max_size=3))
    def test_symmetry_and_identity(self, measure: Measure, a: list[float], b: list[float]) -> None:
        assert measure.distance(a, b) == measure.distance(b, a)
        assert measure.similarity(a, b) == measure.similarity(b, a)
        assert measure.distance(a, a) == 0
        assert measure.similarity(a, a) == 1

    @given(order=st.permutations(range(6)), a=st.lists(number, min_size=6, max_size=6), b=st.lists(moderate, min_size=6, max_size=6))
    def test_the_order_of_the_dimensions_has_no_effect(self, measure: Measure, order: list[int], a: list[float], b: list[float]) -> None:
        try:
            straight = measure.similarity(a, b)
        except InputError:
            assume(False)
        assert measure.similarity([a[i] for i in order], [b[i] for i in order]) == straight


@every_metric
class TestMetrics:
    @given(points=st.lists(st.lists(moderate, min_size=2, max_size=2), min_size=3, max_size=3))
    def test_triangle_inequality(self, measure: Measure, points: list[list[float]]) -> None:
        a, b, c = points
        assert measure.distance(a, c) <= (measure.distance(a, b) + measure.distance(b, c)) * (1 + 1e-12)

    def test_similarity_is_the_inverse_of_one_more_than_the_distance(self, measure: Measure) -> None:
        assert measure.similarity([0, 0], [3, 0]) == 0.25
        assert measure.similarities([[0, 0]], [[3, 0]]).tolist() == [0.25]

    def test_scikit_learn(self, measure: Measure) -> None:
        random = np.random.default_rng(5)
        a, b = random.normal(size=(7, 33)), random.normal(size=(9, 33))
        wanted = oracle.pairwise_distances(a, b, metric=measure.name)
        np.testing.assert_allclose(measure.pairwise(a, b), wanted, rtol=1e-12)
        np.testing.assert_allclose(measure.distances(a, b[:7]), np.diag(wanted), rtol=1e-12)


class TestCosine:
    def test_scikit_learn(self) -> None:
        random = np.random.default_rng(6)
        a, b = random.normal(size=(7, 300)), random.normal(size=(200, 300))
        wanted = oracle.cosine_similarity(a, b)
        np.testing.assert_allclose(cosine.pairwise_similarity(a, b), wanted, atol=1e-14)
        np.testing.assert_allclose(cosine.similarities(a, b[:7]), np.diag(wanted), atol=1e-14)

    @given(a=st.lists(moderate, min_size=4, max_size=4), b=st.lists(moderate, min_size=4, max_size=4))
    def test_bounds(self, a: list[float], b: list[float]) -> None:
        assert -1 <= cosine.similarity(a, b) <= 1
        assert -1 <= cosine.similarities([a], [b])[0] <= 1

    def test_opposite_vectors(self) -> None:
        assert cosine.similarity([1, -2], [-2, 4]) == -1
        assert cosine.distance([0.5], [-0.1]) == 2

    @pytest.mark.parametrize(("a", "b", "similarity"), [([0, 0], [0, 0], 1), ([0, 0], [1, 0], 0), ([], [], 1), ([], ["x"], 0), ({}, {}, 1)])
    def test_zero_vectors(self, a: object, b: object, similarity: float) -> None:
        assert cosine.similarity(a, b) == similarity
        assert cosine.similarity(b, a) == similarity

    def test_zero_rows(self) -> None:
        assert cosine.pairwise_similarity([[0, 0], [1, 0]]).tolist() == [[1, 0], [0, 1]]

    def test_tiny_and_huge_values_keep_their_direction(self) -> None:
        assert cosine.similarity([3e-320, 4e-320], [3e300, 4e300]) == pytest.approx(1, abs=1e-3)
        assert cosine.similarities([[3e-200, 0.0]], [[3e200, 3e200]])[0] == pytest.approx(math.sqrt(0.5))

    def test_identical_rows_have_exactly_the_distance_zero(self) -> None:
        rows = np.random.default_rng(7).normal(size=(50, 129))
        assert (np.diag(cosine.pairwise(rows)) == 0).all()


class TestBatches:
    @every_vector_measure
    def test_a_pair_has_the_same_value_anywhere_in_a_batch(self, measure: Measure) -> None:
        random = np.random.default_rng(8)
        a, b = random.normal(size=(40, 257)), random.normal(size=(300, 257))  # several tiles
        order = random.permutation(300)
        matrix = measure.pairwise(a, b)
        assert (measure.pairwise(a, b[order]) == matrix[:, order]).all()
        assert (measure.distances(a, b[:40]) == np.diag(matrix)).all()

    @every_vector_measure
    def test_lists_of_token_lists_and_mappings(self, measure: Measure) -> None:
        batch = [["a", "b"], Counter("aab"), ["c"]]
        assert measure.pairwise(batch)[0, 1] == measure.distance(["a", "b"], Counter("aab"))
        assert measure.distances(batch, batch).tolist() == [0, 0, 0]

    def test_integers_beyond_float64_stay_exact(self) -> None:
        rows = np.array([[2**62], [2**62 + 1]])
        assert manhattan.pairwise(rows).tolist() == [[0, 1], [1, 0]]
        assert manhattan.distance(rows[0], rows[1]) == 1
        assert manhattan.distances([[10**30 + 1]], [[10**30]]).tolist() == [1]

    @pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int16, np.float16, np.float32, np.float64, ">f8"])
    def test_every_number_type(self, dtype: str) -> None:
        rows = np.array([[1, 0, 1], [0, 0, 1]], dtype=dtype)
        assert manhattan.pairwise(rows).tolist() == [[0, 1], [1, 0]]

    def test_memory_order_has_no_effect(self) -> None:
        rows = np.random.default_rng(9).normal(size=(20, 30))
        assert (cosine.pairwise(np.asfortranarray(rows)) == cosine.pairwise(rows)).all()
        assert (cosine.pairwise(rows[:, ::2]) == cosine.pairwise(rows[:, ::2].copy())).all()

    @every_vector_measure
    def test_no_rows_and_no_columns(self, measure: Measure) -> None:
        assert measure.distances([], []).shape == (0,)
        assert measure.pairwise([], [[1.0]]).shape == (0, 1)
        assert measure.pairwise(np.empty((3, 0))).tolist() == [[0.0] * 3] * 3

    def test_results_are_float64(self) -> None:
        assert euclidean.pairwise([[1]], [[2]]).dtype == np.float64
        assert euclidean.distances([["a"]], [["b"]]).dtype == np.float64


BAD_VALUES = [math.nan, math.inf, -math.inf, None, 1j, "text", [1], Decimal(1), np.float32("nan")]


@every_vector_measure
class TestHostileInput:
    @pytest.mark.parametrize("value", BAD_VALUES, ids=stable_id)
    def test_bad_values(self, measure: Measure, value: object) -> None:
        for a, b in (([1, value], [1, 2]), ([1, 2], [1, value]), ({"x": value}, {"x": 1})):
            with pytest.raises(InputError, match=r"\b[ab] holds"):
                measure.distance(a, b)

    @pytest.mark.parametrize("value", [math.nan, math.inf])
    def test_bad_rows(self, measure: Measure, value: float) -> None:
        with pytest.raises(InputError, match="b holds NaN or infinity"):
            measure.pairwise(np.array([[1.0]]), np.array([[value]]))

    @pytest.mark.parametrize("thing", [3, None, b"bytes", object(), {1, 2}, (x for x in [1])], ids=stable_id)
    def test_bad_things(self, measure: Measure, thing: object) -> None:
        with pytest.raises(InputError, match="a="):
            measure.similarity(thing, [1])

    def test_mismatched_lengths(self, measure: Measure) -> None:
        with pytest.raises(InputError, match="a has 2 dimensions and b has 3"):
            measure.distance([1, 2], [1, 2, 3])
        with pytest.raises(InputError, match="a has 2 dimensions and b has 3"):
            measure.pairwise(np.ones((4, 2)), np.ones((4, 3)))
        with pytest.raises(InputError, match="differ in length"):
            measure.pairwise([[1, 2], [1]])
        with pytest.raises(InputError, match="a has 1 rows and b has 2"):
            measure.distances([[1]], [[1], [2]])

    def test_dense_and_sparse_do_not_mix(self, measure: Measure) -> None:
        for sparse in (["x"], {"x": 1}):
            with pytest.raises(InputError, match="two of one kind"):
                measure.distance([1], sparse)
            with pytest.raises(InputError, match="two of one kind"):
                measure.distances([sparse], np.array([[1.0]]))

    def test_a_single_vector_is_not_a_batch(self, measure: Measure) -> None:
        with pytest.raises(InputError, match="2-D"):
            measure.pairwise(np.array([1.0, 2.0]))
        with pytest.raises(InputError, match="1-D"):
            measure.distance(np.ones((2, 2)), np.ones((2, 2)))

    @pytest.mark.parametrize("batch", ["text", {"a": 1}, {1}, 5, None, b"b", np.array(1.0)], ids=stable_id)
    def test_no_batch(self, measure: Measure, batch: object) -> None:
        with pytest.raises(InputError, match="not a batch"):
            measure.pairwise(batch)

    def test_ints_that_no_float_holds(self, measure: Measure) -> None:
        with pytest.raises(InputError, match="too large"):
            measure.distance([10**5000, 1.5], [1, 2])


@every_metric
def test_a_result_that_no_float_holds(measure: Measure) -> None:
    for a, b in (([1e308, 1e308], [-1e308, -1e308]), ([10**400], [0])):
        with pytest.raises(InputError, match="too large"):
            measure.distance(a, b)
    with pytest.raises(InputError, match="too large"):
        measure.pairwise([[1e308, 1e308]], [[-1e308, -1e308]])


def test_other_real_numbers() -> None:
    assert manhattan.distance([Fraction(1, 2), True, np.int8(-3), np.float32(0.5)], [0, 0, 0, 0]) == 5


def test_token_edge_cases() -> None:
    assert euclidean.distance(["\ud800", "\0", ""], ["\0"]) == math.sqrt(2)


def test_a_pair_of_lists_needs_no_numpy() -> None:
    code = (
        "import sys; from lookalike.measures import cosine, hamming, jaccard, smlar_cosine, tfidf_cosine\n"
        "for m in (cosine, hamming, jaccard, smlar_cosine, tfidf_cosine): m.similarity(['a', 'b'], ['a', 'c'])\n"
        "assert not {'numpy', 'rapidfuzz'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


class TestTexts:
    def test_a_text_is_the_counts_of_its_tokens(self) -> None:
        tokenize = pytest.importorskip("lookalike.text.tokenize")
        a, b = "The cat sat on the mat", "A cat sat on a mat 我们"
        assert cosine.similarity(a, b) == cosine.similarity(tokenize.token_texts(a), tokenize.token_texts(b))
        assert 0 < cosine.similarity(a, b) < 1
        assert manhattan.pairwise([a, b])[0, 1] == manhattan.distance(a, b)
        assert cosine.similarity("", "") == 1
