"""Texts that kernels read where Python has them: every width of a string, and the ways that are meant for some texts only."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import lookalike as la
import reference
from lookalike import _native

MODES = {"auto": 0, "words": 1, "chars": 2, "symbols": 4}
ASCII = st.lists(st.sampled_from([*list("abcXYZ019.,-'"), " ", "  ", "\n", "\t ", "\x00", "\x7f"]), max_size=80).map("".join)
BETWEEN = st.sampled_from(
    ["é", "e\u0301", "\u0301", "“", "”", "…", "ß", "\u3000", "\u200b", "한", "각", "😀", "\ud800", "相", "相似", "①", "㎏", "\u00a0", "ÿ"]
)
# Long stretches of ASCII with something else here and there, as English texts have it.
mostly_ascii = st.lists(ASCII | BETWEEN, max_size=8).map("".join)
# Ideographs with everything between them, longer than what is read at a time.
ideographs = st.lists(st.sampled_from(["天地玄黄宇宙洪荒", "，", "。", " ", "  ", "word", "Word9", "x" * 40]) | BETWEEN, max_size=40).map(
    "".join
)
assigned = st.characters().filter(
    lambda char: unicodedata.category(char) != "Cn"
)  # in this Python's Unicode, which is not newer than the frozen tables
texts = st.lists(ASCII | BETWEEN | st.text(assigned, max_size=3), max_size=30).map("".join)
repeated = st.tuples(ideographs, st.integers(1, 12)).map(lambda parts: parts[0] * parts[1])


def data(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def held(batch: list[str | bytes]) -> _native.HeldTexts:
    return _native.HeldTexts(batch, 0, len(batch), 1 << 40)


@given(texts | mostly_ascii | repeated, st.sampled_from(list(MODES)), st.integers(1, 6), st.integers(1, 6))
@example("b é", "chars", 1, 1)
@example("é b  ", "chars", 1, 1)
@example("a\u0301 \u0301b", "chars", 1, 1)
@example("  \u3000 a", "chars", 2, 4)
@example("天" * 511 + "\u0301地" + "x" * 600, "auto", 5, 4)
@example("天" + "，x " * 400 + "地", "auto", 3, 4)
@example("天" + "😀a" * 700, "chars", 5, 4)
@settings(max_examples=400)
def test_tokens_and_spans_are_those_of_the_reference(text: str, mode: str, n: int, window: int) -> None:
    tokens = reference.tokenize(text, mode)
    hashes = reference.text_shingles(text, mode, n)
    kept = reference.winnow(hashes, window)
    reach = min(n, len(tokens)) - 1
    spans = [(tokens[k][1], tokens[k + reach][2]) for k in kept]
    for given_as in (text, data(text)):
        winnowed = _native.WinnowedTexts(MODES[mode], True, n, 0, window, 1)
        winnowed.add(held([given_as]))
        values, starts, ends, _ = winnowed.columns()
        assert list(values) == [hashes[k] for k in kept]
        assert list(zip(starts, ends, strict=True)) == spans


@given(
    st.lists(texts | mostly_ascii | repeated | ASCII, max_size=5),
    st.sampled_from(["default", "chars", "words", "symbols"]),
    st.integers(1, 3),
)
@settings(max_examples=150)
def test_strings_and_their_bytes_are_the_same_texts(batch: list[str], recipe: str, workers: int) -> None:
    encoded = [data(text) for text in batch]
    assert la.minhashes(batch, recipe=recipe, workers=workers).tolist() == la.minhashes(encoded, recipe=recipe).tolist()
    assert la.simhashes(batch, recipe=recipe, workers=workers).tolist() == la.simhashes(encoded, recipe=recipe).tolist()
    ours, theirs = la.winnows(batch, recipe=recipe, workers=workers), la.winnows(encoded, recipe=recipe)
    assert [one.to_bytes() for one in ours] == [other.to_bytes() for other in theirs]
    for text, row, value in zip(
        batch, la.minhashes(batch, recipe=recipe).tolist(), la.simhashes(batch, recipe=recipe).tolist(), strict=True
    ):
        shingles = reference.text_shingles(text, "auto" if recipe == "default" else recipe, la.recipes.get(recipe).ngram)
        assert row == reference.minhash(shingles, 128)
        assert value == reference.simhash(shingles, 64)


def test_a_column_is_taken_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = [f"{i} words of a text, 第{i}个问题" for i in range(100)]
    whole = la.minhashes(batch), la.simhashes(batch), la.winnows(batch)
    for most, characters in ((7, 1 << 40), (1 << 40, 50), (3, 1)):
        monkeypatch.setattr("lookalike.text.columns.HELD_AT_A_TIME", most)
        monkeypatch.setattr("lookalike.text.columns.HELD_CHARACTERS", characters)
        for column in (batch, tuple(batch)):
            assert (la.minhashes(column) == whole[0]).all()
            assert (la.simhashes(column) == whole[1]).all()
            assert [one.to_bytes() for one in la.winnows(column)] == [one.to_bytes() for one in whole[2]]


def test_what_is_no_text_is_named_by_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.text.columns.HELD_AT_A_TIME", 2)
    for make in (la.minhashes, la.simhashes, la.winnows):
        with pytest.raises(la.InputError, match="row 3 is None"):
            make(["a", "b", "c", None])


def test_a_list_that_somebody_empties_meanwhile_is_held() -> None:
    batch = ["天地玄黄" * 10, "a" * 100]
    kept = _native.HeldTexts(batch, 0, 2, 1 << 40)
    expected = list(_native.simhash_texts(kept, 2, True, 5, 0, 64, False, 1))
    batch.clear()
    assert list(_native.simhash_texts(kept, 2, True, 5, 0, 64, False, 1)) == expected
    assert len(_native.HeldTexts(batch, 5, 3, 1)) == 0


def test_columns_of_winnowed_texts_are_given_once() -> None:
    winnowed = _native.WinnowedTexts(MODES["words"], True, 2, 0, 4, 2)
    assert [list(part) for part in winnowed.columns()] == [[], [], [], [0]]
    batch = ["one two three", "", "two three four five six seven"]
    winnowed.add(held(batch))
    winnowed.add(b"one two three", memoryview(bytes(8) + (13).to_bytes(8, "little")).cast("q"))
    values, starts, ends, offsets = map(list, winnowed.columns())
    assert offsets[-1] == len(values) == len(starts) == len(ends)
    assert values[offsets[0] : offsets[1]] == values[offsets[3] : offsets[4]]
    assert offsets[1] == offsets[2]
    assert [list(part) for part in winnowed.columns()] == [[], [], [], [0]]


def test_winnowed_texts_check_what_they_are_given() -> None:
    for options in ((3, True, 5, 0, 4, 1), (0, True, 0, 0, 4, 1), (0, True, 5, 0, 0, 1), (0, True, 5, 0, 4, 0)):
        with pytest.raises(ValueError, match=r"choose|mode"):
            _native.WinnowedTexts(*options)
