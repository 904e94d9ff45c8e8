"""Every native kernel against its slow reference."""

from __future__ import annotations

import itertools
import random
import unicodedata
from array import array

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import reference
from lookalike import _native

MODES = {"auto": 0, "words": 1, "chars": 2, "symbols": 4}


def known(char: str) -> bool:
    """Assigned in the Unicode version of this Python, which is not newer than the frozen tables."""
    return unicodedata.category(char) != "Cn"


# What real texts are made of, what is hard, and everything else.
texts = st.lists(
    st.one_of(
        st.sampled_from([*list("abcXYZ019 .,-_'\n\t"), "the ", "and ", "  ", "\r\n"]),
        st.sampled_from([*list("相似文本检测中国人民，。！？「」々〇"), "ひらがな", "カタカナ", "ー", "ｶﾞ", "한국어", "한", "각", "ㄱㅏ"]),
        st.sampled_from(["é", "é", "ê", "ạ̈", "ạ̈", "ß", "ﬁ", "½", "Å", "ǅ", "İ", "Σς", "①", "㈱", "㍿", "㎏", "Ａ１", "…"]),
        st.sampled_from(["­", "​", "‍", "﻿", "️", "\x00", "\ud800", "\udfff", "😀", "👨‍👩‍👧", "́", "゙", "ั้", "नमस्ते", "สวัสดี", "\u00a0", "\u3000"]),
        st.text(st.characters().filter(known), max_size=3),
    ),
    max_size=60,
).map("".join)


