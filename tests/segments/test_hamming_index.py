"""The Hamming index against brute force, for every k, width and history."""

from __future__ import annotations

import itertools
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike import _native
from lookalike.segments.hamming import Found
from lookalike.segments.simhashes import SimhashSegment


def near_values(count: int, bits: int, seed: int) -> list[int]:
    """Random values, and near copies of them, so that every distance occurs."""
    generator = np.random.default_rng(seed)
    base = [int.from_bytes(generator.bytes(bits // 8), "little") for _ in range(max(1, count // 3))]
    values = []
    for _ in range(count):
        value = base[generator.integers(len(base))]
        for bit in generator.choice(bits, size=generator.integers(0, 20), replace=False):
            value ^= 1 << int(bit)
        values.append(value)
    return values


def brute(values: list[tuple[int, int]], query: int, k: int) -> list[tuple[int, int]]:
    found = [((value ^ query).bit_count(), identity) for identity, value in values]
    return sorted((distance, identity) for distance, identity in found if distance <= k)


def results(found: object, index: int) -> list[tuple[int, int]]:
    here = slice(found.offsets[index], found.offsets[index + 1])  # type: ignore[attr-defined]
    return list(zip(found.distances[here].tolist(), found.ids[here].tolist(), strict=True))  # type: ignore[attr-defined]


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("k", range(17))
def test_equals_brute_force(bits: int, k: int) -> None:
    values = near_values(600, bits, seed=k)
    index = la.HammingIndex(values, bits=bits)
    queries = values[:20] + near_values(10, bits, seed=100 + k)
    found = index.search(queries, k=k, workers=2)
    for i, query in enumerate(queries):
        assert results(found, i) == brute(list(enumerate(values)), query, k)


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("k", [0, 1, 3, 4, 7, 8, 11, 12])
def test_sealed_segments_equal_brute_force(bits: int, k: int) -> None:
    """More entries than the tail holds, so that tables are probed and not only a list read."""
    generator = np.random.default_rng(bits + k)
    words = generator.integers(0, 2**32 if bits == 32 else 2**64, size=(70_000, 2 if bits == 128 else 1), dtype=np.uint64)
    near = words[:300].copy()
    for row in range(len(near)):
        for bit in generator.choice(bits, size=row % 16, replace=False):
            near[row, bit // 64] ^= np.uint64(1) << np.uint64(bit % 64)
    index = la.HammingIndex(words if bits == 128 else words[:, 0], bits=bits)
    queries = near if bits == 128 else near[:, 0]
    found = index.search(queries, k=k)
    for row in range(len(near)):
        distances = np.bitwise_count(words ^ near[row]).sum(axis=1, dtype=int)
        expected = sorted((int(distances[i]), int(i)) for i in np.nonzero(distances <= k)[0])
        assert results(found, row) == expected


@given(
    st.lists(st.tuples(st.integers(0, 2), st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 40), max_size=6)), max_size=12),
    st.integers(0, 16),
)
@settings(max_examples=100)
def test_any_history_of_adds_and_removals(steps: list[tuple[int, list[int]]], k: int) -> None:
    index, model = la.HammingIndex(), []
    identity = 0
    for action, values in steps:
        if action < 2:
            index.add(values)
            model += list(enumerate(values, start=identity))
            identity += len(values)
        else:
            gone = [value % max(identity, 1) for value in values]
            assert index.remove(gone) == sum(entry[0] in gone for entry in model)
            model = [entry for entry in model if entry[0] not in gone]
    assert len(index) == len(model)
    queries = [value for _, value in model[:5]] + [0, 2**64 - 1]
    found = index.search(queries, k=k)
    for i, query in enumerate(queries):
        assert results(found, i) == brute(model, query, k)


@pytest.mark.parametrize("bits", [64, 128])
@pytest.mark.parametrize("k", [0, 2, 3, 5, 6])
def test_a_batch_has_the_answers_of_its_queries(bits: int, k: int) -> None:
    """Up to 64 queries are answered together, and four or eight are on their way: batches that end before, at and behind that."""
    generator = np.random.default_rng(k)
    shape = (100_000, 2) if bits == 128 else (100_000,)
    words = generator.integers(0, 2**64, size=shape, dtype=np.uint64)
    words[50_000:] = words[:50_000] ^ (np.uint64(1) << generator.integers(0, 64, size=(50_000, *shape[1:])).astype(np.uint64))
    index = la.HammingIndex(words, bits=bits)
    queries = words[::1009] ^ np.uint64(1 << 40)
    alone = [results(index.search(queries[at : at + 1], k), 0) for at in range(len(queries))]
    for size in (1, 3, 4, 5, 7, 8, 9, 63, 64, 65, 99):
        for workers in (1, 2):
            found = index.search(queries[:size], k, workers=workers)
            assert [results(found, at) for at in range(size)] == alone[:size]
            cut = index.search(queries[:size], k, limit=1, workers=workers)
            assert [results(cut, at) for at in range(size)] == [each[:1] for each in alone[:size]]
            assert cut.totals.tolist() == [len(each) for each in alone[:size]]


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("k", [1, 3, 5])
def test_buckets_of_every_length(bits: int, k: int) -> None:
    """Buckets of none, few, eight, nine, seventeen and hundreds of entries: each is read in another way, in the first table and in the others."""
    generator = np.random.default_rng(bits + k)
    halves = 2 if bits == 128 else 1
    words = generator.integers(0, 2**32 if bits == 32 else 2**64, size=(80_000, halves), dtype=np.uint64)
    parts = words.view(np.uint16).reshape(len(words), -1)  # the blocks of a code, the lowest first
    blocks, place = bits // 16, 0
    for length in (1, 2, 7, 8, 9, 15, 16, 17, 511, 512, 513, 1100):
        for block in range(blocks):
            parts[place : place + length, block] = parts[place, block]
            place += length
    index = la.HammingIndex(words if bits == 128 else words[:, 0], bits=bits)
    asked = words[np.r_[0:400:7, place - 20 : place]].copy()
    asked[:, 0] ^= np.uint64(1) << generator.integers(0, min(bits, 64), len(asked)).astype(np.uint64)
    found = index.search(asked if bits == 128 else asked[:, 0], k)
    for row in range(len(asked)):
        distances = np.bitwise_count(words ^ asked[row]).sum(axis=1, dtype=int)
        expected = sorted((int(distances[i]), int(i)) for i in np.nonzero(distances <= k)[0])
        assert results(found, row) == expected


def test_ids_of_repeated_fingerprints_among_others() -> None:
    """Entries with several ids at the begin, in the middle and at the end, next to each other and not."""
    generator = np.random.default_rng(12)
    distinct = np.sort(generator.integers(0, 2**64, 5000, dtype=np.uint64))
    for repeated in ([], [0], [4999], [0, 1, 2], [7, 8, 4000, 4998, 4999], list(range(0, 5000, 3)), list(range(5000))):
        times = np.ones(5000, dtype=np.int64)
        times[repeated] = generator.integers(2, 5, len(repeated))
        values = np.repeat(distinct, times)
        ids = generator.permutation(len(values)).astype(np.int64)
        segment = SimhashSegment.build(ids, values, 64)
        for found in (la.HammingIndex(values, ids).search(distinct, 0), segment.search(distinct, 0, 2**62)):
            np.testing.assert_array_equal(np.diff(found.offsets), times)
            np.testing.assert_array_equal(found.totals, times)
            expected = np.lexsort((ids, np.repeat(np.arange(5000), times)))
            np.testing.assert_array_equal(found.ids, ids[expected])
            assert found.distances.dtype == np.uint8
            assert found.distances.tolist() == [0] * len(ids)


def test_growth_by_many_small_batches_equals_one_large_one() -> None:
    generator = np.random.default_rng(3)
    values = generator.integers(0, 2**64, size=200_000, dtype=np.uint64)
    values[1000:2000] = values[0]
    whole, grown = la.HammingIndex(values), la.HammingIndex()
    for first in range(0, len(values), 7_001):
        grown.add(values[first : first + 7_001])
    gone = np.arange(0, 200_000, 3)
    assert whole.remove(gone) == grown.remove(gone) == len(gone)
    queries = values[:500] ^ np.uint64(5)
    for part in zip(whole.search(queries, k=4), grown.search(queries, k=4), strict=True):
        np.testing.assert_array_equal(*part)


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("k", [0, 2, 3, 6, 9])
def test_pairs_equal_brute_force(bits: int, k: int) -> None:
    values = near_values(150, bits, seed=7)
    index = la.HammingIndex(values[:100], bits=bits)
    index.add(values[100:])
    index.remove([5, 120])
    kept = [i for i in range(150) if i not in (5, 120)]
    expected = [
        (a, b, (values[a] ^ values[b]).bit_count()) for a in kept for b in kept if a < b and (values[a] ^ values[b]).bit_count() <= k
    ]
    found = index.pairs(k)
    assert list(zip(found.left.tolist(), found.right.tolist(), found.distances.tolist(), strict=True)) == sorted(expected)
    assert not found.cut


def test_pairs_of_sealed_segments_equal_searches() -> None:
    generator = np.random.default_rng(9)
    values = generator.integers(0, 2**64, size=80_000, dtype=np.uint64)
    values[40_000:50_000] = values[:10_000] ^ (np.uint64(1) << generator.integers(0, 64, size=10_000).astype(np.uint64))
    index = la.HammingIndex(values)
    found = index.search(values, k=3)
    left = np.repeat(np.arange(len(values)), np.diff(found.offsets))
    expected = {(int(a), int(b)) for a, b in zip(left, found.ids, strict=True) if a < b}
    pairs = index.pairs(3)
    assert set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)) == expected
    assert len(pairs.left) == len(expected)


