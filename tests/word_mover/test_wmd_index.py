"""The nearest texts of a collection: the same as by brute force, with most of them never solved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike import _native

# Points of a grid: many distances are equal, which is where an order could go wrong.
GRID = {f"{x}{y}": [float(x), float(y), 1.0] for x in range(4) for y in range(4)}
GRID_MOVER = la.WordMover(GRID, unit=False)
words = st.sampled_from(sorted(GRID))


def brute_force(texts: list[list[str]], query: list[str], k: int, mover: la.WordMover) -> list[tuple[int, float]]:
    distances = [
        (mover.distance(query, text), position) for position, text in enumerate(texts) if any(word in mover.vectors for word in text)
    ]
    return [(position, distance) for distance, position in sorted(distances)[:k]]


@given(
    st.lists(st.lists(words, max_size=6), max_size=25),
    st.lists(words, min_size=1, max_size=6),
    st.integers(1, 30),
)
@settings(max_examples=150, deadline=None)
def test_equals_brute_force(texts: list[list[str]], query: list[str], k: int) -> None:
    index = la.WmdIndex(texts, vectors=GRID, unit=False)
    found = index.search(query, k)
    assert [(match.id, match.distance) for match in found] == brute_force(texts, query, k, GRID_MOVER)
    assert found.pruning.texts == sum(map(bool, texts))
    assert found.pruning.texts == found.pruning.by_centroid + found.pruning.by_relaxed + found.pruning.solved
    assert index.without_words == [position for position, text in enumerate(texts) if not text]
    assert index.search(query, k, workers=3) == found


@pytest.fixture(scope="module")
def topics() -> tuple[dict[str, np.ndarray], list[list[str]]]:
    """Texts of 20 subjects, whose words lie together."""
    chance = np.random.default_rng(4)
    middles = chance.normal(size=(20, 24)) * 2
    vectors = {f"{topic}-{i}": middles[topic] + chance.normal(size=24) for topic in range(20) for i in range(40)}
    texts = [[f"{number % 20}-{i}" for i in chance.integers(0, 40, chance.integers(3, 30))] for number in range(400)]
    return vectors, texts


@pytest.mark.parametrize("k", [1, 5, 50, 400, 1000])
def test_real_sizes(topics: tuple[dict[str, np.ndarray], list[list[str]]], k: int) -> None:
    vectors, texts = topics
    index, mover = la.WmdIndex(texts, vectors=vectors), la.WordMover(vectors)
    one, several = index.search(texts[7], k), index.search(texts[7], k, workers=4)
    assert [(match.id, match.distance) for match in one] == brute_force(texts, texts[7], k, mover)
    assert one == several
    assert one.pruning == several.pruning
    assert one[0] == (7, 0.0)
    assert one[0].score == 1.0


def test_most_texts_are_never_solved(topics: tuple[dict[str, np.ndarray], list[list[str]]]) -> None:
    vectors, texts = topics
    pruning = la.WmdIndex(texts, vectors=vectors).search(texts[3], 5).pruning
    assert pruning.by_centroid > 200  # other subjects
    assert pruning.solved < 50


def test_words_that_the_collection_does_not_have() -> None:
    index = la.WmdIndex([["00"], ["33"]], vectors=GRID, unit=False)
    assert [tuple(match) for match in index.search(["32"], 2)] == [(1, 1.0), (0, pytest.approx(np.sqrt(13)))]


def test_ids_texts_and_unknown_words() -> None:
    vectors = {"tea": [1.0, 0.0], "coffee": [0.8, 0.6], "car": [0.0, 1.0]}
    index = la.WmdIndex(["The tea", "a car?", "", "something unknown here, a car"], ids=["t", "c", "e", "u"], vectors=vectors)
    assert len(index) == 4
    assert index.without_words == ["e"]
    assert index.unknown_share == 0.4  # something, unknown
    assert [match.id for match in index.search("Coffee", 9)] == ["t", "c", "u"]
    assert index.nbytes > 0


def test_an_empty_collection() -> None:
    found = la.WmdIndex([], vectors=GRID).search(["00"], 3)
    assert found == []
    assert found.pruning == (0, 0, 0, 0)


def test_a_collection_without_known_words() -> None:
    index = la.WmdIndex(["nothing", "known"], vectors=GRID)
    assert index.without_words == [0, 1]
    assert index.search(["00"]) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"query": "nothing"}, "query: vectors has none of its 1 words"),
        ({"query": ""}, "query: there is no word in it"),
        ({"k": 0}, "k=0"),
        ({"k": True}, "k=True"),
        ({"workers": 0}, "workers=0"),
    ],
    ids=["unknown", "empty", "zero", "bool", "workers"],
)
def test_bad_searches(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(la.InputError, match=message):
        la.WmdIndex([["00"]], vectors=GRID).search(**({"query": ["00"]} | arguments))


def test_bad_collections(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(la.InputError, match="texts is a str"):
        la.WmdIndex("00", vectors=GRID)
    with pytest.raises(la.InputError, match="ids: 1 ids for 2 texts"):
        la.WmdIndex([["00"], ["11"]], ids=["a"], vectors=GRID)
    with pytest.raises(la.InputError, match=r"texts\[1\] is a int"):
        la.WmdIndex([["00"], 5], vectors=GRID)  # type: ignore[list-item]
    monkeypatch.setattr("lookalike.word_mover.index.MAX_PAIRS_OF_WORDS", 3)
    with pytest.raises(la.InputError, match="query: 2 distinct words, and a text of the collection has 2"):
        la.WmdIndex([["00", "11"]], vectors=GRID).search(["00", "22"])


GOOD: dict[str, Any] = {
    "vectors": np.zeros(4, dtype=np.float32), "dimensions": 2, "words": np.array([0, 1], dtype=np.uint32), "counts": np.ones(2, dtype=np.uint32),
    "offsets": np.array([0, 2], dtype=np.int64), "centroids": np.zeros(2, dtype=np.float32), "slack": 0.0, "query": np.zeros(2, dtype=np.float32),
    "query_counts": np.ones(1, dtype=np.uint32), "k": 1, "workers": 1,
}  # fmt: skip


def test_the_kernel_takes_what_is_good() -> None:
    assert list(_native.wmd_nearest(**GOOD)[0]) == [0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"words": np.array([0, 2], dtype=np.uint32)}, "beyond the vectors"),
        ({"counts": np.ones(1, dtype=np.uint32)}, "one per word"),
        ({"counts": np.zeros(2, dtype=np.uint32)}, "1 or more"),
        ({"offsets": np.array([0, 3], dtype=np.int64)}, "offsets"),
        ({"offsets": np.array([], dtype=np.int64)}, "offsets"),
        ({"centroids": np.zeros(4, dtype=np.float32)}, "one per text"),
        ({"vectors": np.zeros(3, dtype=np.float32)}, "whole number of rows"),
        ({"query": np.zeros(4, dtype=np.float32)}, "one count a vector"),
        ({"query": np.zeros(0, dtype=np.float32), "query_counts": np.zeros(0, dtype=np.uint32)}, "at least one"),
        ({"query_counts": np.zeros(1, dtype=np.uint32)}, "1 or more"),
        ({"slack": float("nan")}, "slack"),
        ({"k": 0}, "k:"),
        ({"workers": 0}, "workers"),
        ({"dimensions": 0}, "dimensions"),
    ],
    ids=[
        "word",
        "counts",
        "zero",
        "offsets",
        "none",
        "centroids",
        "rows",
        "query",
        "empty",
        "query-zero",
        "slack",
        "k",
        "workers",
        "dimensions",
    ],
)
def test_the_kernel_refuses_the_rest(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _native.wmd_nearest(**(GOOD | change))


def test_the_kernel_converts_nothing() -> None:
    with pytest.raises(TypeError):
        _native.wmd_nearest(**(GOOD | {"vectors": np.zeros(4)}))
    with pytest.raises(TypeError):
        _native.wmd_nearest(**(GOOD | {"words": np.array([0, 1])}))
