"""Exact overlaps and content digests against slow references, and their native boundary."""

from __future__ import annotations

import itertools
from array import array

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import reference
from lookalike import _native
from stable import stable_id

MODES = {"auto": 0, "words": 1, "chars": 2, "pieces": 4}

# Few words, so that shingles repeat within a text and are shared between texts; and everything else.
texts = st.lists(
    st.one_of(
        st.sampled_from(
            ["a ", "b ", "the ", "The ", "cat ", ", ", "! ", "  ", "相", "似", "文本", "ﬁ", "é", "é", "\u00ad", "\ud800", "😀", "한국"]
        ),
        st.text(max_size=3),
    ),
    max_size=40,
).map("".join)


def packed(batch: list[str]) -> tuple[bytes, array[int]]:
    encoded = [text.encode("utf-8", "surrogatepass") for text in batch]
    return b"".join(encoded), array("q", itertools.accumulate(map(len, encoded), initial=0))


def feature_sets(batch: list[str], mode: int, fold: bool, ngram: int) -> list[array[int]]:
    values, ends = _native.secret_features(*packed(batch), mode, fold, ngram, True, 1)
    return [array("Q", values[a:b]) for a, b in itertools.pairwise(ends)]


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@given(
    query=texts,
    batch=st.lists(texts, max_size=6),
    fold=st.booleans(),
    ngram=st.integers(1, 6),
    workers=st.integers(1, 3),
)
@example(query="", batch=["", "a"], fold=True, ngram=5, workers=1)
@example(query="a b c", batch=[""], fold=True, ngram=1, workers=1)
@example(query="the cat the cat the cat", batch=["the cat the cat the cat"] * 3, fold=True, ngram=2, workers=1)
@settings(max_examples=150)
def test_overlaps(mode: int, query: str, batch: list[str], fold: bool, ngram: int, workers: int) -> None:
    (own,) = feature_sets([query], mode, fold, ngram)
    others = feature_sets(batch, mode, fold, ngram)
    common, sizes = _native.feature_overlaps(own, *packed(batch), mode, fold, ngram, workers)
    assert list(sizes) == [len(other) for other in others]
    assert list(common) == [_native.count_common(own, other) for other in others]


@given(texts, st.lists(texts, max_size=3), st.sampled_from(["auto", "words", "chars"]), st.integers(1, 4))
@settings(max_examples=60)
def test_overlaps_of_the_reference(query: str, batch: list[str], mode: str, ngram: int) -> None:
    """The reference knows only what the Unicode data of every supported Python knows."""
    batch, query = [known(text) for text in batch], known(query)
    own = set(reference.text_shingles(query, mode, ngram))
    others = [set(reference.text_shingles(text, mode, ngram)) for text in batch]
    common, sizes = _native.feature_overlaps(
        feature_sets([query], MODES[mode], True, ngram)[0], *packed(batch), MODES[mode], True, ngram, 1
    )
    assert list(zip(common, sizes, strict=True)) == [(len(own & other), len(other)) for other in others]


def known(text: str) -> str:
    return "".join(c for c in text if reference.unicodedata.category(c) != "Cn")


def test_the_table_grows_with_the_text_and_keeps_what_it_knows() -> None:
    """Far more features than the query has, every one of them twice, and the query's among the last."""
    query = [" ".join(f"q{i}" for i in range(300))]
    words = [f"w{i}" for i in range(20_000)]
    batch = [" ".join([*words, *words, query[0]]), query[0], " ".join(words[:50]), "", " ".join([query[0]] * 40)]
    (own,) = feature_sets(query, 1, True, 3)
    common, sizes = _native.feature_overlaps(own, *packed(batch), 1, True, 3, 1)
    assert list(sizes) == [len(features) for features in feature_sets(batch, 1, True, 3)]
    assert list(common) == [298, 298, 0, 0, 298]


@pytest.mark.parametrize("features", [[], [0], [2**64 - 1], [0, 1, 2**63, 2**64 - 1], list(range(5000)), [i << 44 for i in range(5000)]])
def test_queries_that_are_no_hashes(features: list[int]) -> None:
    """Extreme values, and values that differ in few bits: features of a text are found among them."""
    data, offsets = packed(["some text to read, and more of it"])
    own = feature_sets(["some text to read, and more of it"], 0, True, 2)[0]
    query = array("Q", sorted({*features, *own[::2]}))
    common, sizes = _native.feature_overlaps(query, data, offsets, 0, True, 2, 1)
    assert (list(common), list(sizes)) == ([len(own[::2])], [len(own)])


def reference_digest(tokens: list[bytes]) -> int:
    def absorb(state: int, word: int) -> int:
        state = (state ^ word) * reference.BLOCK_MULTIPLIER & reference.MASK
        return state ^ state >> 32

    state = reference.GOLDEN
    for token in tokens:
        state = absorb(state, reference.token_hash(token))
    return reference.mix(absorb(state, len(tokens)))


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@given(batch=st.lists(texts, max_size=5), fold=st.booleans(), workers=st.integers(1, 3))
@example(batch=["x" * 200, "相似" * 100, "a" * 63 + "相" * 30, " " * 100], fold=True, workers=1)
@settings(max_examples=150)
def test_digests(mode: int, batch: list[str], fold: bool, workers: int) -> None:
    expected = []
    for text in batch:
        tokens = _native.tokenize(text.encode("utf-8", "surrogatepass"), mode, fold)
        expected.append(reference_digest([token.encode() for token, _, _ in tokens]))
    assert list(_native.content_digests(*packed(batch), mode, fold, workers)) == expected


