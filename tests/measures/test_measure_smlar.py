"""The smlar family against the formula, and against the output that smlar's own regression tests print."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference_measures as reference
from lookalike.errors import InputError
from lookalike.measures import Measure, smlar_cosine, smlar_overlap, smlar_tfidf
from stable import stable_id

arrays = st.lists(st.sampled_from("abcdefgh"), max_size=12)
tables = st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 20), max_size=6)

# The table of smlar's tests: row t holds 1 to t, rows 50 to 59 three more times 50, row 201 nineteen times 50.
ROWS = {t: [*range(1, t + 1), *([50] * 3 if 50 <= t < 60 else [])] for t in range(1, 201)} | {201: [50] * 19}
TEN = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
MIXED = [50, 49, 8, 7, 6, 5, 4, 33, 2, 1]


def as_smlar_counts(array: list[int]) -> Counter[str]:
    """smlar starts the count of the first element in text order at one and counts it again, in arrays with repetitions."""
    counts = Counter(map(str, array))
    if len(counts) < len(array):
        counts[min(counts)] += 1
    return counts


def idf_of_rows(plus_one: bool) -> dict[str, float]:
    entries = Counter(str(element) for row in ROWS.values() for element in row)
    return {element: math.log(plus_one + len(ROWS) / count) for element, count in entries.items()}


class TestWhatSmlarPrints:
    """Six digits, as PostgreSQL prints float4."""

    @pytest.mark.parametrize(
        ("a", "b", "similarity"),
        [
            ([3, 2], [3, 2, 1], 0.816497),
            ([], [3, 2, 1], 0),
            ([12, 10], [3, 2, 1], 0),
            ([1, 4, 6], [6, 4, 1], 1),
            ([1, 4, 6], [5, 4, 6], 0.666667),
            ([1, 2], [2, 2, 2, 2, 2, 1], 1),
        ],
    )
    def test_cosine(self, a: list[int], b: list[int], similarity: float) -> None:
        assert smlar_cosine.similarity(a, b) == pytest.approx(similarity, abs=5e-7)

    @pytest.mark.parametrize(
        ("tf", "plus_one", "query", "row", "similarity"),
        [
            ("n", False, TEN, 11, 0.870583),
            ("n", False, TEN, 22, 0.311011),
            ("n", False, MIXED, 50, 0.306753),
            ("n", True, TEN, 59, 0.367048),
            ("n", True, MIXED, 50, 0.510326),
            ("n", True, MIXED, 201, 0.302346),
            ("log", False, MIXED, 50, 0.306662),
            ("log", True, MIXED, 50, 0.481241),
            ("log", True, TEN, 55, 0.397443),
            ("const", False, MIXED, 50, 0.306545),
            ("const", True, TEN, 50, 0.413885),
            ("const", True, MIXED, 59, 0.383752),
        ],
    )
    def test_tfidf(self, tf: Any, plus_one: bool, query: list[int], row: int, similarity: float) -> None:
        measure = smlar_tfidf(idf_of_rows(plus_one), tf=tf)
        assert measure.similarity(as_smlar_counts(ROWS[row]), as_smlar_counts(query)) == pytest.approx(similarity, abs=6e-7)

    @pytest.mark.parametrize(("tf", "similarity"), [("n", 0.997241), ("log", 0.999075), ("const", 1)])
    def test_tfidf_of_repetitions(self, tf: Any, similarity: float) -> None:
        measure = smlar_tfidf(idf_of_rows(plus_one=True), tf=tf)
        assert measure.similarity(as_smlar_counts([199, 199, 199, 199, 1]), ["199", "1"]) == pytest.approx(similarity, abs=5e-7)

    def test_overlap_of_blocks(self) -> None:
        blocks = ["1_00000011", "2_10101101", "3_10011001", "4_10001001", "5_11100100", "6_00110010", "7_01011010", "8_10010011"]
        assert smlar_overlap.similarity(blocks, [*blocks[:7], "8_10010010"]) == 7
        assert smlar_overlap.distance(blocks, [*blocks[:7], "8_10010010"]) == 2


class TestAgainstTheFormula:
    @given(a=arrays, b=arrays)
    def test_cosine(self, a: list[str], b: list[str]) -> None:
        common = len([x for x in set(a) if x in b])
        wanted = common / math.sqrt(float(len(set(a))) * len(set(b))) if a and b else 0.0
        assert smlar_cosine.similarity(a, b) == wanted
        assert smlar_cosine.distance(a, b) == 1 - wanted
        assert smlar_overlap.similarity(a, b) == common

    @given(a=arrays, b=arrays, c=arrays)
    def test_the_overlap_distance_is_a_metric(self, a: list[str], b: list[str], c: list[str]) -> None:
        assert smlar_overlap.distance(a, b) == len(set(a) ^ set(b)) == smlar_overlap.distance(b, a)
        assert smlar_overlap.distance(a, c) <= smlar_overlap.distance(a, b) + smlar_overlap.distance(b, c)

    @pytest.mark.parametrize("tf", ["const", "n", "log"])
    @given(a=arrays, b=arrays, idf=tables)
    def test_tfidf(self, tf: Any, a: list[str], b: list[str], idf: dict[str, float]) -> None:
        measure = smlar_tfidf(idf, tf=tf)
        weights = [idf[x] for x in {*a, *b} if idf.get(x)]
        if all(w > 1e-60 for w in weights):  # below, the products of the formula's squares vanish
            assert measure.similarity(a, b) == pytest.approx(reference.smlar_tfidf(a, b, idf, tf), rel=1e-12, abs=1e-15)
        assert measure.similarity(a, b) == measure.similarity(b, a)
        assert 0 <= measure.similarity(a, b) <= 1
        assert measure.distance(a, b) == 1 - measure.similarity(a, b)

    @given(a=arrays.filter(bool))
    def test_identity(self, a: list[str]) -> None:
        assert smlar_cosine.similarity(a, a) == 1
        assert smlar_tfidf(dict.fromkeys(a, 0.7), tf="log").similarity(a, a) == 1

    def test_const_is_the_default_and_ignores_repetitions(self) -> None:
        measure = smlar_tfidf({"a": 2.0, "b": 1.0})
        assert measure.similarity(["a", "a", "b"], ["a"]) == measure.similarity(["a", "b"], ["a"]) == 2 / math.sqrt(5)


FAMILY = [smlar_cosine, smlar_overlap, smlar_tfidf({"a": 1.0, 1: 2.0})]
every_smlar_measure = pytest.mark.parametrize("measure", FAMILY, ids=lambda m: m.name)


@every_smlar_measure
class TestInput:
    def test_empty_arrays_are_similar_to_nothing(self, measure: Measure) -> None:
        assert measure.similarity([], []) == 0
        assert measure.similarity([], ["a"]) == 0

    def test_every_kind_of_array(self, measure: Measure) -> None:
        wanted = measure.similarity([1, 2, 2], [1, 3])
        assert wanted > 0
        for a, b in (((1, 2, 2), {1, 3}), (np.array([1, 2, 2]), np.array([1, 3])), (Counter([1, 2, 2]), {1: 1, 3: 1, 4: 0})):
            assert measure.similarity(a, b) == wanted

    def test_batches(self, measure: Measure) -> None:
        batch = [["a", "b"], ["a"], []]
        assert measure.pairwise_similarity(batch).tolist() == [[measure.similarity(a, b) for b in batch] for a in batch]
        assert measure.distances(batch, batch[::-1]).tolist() == [measure.distance(a, b) for a, b in zip(batch, batch[::-1], strict=True)]

    @pytest.mark.parametrize(
        "thing", [None, 3, b"a", [["unhashable"]], [math.nan], {"a": -1}, {"a": math.inf}, np.ones((2, 2))], ids=stable_id
    )
    def test_bad_things(self, measure: Measure, thing: object) -> None:
        with pytest.raises(InputError, match=r"^a"):
            measure.similarity(thing, ["a"])

    def test_a_text_is_the_array_of_its_tokens(self, measure: Measure) -> None:
        tokenize = pytest.importorskip("lookalike.text.tokenize")
        assert measure.similarity("a b a", "a c") == measure.similarity(tokenize.token_texts("a b a"), tokenize.token_texts("a c")) > 0


@pytest.mark.parametrize("options", [{"idf": None}, {"idf": ["a"]}, {"idf": {}, "tf": "N"}, {"idf": {}, "tf": None}], ids=stable_id)
def test_bad_options(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="="):
        smlar_tfidf(**options)


@pytest.mark.parametrize("value", [math.nan, "1", None])
def test_bad_table(value: object) -> None:
    with pytest.raises(InputError, match=r"idf\['a'\]"):
        smlar_tfidf({"a": value}).similarity(["a"], ["a"])  # type: ignore[dict-item]


def test_tiny_weights_keep_their_share() -> None:
    assert smlar_tfidf({"a": 1e-200, "b": 1e-200}).similarity(["a", "b"], ["a"]) == pytest.approx(math.sqrt(0.5))
