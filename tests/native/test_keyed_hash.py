"""The hashes of keyed collections against a slow reference, and their native boundary."""

from __future__ import annotations

import itertools
from array import array
from hashlib import blake2b
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import reference
from crafted_collisions import COLLIDING
from lookalike import _native
from lookalike.keys import Key
from stable import stable_id

MODES = {"auto": 0, "words": 1, "chars": 2, "symbols": 4}
KEY = [reference.mix(number) for number in range(1, 8)]
keys = st.lists(st.integers(0, 2**64 - 1), min_size=7, max_size=7)
# Words of every length around that of a machine word, and characters of one and three bytes in long rows.
texts = st.lists(
    st.one_of(
        st.sampled_from(
            ["a ", "the ", "seventy", "eighteen", "nineteenth", "twenty-three ", "相", "似文本", "é", "\u00ad", "\ud800", "😀"]
        ),
        st.integers(1, 26).map(lambda size: "abcdefghijklmnopqrstuvwxyz"[:size] + " "),
        st.text(max_size=3),
    ),
    max_size=40,
).map("".join)


def hashing(key: list[int], seed: int = 0) -> _native.Hashing:
    return _native.Hashing(seed, array("Q", key))


def packed(batch: list[str]) -> tuple[bytes, array[int]]:
    encoded = [text.encode("utf-8", "surrogatepass") for text in batch]
    return b"".join(encoded), array("q", itertools.accumulate(map(len, encoded), initial=0))


def tokens_of(text: str, mode: int, fold: bool) -> list[bytes]:
    return [token.encode() for token, _, _ in _native.tokenize(text.encode("utf-8", "surrogatepass"), mode, fold)]


def test_the_reference_is_siphash() -> None:
    """The published value of SipHash-2-4, from the appendix of the paper."""
    key = (0x0706050403020100, 0x0F0E0D0C0B0A0908)
    assert reference.siphash(key, bytes(range(15)), (2, 4)) == 0xA129CA6149BE45E5


@given(st.lists(st.binary(max_size=40), max_size=12), keys, st.booleans(), st.integers(0, 2**63 - 1))
@example([b"", b"x" * 7, b"x" * 8, b"x" * 9, b"x" * 15, b"x" * 16, b"x" * 300], KEY, False, 0)
def test_strings(strings: list[bytes], key: list[int], integers: bool, seed: int) -> None:
    offsets = array("q", itertools.accumulate(map(len, strings), initial=0))
    found = _native.hash_strings(b"".join(strings), offsets, integers, hashing(key, seed))
    assert list(found) == [reference.siphash(key[2:4] if integers else key[:2], each) for each in strings]


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@given(batch=st.lists(texts, max_size=4), fold=st.booleans(), ngram=st.integers(1, 7), seed=st.integers(0, 2**63 - 1), key=keys)
@example(batch=["x" * 2000, "相似" * 1000, "a" * 63 + "相" * 700, "a b " * 900, ""], fold=True, ngram=5, seed=0, key=KEY)
@settings(max_examples=60)
def test_shingles(mode: int, batch: list[str], fold: bool, ngram: int, seed: int, key: list[int]) -> None:
    expected = [reference.keyed_shingles(tokens_of(text, mode, fold), ngram, key, seed) for text in batch]
    data, offsets = packed(batch)
    values, ends = _native.shingle_texts(data, offsets, mode, fold, ngram, hashing(key, seed), False, 1)
    assert [list(values[a:b]) for a, b in itertools.pairwise(ends)] == expected
    for text, hashes in zip(batch, expected, strict=True):
        tokens = array("Q", (reference.siphash(key[:2], token) for token in tokens_of(text, mode, fold)))
        again, _ = _native.shingle_tokens(tokens, array("q", (0, len(tokens))), ngram, hashing(key, seed), False)
        assert list(again) == hashes


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@given(batch=st.lists(texts, min_size=1, max_size=4), fold=st.booleans(), key=keys, workers=st.integers(1, 3))
@settings(max_examples=40)
def test_fingerprints(mode: int, batch: list[str], fold: bool, key: list[int], workers: int) -> None:
    """Every kernel that makes one makes it of the keyed shingles."""
    data, offsets = packed(batch)
    shingles = [reference.keyed_shingles(tokens_of(text, mode, fold), 3, key, 7) for text in batch]
    options: tuple[Any, ...] = (data, offsets, mode, fold, 3, hashing(key, 7))
    simhashes = [reference.simhash(each, 64) for each in shingles]
    assert list(_native.simhash_texts(*options, 64, False, workers)) == simhashes
    minhashes = [value for each in shingles for value in reference.minhash(each, 16)]
    assert list(_native.minhash_texts(*options, 16, workers)) == minhashes
    found = _native.sketch_texts(*options, 64, False, 16, workers)
    assert [list(part) for part in found] == [simhashes, minhashes, list(_native.content_digests(data, offsets, mode, fold, 1, options[5]))]
    kept = _native.WinnowedTexts(*options[2:], 4, workers)
    kept.add(data, offsets)
    values, _, _, ends = kept.columns()
    winnowed = [[each[at] for at in reference.winnow(each, 4)] for each in shingles]
    assert [list(values[a:b]) for a, b in itertools.pairwise(ends)] == winnowed
    # What dedupe and clusters find candidates by; what they decide by has another secret, that of the process.
    features, _, digests, bands = _native.sketch_documents(*options, 16, 4, 4, workers)
    plain = _native.sketch_documents(*options[:5], 7, 16, 4, 4, workers)
    joined = array("Q", itertools.chain(*shingles))
    offsets_of = array("q", itertools.accumulate(map(len, shingles), initial=0))
    assert list(bands) == list(_native.sketch_feature_lists(joined, offsets_of, 16, 4, 4, workers)[3])
    assert [list(features), list(digests)] == [list(plain[0]), list(plain[2])]