def test_a_million_copies_of_one_fingerprint_cost_no_more_than_others() -> None:
    values = np.full(1_000_000, 12345, dtype=np.uint64)
    index = la.HammingIndex(values)
    found = index.search(np.full(200, 12345 ^ 7, dtype=np.uint64), k=3, limit=5)
    assert found.ids.tolist() == [0, 1, 2, 3, 4] * 200
    assert set(found.totals.tolist()) == {1_000_000}
    pairs = index.pairs(3, limit=1000)
    assert pairs.cut
    assert len(pairs.left) == 1000
    assert index.nbytes < 16 * len(values)


def test_more_pairs_than_anybody_can_use_are_an_error() -> None:
    """20,000 equal fingerprints have 200 million pairs."""
    index = la.HammingIndex(np.full(20_000, 7, dtype=np.uint64))
    with pytest.raises(la.InputError, match=r"more than 10,000,000 pairs .* groups"):
        index.pairs()
    found = index.groups()
    assert (found.offsets.tolist(), len(found.ids), len(found.left), found.cut) == ([0, 20_000], 20_000, 0, False)


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("k", [0, 3, 9])
def test_groups_equal_brute_force(bits: int, k: int) -> None:
    values = near_values(150, bits, seed=8)
    values[100:] = values[:50]
    index = la.HammingIndex(values[:120], bits=bits)
    index.add(values[120:])
    index.remove([5, 120])
    kept = [i for i in range(150) if i not in (5, 120)]
    groups = list({values[i]: [j for j in kept if values[j] == values[i]] for i in kept}.items())
    expected = [
        (a, b, (left ^ right).bit_count())
        for a, (left, _) in enumerate(groups)
        for b, (right, _) in enumerate(groups)
        if a < b and (left ^ right).bit_count() <= k
    ]
    found = index.groups(k)
    ids = [found.ids[a:b].tolist() for a, b in itertools.pairwise(found.offsets.tolist())]
    assert ids == [members for _, members in groups]
    assert list(zip(found.left.tolist(), found.right.tolist(), found.distances.tolist(), strict=True)) == expected
    if len(expected) > 1:
        assert index.groups(k, limit=1).cut


