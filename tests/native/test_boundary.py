"""The native boundary under fire: wrong types, wrong shapes, offsets out of range. Errors, never a crash."""

from __future__ import annotations

from array import array

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike import _native
from stable import stable_id

TEXT = b"some text to read"
OFFSETS = np.array([0, 4, len(TEXT)], dtype=np.int64)
TEXT_KERNELS = {
    "shingle_texts": lambda data, offsets: _native.shingle_texts(data, offsets, 0, True, 5, 0, False, 1),
    "simhash_texts": lambda data, offsets: _native.simhash_texts(data, offsets, 0, True, 5, 0, 64, False, 1),
    "minhash_texts": lambda data, offsets: _native.minhash_texts(data, offsets, 0, True, 5, 0, 16, 1),
    "winnowed_texts": lambda data, offsets: _native.WinnowedTexts(0, True, 5, 0, 4, 1).add(data, offsets),
    "hash_strings": lambda data, offsets: _native.hash_strings(data, offsets, False),
}
HASH_KERNELS = {
    "shingle_tokens": lambda data, offsets: _native.shingle_tokens(data, offsets, 3, 0, False),
    "simhash_features": lambda data, offsets: _native.simhash_features(data, offsets, 64, False, 1),
    "minhash_features": lambda data, offsets: _native.minhash_features(data, offsets, 16, 1),
}
HASHES = np.arange(10, dtype=np.uint64)
CALLS = [(call, TEXT) for call in TEXT_KERNELS.values()] + [(call, HASHES) for call in HASH_KERNELS.values()]
IDS = [*TEXT_KERNELS, *HASH_KERNELS]


@pytest.mark.parametrize(("call", "data"), CALLS, ids=IDS)
@pytest.mark.parametrize(
    "offsets",
    [[], [0, 5, 3], [0, 18], [-1, 3], [0, 2**62], [5, 2**63 - 1], [3, 2, 1]],
    ids=str,
)
def test_offsets_out_of_range(call: object, data: object, offsets: list[int]) -> None:
    with pytest.raises(ValueError, match="offsets"):
        call(data, np.array(offsets, dtype=np.int64))  # type: ignore[operator]


@pytest.mark.parametrize(("call", "data"), CALLS, ids=IDS)
@pytest.mark.parametrize(
    "offsets",
    [
        OFFSETS.astype(np.int32),
        OFFSETS.astype(np.float64),
        OFFSETS.astype(np.uint64),
        OFFSETS[::2],
        OFFSETS.reshape(1, -1),
        [0, 4],
        None,
        "0",
        OFFSETS.astype(object),
    ],
    ids=stable_id,
)
def test_offsets_of_the_wrong_type(call: object, data: object, offsets: object) -> None:
    with pytest.raises(TypeError):
        call(data, offsets)  # type: ignore[operator]


@pytest.mark.parametrize("name", TEXT_KERNELS)
@pytest.mark.parametrize(
    "data",
    [
        "str",
        None,
        7,
        [1, 2],
        np.zeros(20, dtype=np.int8),
        np.zeros(20, dtype=np.float32),
        np.zeros((4, 5), dtype=np.uint8),
        np.zeros(40, dtype=np.uint8)[::2],
    ],
    ids=stable_id,
)
def test_texts_of_the_wrong_type(name: str, data: object) -> None:
    with pytest.raises(TypeError):
        TEXT_KERNELS[name](data, OFFSETS)


@pytest.mark.parametrize("name", HASH_KERNELS)
@pytest.mark.parametrize(
    "data",
    [TEXT, HASHES.astype(np.int64), HASHES.astype(np.float64), HASHES.astype(np.uint32), np.arange(20, dtype=np.uint64)[::2], None],
    ids=stable_id,
)
def test_hashes_of_the_wrong_type(name: str, data: object) -> None:
    with pytest.raises(TypeError):
        HASH_KERNELS[name](data, np.array([0, 3], dtype=np.int64))