def data(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def offsets(*sizes: int) -> array:
    out = array("q", [0])
    for size in sizes:
        out.append(out[-1] + size)
    return out


@given(texts)
@example("a" * 63 + " é" + "b" * 70)
@example("x" * 200 + "  " + "y" * 200)
@settings(max_examples=400)
def test_fold(text: str) -> None:
    assert _native.fold_text(data(text)).decode() == reference.fold(text)


@pytest.mark.parametrize("mode", MODES)
@given(text=texts)
@example(text="")
@example(text=" ")
@example(text="!!!")
@example(text="́̈a")
@example(text=("word " * 40) + "末")
@example(text="a" * 64 + "b" * 64 + " c")
@example(text=" " * 130 + "x" + " " * 130)
@settings(max_examples=300)
def test_tokens_and_spans(mode: str, text: str) -> None:
    expected = reference.tokenize(text, mode)
    assert _native.tokenize(data(text), MODES[mode], True) == expected
    hashes, starts, ends = _native.token_stream(data(text), MODES[mode], True)
    strings = [token.encode() for token, _, _ in expected]
    assert list(hashes) == list(_native.secret_strings(b"".join(strings), offsets(*map(len, strings))))
    assert list(zip(starts, ends, strict=True)) == [(start, end) for _, start, end in expected]


ASCII = [*"aZ09 ", " ", "the", "Word", "\t\r\n", "!?.-_'\"", "\x00\x1f\x7f", "@[`{~^|"]
blocks = st.lists(
    st.tuples(st.lists(st.sampled_from(ASCII), max_size=6).map("".join), st.integers(0, 90), st.sampled_from(["", "é", "相", "ﬁ", "́"])),
    max_size=5,
)


@pytest.mark.parametrize("mode", MODES)
@given(parts=blocks)
@example(parts=[("a ", 300, "")])  # as many tokens as there can be
@example(parts=[(".", 700, "é")])
@settings(max_examples=150)
def test_ascii_in_blocks(mode: str, parts: list[tuple[str, int, str]]) -> None:
    """Stretches of ASCII that fill blocks of 64 bytes, or not quite, with and without something else between them."""
    text = "".join(piece * count + other for piece, count, other in parts)
    assert _native.fold_text(data(text)).decode() == reference.fold(text)
    assert _native.tokenize(data(text), MODES[mode], True) == reference.tokenize(text, mode)
    hashes, _ = _native.shingle_texts(data(text), offsets(len(data(text))), MODES[mode], True, 1, 7, False, 1)
    assert list(hashes) == reference.text_shingles(text, mode, 1, 7)


@given(texts)
@settings(max_examples=200)
def test_unfolded_characters_are_the_code_points(text: str) -> None:
    found = _native.tokenize(data(text), MODES["chars"], False)
    assert found == [("�" if "\ud800" <= c <= "\udfff" else c, i, i + 1) for i, c in enumerate(text)]


@given(st.binary(max_size=80))
@settings(max_examples=500)
def test_ill_formed_bytes_count_as_python_replaces_them(raw: bytes) -> None:
    try:
        text = raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        text = raw.decode("utf-8", "replace")
        if any(a == 0xED and b >= 0xA0 for a, b in itertools.pairwise(raw)):
            return  # surrogates among other errors: only their number of code points differs from Python's
    assert [t for t, _, _ in _native.tokenize(raw, 2, False)] == ["�" if "\ud800" <= c <= "\udfff" else c for c in text]


def test_every_code_point_folds_like_the_reference() -> None:
    wrong = []
    for code in range(0x110000):
        char = chr(code)
        if 0xD800 <= code <= 0xDFFF or not known(char):
            continue
        if _native.fold_text(char.encode()).decode() != reference.fold(char):
            wrong.append(hex(code))
    assert wrong == []


@given(st.lists(st.binary(max_size=40), max_size=8), st.booleans())
def test_string_hashes(strings: list[bytes], integers: bool) -> None:
    tag = reference.INTEGER_TAG if integers else 0
    found = _native.hash_strings(b"".join(strings), offsets(*map(len, strings)), integers)
    assert list(found) == [reference.token_hash(string, tag) for string in strings]


hashes64 = st.integers(0, 2**64 - 1)
keys = st.lists(hashes64, min_size=4, max_size=4)


@given(st.lists(st.binary(max_size=40), max_size=8), keys)
def test_secret_hashes(strings: list[bytes], key: list[int]) -> None:
    found = _native.secret_strings(b"".join(strings), offsets(*map(len, strings)), array("Q", key))
    assert list(found) == [reference.siphash(key[:2], string) for string in strings]


@given(st.lists(texts, max_size=4), st.sampled_from(list(MODES)), st.integers(1, 6), keys, st.integers(1, 3))
@example([" ".join("x" * size + str(size) for size in range(1, 80))], "auto", 6, [5, 6, 7, 8], 1)
@example(["a" * 64 + " b " * 2000, "相似" * 1500, " ".join(f"word{i}" for i in range(3000))], "auto", 5, [1, 2, 3, 4], 1)
@settings(max_examples=150)
def test_secret_features_of_texts(batch: list[str], mode: str, n: int, key: list[int], workers: int) -> None:
    encoded = [data(text) for text in batch]
    buffer, places = b"".join(encoded), offsets(*map(len, encoded))
    tokens = [[token.encode() for token, _, _ in reference.tokenize(text, mode)] for text in batch]
    expected = [reference.secret_features(each, n, key) for each in tokens]
    found, ends = _native.secret_features(buffer, places, MODES[mode], True, n, False, workers, array("Q", key))
    assert [list(found[a:b]) for a, b in itertools.pairwise(ends)] == expected
    found, ends = _native.secret_features(buffer, places, MODES[mode], True, n, True, workers, array("Q", key))
    assert [list(found[a:b]) for a, b in itertools.pairwise(ends)] == [sorted(set(each)) for each in expected]


@pytest.mark.parametrize("key", [array("Q", [1, 2, 3]), array("Q"), array("Q", range(5))], ids=len)
def test_keys_have_four_words(key: array[int]) -> None:
    with pytest.raises(ValueError, match="key"):
        _native.secret_strings(b"a", offsets(1), key)


@given(st.lists(hashes64, max_size=80), st.integers(1, 64), st.integers(0, 2**63 - 1))
def test_shingles_of_tokens(tokens: list[int], n: int, seed: int) -> None:
    found, places = _native.shingle_tokens(array("Q", tokens), offsets(len(tokens)), n, seed, False)
    assert list(found) == reference.shingle_hashes(tokens, n, seed)
    assert list(places) == [0, len(found)]


@pytest.mark.parametrize("count", [1, 7, 8, 9, 23, 600])
def test_tokens_of_every_size(count: int) -> None:
    """Those of up to eight bytes are hashed side by side, the others by themselves."""
    text = " ".join("abcdefghijklmnopqrstuvwxyz"[i % 7 :][: 1 + i * 5 % 19] for i in range(count))
    found, _ = _native.shingle_texts(data(text), offsets(len(text)), 1, True, 1, 7, False, 1)
    assert list(found) == reference.text_shingles(text, "words", 1, 7)


@pytest.mark.parametrize("n", [1, 2, 5, 64])
def test_shingles_across_the_batches_of_the_kernel(n: int) -> None:
    text = " ".join(f"w{i * i % 977}" for i in range(3000))
    found, _ = _native.shingle_texts(data(text), offsets(len(text)), 1, True, n, 7, False, 1)
    assert list(found) == reference.text_shingles(text, "words", n, 7)


@given(st.lists(texts, max_size=4), st.sampled_from(list(MODES)), st.integers(1, 6), st.integers(0, 3))
@settings(max_examples=150)
def test_shingles_of_texts(batch: list[str], mode: str, n: int, seed: int) -> None:
    encoded = [data(text) for text in batch]
    buffer, places = b"".join(encoded), offsets(*map(len, encoded))
    expected = [reference.text_shingles(text, mode, n, seed) for text in batch]
    found, ends = _native.shingle_texts(buffer, places, MODES[mode], True, n, seed, False, 1)
    assert [list(found[a:b]) for a, b in itertools.pairwise(ends)] == expected
    found, ends = _native.shingle_texts(buffer, places, MODES[mode], True, n, seed, True, 2)
    assert [list(found[a:b]) for a, b in itertools.pairwise(ends)] == [sorted(set(e)) for e in expected]


@pytest.mark.parametrize("bits", [32, 64, 128])
@given(features=st.lists(hashes64, max_size=70), unique=st.booleans())
def test_simhash(bits: int, features: list[int], unique: bool) -> None:
    found = _native.simhash_features(array("Q", features), offsets(len(features)), bits, unique, 1)
    value = found[0] | (found[1] << 64 if bits == 128 else 0)
    assert value == reference.simhash(set(features) if unique else features, bits)


@pytest.mark.parametrize("bits", [32, 64, 128])
@given(features=st.lists(st.tuples(hashes64, st.floats(-1e6, 1e6)), max_size=40))
def test_weighted_simhash(bits: int, features: list[tuple[int, float]]) -> None:
    hashes, weights = array("Q", (f for f, _ in features)), array("d", (w for _, w in features))
    found = _native.simhash_weighted(hashes, weights, bits)
    value = found[0] | (found[1] << 64 if bits == 128 else 0)
    assert value == reference.simhash(hashes, bits, list(weights))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 100, 128, 256, 512, 1000])
