"""Meaning and hybrid: the grammar of measures over a model, with the default model and with small ones."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

import lookalike as la
from lookalike.comparison.score import text_score
from lookalike.measures import hybrid, hybrid_with, meaning, meaning_with, measures
from lookalike.measures.by_model import Evidence, Weighing
from lookalike.text.blending import TextWords
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


DRAFT = " ".join(f"{TEXTS[0]} {number} and then the ferry left the quay of harbour {number * 7}." for number in range(12))
EDITED = DRAFT.replace("ferry", "small boat").replace("harbour 21", "the old port")


def common_in_order(a: list[str], b: list[str]) -> int:
    """The length of the longest common subsequence, by the table."""
    row = [0] * (len(b) + 1)
    for word in a:
        above = row
        row = [0]
        for place, other in enumerate(b):
            row.append(above[place] + 1 if word == other else max(above[place + 1], row[place]))
    return row[-1]


def hybrid_value(a: str, b: str, by_meaning: float, half: float) -> float:
    """As docs/meaning.md has it."""
    score = text_score(a, b)
    longest = max(len("".join(fold(text).split())) for text in (a, b))
    words = 0.06 + 0.94 * math.sqrt(score.parts["blend"] * longest / (longest + 1))
    left, right = token_texts(a), token_texts(b)
    square = len(left) * len(right)
    longest_size = max(len(left), len(right))
    in_any_order = (Counter(left) & Counter(right)).total()
    kept = common_in_order(left, right) / longest_size if in_any_order > 0.35 * longest_size else 0.0
    reached = min(max((kept - 0.465) / 0.11, 0), 1)
    edited = 3 * reached**2 - 2 * reached**3
    meant = 1 - (0.85 + 2.75 * edited * square / (square + 170**2)) * (1 - by_meaning)
    long = square / (square + half**2)
    weight = long * (1 - edited)
    together = (1 - weight) * max(meant, min(by_meaning, 0.06)) + weight * words
    return together + 0.24 * kept * long * (1 - together)


def test_hybrid_weighs_words_by_their_number() -> None:
    model = la.embedder()
    pairs = [
        (TEXTS[2], TEXTS[3]),
        (TEXTS[0], TEXTS[1]),
        (" ".join(TEXTS) * 4, TEXTS[3]),
        (DRAFT, EDITED),
        (DRAFT, DRAFT[: len(DRAFT) // 2]),
        (TEXTS[2], "Stocks fell sharply yesterday."),
        ("a 1 b 2 c 3", "a 1 b 2 z 9"),
    ]
    for a, b in pairs:
        by_meaning = cosine(*model.encode([a, b]).astype(np.float64).tolist())
        for half in (20, 3):
            assert hybrid_with(half=half).similarity(a, b) == pytest.approx(hybrid_value(a, b, by_meaning, half), abs=1e-9)
    with pytest.raises(la.InputError, match="half=0"):
        hybrid_with(half=0)


def test_meaning_decides_between_edits_of_a_long_text() -> None:
    """Two edits with as many changed words, one of which changed what the text is about."""
    other = DRAFT.replace("ferry", "quarterly budget").replace("harbour 21", "the old port")
    assert hybrid.similarity(DRAFT, DRAFT) == 1
    assert hybrid.similarity(DRAFT, EDITED) - hybrid.similarity(DRAFT, other) > meaning.similarity(DRAFT, EDITED) - meaning.similarity(
        DRAFT, other
    )


def test_the_value_is_smooth_where_an_edit_begins() -> None:
    """One word more or less that was kept moves a pair by little, also about the share from which on meaning decides."""
    words = [f"a{number}" for number in range(100)]
    kept = [TextWords(" ".join([*words[:size], *(f"z{number}" for number in range(100 - size))])) for size in range(30, 80)]
    found = Evidence.of([(TextWords(" ".join(words)), each) for each in kept])
    values = found.weighed(np.full(len(kept), 0.9), Weighing())
    assert found.kept[20] == pytest.approx(0.5)
    assert np.abs(np.diff(values)).max() < 0.04


def test_no_pair_falls_below_its_meaning_or_that_of_unrelated_texts() -> None:
    cosines = np.array([-1.0, -0.5, 0.05, 0.1, 0.3, 1.0])
    found = Evidence(np.ones(6), np.ones(6), np.full(6, 1e6)).weighed(cosines, Weighing())
    before = np.array([-1.0, -0.5, 0.05, 0.06, 0.06, 1.0])  # what was kept in its order is added to it
    assert found.tolist() == pytest.approx((before + 0.24 * (1 - before)).tolist(), abs=1e-3)


def test_pages_that_say_the_same_are_ahead_of_others_of_their_site() -> None:
    """Pages of one site share their words; those that say the same have them in the same order. Typical values of both."""
    shared, kept, tokens, cosines = np.array([(0.78, 0.28, 27, 0.69), (0.81, 0.66, 25, 0.76)]).T
    others, same = Evidence(shared, kept, tokens**2).weighed(cosines, Weighing())
    assert same > others


def test_a_text_without_words_is_like_no_other() -> None:
    assert hybrid.similarity("", "a cat sat on the mat") == 0
    assert hybrid.similarity("", " \n") == 1


def test_capitals_are_read_as_sentences() -> None:
    sentence = "Grain ships are waiting at the port"
    assert meaning.similarity(sentence.upper(), sentence) == pytest.approx(1)
    assert hybrid.similarity(sentence.upper(), sentence) == pytest.approx(1)
    assert meaning_with(ignore_form=[]).similarity(sentence.upper(), sentence) < 0.8


def test_only_the_beginning_of_very_long_texts_is_aligned() -> None:
    """5,000 words: the longest common subsequence of all would be too much work for texts of a million."""
    long = " ".join(f"a{number}" for number in range(5000))
    same, turned = Evidence.of([(TextWords(long), TextWords(f"{long} z"))]), Evidence.of([(TextWords(long), TextWords("z " + long))])
    assert same.kept[0] == 1
    assert turned.kept[0] == pytest.approx(3999 / 4000)


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
