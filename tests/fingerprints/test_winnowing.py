"""Winnowing: published values, the algorithm's promises, and passages."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la

PUBLISHED = json.loads((Path(__file__).parent.parent / "golden" / "published.json").read_text(encoding="utf-8"))
WORDS = [f"w{i}" for i in range(40)]
texts = st.lists(st.sampled_from(WORDS), min_size=0, max_size=60).map(" ".join)


@pytest.mark.parametrize("name", "abc")
def test_published_values(name: str) -> None:
    found = la.winnow(PUBLISHED["file_names"][name], k=2, window=4, recipe="winnow-sha1")
    assert list(found.values) == PUBLISHED["winnowing"]["values"][name]


@pytest.mark.parametrize("pair", ["ab", "ac", "bc"])
def test_published_similarities(pair: str) -> None:
    left, right = (la.winnow(PUBLISHED["file_names"][name], recipe="winnow-sha1") for name in pair)
    assert left.similarity(right) == PUBLISHED["winnowing"]["jaccard"][pair]


@given(texts, st.integers(1, 6), st.integers(1, 8))
@settings(max_examples=150)
def test_no_gap_is_wider_than_the_window(text: str, k: int, window: int) -> None:
    found = la.winnow(text, k=k, window=window)
    words = len(text.split())
    if words < k:
        assert len(found) == (1 if words else 0)
        return
    starts = [text[:start].count(" ") for start, _ in found.spans]
    assert starts == sorted(set(starts))
    shingles = words - k + 1
    edges = [-1, *starts, shingles]
    if shingles >= window:
        assert all(b - a <= window for a, b in itertools.pairwise(edges))


@given(st.lists(st.sampled_from(WORDS), min_size=8, max_size=20), texts, texts, texts, texts)
@settings(max_examples=150)
def test_a_shared_run_of_k_plus_window_minus_one_tokens_is_always_found(run: list[str], a: str, b: str, c: str, d: str) -> None:
    shared = " ".join(run)
    left, right = f"{a} {shared} {b}".strip(), f"{c} {shared} {d}".strip()
    one, other = la.winnow(left, k=5, window=4), la.winnow(right, k=5, window=4)
    assert set(one.values) & set(other.values)
    start = left.index(shared)
    run_places = range(start, start + len(shared))
    assert any(len(left[max(p.left[0], start) : min(p.left[1], run_places.stop)].split()) >= 5 for p in one.passages(other))


@given(texts, texts)
@settings(max_examples=200)
def test_passages_slice_to_equal_text_and_are_maximal(left: str, right: str) -> None:
    one, other = la.winnow(left, k=3, window=2), la.winnow(right, k=3, window=2)
    for passage in one.passages(other):
        a, b = left[slice(*passage.left)].split(), right[slice(*passage.right)].split()
        assert a == b
        assert len(a) >= 3
        before, after = left[: passage.left[0]].split(), left[passage.left[1] :].split()
        there_before, there_after = right[: passage.right[0]].split(), right[passage.right[1] :].split()
        if after and there_after:
            assert after[0] != there_after[0]
        if before and there_before:
            assert before[-1] != there_before[-1]


def test_passages_of_chinese_with_folded_differences() -> None:
    left = "前言。近重复检测的核心是指纹：相似的文本得到相近的指纹。后记。"
    right = "他写道：近重复檢测。近重复检测的核心是指纹:相似的文本得到相近的指纹！"
    one, other = la.winnow(left), la.winnow(right)
    (passage,) = one.passages(other)
    assert left[slice(*passage.left)] == "近重复检测的核心是指纹：相似的文本得到相近的指纹"
    assert right[slice(*passage.right)] == "近重复检测的核心是指纹:相似的文本得到相近的指纹"


def test_a_copy_that_stands_twice_is_found_twice() -> None:
    shared = "the quick brown fox jumps over the lazy dog again"
    found = la.winnow(shared).passages(la.winnow(f"{shared} and then some more words {shared}"))
    assert [passage.right[0] for passage in found] == [0, len(shared) + len(" and then some more words ")]


def test_repetitive_texts_take_linear_time() -> None:
    one, other = la.winnow("buffalo " * 50_000), la.winnow("buffalo " * 40_000 + "end")
    assert one.passages(other)
    assert la.winnow("a b " * 30_000).passages(la.winnow("b a " * 30_000))


def test_passages_without_the_text() -> None:
    text = "one two three four five six seven eight nine ten eleven twelve"
    one, other = la.winnow(text), la.winnow(f"zero {text} thirteen")
    stored = la.Winnowing.from_bytes(one.to_bytes()), la.Winnowing.from_dict(other.to_dict())
    assert stored == (one, other)
    (passage,) = stored[0].passages(stored[1])
    assert text[slice(*passage.left)] == f"zero {text} thirteen"[slice(*passage.right)]


def test_batches_equal_single_calls() -> None:
    generator = random.Random(2)
    batch = [" ".join(generator.choices(WORDS, k=generator.randint(0, 50))) for _ in range(50)] + ["相似的文本" * 5, "", "é"]
    for recipe in ("default", "chars", "winnow-sha1"):
        found = la.winnows(batch * 40, recipe=recipe, workers=2)
        assert list(found) == [la.winnow(text, recipe=recipe) for text in batch] * 40
        assert found[-1] == found[len(found) - 1]
        assert found[1:3] == [found[1], found[2]]
        assert len(found.values) == len(found.starts) == len(found.ends) == found.offsets[-1]
        with pytest.raises(IndexError):
            found[len(found)]
    assert list(la.winnows([])) == []


def test_batches_of_every_length_equal_single_calls() -> None:
    """Hashes are compared 64 at a time: what is at the edges of that counts as much."""
    generator = random.Random(3)
    batch = ["".join(generator.choices("abcDE  \t.", k=length)) for length in (*range(200), 511, 512, 513, 640)]
    batch += [text + "é" + text[::-1] for text in batch[::7]]
    for window in (3, 4, 5):
        found = la.winnows(batch, recipe="chars", window=window)
        assert list(found) == [la.winnow(text, recipe="chars", window=window) for text in batch]


@pytest.mark.parametrize("workers", [2, 3, 8])
def test_any_number_of_workers_gives_the_same(workers: int) -> None:
    """Of a text that repeats itself every hash is kept: more than there is room for at first. Small and large texts take turns."""
    generator = random.Random(4)
    batch = ["a" * generator.choice((0, 3, 50, 4000)) + "bcd" * generator.randint(0, 9) for _ in range(700)]
    one, many = (la.winnows(batch, recipe="chars", workers=each) for each in (1, workers))
    assert len(one.values) > sum(map(len, batch)) / 2
    for name in ("values", "starts", "ends", "offsets"):
        assert (getattr(one, name) == getattr(many, name)).all()


def test_containment() -> None:
    part, whole = la.winnow("a b c d e f g h i j"), la.winnow("x y z a b c d e f g h i j k l m n o")
    assert part.containment(whole) > whole.containment(part)
    assert la.winnow("").containment(part) == 1.0


@pytest.mark.parametrize(
    "make",
    [
        lambda: la.winnow("a", k=0),
        lambda: la.winnow("a", k=65),
        lambda: la.winnow("a", window=0),
        lambda: la.winnow("a", window=10**9),
        lambda: la.winnow(7),  # type: ignore[arg-type]
        lambda: la.winnow("a", recipe="simhash-py"),
        lambda: la.winnow("a", recipe=la.Recipe(ngram=1, keywords=3)),
        lambda: la.Winnowing((1,), (), 5, "x"),
        lambda: la.Winnowing.from_dict({"values": [1], "spans": [7], "k": 5, "recipe": "x"}),
        lambda: la.Winnowing.from_bytes(la.winnow("a b c d e f").to_bytes()[:-1]),
    ],
)
def test_bad_input_is_refused(make: object) -> None:
    with pytest.raises(la.LookalikeError):
        make()  # type: ignore[operator]


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_large_column_in_pieces_has_one_result(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Megabytes of hashes, so that pages are made ahead and move as the result grows with each piece."""
    generator = random.Random(5)
    batch = ["".join(generator.choices("abcdefgh ", k=generator.randint(0, 3000))) for _ in range(1500)]
    whole = la.winnows(batch, recipe="chars")
    assert whole.values.nbytes > 6_000_000
    monkeypatch.setattr("lookalike.text.columns.HELD_CHARACTERS", 300_000)
    pieces = la.winnows(batch, recipe="chars", workers=workers)
    for name in ("values", "starts", "ends", "offsets"):
        assert (getattr(pieces, name) == getattr(whole, name)).all()