GOLDEN_DIGESTS = [0x8B172F19D02C3B2B, 0x80CA2E4439885BB, 0xCC11E4DA606DC55A]


def test_digests_never_change() -> None:
    """Stores keep them: these values are for ever."""
    batch = ["", "Look alike", "相似的文本"]
    tokens = [[], [b"look", b"alike"], [character.encode() for character in "相似的文本"]]
    assert list(_native.content_digests(*packed(batch), 0, True, 1)) == [reference_digest(own) for own in tokens] == GOLDEN_DIGESTS


def test_equal_tokens_have_equal_digests() -> None:
    batch = ["Look, alike!", "look alike", "ＬＯＯＫ\u00adalike", "look ALIKE\n", "lookalike", "alike look", "look alike alike", ""]
    one, two, joined, three, whole, turned, longer, empty = _native.content_digests(*packed(batch), 0, True, 1)
    assert one == two == three
    assert joined == whole
    assert len({one, whole, turned, longer, empty}) == 5


@pytest.mark.parametrize("query", [[2, 1], [1, 1], [0, 2**64 - 1, 5]])
def test_a_query_must_ascend(query: list[int]) -> None:
    with pytest.raises(ValueError, match=r"query: .* must ascend"):
        _native.feature_overlaps(array("Q", query), *packed(["a"]), 0, True, 5, 1)


@pytest.mark.parametrize(
    "query",
    [np.arange(4), np.arange(4.0), np.arange(8, dtype=np.uint64)[::2], np.zeros((2, 2), np.uint64), [1, 2], None, b"x" * 8],
    ids=stable_id,
)
def test_queries_of_the_wrong_type(query: object) -> None:
    with pytest.raises(TypeError):
        _native.feature_overlaps(query, *packed(["a"]), 0, True, 5, 1)


KERNELS = {
    "feature_overlaps": lambda data, offsets, mode, workers: _native.feature_overlaps(
        array("Q", [1]), data, offsets, mode, True, 5, workers
    ),
    "content_digests": lambda data, offsets, mode, workers: _native.content_digests(data, offsets, mode, True, workers),
}


@pytest.mark.parametrize("name", KERNELS)
def test_the_boundary(name: str) -> None:
    call, data, offsets = KERNELS[name], b"some text", np.array([0, 4, 9])
    call(data, offsets, 0, 1)
    for wrong in ([], [0, 5, 3], [0, 10], [-1, 3], [0, 2**62]):
        with pytest.raises(ValueError, match="offsets"):
            call(data, np.array(wrong, dtype=np.int64), 0, 1)
    for mode in (3, 5, 2**31):
        with pytest.raises(ValueError, match="mode"):
            call(data, offsets, mode, 1)
    for workers in (0, 1025):
        with pytest.raises(ValueError, match="workers"):
            call(data, offsets, 0, workers)
    for wrong_data, wrong_offsets in (
        ("text", offsets),
        (data, offsets.astype(np.int32)),
        (data, offsets[::2]),
        (np.zeros(9), offsets),
        (data, [0, 4]),
    ):
        with pytest.raises(TypeError):
            call(wrong_data, wrong_offsets, 0, 1)


@pytest.mark.parametrize("ngram", [0, 65])
def test_absurd_ngrams(ngram: int) -> None:
    with pytest.raises(ValueError, match="ngram"):
        _native.feature_overlaps(array("Q"), *packed(["a"]), 0, True, ngram, 1)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=8), st.sampled_from([0, 1, 2]), st.booleans(), st.booleans(), st.sampled_from([32, 64, 128]))
def test_sketches_from_one_pass_equal_each_by_itself(texts: list[str], mode: int, fold: bool, unique: bool, bits: int) -> None:
    data, offsets = _native.pack_strings(texts)
    for workers in (1, 3):
        simhashes, minhashes, digests = _native.sketch_texts(data, offsets, mode, fold, 3, 7, bits, unique, 16, workers)
        assert simhashes.tolist() == _native.simhash_texts(data, offsets, mode, fold, 3, 7, bits, unique, 1).tolist()
        assert minhashes.tolist() == _native.minhash_texts(data, offsets, mode, fold, 3, 7, 16, 1).tolist()
        assert digests.tolist() == _native.content_digests(data, offsets, mode, fold, 1).tolist()
        keys = _native.band_keys(minhashes, 16, 5, 3).tolist()
        for piece in ((data, offsets), (_native.HeldTexts(texts, 0, len(texts), 1 << 30),)):
            banded = _native.sketch_banded(*piece, mode, fold, 3, 7, bits, unique, 16, 5, 3, workers)
            assert [each.tolist() for each in banded] == [simhashes.tolist(), keys, digests.tolist()]