@given(st.binary(max_size=200), st.lists(st.integers(-5, 205), max_size=6))
@settings(max_examples=300)
def test_any_bytes_with_any_offsets(data: bytes, offsets: list[int]) -> None:
    places = array("q", offsets)
    fits = bool(offsets) and offsets == sorted(offsets) and offsets[0] >= 0 and offsets[-1] <= len(data)
    for call in TEXT_KERNELS.values():
        if fits:
            call(data, places)
        else:
            with pytest.raises(ValueError, match="offsets"):
                call(data, places)


@pytest.mark.parametrize(
    "call",
    [
        lambda: _native.simhash_texts(TEXT, OFFSETS, 9, True, 5, 0, 64, False, 1),
        lambda: _native.simhash_texts(TEXT, OFFSETS, 3, True, 5, 0, 64, False, 1),
        lambda: _native.simhash_texts(TEXT, OFFSETS, 0, True, 0, 0, 64, False, 1),
        lambda: _native.simhash_texts(TEXT, OFFSETS, 0, True, 65, 0, 64, False, 1),
        lambda: _native.simhash_texts(TEXT, OFFSETS, 0, True, 5, 0, 63, False, 1),
        lambda: _native.simhash_texts(TEXT, OFFSETS, 0, True, 5, 0, 64, False, 0),
        lambda: _native.minhash_texts(TEXT, OFFSETS, 0, True, 5, 0, 0, 1),
        lambda: _native.minhash_texts(TEXT, OFFSETS, 0, True, 5, 0, 2**40, 1),
        lambda: _native.winnow_shingles(HASHES, 0),
        lambda: _native.simhash_weighted(HASHES, np.ones(3), 64),
        lambda: _native.simhash_weighted(HASHES, np.full(10, np.nan), 64),
        lambda: _native.minhash_weighted(HASHES, np.zeros(10), 16, 0),
        lambda: _native.minhash_weighted(HASHES, -np.ones(10), 16, 0),
        lambda: _native.minhash_weighted(HASHES, np.full(10, np.inf), 16, 0),
        lambda: _native.moved_tokens(HASHES, HASHES, [], 0),
        lambda: _native.moved_tokens(HASHES, HASHES, [(0, 5, 6)], 4),
        lambda: _native.moved_tokens(HASHES, HASHES, [(2**32 - 1, 0, 2**32 - 1)], 4),
        lambda: _native.moved_tokens(HASHES, HASHES, [(-1, 0, 1)], 4),
        lambda: _native.align_tokens(HASHES, HASHES.astype(np.int64), np.ones(10, np.uint32)),
        lambda: _native.align_tokens(HASHES, HASHES, np.ones(9, np.uint32)),
        lambda: _native.align_tokens(HASHES, HASHES, np.ones(10)),
        lambda: _native.passages(HASHES, HASHES[:2], np.array([3, 3], np.uint32), HASHES, HASHES[:1], np.array([0], np.uint32), 5),
        lambda: _native.passages(HASHES, HASHES[:2], np.array([3, 30], np.uint32), HASHES, HASHES[:1], np.array([0], np.uint32), 5),
        lambda: _native.passages(HASHES, HASHES[:2], np.array([3], np.uint32), HASHES, HASHES[:1], np.array([0], np.uint32), 5),
    ],
)
def test_absurd_parameters(call: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        call()  # type: ignore[operator]


def test_anchors_at_the_very_end_of_the_tokens() -> None:
    """A position whose shingle would reach beyond the tokens must not be read beyond them."""
    end = np.array([9], np.uint32)
    assert _native.passages(HASHES, HASHES[:1], end, HASHES, HASHES[:1], end, 5) == [(0, 0, 10)]


def test_lists_of_the_wrong_things() -> None:
    for wrong in ([1], [None], ["ok", object()], [bytearray(b"x")]):
        with pytest.raises(TypeError, match="item"):
            _native.pack_strings(wrong)
    with pytest.raises(TypeError):
        _native.pack_strings(("tuple",))  # type: ignore[arg-type]


def test_results_outlive_what_they_were_made_from() -> None:
    values = _native.minhash_texts(bytes(TEXT), OFFSETS.copy(), 0, True, 5, 0, 16, 1)
    first = list(values)
    junk = [bytearray(10_000) for _ in range(100)]
    assert list(values) == first
    assert len(junk) == 100
