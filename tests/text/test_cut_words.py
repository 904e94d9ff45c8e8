"""Words that a segmenter cut are folded and hashed in one native call: the same hashes as word by word."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike import _native
from lookalike.recipe import Recipe
from lookalike.text import segment
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


@given(text=TEXTS)
def test_pieces_are_the_spans_and_what_is_between(text: str) -> None:
    found = segment.pieces(text, "jieba")
    assert found is not None
    assert sum(map(len, found)) == len(text)
    places, position = [], 0
    for piece in found:
        if piece not in segment._BLANK_TOKENS:
            places.append((position, position + len(piece)))
        position += len(piece)
    assert places == segment.jieba_spans(text)


def test_white_space_is_the_segmenters() -> None:
    """Character by character, all that there are: the native list and Python's must not drift apart."""
    for code in range(0x110000):
        character = chr(code)
        data = character.encode("utf-8", "surrogatepass")
        if (len(_native.hash_pieces(data, [character], False)) == 0) != (character in segment._BLANK_TOKENS):
            raise AssertionError(hex(code))
    assert len(_native.hash_pieces(b"\r\n", ["\r\n"], False)) == 0
    assert len(_native.hash_pieces(b"\n\r", ["\n\r"], False)) == 1


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
    with pytest.raises(ValueError, match="beyond the end"):
        _native.hash_pieces(b"ab", ["abc"], True)
    with pytest.raises(TypeError):
        _native.hash_pieces(b"ab", [5], True)  # type: ignore[list-item]
    assert len(_native.hash_pieces(b"", [], True)) == 0
    assert len(_native.hash_pieces(b"ab", ["", "ab"], True)) == 1
