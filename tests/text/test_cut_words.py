"""Words that a segmenter cut are folded and hashed in one native call: the same hashes as word by word."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike import _native
from lookalike.errors import InputError
from lookalike.recipe import Recipe
from lookalike.text import segment, word_columns
from lookalike.text.normalize import fold
from lookalike.text.shingle import shingles
from lookalike.text.tokenize import hash_strings, secret_strings, secret_token_hashes, segmented, stream, token_hashes

ODD = "Ａﬁß\u00ad\u200b\u0301é각\u1100\u1161…①㈱\ud800\udfff𠀀豈\u3000\u2028\x85\xa0\r\n\t \ufeff"
TEXTS = st.text(st.sampled_from("北京增值税电子普通发票我来到清华大学。，！ab-c_d.e12%.5 \n" + ODD) | st.characters(), max_size=60)


def word_by_word(text: str, tokenizer: str, folded: bool) -> tuple[list[int], list[int], list[int]]:
    tokens = segmented(text, tokenizer, folded)
    return list(hash_strings([token.text for token in tokens])), [token.start for token in tokens], [token.end for token in tokens]


def every_other(text: str) -> list[tuple[int, int]]:
    return [(start, start + 1) for start in range(0, len(text), 2)]


@pytest.mark.parametrize("tokenizer", ["jieba", f"{__name__}:every_other"])
@pytest.mark.parametrize("normalize", ["fold", "none"])
@given(text=TEXTS)
def test_the_hashes_are_those_of_each_word(tokenizer: str, normalize: str, text: str) -> None:
    recipe = Recipe(tokenizer=tokenizer, normalize=normalize, ngram=2)
    expected = word_by_word(text, tokenizer, normalize == "fold")
    assert list(token_hashes(text, recipe)) == expected[0]
    words = [token.text for token in segmented(text, tokenizer, normalize == "fold")]
    key = array("Q", (1, 2, 3, 4))
    assert list(secret_token_hashes(text, recipe, key)) == list(secret_strings(words, key))
    hashes, starts, ends = map(list, stream(text, recipe))
    assert (hashes, starts, ends) == (list(secret_strings(words)), *expected[1:])
    assert list(shingles(text, recipe)) == list(
        _native.shingle_tokens(hash_strings_of(expected[0]), offsets(expected[0]), 2, recipe.seed, False)[0]
    )


def hash_strings_of(hashes: list[int]) -> memoryview:
    return memoryview(array("Q", hashes))


def offsets(hashes: list[int]) -> memoryview:
    return memoryview(array("q", (0, len(hashes))))


def hashes_of_pieces(text: str, pieces: list[str], folded: bool = False) -> list[int]:
    data = text.encode("utf-8", "surrogatepass")
    lengths = array("I", map(len, pieces))
    return list(_native.hash_cut(data, array("q", (0, len(data))), lengths, array("q", (0, len(lengths))), folded)[0])


@given(text=TEXTS)
def test_pieces_are_the_whole_text(text: str) -> None:
    cutter = segment.piece_cutter("jieba")
    assert cutter is not None
    data, offsets, lengths, ends = _native.cut_texts([text, "", text], *cutter)
    size = len(text.encode("utf-8", "surrogatepass"))
    assert bytes(data) == 2 * text.encode("utf-8", "surrogatepass")
    assert list(offsets) == [0, size, size, 2 * size]
    assert sum(lengths) == 2 * len(text)
    assert list(lengths[: ends[1]]) == list(lengths[ends[2] :])


def test_what_is_outside_jieba_is_found_wherever_it_is() -> None:
    """Character by character, all that there are: rjieba must not see any that text/segment.py names."""
    replaced: list[str] = []

    def plain(text: str) -> str:
        replaced.append(text)
        return text

    _native.cut_texts([f"a{chr(code)}b" for code in range(0x110000)], lambda text: [text], plain)
    seen = {ord(text[1]) for text in replaced}
    outside = {code for code in range(0x110000) if segment._OUTSIDE_JIEBA.match(chr(code))}
    assert outside <= seen
    assert len(seen - outside) < 64  # others go the slow way for nothing


def test_ideographs_and_ascii_are_hashed_as_folding_leaves_them() -> None:
    """The kernel folds neither: their normal forms must be what it takes them for."""
    for code in [*range(0x80), *range(0x4DF0, 0xA010)]:
        for text in (chr(code), f"{chr(code)}京", f"A{chr(code)}"):
            if text in segment._BLANK_TOKENS:
                continue
            assert hashes_of_pieces(text, [text], True) == list(hash_strings([fold(text)])), hex(code)


@given(piece=st.text(st.sampled_from("aZ09._-% \r\nX"), min_size=1, max_size=40))
def test_compounds_are_taken_apart_as_in_python(piece: str) -> None:
    parts = segment._COMPOUND_PARTS.findall(piece) if segment._is_compound(piece) else [piece]
    words = [part for part in parts if part not in segment._BLANK_TOKENS]
    assert hashes_of_pieces(piece, [piece]) == (list(hash_strings(words)) if words else [])
    assert hashes_of_pieces(f"京{piece}京", ["京", piece, "京"], True)[1:-1] == (
        list(hash_strings([fold(w) for w in words])) if words else []
    )


def test_white_space_is_the_segmenters() -> None:
    """Character by character, all that there are: the native list and Python's must not drift apart."""
    text = "".join(map(chr, range(0x110000)))
    data = text.encode("utf-8", "surrogatepass")
    one_by_one = array("I", bytes(4)) * 0x110000
    for code in range(0x110000):
        one_by_one[code] = 1
    sizes = [len(character.encode("utf-8", "surrogatepass")) for character in text]
    offsets = array("q", itertools.accumulate(sizes, initial=0))
    ends = _native.hash_cut(data, offsets, one_by_one, array("q", range(0x110001)), False)[1]
    blank = {text[i] for i, (first, last) in enumerate(itertools.pairwise(ends)) if first == last}
    assert blank == {character for character in segment._BLANK_TOKENS if len(character) == 1}
    assert hashes_of_pieces("\r\n", ["\r\n"]) == []
    assert len(hashes_of_pieces("\n\r", ["\n\r"])) == 1


