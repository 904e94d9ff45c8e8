"""Segments of SimHashes: against brute force, merged, damaged."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.segments.simhashes import SimhashSegment

NOTHING = np.zeros(0, dtype=np.int64)


def made(bits: int, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows and words, of which a third are near others and some are equal."""
    chance = np.random.default_rng(seed)
    words = chance.integers(0, 2**32 if bits == 32 else 2**64, (count, 2 if bits == 128 else 1), dtype=np.uint64)
    for place in range(2 * count // 3, count):
        words[place] = words[chance.integers(0, max(1, place))]
        if place % 4:
            words[place, 0] ^= np.uint64(1) << np.uint64(chance.integers(0, 32))
    return np.sort(chance.choice(10 * count + 1, count, replace=False)).astype(np.int64), words.reshape(-1)


def whole(words: np.ndarray, bits: int) -> list[int]:
    if bits < 128:
        return words.tolist()
    return [low | high << 64 for low, high in words.reshape(-1, 2).tolist()]


def brute_force(rows: np.ndarray, words: np.ndarray, query: int, k: int, bits: int) -> list[tuple[int, int]]:
    distances = ((value ^ query).bit_count() for value in whole(words, bits))
    return sorted((distance, row) for distance, row in zip(distances, rows.tolist(), strict=True) if distance <= k)


def found(segment: SimhashSegment, query: np.ndarray, k: int, limit: int = 2**40) -> list[tuple[int, int]]:
    result = segment.search(query, k, limit)
    return list(zip(result.distances.tolist(), result.ids.tolist(), strict=True))


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("count", [0, 1, 50, 5000])
def test_equals_brute_force(bits: int, count: int) -> None:
    rows, words = made(bits, count)
    built = SimhashSegment.build(rows, words, bits)
    opened = SimhashSegment.open({name: array.copy() for name, array in built.sections().items()})
    each = 2 if bits == 128 else 1
    assert len(built) == len(opened) == count
    assert opened.all_rows().tolist() == rows.tolist()
    for place in range(0, count, max(1, count // 20)):
        query = words[place * each : (place + 1) * each].copy()
        query[0] ^= np.uint64(1)
        for k in (0, 1, 2, 3, 5, 8, 12, 16):
            expected = brute_force(rows, words, whole(query, bits)[0], k, bits)
            assert found(built, query, k) == found(opened, query, k) == expected
            assert found(opened, query, k, 3) == expected[:3]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 2**64 - 1), max_size=30), st.integers(0, 16), st.integers(0, 2**64 - 1), st.data())
def test_merging_equals_building(values: list[int], k: int, query: int, data: st.DataObject) -> None:
    rows = np.arange(len(values), dtype=np.int64) * 3
    words = np.array(values, dtype=np.uint64)
    cut = data.draw(st.integers(0, len(values)))
    removed = np.array(sorted(data.draw(st.sets(st.sampled_from(rows.tolist() or [0])))), dtype=np.int64)
    parts = [SimhashSegment.build(rows[:cut], words[:cut], 64), SimhashSegment.build(rows[cut:], words[cut:], 64)]
    merged = SimhashSegment.merge(parts, removed)
    live = ~np.isin(rows, removed)
    expected = SimhashSegment.build(rows[live], words[live], 64)
    assert all(np.array_equal(merged.sections()[name], column) for name, column in expected.sections().items())
    assert found(merged, np.array([query], dtype=np.uint64), k) == brute_force(rows[live], words[live], query, k, 64)


@pytest.mark.parametrize("count", [40, 5000])
def test_damaged_sections_are_refused_or_harmless(count: int) -> None:
    """Random damage: a ValueError, or a segment that can be searched; never a crash."""
    rows, words = made(64, count, 5)
    good = SimhashSegment.build(rows, words, 64).sections()
    chance = random.Random(3)
    refused = 0
    for _ in range(1500 if count < 100 else 300):
        bad = {name: column.copy() for name, column in good.items()}
        name = chance.choice([each for each in bad if len(bad[each])])
        column = bad[name]
        what = chance.randrange(4)
        if what == 0:
            place = chance.randrange(len(column))
            column[place] = chance.choice([0, 1, column.dtype.type(-1 % 2**32), int(column[place]) ^ 1 << chance.randrange(31), count])
        elif what == 1:
            bad[name] = column[: chance.randrange(len(column))]
        elif what == 2:
            bad[name] = np.concatenate([column, column])
        else:
            del bad[name]
        try:
            segment = SimhashSegment.open(bad)
        except ValueError:
            refused += 1
            continue
        for k in (0, 3, 9):
            segment.search(words[:50], k, 10)
        segment.all_rows()
        SimhashSegment.merge([segment], NOTHING)
    assert refused > 100


def test_wrong_sections_are_refused() -> None:
    good = SimhashSegment.build(*made(64, 20), 64).sections()
    for bad in (
        {},
        good | {"bits": np.array([48], dtype=np.uint32)},
        good | {"more": np.zeros(3, dtype=np.uint32)},
        good | {"codes": good["codes"].astype(np.float64)},
        good | {"codes": good["codes"][::-1]},
        good | {"codes": np.stack([good["codes"], good["codes"]])},
    ):
        with pytest.raises(ValueError, match=r"."):
            SimhashSegment.open(bad)


def test_a_million_equal_ones() -> None:
    rows = np.arange(1_000_000, dtype=np.int64)
    segment = SimhashSegment.build(rows, np.full(len(rows), 7, dtype=np.uint64), 64)
    result = segment.search(np.array([7], dtype=np.uint64), 3, 5)
    assert result.ids.tolist() == [0, 1, 2, 3, 4]
    assert result.totals.tolist() == [1_000_000]
    assert sum(column.nbytes for column in segment.sections().values()) < 5_000_000


def test_rows_of_64_bits() -> None:
    rows = np.array([5, 2**33, 2**62], dtype=np.int64)
    segment = SimhashSegment.build(rows, np.array([1, 1, 2], dtype=np.uint64), 64)
    assert SimhashSegment.open(segment.sections()).all_rows().tolist() == rows.tolist()
    assert found(segment, np.array([1], dtype=np.uint64), 0) == [(0, 5), (0, 2**33)]