@given(features=st.lists(hashes64, max_size=300))
@settings(max_examples=40)
def test_minhash(size: int, features: list[int]) -> None:
    found = _native.minhash_features(array("Q", features), offsets(len(features)), size, 1)
    assert list(found) == reference.minhash(features, size)


@pytest.mark.parametrize("count", [*range(1, 70), 100, 127, 128, 129, 200, 255, 256, 257, 400, 600])
def test_minhash_of_so_many_features(count: int) -> None:
    """How many are thrown at a time depends on how many there are."""
    features = [reference.mix(i * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF) for i in range(1, count + 1)]
    for size in (16, 32, 64, 128, 256, 512):
        assert list(_native.minhash_features(array("Q", features), offsets(count), size, 1)) == reference.minhash(features, size)


def test_minhash_of_a_long_repetitive_list_needs_every_round() -> None:
    features = [reference.mix(i % 5 + 1) for i in range(20_000)]
    found = _native.minhash_features(array("Q", features), offsets(len(features)), 128, 1)
    assert list(found) == reference.minhash(features, 128)


@pytest.mark.parametrize("size", [1, 5, 16])
@given(features=st.dictionaries(hashes64, st.floats(1e-9, 1e9), max_size=12), seed=st.integers(0, 2**63 - 1))
@settings(max_examples=50)
def test_weighted_minhash(size: int, features: dict[int, float], seed: int) -> None:
    found = _native.minhash_weighted(array("Q", features), array("d", features.values()), size, seed)
    assert list(found) == reference.weighted_minhash(list(features), list(features.values()), size, seed)


