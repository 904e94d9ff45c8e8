"""Jaccard, containment, overlap and Dice: plain and weighted sets, arrays, fingerprints, hostile input."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score, jaccard_score, precision_score

import reference_measures as reference
from lookalike.errors import InputError, RecipeMismatch
from lookalike.measures import Measure, containment, dice, jaccard, overlap
from lookalike.recipe import require_same
from stable import stable_id

SET_MEASURES = [jaccard, containment, overlap, dice]
every_set_measure = pytest.mark.parametrize("measure", SET_MEASURES, ids=lambda m: m.name)

sets = st.frozensets(st.integers(0, 20) | st.sampled_from("abc"), max_size=12)
weights = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 9) | st.floats(0, 1e6), max_size=6)
hashes = st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 15), max_size=20)


class Print:
    """A stand-in for a fingerprint: a set and the recipe that it was made by."""

    kind: ClassVar[str] = "minhash"

    def __init__(self, elements: str, recipe: str = "one") -> None:
        self.elements, self.recipe = set(elements), recipe

    def similarity(self, other: Print) -> float:
        require_same(self.recipe, other.recipe)
        return len(self.elements & other.elements) / len(self.elements | other.elements)

    def distance(self, other: Print) -> float:
        return 1 - self.similarity(other)

    def to_dict(self) -> dict[str, Any]:
        return {}


class BitPrint(Print):
    kind: ClassVar[str] = "simhash"


class ForeignPrint(Print):
    kind = None  # type: ignore[assignment]


@every_set_measure
class TestAgainstTheReference:
    @given(a=sets, b=sets)
    def test_sets(self, measure: Measure, a: frozenset[Any], b: frozenset[Any]) -> None:
        ones_a, ones_b = (dict.fromkeys(map(repr, side), 1) for side in (a, b))
        wanted = reference.set_measure(measure.name, ones_a, ones_b)
        assert measure.similarity(a, b) == wanted
        assert measure.distance(a, b) == 1 - wanted

    @given(a=weights, b=weights)
    def test_weights(self, measure: Measure, a: dict[str, float], b: dict[str, float]) -> None:
        assert measure.similarity(a, b) == pytest.approx(reference.set_measure(measure.name, a, b), rel=1e-12)
        assert 0 <= measure.similarity(a, b) <= 1

    @given(a=hashes, b=hashes)
    def test_arrays(self, measure: Measure, a: list[int], b: list[int]) -> None:
        wanted = measure.similarity(set(a), set(b))
        left, right = np.array(a, dtype=np.uint64), np.array(b, dtype=np.uint64)
        assert measure.similarity(left, right) == wanted
        assert measure.similarity(left, b) == wanted
        assert measure.similarity(a, right) == wanted

    @given(a=sets, b=sets)
    def test_every_collection_is_the_set_of_its_elements(self, measure: Measure, a: frozenset[Any], b: frozenset[Any]) -> None:
        wanted = measure.similarity(a, b)
        assert measure.similarity([*a, *a], tuple(b)) == wanted
        assert measure.similarity(set(a), dict.fromkeys(b).keys()) == wanted

    @given(a=sets, b=sets)
    def test_properties(self, measure: Measure, a: frozenset[Any], b: frozenset[Any]) -> None:
        assert measure.similarity(a, a) == 1
        assert 0 <= measure.similarity(a, b) <= 1
        if measure is not containment:
            assert measure.similarity(a, b) == measure.similarity(b, a)

    @given(batch=st.lists(sets, max_size=4), other=st.lists(sets, max_size=4))
    @settings(max_examples=30)
    def test_batches(self, measure: Measure, batch: list[frozenset[Any]], other: list[frozenset[Any]]) -> None:
        matrix = measure.pairwise_similarity(batch, other)
        assert matrix.tolist() == [[measure.similarity(a, b) for b in other] for a in batch]
        assert matrix.shape == (len(batch), len(other))
        assert measure.distances(batch, batch).tolist() == [0.0] * len(batch)
        assert measure.pairwise(batch).tolist() == measure.pairwise(batch, batch).tolist()

    def test_rows_of_an_array_are_sets(self, measure: Measure) -> None:
        rows = np.array([[1, 2, 3, 3], [2, 3, 4, 5]], dtype=np.uint64)
        assert measure.pairwise_similarity(rows)[0, 1] == measure.similarity({1, 2, 3}, {2, 3, 4, 5})

    @pytest.mark.parametrize("empty", [set(), [], np.array([], dtype=np.uint64), np.array([])], ids=stable_id)
    def test_empty_sets(self, measure: Measure, empty: object) -> None:
        assert measure.similarity(empty, set()) == 1
        assert measure.similarity(empty, {1}) == 0
        assert measure.similarity({1}, empty) == 0

    def test_empty_weights(self, measure: Measure) -> None:
        assert measure.similarity({}, {"a": 0}) == 1
        assert measure.similarity({"a": 0.0}, {"a": 1}) == 0


class TestDefinitions:
    def test_published(self) -> None:
        x, y = {"apple", "banana", "orange", "grape"}, {"apple", "watermelon", "banana", "kiwi"}
        assert jaccard.similarity(x, y) == 0.3333333333333333
        assert jaccard.similarity([16408, 18059, 22285, 28193, 1258, 1534], [13896, 11496, 1534]) == 0.125

    @given(a=sets, b=sets, c=sets)
    def test_the_jaccard_distance_is_a_metric(self, a: frozenset[Any], b: frozenset[Any], c: frozenset[Any]) -> None:
        assert jaccard.distance(a, c) <= jaccard.distance(a, b) + jaccard.distance(b, c) + 1e-12

    @given(members=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
    def test_scikit_learn(self, members: list[tuple[bool, bool]]) -> None:
        truth, guess = ([pair[i] for pair in members] for i in (0, 1))
        a, b = ({i for i, member in enumerate(side) if member} for side in (truth, guess))
        if a and b:
            assert jaccard.similarity(a, b) == pytest.approx(jaccard_score(truth, guess))
            assert dice.similarity(a, b) == pytest.approx(f1_score(truth, guess))
            assert containment.similarity(b, a) == pytest.approx(precision_score(truth, guess))

    def test_containment_has_a_direction(self) -> None:
        assert containment.similarity({1, 2}, {1, 2, 3, 4}) == 1
        assert containment.similarity({1, 2, 3, 4}, {1, 2}) == 0.5
        assert overlap.similarity({1, 2, 3, 4}, {1, 2}) == 1

    def test_weighted_counts(self) -> None:
        assert jaccard.similarity(Counter("aab"), Counter("abb")) == 0.5
        assert dice.similarity({"a": 0.5}, {"a": 1.5}) == 0.5

    def test_arrays_of_different_types_stay_exact(self) -> None:
        a = np.array([2**63 - 1], dtype=np.int64)
        b = np.array([2**63], dtype=np.uint64)  # equal as float64
        assert jaccard.similarity(a, b) == 0
        assert jaccard.similarity(a, a.astype(np.uint64)) == 1

    def test_text_arrays(self) -> None:
        assert jaccard.similarity(np.array(["x", "y"]), ["y", "z"]) == pytest.approx(1 / 3)


class TestFingerprints:
    def test_jaccard_asks_the_fingerprints(self) -> None:
        assert jaccard.similarity(Print("abc"), Print("bcd")) == 0.5
        assert jaccard.distance(ForeignPrint("ab"), ForeignPrint("abcd")) == 0.5
        assert jaccard.pairwise([Print("ab"), Print("cd")]).tolist() == [[0, 1], [1, 0]]

    def test_other_recipe(self) -> None:
        with pytest.raises(RecipeMismatch, match="one and two"):
            jaccard.similarity(Print("a"), Print("a", recipe="two"))

    def test_a_fingerprint_and_a_set(self) -> None:
        for a, b in ((Print("a"), {"a"}), ({"a"}, Print("a"))):
            with pytest.raises(InputError, match="one is a fingerprint"):
                jaccard.similarity(a, b)

    def test_fingerprints_that_estimate_something_else(self) -> None:
        with pytest.raises(InputError, match="a simhash fingerprint has no jaccard distance"):
            jaccard.similarity(BitPrint("a"), BitPrint("a"))

    @pytest.mark.parametrize("measure", [containment, overlap, dice], ids=lambda m: m.name)
    def test_other_measures_take_none(self, measure: Measure) -> None:
        with pytest.raises(InputError, match="is a Print"):
            measure.similarity(Print("a"), Print("a"))

    def test_a_fingerprint_is_not_a_batch(self) -> None:
        with pytest.raises(InputError, match="not a batch"):
            jaccard.pairwise(Print("a"))


@every_set_measure
class TestHostileInput:
    @pytest.mark.parametrize("thing", [5, None, b"bytes", object(), (x for x in "a"), 1.5, np.ones((2, 2))], ids=stable_id)
    def test_bad_things(self, measure: Measure, thing: object) -> None:
        with pytest.raises(InputError, match=r"^b"):
            measure.similarity({1}, thing)

    @pytest.mark.parametrize("weight", [-1, -0.5, math.nan, math.inf, "3", None])
    def test_bad_weights(self, measure: Measure, weight: object) -> None:
        with pytest.raises(InputError, match=r"^a (holds|gives)"):
            measure.similarity({"x": weight}, {"x": 1})

    def test_weighted_and_plain_do_not_mix(self, measure: Measure) -> None:
        with pytest.raises(InputError, match="weights"):
            measure.similarity(Counter("aab"), ["a", "b"])

    def test_unhashable_elements(self, measure: Measure) -> None:
        with pytest.raises(InputError, match="cannot be hashed"):
            measure.similarity([[1]], [[1]])

    @pytest.mark.parametrize("nan", [math.nan, np.float64("nan")])
    def test_nan(self, measure: Measure, nan: float) -> None:
        for thing in ({nan}, [nan], np.array([nan]), {nan: 1}):
            with pytest.raises(InputError, match="holds NaN"):
                measure.similarity(thing, thing)

    def test_sums_that_no_float_holds(self, measure: Measure) -> None:
        for weight in (1.7e308, 10**400):
            with pytest.raises(InputError, match="too large"):
                measure.similarity({"a": weight, "b": 0.5}, {"a": weight})
        assert measure.similarity({"a": 10**400}, {"a": 10**400}) == 1

    def test_an_error_in_a_batch_names_the_item(self, measure: Measure) -> None:
        with pytest.raises(InputError, match=r"^a\[1\]"):
            measure.pairwise([{1}, 5])


class TestTexts:
    def test_a_text_is_the_set_of_its_shingles(self) -> None:
        shingle = pytest.importorskip("lookalike.text.shingle")
        a, b = "the quick brown fox jumps over the lazy dog", "the quick brown fox jumps over the lazy cat"
        for measure in SET_MEASURES:
            assert measure.similarity(a, b) == measure.similarity(shingle.shingle_set(a), shingle.shingle_set(b))
            assert 0 < measure.similarity(a, b) < 1
            assert measure.similarity("", "") == 1
            assert measure.pairwise_similarity([a, b])[0, 1] == measure.similarity(a, b)

    def test_a_text_and_a_set_do_not_mix(self) -> None:
        pytest.importorskip("lookalike.text.shingle")
        with pytest.raises(InputError, match="one is a text"):
            jaccard.similarity("text", {"text"})