@pytest.mark.parametrize("tokenizer", ["jieba", f"{__name__}:every_other"])
@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("as_column", [list, lambda texts: pa.array(texts), lambda texts: pa.chunked_array([texts[:100], texts[100:]])])
def test_columns_do_not_depend_on_workers_or_pieces(
    tokenizer: str, workers: int, as_column: Callable[[list[str]], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_columns, "CHARACTERS_AT_A_TIME", 50)
    recipe = Recipe(tokenizer=tokenizer, ngram=2)
    texts = [f"第{i}行:我来到北京清华大学,foo-bar 3.{i}%。" * (i % 4) for i in range(211)]
    column = as_column(texts)
    assert la.minhashes(column, size=8, recipe=recipe, workers=workers).tolist() == [
        list(la.minhash(text, size=8, recipe=recipe).values) for text in texts
    ]
    assert la.simhashes(column, recipe=recipe, workers=workers).tolist() == [la.simhash(text, recipe=recipe).value for text in texts]


def test_a_row_that_is_no_text_is_named() -> None:
    with pytest.raises(InputError, match="row 2 is None"):
        la.minhashes(["甲", "乙", None], recipe=Recipe(tokenizer="jieba"))


@pytest.mark.parametrize("bits", [32, 64, 128])
@given(texts=st.lists(TEXTS, max_size=4))
def test_sketches_of_many_texts_are_those_of_each(bits: int, texts: list[str]) -> None:
    recipe = Recipe(tokenizer="jieba", ngram=3)
    assert la.minhashes(texts, size=16, recipe=recipe).tolist() == [list(la.minhash(text, size=16, recipe=recipe).values) for text in texts]
    made = la.simhashes(texts, bits=bits, recipe=recipe).tolist()
    expected = [la.simhash(text, bits=bits, recipe=recipe).value for text in texts]
    assert made == ([[value & (1 << 64) - 1, value >> 64] for value in expected] if bits == 128 else expected)


@pytest.mark.parametrize("spans", [[(0, 3)], [(1, 2), (0, 1)], [(2, 1)], [(0, 2), (1, 2)], [(2, 9)]])
def test_words_outside_the_text_are_refused(spans: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="words"):
        _native.hash_spans("京b".encode(), spans, True)


@pytest.mark.parametrize("spans", [[(-1, 1)], [(0,)], ["ab"], [(0, 2**32)], [None], [(0.5, 1)]])
def test_what_are_no_spans_are_refused(spans: list[object]) -> None:
    with pytest.raises((TypeError, RuntimeError, ValueError)):
        _native.hash_spans(b"ab", spans, True)  # type: ignore[arg-type]


def test_pieces_beyond_the_text_are_refused() -> None:
    with pytest.raises(ValueError, match="beyond its end"):
        hashes_of_pieces("ab", ["abc"])
    with pytest.raises(ValueError, match="as many as"):
        _native.hash_cut(b"ab", array("q", (0, 2)), array("I"), array("q", (0, 0, 0)), False)
    assert hashes_of_pieces("", []) == []
    assert len(hashes_of_pieces("ab", ["", "ab"])) == 1


def test_bytes_that_are_no_utf8_stay_within_the_buffer() -> None:
    for data in (b"\xe4a", b"\xe4ab\xe5", b"\xe9\xe9\xe9\xe9", b"ab\xe4", b"\x80\x80\xe4"):
        for lengths in ([1], [1, 1], [2], [1, 1, 1], [3], [0, 1]):
            try:
                _native.hash_cut(data, array("q", (0, len(data))), array("I", lengths), array("q", (0, len(lengths))), True)
            except ValueError as error:
                assert "beyond its end" in str(error)  # noqa: PT017 (some are refused, some are not: neither may read beyond)


@pytest.mark.parametrize("cut", [lambda text: [text, "x"], lambda text: [], lambda text: [5], lambda text: text, lambda text: 1 // 0])
def test_what_is_no_cut_is_refused(cut: Callable[[str], Any]) -> None:
    with pytest.raises((ValueError, TypeError, ZeroDivisionError)):
        _native.cut_texts(["ab"], cut, str)


def test_texts_that_are_no_str_are_refused() -> None:
    with pytest.raises(TypeError):
        _native.cut_texts([b"ab"], list, str)  # type: ignore[list-item]