def same_answer(one: Found, batch: Found, query: int) -> bool:
    """One query alone and among others: values, types, and memory of its own."""
    here = slice(batch.offsets[query], batch.offsets[query + 1])
    expected = Found(np.array([0, here.stop - here.start]), batch.ids[here], batch.distances[here], batch.totals[query : query + 1])
    same = all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(one, expected, strict=True))
    return same and type(one) is Found and all(each.flags.owndata and each.flags.writeable for each in one)


@pytest.mark.parametrize("k", range(17))
@pytest.mark.parametrize("largest_id", [0, 2**40])
def test_one_query_has_the_answer_it_has_in_a_batch(k: int, largest_id: int) -> None:
    """Probed and read in full, with several segments, a tail, repeated fingerprints, removed entries and ids of more than 32 bits."""
    draw = np.random.default_rng(k)
    values = draw.integers(0, 2**64, 80_000, dtype=np.uint64)
    index = la.HammingIndex(values, np.arange(80_000) + largest_id)
    index.add(values[:70_000] ^ np.uint64(1 << k))
    index.add(values[:3])
    index.remove([7 + largest_id, 9 + largest_id])
    queries = np.concatenate([values[:40] ^ np.uint64(0b101 << k), values[-5:], draw.integers(0, 2**64, 5, dtype=np.uint64)])
    batch = index.search(queries, k, limit=2**40)
    for query in range(len(queries)):
        assert same_answer(index.search(queries[query : query + 1], k), batch, query)


@given(
    st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 40), max_size=30),
    st.integers(0, 2**64 - 1) | st.integers(0, 40),
    st.integers(0, 16),
)
def test_one_query_of_few_entries(values: list[int], query: int, k: int) -> None:
    index = la.HammingIndex(values)
    asked = np.array([query], dtype=np.uint64)
    assert same_answer(index.search(asked, k), index.search([query], k), 0)