@given(st.lists(st.integers(0, 9) | hashes64, max_size=100), st.integers(1, 12))
def test_winnowing(hashes: list[int], window: int) -> None:
    values, kept = _native.winnow_shingles(array("Q", hashes), window)
    assert list(kept) == reference.winnow(hashes, window)
    assert list(values) == [hashes[i] for i in kept]


@given(st.lists(texts, min_size=1, max_size=4), st.sampled_from(list(MODES)), st.integers(1, 5), st.integers(1, 6))
@settings(max_examples=100)
def test_winnowing_of_texts(batch: list[str], mode: str, n: int, window: int) -> None:
    encoded = [data(text) for text in batch]
    winnowed = _native.WinnowedTexts(MODES[mode], True, n, 0, window, 2)
    winnowed.add(b"".join(encoded), offsets(*map(len, encoded)))
    values, starts, ends, places = winnowed.columns()
    for i, text in enumerate(batch):
        tokens = reference.tokenize(text, mode)
        hashes = reference.text_shingles(text, mode, n)
        kept = reference.winnow(hashes, window)
        reach = min(n, len(tokens)) - 1
        here = slice(places[i], places[i + 1])
        assert list(values[here]) == [hashes[k] for k in kept]
        assert list(zip(starts[here], ends[here], strict=True)) == [(tokens[k][1], tokens[k + reach][2]) for k in kept]


@pytest.mark.parametrize("alphabet", ["a", "ab", "ab  ", "abcdefghijklmnopqrstuvwxyz ABC.,\n\t", "ab é中 "])
@pytest.mark.parametrize("length", [*range(1, 12), *range(30, 36), *range(62, 74), *range(126, 138), 300, 1500])
def test_winnowing_of_long_texts(alphabet: str, length: int) -> None:
    """Lanes take 32 characters and 64 hashes at a time: texts that end before, at and behind such a block, with equal hashes and spaces side by side."""
    text = "".join(random.Random(length).choices(alphabet, k=length))
    encoded = data(text)
    for n, window in ((5, 4), (1, 4), (5, 3)):
        winnowed = _native.WinnowedTexts(MODES["chars"], True, n, 0, window, 1)
        winnowed.add(encoded, offsets(len(encoded)))
        values, starts, ends, _ = winnowed.columns()
        tokens, hashes = reference.tokenize(text, "chars"), reference.text_shingles(text, "chars", n)
        kept, reach = reference.winnow(hashes, window), min(n, len(tokens)) - 1
        assert list(values) == [hashes[k] for k in kept]
        assert list(zip(starts, ends, strict=True)) == [(tokens[k][1], tokens[k + reach][2]) for k in kept]


@given(st.lists(hashes64 | st.integers(0, 30), max_size=60), st.lists(hashes64 | st.integers(0, 30), max_size=60))
def test_common_elements(a: list[int], b: list[int]) -> None:
    assert _native.count_common(array("Q", sorted(set(a))), array("Q", sorted(set(b)))) == len(set(a) & set(b))


token_lists = st.lists(st.integers(0, 6), max_size=60)


@given(token_lists, token_lists)
@settings(max_examples=300)
def test_small_alignments_are_longest_common_subsequences(left: list[int], right: list[int]) -> None:
    sizes = [1 + token % 4 for token in left]
    runs = _native.align_tokens(array("Q", left), array("Q", right), array("I", sizes))
    ends = (0, 0)
    for a, b, length in runs:
        assert left[a : a + length] == right[b : b + length]
        assert (a, b) >= ends
        assert a >= ends[0]
        assert b >= ends[1]
        ends = (a + length, b + length)
    kept = [token for a, _, length in runs for token in left[a : a + length]]
    assert (len(kept), sum(1 + token % 4 for token in kept)) == reference.longest_common(left, right, lambda token: 1 + token % 4)


@pytest.mark.parametrize("seed", range(20))
def test_large_alignments_ascend_and_find_most(seed: int) -> None:
    """Beyond the exact table: anchors. Of an edited copy nearly all must be found."""
    generator = random.Random(seed)
    left = [generator.randint(0, 40) for _ in range(generator.randint(600, 3000))]
    right = [generator.randint(0, 40) if generator.random() < 0.05 else token for token in left]
    runs = _native.align_tokens(array("Q", left), array("Q", right), array("I", [1] * len(left)))
    at = (0, 0)
    for a, b, length in runs:
        assert left[a : a + length] == right[b : b + length]
        assert a >= at[0]
        assert b >= at[1]
        at = (a + length, b + length)
    same = sum(a == b for a, b in zip(left, right, strict=True))
    assert sum(length for _, _, length in runs) >= 0.97 * same


