"""References that documents hold, and the filter of streams: the kernels against slow references."""

from __future__ import annotations

import itertools
import random
from array import array
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import reference_passages
from lookalike import _native
from lookalike.deduping.streams.sizes import sizes

tokens = st.lists(st.integers(0, 3), max_size=12)


def packed(lists: Sequence[Sequence[int]]) -> tuple[array[int], array[int]]:
    values = array("Q", [(each + 1) * 0x9E3779B97F4A7C15 % 2**64 for values in lists for each in values])
    return values, array("q", itertools.accumulate(map(len, lists), initial=0))


@given(
    st.lists(tokens, max_size=6),
    st.lists(st.lists(st.integers(0, 3), max_size=30), max_size=6),
    st.integers(1, 6),
    st.data(),
    st.booleans(),
)
@example([[1, 2, 3]], [[1, 2, 3, 1, 2, 3]], 2, None, False)
@settings(max_examples=500, deadline=None)
def test_as_the_reference(
    references: list[list[int]], documents: list[list[int]], n: int, data: st.DataObject | None, by_tokens: bool
) -> None:
    least = data.draw(st.integers(1, n)) if data else 1
    share = data.draw(st.sampled_from([0.01, 0.25, 0.5, 0.7, 1.0])) if data else 0.5
    table = _native.References(*packed(references), n, least, by_tokens)
    found = {
        (int(row[0]), int(row[1])): row[2:].tolist()
        for row in np.asarray(table.find(*packed(documents), share)).reshape(-1, 7).astype(np.int64)
    }
    expected, most = {}, [0] * len(references)
    for (d, document), (r, reference) in itertools.product(enumerate(documents), enumerate(references)):
        if len(reference) < least:
            continue
        amount, size = reference_passages.held(reference, document, n, by_tokens)
        assert table.sizes()[r] == size
        most[r] = max(most[r], amount)
        if amount and amount / size >= share:
            expected[d, r] = amount
    assert {pair: values[0] for pair, values in found.items()} == expected
    assert list(table.most()) == most
    for (d, r), (_, first, last, reference_first, reference_last) in found.items():
        length = min(n, len(references[r]))
        grams = [tuple(references[r][i : i + length]) for i in range(len(references[r]) - length + 1)]
        places = [i for i in range(len(documents[d]) - length + 1) if tuple(documents[d][i : i + length]) in grams]
        there = {tuple(documents[d][i : i + length]) for i in places}
        indices = [i for i, gram in enumerate(grams) if gram in there]
        assert (first, last) == (places[0], places[-1] + length)
        assert (reference_first, reference_last) == (indices[0], indices[-1] + length)


@pytest.mark.parametrize(("n", "least"), [(0, 1), (3, 0), (3, 4), (10**7, 1)])
def test_wrong_lengths(n: int, least: int) -> None:
    with pytest.raises(ValueError, match="choose"):
        _native.References(*packed([[1, 2, 3]]), n, least, False)


@pytest.mark.parametrize("share", [0.0, -1.0, 1.5, float("nan")])
def test_wrong_shares(share: float) -> None:
    with pytest.raises(ValueError, match="share"):
        _native.References(*packed([[1, 2, 3]]), 2, 1, False).find(*packed([[1]]), share)


KEYS = st.lists(st.integers(0, 2**64 - 1), min_size=4, max_size=4)


@given(KEYS, st.integers(1, 5), st.integers(1, 64), st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 5)), max_size=200))
@settings(max_examples=300, deadline=None)
def test_the_filter_sets_the_bits_of_the_reference(key: list[int], blocks: int, hashes: int, items: list[tuple[int, int]]) -> None:
    slow = reference_passages.BloomFilter(blocks, hashes, key)
    quick = _native.BloomFilter(blocks, hashes, array("Q", key))
    half = len(items) // 2
    for part in (items[:half], items[half:]):
        assert list(quick.add(array("Q", itertools.chain.from_iterable(part)))) == [slow.add(*item) for item in part]


@pytest.mark.parametrize(("rate", "items"), [(0.05, 4000), (0.01, 20_000), (0.001, 100_000)])
def test_the_rate_is_as_stated(rate: float, items: int) -> None:
    chance = np.random.default_rng(7)
    made = sizes(rate, items)
    quick = _native.BloomFilter(made.blocks, made.hashes, array("Q", [1, 2, 3, 4 << 40]))
    quick.add(chance.integers(0, 2**64, 2 * items, np.uint64))
    # What the filter was made for is reached; new items are asked for in filters that do not grow much.
    asked = items // 20
    wrong = int(np.asarray(quick.add(chance.integers(0, 2**64, 2 * asked, np.uint64))).sum())
    expected = asked * made.rate(items * 1.025)
    assert made.rate(items) <= rate < made.rate(items * 1.2)
    assert abs(wrong - expected) <= 5 * expected**0.5 + 3


def test_every_copy_is_found() -> None:
    chance = random.Random(3)
    items = array("Q", [chance.getrandbits(64) for _ in range(20_000)])
    filter_ = _native.BloomFilter(1, 3)  # much too small
    filter_.add(items)
    assert all(filter_.add(items))


@pytest.mark.parametrize(("blocks", "hashes"), [(0, 1), (1, 0), (1, 65), (1 << 40, 1)])
def test_wrong_filters(blocks: int, hashes: int) -> None:
    with pytest.raises(ValueError, match="choose"):
        _native.BloomFilter(blocks, hashes)
    with pytest.raises(ValueError, match="two words"):
        _native.BloomFilter(1, 1).add(array("Q", [1]))
