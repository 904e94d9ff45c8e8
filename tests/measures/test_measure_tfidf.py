"""The TF-IDF cosine against scikit-learn and hand-made tables."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from lookalike.errors import InputError
from lookalike.measures import cosine, tfidf_cosine, tfidf_cosine_with
from stable import stable_id

words = st.lists(st.sampled_from("abcdefgh"), max_size=15)
texts = st.lists(st.text(max_size=4), max_size=10)


def scikit_learn(a: list[str], b: list[str]) -> float:
    vectorizer = TfidfVectorizer(use_idf=True, norm="l2", analyzer=lambda tokens: tokens)
    matrix = vectorizer.fit_transform([a, b])
    return float(cosine_similarity(matrix[0], matrix[1])[0][0])


class TestOfThePair:
    @given(a=words.filter(bool) | texts.filter(bool), b=words | texts)
    def test_scikit_learn(self, a: list[str], b: list[str]) -> None:
        assert tfidf_cosine.similarity(a, b) == pytest.approx(scikit_learn(a, b), abs=1e-14)

    def test_a_value_by_hand(self) -> None:
        alone = math.log(1.5) + 1
        assert tfidf_cosine.similarity(["x", "y"], ["x", "z"]) == pytest.approx(1 / (1 + alone**2), rel=1e-15)

    @given(a=words, b=words)
    def test_properties(self, a: list[str], b: list[str]) -> None:
        assert tfidf_cosine.similarity(a, a) == 1
        assert tfidf_cosine.similarity(a, b) == tfidf_cosine.similarity(b, a)
        assert 0 <= tfidf_cosine.similarity(a, b) <= 1
        assert tfidf_cosine.distance(a, b) == 1 - tfidf_cosine.similarity(a, b)
        assert tfidf_cosine.similarity(Counter(a), b) == tfidf_cosine.similarity(a, b)

    def test_empty(self) -> None:
        assert tfidf_cosine.similarity([], []) == 1
        assert tfidf_cosine.similarity([], ["a"]) == 0

    def test_batches(self) -> None:
        batch = [["a", "b"], ["a", "c"], []]
        matrix = tfidf_cosine.pairwise_similarity(batch)
        assert matrix.tolist() == [[tfidf_cosine.similarity(a, b) for b in batch] for a in batch]
        assert tfidf_cosine.similarities(batch, batch).tolist() == [1, 1, 1]

    @pytest.mark.parametrize("thing", [None, 3, b"a", [["unhashable"]], [math.nan], {"a": -1}, np.ones((2, 2))], ids=stable_id)
    def test_bad_things(self, thing: object) -> None:
        with pytest.raises(InputError, match=r"^b"):
            tfidf_cosine.similarity(["a"], thing)

    def test_a_text_is_its_tokens(self) -> None:
        tokenize = pytest.importorskip("lookalike.text.tokenize")
        a, b = "one fish two fish", "red fish blue fish"
        assert tfidf_cosine.similarity(a, b) == tfidf_cosine.similarity(tokenize.token_texts(a), tokenize.token_texts(b))
        assert tfidf_cosine.similarity(a, b) == pytest.approx(scikit_learn(a.split(), b.split()))


class TestWithATable:
    def test_a_value_by_hand(self) -> None:
        measure = tfidf_cosine_with({"x": 1.0, "y": 2.0, "z": 3.0})
        assert measure.similarity(["x", "y"], ["x", "x", "z"]) == pytest.approx(2 / math.sqrt(5 * 13), rel=1e-15)
        assert measure.name == "tfidf_cosine"

    @given(a=words, b=words)
    def test_equal_weights_are_the_plain_cosine(self, a: list[str], b: list[str]) -> None:
        assert tfidf_cosine_with({}, default=1.0).similarity(a, b) == pytest.approx(cosine.similarity(a, b), rel=1e-15)

    def test_unknown_tokens(self) -> None:
        with pytest.raises(InputError, match=r"'new'.*default="):
            tfidf_cosine_with({"x": 1.0}).similarity(["x"], ["new"])
        assert tfidf_cosine_with({"x": 3.0}, default=4.0).similarity(["x", "new"], ["x"]) == 0.6

    def test_tokens_without_weight(self) -> None:
        measure = tfidf_cosine_with({"the": 0.0, "a": 0.0, "cat": 2.0})
        assert measure.similarity(["the"], ["a"]) == 0
        assert measure.similarity(["the"], ["the"]) == 1
        assert measure.similarity(["the", "cat"], ["a", "cat"]) == 1

    @pytest.mark.parametrize(
        "options", [{"idf": None}, {"idf": ["a"]}, {"idf": {}, "default": math.nan}, {"idf": {}, "default": "1"}], ids=stable_id
    )
    def test_bad_options(self, options: dict[str, Any]) -> None:
        with pytest.raises(InputError, match=r"idf=|default"):
            tfidf_cosine_with(**options)

    def test_bad_table(self) -> None:
        with pytest.raises(InputError, match=r"idf\['a'\] holds inf"):
            tfidf_cosine_with({"a": math.inf}).similarity(["a"], ["a"])
