"""What the core hands out stays as it was, whatever the caller does next. Under AddressSanitizer these tests find what was freed."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lookalike import _native
from lookalike.segments.container import read_segment, write_segment
from lookalike.segments.hamming import found_of
from lookalike.segments.simhashes import SimhashSegment

SIZE, BANDS, ROWS = 16, 4, 2
WORDS = np.random.default_rng(1).integers(0, 2**63, 5000, dtype=np.uint64)
IDS = np.arange(len(WORDS), dtype=np.int64)


def churn() -> None:
    """Memory that was freed a moment ago gets other contents."""
    for size in (64, 4096, 100_000, 1 << 20):
        np.full(size, 0xDEAD, dtype=np.uint64)
    gc.collect()


def sketched(texts: list[str], workers: int, scratch: _native.FeatureScratch) -> Any:
    encoded = [text.encode() for text in texts]
    offsets = np.concatenate(([0], np.cumsum([len(text) for text in encoded]))).astype(np.int64)
    return _native.sketch_documents(b"".join(encoded), offsets, 0, True, 2, 0, SIZE, BANDS, ROWS, workers, scratch)


@pytest.mark.parametrize("workers", [1, 3])
def test_features_of_a_batch_outlive_the_next_ones(workers: int) -> None:
    scratch = _native.FeatureScratch()
    held = []
    for batch in range(6):
        features = sketched(
            [f"{batch} {place} " + "some words " * batch + str(place) for place in range(2 + 300 * batch)], workers, scratch
        )[0]
        held.append((features, list(features)))
    churn()
    assert all(list(view) == then for view, then in held)
    del scratch
    churn()
    assert all(list(view) == then for view, then in held)


def test_lists_of_features_outlive_the_next_ones() -> None:
    scratch = _native.FeatureScratch()
    first = _native.sketch_feature_lists(WORDS[:10], np.array([0, 10], np.int64), SIZE, BANDS, ROWS, 1, scratch)[0]
    _native.sketch_feature_lists(WORDS, np.array([0, len(WORDS)], np.int64), SIZE, BANDS, ROWS, 1, scratch)
    churn()
    assert list(first) == WORDS[:10].tolist()


def test_memory_is_used_again_when_nobody_looks_at_it() -> None:
    scratch = _native.FeatureScratch()
    texts = [f"words and {number} more words" for number in range(3000)]
    addresses = set()
    for _ in range(20):
        features = np.asarray(sketched(texts, 2, scratch)[0])
        addresses.add(features.__array_interface__["data"][0])
    assert len(addresses) <= 3


def test_memory_of_features_that_are_not_to_be_kept_is_used_again() -> None:
    scratch = _native.FeatureScratch()
    texts = [f"words and {number} more of {number + 1}" for number in range(3000)]
    encoded = b"".join(text.encode() for text in texts)
    offsets = np.concatenate(([0], np.cumsum([len(text) for text in texts]))).astype(np.int64)
    given = encoded, offsets, 0, True, 2, 0, SIZE, BANDS, ROWS, 1, scratch, None
    wanted = list(_native.sketch_documents(*given)[0])
    addresses, held = set(), []
    for turn in range(20):
        features = np.asarray(_native.sketch_documents(*given, False)[0])
        addresses.add(features.__array_interface__["data"][0])
        if turn % 10 == 0:
            held.append(features)  # while somebody looks at it, it stays
    assert len(addresses) <= 5
    del scratch, features
    churn()
    assert all(each.tolist() == wanted for each in held)


def test_memory_of_texts_is_used_again_when_nobody_looks_at_it() -> None:
    scratch = _native.TextScratch()
    block = b"".join(b'{"text": "some words %d \\n"}\n' % number for number in range(20_000))
    wanted = bytes(_native.scan_json_lines(block, ["text"])["text"])
    addresses, held = set(), []
    for turn in range(20):
        text = np.asarray(_native.scan_json_lines(block, ["text"], scratch)["text"])
        addresses.add(text.__array_interface__["data"][0])
        if turn % 10 == 0:
            held.append(text)  # while somebody looks at it, it stays
    assert len(addresses) <= 5
    shorter = _native.scan_json_lines(b'{"text": "short"}', ["text"], scratch)["text"]
    assert bytes(shorter) == b"short"
    del scratch, text
    churn()
    assert all(each.tobytes() == wanted for each in held)


def test_a_chunk_outlives_its_replacement_and_its_leaders() -> None:
    leaders = _native.Leaders(1, 0.9, 100)
    own = np.arange(1, 24_001, dtype=np.uint64)
    leaders.offer(own, np.arange(0, 24_001, 4000, dtype=np.int64), np.arange(1, 13, dtype=np.uint64), np.arange(6, dtype=np.uint64))
    view = leaders.chunk(0)
    leaders.replace_chunk(0, own.copy())
    churn()
    assert np.array_equal(np.asarray(view), own)
    leaders.offer(own[:1] + np.uint64(10**6), np.array([0, 1], np.int64), np.array([77, 0], np.uint64), np.array([99], np.uint64))
    other = leaders.chunk(1)
    del leaders
    churn()
    assert np.array_equal(np.asarray(view), own)
    assert list(other) == [10**6 + 1]


def test_a_segment_keeps_its_arrays_and_not_the_dict_of_them() -> None:
    sections = {name: np.array(array) for name, array in _native.HammingSegment.build(WORDS, IDS, 64).sections().items()}
    segment = _native.HammingSegment.open(64, sections)
    sections.clear()
    churn()
    offsets, ids, _, _ = found_of(*segment.search(WORDS, 0, 10, 1))
    assert list(ids) == IDS.tolist()
    assert list(offsets) == list(range(len(WORDS) + 1))


def test_sections_outlive_their_segment() -> None:
    segment = _native.HammingSegment.build(WORDS, IDS, 64)
    sections = segment.sections()
    then = {name: list(view) for name, view in sections.items()}
    del segment
    churn()
    assert {name: list(view) for name, view in sections.items()} == then


def test_none_is_no_segment() -> None:
    segment = _native.HammingSegment.build(WORDS, IDS, 64)
    with pytest.raises(TypeError, match="None"):
        _native.HammingSegment.merge([segment, None], IDS[:0])  # type: ignore[list-item]  # that is the test


def test_mapped_arrays_outlive_their_file(tmp_path: Path) -> None:
    path = tmp_path / "00000001.simhash"
    write_segment(path, "simhash", "recipe", SimhashSegment.build(IDS, WORDS, 64).sections())
    segment = SimhashSegment.open(read_segment(path, "simhash", "recipe"))
    path.unlink()
    churn()
    found = segment.search(WORDS[:50], 0, 10, 1)
    assert found.ids.tolist() == IDS[:50].tolist()
