"""One text at a time gives what a batch gives, by plans that are kept."""

from __future__ import annotations

import copy
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike import _native
from lookalike.fingerprints import single
from lookalike.recipe import resolve
from lookalike.text.shingle import shingle_set

RECIPES = ("default", "chars", "words", "symbols", la.Recipe(ngram=2, seed=9), la.Recipe(weights="one"), la.Recipe(normalize="none"))


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
@given(text=st.one_of(st.text(max_size=80), st.text("北京大学，。…a ", max_size=80)))
@settings(max_examples=60)
def test_a_single_text_gives_what_a_column_gives(recipe: la.Recipe | str, text: str) -> None:
    for size in (16, 128):
        assert list(la.minhash(text, size=size, recipe=recipe).values) == la.minhashes([text], size=size, recipe=recipe)[0].tolist()
    for bits in (32, 64):
        assert la.simhash(text, bits=bits, recipe=recipe).value == int(la.simhashes([text], bits=bits, recipe=recipe)[0])
    low, high = la.simhashes([text], bits=128, recipe=recipe)[0].tolist()
    assert la.simhash(text, bits=128, recipe=recipe).value == high << 64 | low


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
@given(
    query=st.text("ab 北京\ud800é. ", max_size=60),
    texts=st.lists(st.one_of(st.text("ab 北京\ud800é. ", max_size=60), st.text(max_size=30)), max_size=5),
)
@settings(max_examples=40)
def test_a_near_search_gives_what_its_parts_give(recipe: la.Recipe | str, query: str, texts: list[str]) -> None:
    chosen = resolve(recipe)
    plan = single.plan_for(chosen, "minhash", 64)
    assert plan is not None
    values, keys = plan.sketcher.banded(query, 64, 21, 3)
    assert list(memoryview(values).cast("I")) == la.minhashes([query], size=64, recipe=recipe)[0].tolist()
    assert list(keys) == list(_native.band_keys(np.frombuffer(values, np.uint32), 64, 21, 3))
    own, sets = shingle_set(query, chosen), [shingle_set(text, chosen) for text in texts]
    assert plan.sketcher.jaccards(query, texts) == [len(own & each) / len(own | each) if own | each else 1.0 for each in sets]


def test_wrong_arguments_of_a_near_search() -> None:
    plan = single.plan_for(la.Recipe(), "minhash", 64)
    assert plan is not None
    for bands, rows in ((0, 1), (1, 0), (65, 1), (8, 9)):
        with pytest.raises(ValueError, match="bands, rows"):
            plan.sketcher.banded("a", 64, bands, rows)
    for query, texts in ((1, []), ("a", [1]), ("a", ["b", None]), ("a", "b")):
        with pytest.raises(TypeError):
            plan.sketcher.jaccards(query, texts)  # type: ignore[arg-type]
    long = "many words and others " * 5000
    assert plan.sketcher.jaccards(long, [long, long + "more", ""]) == pytest.approx([1.0, 1.0, 0.0], abs=0.2)
    assert plan.sketcher.jaccards(b"a b", ["A  b"]) == [1.0]


def test_a_made_sketch_is_like_one_that_was_read() -> None:
    made = la.minhash("相似文本 near-duplicates", size=32)
    read = la.MinHash(la.minhash("相似文本 near-duplicates", size=32).values, made.recipe)
    assert made == read
    assert hash(made) == hash(read)
    assert repr(made) == repr(read)
    for fresh in (la.minhash("a b c"), la.minhash("a b c")):  # values that nobody asked for yet
        assert pickle.loads(pickle.dumps(fresh)) == copy.deepcopy(fresh) == copy.copy(fresh)
    assert la.MinHash.from_bytes(made.to_bytes()) == la.MinHash.from_dict(made.to_dict()) == made
    with pytest.raises(AttributeError, match="no attribute 'colour'"):
        made.colour  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError):
        made.values = ()  # type: ignore[misc]


def test_plans_do_not_pile_up_and_do_not_mix() -> None:
    texts = [f"text number {i}" for i in range(200)]
    recipes = [la.Recipe(seed=seed) for seed in range(200)]
    found = [la.minhash(text, recipe=recipe) for text, recipe in zip(texts, recipes, strict=True)]
    assert len(single._plans) <= single._MOST
    for text, recipe, sketch in zip(texts, recipes, found, strict=True):
        assert list(sketch.values) == la.minhashes([text], recipe=recipe)[0].tolist()
        assert sketch.recipe == f"minhash-128/{recipe.id}"


def test_sizes_and_widths_are_checked_whatever_is_kept() -> None:
    la.minhash("a")
    la.simhash("a")
    for size in (True, 128.0, "128", 0, 65537):
        with pytest.raises(la.errors.InputError, match="size"):
            la.minhash("a", size=size)  # type: ignore[arg-type]
    for bits in (True, 64.0, 63):
        with pytest.raises(la.errors.InputError, match="bits"):
            la.simhash("a", bits=bits)  # type: ignore[arg-type]


def test_threads_share_a_plan() -> None:
    texts = ["北京大学，" * n + "word " * n for n in range(1, 400, 7)] + ["long text " * 4000, "长文本，" * 6000]
    expected = [(la.minhash(text).values, la.simhash(text).value) for text in texts]
    wrong: list[str] = []

    def work() -> None:
        for text, (values, value) in zip(texts, expected, strict=True):
            if la.minhash(text).values != values or la.simhash(text).value != value:
                wrong.append(text)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