@given(token_lists, token_lists, st.integers(1, 5))
@settings(max_examples=200)
def test_moved_runs_lie_outside_the_kept_ones_and_never_overlap(left: list[int], right: list[int], shortest: int) -> None:
    a, b = array("Q", left), array("Q", right)
    kept = _native.align_tokens(a, b, array("I", [1] * len(left)))[::2]
    moved = _native.moved_tokens(a, b, kept, shortest)
    for side, tokens in ((0, left), (1, right)):
        places = [place for run in [*kept, *moved] for place in range(run[side], run[side] + run[2])]
        assert len(places) == len(set(places))
        assert all(place < len(tokens) for place in places)
    for run in moved:
        assert run[2] >= shortest
        assert left[run[0] : run[0] + run[2]] == right[run[1] : run[1] + run[2]]


@given(
    texts=st.lists(
        st.one_of(st.text(st.characters(exclude_categories=())), st.text(st.characters(max_codepoint=0xFF)), st.binary()), max_size=9
    )
)
def test_packed_strings_are_their_utf8(texts: list[str | bytes]) -> None:
    encoded = [text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text for text in texts]
    data, offsets = _native.pack_strings(texts)
    assert bytes(data) == b"".join(encoded)
    assert list(offsets) == list(itertools.accumulate(map(len, encoded), initial=0))


@pytest.mark.parametrize("other", ["é", "相", "😀", "\x7f", "\x80"])
def test_packed_ascii_with_another_character_at_any_place(other: str) -> None:
    """ASCII is copied in blocks: one that has something else is not."""
    texts = ["abcdefgh" * 6 + "xyz", *("a" * place + other + "b" * (50 - place) for place in range(51))]
    assert bytes(_native.pack_strings(texts)[0]) == "".join(texts).encode()


def test_every_character_of_two_bytes_is_packed_at_every_place() -> None:
    """Blocks of them become UTF-8 at once: each character among ASCII, among its like, and near the end."""
    every = "".join(map(chr, range(0x10000)))
    shifted = [every[first : first + size] for size in (1, 63, 95, 96, 97, 129, 200) for first in range(0x80 - 3, 0x10000, size * 31 + 1)]
    among = ["ascii text " * 9 + every[first] + "b" * behind for first in range(0x80, 0x10000, 397) for behind in (0, 31, 32, 63, 64, 99)]
    for texts in (["", every, "a" + every], shifted, among):
        data, offsets = _native.pack_strings(texts)
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        assert bytes(data) == b"".join(encoded)
        assert [offsets[i + 1] - offsets[i] for i in range(len(texts))] == list(map(len, encoded))


@pytest.mark.parametrize("workers", [2, 3])
def test_threads_change_nothing(workers: int) -> None:
    batch = [("lorem ipsum 相似 " * (i % 17) + f"{i} dolor") for i in range(1000)]
    buffer, places = _native.pack_strings(batch)
    for mode in MODES.values():
        one = _native.simhash_texts(buffer, places, mode, True, 3, 0, 64, False, 1)
        many = _native.simhash_texts(buffer, places, mode, True, 3, 0, 64, False, workers)
        assert bytes(one) == bytes(many)
        one = _native.minhash_texts(buffer, places, mode, True, 3, 0, 64, 1)
        many = _native.minhash_texts(buffer, places, mode, True, 3, 0, 64, workers)
        assert bytes(one) == bytes(many)


def test_long_documents() -> None:
    """Buffers grow: a document far larger than the first allocation, in every mode, with expansions at the end."""
    text = "Lorem ipsum dolor sit amet " * 1000 + "ﷺ" * 300 + "相似" * 300
    for mode, number in MODES.items():
        assert _native.tokenize(data(text), number, True) == reference.tokenize(text, mode)
    assert _native.fold_text(data(text)).decode() == reference.fold(text)