def test_one_query_where_numpy_has_no_known_table_of_functions() -> None:
    """A later numpy may have another: then its arrays are made in Python."""
    code = """
        import numpy._core._multiarray_umath as core
        core._ARRAY_API = None
        import numpy as np, lookalike as la
        found = la.HammingIndex([7, 8, 300]).search(np.array([15], dtype=np.uint64))
        print([(each.tolist(), str(each.dtype)) for each in found])
    """
    shown = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True).stdout
    expected = "[([0, 2], 'int64'), ([0, 1], 'int64'), ([1, 3], 'uint8'), ([2], 'int64')]"
    assert shown.strip() == expected


@pytest.mark.parametrize("arguments", [{"k": True}, {"k": 17}, {"k": -1}, {"k": 3.0}, {"workers": True}, {"workers": 0}, {"limit": 0}])
def test_one_query_with_bad_arguments(arguments: dict[str, object]) -> None:
    with pytest.raises(la.InputError):
        la.HammingIndex([1, 2]).search(np.array([1], dtype=np.uint64), **arguments)  # type: ignore[arg-type]


def test_misuse_of_the_native_search_of_one() -> None:
    index = _native.HammingIndex(64)
    with pytest.raises(ValueError, match="k"):
        index.search_one(1, 17, 1, Found)
    with pytest.raises(TypeError, match="class of tuples"):
        index.search_one(1, 3, 1, dict)
    with pytest.raises(ValueError, match="bits"):
        _native.HammingIndex(128).search_one(1, 3, 1, Found)
    with pytest.raises(ValueError, match="bits"):
        _native.HammingIndex(32).search_one(2**32, 3, 1, Found)


def test_limits_keep_the_nearest() -> None:
    index = la.HammingIndex([0b0, 0b1, 0b11, 0b111])
    found = index.search([0], k=3, limit=2)
    assert (found.ids.tolist(), found.distances.tolist(), found.totals.tolist()) == ([0, 1], [0, 1], [4])


def test_simhashes_and_ids_of_your_own() -> None:
    texts = ["one text about foxes and dogs", "another text about foxes and dogs", "something else"]
    index = la.HammingIndex([la.simhash(text) for text in texts], ids=[-7, 2**40, 3])
    found = index.search(la.simhashes(texts[:1]), k=0)
    assert found.ids.tolist() == [-7]
    index.add([1])
    assert index.search([1], k=0).ids.tolist() == [2**40 + 1]


def test_searching_while_adding() -> None:
    generator = np.random.default_rng(1)
    index = la.HammingIndex(generator.integers(0, 2**64, size=1000, dtype=np.uint64))
    failures: list[BaseException] = []

    def search() -> None:
        try:
            for _ in range(50):
                found = index.search(generator.integers(0, 2**64, size=100, dtype=np.uint64), k=3)
                assert found.offsets[-1] == len(found.ids)
                for value in range(20):
                    assert index.search(np.array([value], dtype=np.uint64), k=0).totals[0] % 2 == 0  # all of a batch, or none
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        index.add(np.arange(20_000, dtype=np.uint64) // 2)
    for thread in threads:
        thread.join()
    assert not failures
    assert len(index) == 401_000


@pytest.mark.parametrize(
    "call",
    [
        lambda index: index.search([1], k=17),
        lambda index: index.search([1], k=-1),
        lambda index: index.search([1], k=True),
        lambda index: index.search([-(2**63) - 1]),
        lambda index: index.search([2**64]),
        lambda index: index.search(["x"]),
        lambda index: index.search("x"),
        lambda index: index.search(np.array([1.5])),
        lambda index: index.search(np.array([None])),
        lambda index: index.search(np.zeros((2, 2), dtype=np.uint64)),
        lambda index: index.search([la.simhash("x", bits=32)]),
        lambda index: index.search([1], limit=0),
        lambda index: index.search([1], workers=0),
        lambda index: index.add([1, 2], ids=[1]),
        lambda index: index.add([1], ids=["a"]),
        lambda index: index.remove([1.5]),
        lambda index: index.pairs(99),
        lambda index: la.HammingIndex(bits=63),
        lambda index: la.HammingIndex([2**32], bits=32),
        lambda index: la.HammingIndex(np.zeros(3, dtype=np.uint64), bits=128),
    ],
)
def test_bad_input_is_refused(call: object) -> None:
    with pytest.raises(la.InputError):
        call(la.HammingIndex([1, 2, 3]))  # type: ignore[operator]


def test_empty_indexes_and_batches() -> None:
    index = la.HammingIndex()
    assert len(index) == 0
    assert index.search([1, 2]).offsets.tolist() == [0, 0, 0]
    assert index.search([]).offsets.tolist() == [0]
    assert index.remove([]) == 0
    assert len(index.pairs().left) == 0
