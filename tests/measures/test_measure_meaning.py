"""Meaning and hybrid: the grammar of measures over a model, with the default model and with small ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

import lookalike as la
from lookalike.comparison.score import text_score
from lookalike.measures import hybrid, hybrid_with, meaning, meaning_with, measures
from lookalike.text.normalize import fold
from lookalike.text.tokenize import token_texts

TEXTS = ["A man is playing a guitar.", "一个男人在弹吉他。", "Stocks fell sharply today.", "The market dropped today, sharply."]


def letters(texts: list[str]) -> np.ndarray:
    """A model whose vectors are counts of letters; it knows no others."""
    return np.array([[text.count(letter) for letter in "abc"] for text in texts], dtype=np.float32)


def cosine(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


def test_it_is_the_cosine_of_the_vectors() -> None:
    vectors = la.embedder().encode(TEXTS).astype(np.float64).tolist()
    expected = [[cosine(a, b) for b in vectors] for a in vectors]
    assert np.abs(meaning.pairwise_similarity(TEXTS) - expected).max() < 1e-9
    assert meaning.similarity(TEXTS[0], TEXTS[1]) > 0.8
    assert meaning.similarity(TEXTS[0], TEXTS[2]) < 0.4
    assert meaning.distance(TEXTS[0], TEXTS[1]) == 1 - meaning.similarity(TEXTS[0], TEXTS[1])
    assert meaning.similarity(TEXTS[0], TEXTS[0]) == 1.0


@pytest.mark.parametrize("measure", [meaning, hybrid], ids=["meaning", "hybrid"])
def test_a_pair_has_one_value_however_it_is_asked(measure: la.measures.Measure) -> None:
    left, right = TEXTS[:3], TEXTS[1:]
    single = [measure.similarity(a, b) for a, b in zip(left, right, strict=True)]
    assert measure.similarities(left, right).tolist() == single
    assert measure.similarities(np.array(left), np.array(right)).tolist() == single
    assert measure.pairwise_similarity(left, right).diagonal().tolist() == single
    assert np.array_equal(measure.pairwise(TEXTS), 1 - measure.pairwise_similarity(TEXTS))
    assert measure.similarity(right[0], left[0]) == single[0]


def test_hybrid_weighs_words_by_their_number() -> None:
    model = la.embedder()
    for a, b in [(TEXTS[2], TEXTS[3]), (TEXTS[0], TEXTS[1]), (" ".join(TEXTS) * 4, TEXTS[3])]:
        score = text_score(a, b)
        longest = max(len("".join(fold(text).split())) for text in (a, b))
        words = 0.2 + 0.8 * math.sqrt(score.parts["blend"] * longest / (longest + 1))
        size = math.sqrt(len(token_texts(a)) * len(token_texts(b)))
        by_meaning = cosine(*model.encode([a, b]).astype(np.float64).tolist())
        for half in (24, 3):
            weight = size**2 / (size**2 + half**2)
            found = hybrid_with(half=half).similarity(a, b)
            assert found == pytest.approx((1 - weight) * by_meaning + weight * words, abs=1e-9)
    with pytest.raises(la.InputError, match="half=0"):
        hybrid_with(half=0)


def test_another_model() -> None:
    measure = meaning_with(letters)
    assert measure.similarity("ab", "ba xyz") == pytest.approx(1)
    assert measure.similarity("a", "b") == 0
    assert measure.similarities([], []).shape == (0,)
    assert measure.pairwise(["a"], []).shape == (1, 0)


def test_texts_without_words() -> None:
    measure = meaning_with(letters)
    assert measure.similarity("", " \n") == 1
    assert measure.similarity("", "a") == 0
    with pytest.raises(la.InputError, match=r"'xyz' has no word that .*letters@1 knows: give another model"):
        measure.similarity("xyz", "a")
    with pytest.raises(la.InputError, match=r"a\[1\]=7 is a int"):
        measure.similarities(["a", 7], ["a", "b"])
    with pytest.raises(la.InputError, match="meaning is that of texts"):
        measure.similarity(["a"], "b")


def test_it_is_registered_but_never_computed_unasked() -> None:
    assert measures.get("meaning") is la.measures.meaning is meaning
    assert measures.get("hybrid") is la.measures.hybrid
    assert not {"meaning", "hybrid"} & la.compare("one text", "another text").measures.keys()