@given(st.lists(texts, max_size=4), st.booleans(), keys)
@settings(max_examples=60)
def test_digests(batch: list[str], fold: bool, key: list[int]) -> None:
    expected = []
    for text in batch:
        state = reference.GOLDEN
        tokens = tokens_of(text, 0, fold)
        for word in [*(reference.siphash(key[:2], token) for token in tokens), len(tokens)]:
            state = (state ^ word) * reference.BLOCK_MULTIPLIER & reference.MASK
            state ^= state >> 32
        expected.append(reference.mix(state))
    assert list(_native.content_digests(*packed(batch), 0, fold, 1, hashing(key))) == expected


@given(st.lists(st.sampled_from(["the", "old", "market", "nineteenth", "相", "é", "\u00ad"]), max_size=12), keys)
def test_cut_words(words: list[str], key: list[int]) -> None:
    text = "".join(words).encode()
    spans = [(end - len(word), end) for word, end in zip(words, itertools.accumulate(map(len, words)), strict=True)]
    folded = [data for word in words if (data := bytes(_native.fold_text(word.encode())))]
    expected = [reference.siphash(key[:2], data) for data in folded]
    assert list(_native.hash_spans(text, spans, True, False, None, hashing(key))[0]) == expected
    cut = _native.cut_texts(["".join(words)], lambda _: words, str)
    assert list(_native.hash_cut(*cut, True, False, None, hashing(key))[0]) == expected


def test_crafted_words_do_not_collide() -> None:
    """A second preimage of version 1's hash is none of the keyed one: the key is not merely mixed into the unkeyed hash."""
    for word, other in COLLIDING.items():
        plain, keyed = (_native.hash_strings(*_native.pack_strings([word, other]), False, seed) for seed in (0, hashing(KEY)))
        assert plain[0] == plain[1]
        assert keyed[0] != keyed[1]


def test_the_words_of_a_key() -> None:
    secret = bytes(range(16))
    words = blake2b(b"hashes", key=secret, digest_size=56, person=b"lookalike-key-1").digest()
    key = array("Q", words).tolist()
    found = _native.shingle_texts(*packed(["some words of a text"]), 0, True, 3, Key(secret).hashing(0), False, 1)[0]
    assert list(found) == reference.keyed_shingles([b"some", b"words", b"of", b"a", b"text"], 3, key)


@pytest.mark.parametrize(
    "key",
    [array("Q"), array("Q", [1] * 6), array("Q", [1] * 8), array("q", [1] * 7), [1] * 7, b"x" * 56, np.zeros((7, 1), np.uint64), None],
    ids=stable_id,
)
def test_other_keys(key: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        _native.Hashing(0, key)
    with pytest.raises(TypeError):
        _native.Hashing(-1, array("Q", KEY))


@pytest.mark.parametrize("seed", [None, "7", 1.5, -1, 2**64, KEY], ids=stable_id)
def test_other_seeds(seed: object) -> None:
    with pytest.raises(TypeError):
        _native.shingle_texts(*packed(["a"]), 0, True, 3, seed, False, 1)
