"""The band index against a dictionary, for every history, layout and limit; damaged sections; skew."""

from __future__ import annotations

import gc
import itertools
import weakref
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from lookalike import _native
from lookalike.errors import InputError
from lookalike.segments.bands import SECTIONS, BandSegment

Document = tuple[int, int, tuple[int, ...]]  # row, digest, keys


class Reference:
    """Groups in a dictionary."""

    def __init__(self, documents: list[Document]) -> None:
        self.rows: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        for row, digest, keys in sorted(documents):
            self.rows.setdefault((digest, keys), []).append(row)
        self.groups = list(self.rows)

    def candidates(self, query: tuple[int, ...]) -> list[tuple[int, int]]:
        """Shared bands and group, in the order that is promised."""
        shared = [sum(a == b for a, b in zip(keys, query, strict=True)) for _, keys in self.groups]
        return sorted(((count, group) for group, count in enumerate(shared) if count), key=lambda found: (-found[0], found[1]))


def build(documents: list[Document], bands: int) -> BandSegment:
    rows = np.array([row for row, _, _ in documents], dtype=np.int64)
    digests = np.array([digest for _, digest, _ in documents], dtype=np.uint64)
    keys = np.array([keys for _, _, keys in documents], dtype=np.uint32).reshape(-1)
    return BandSegment.build(rows, digests, keys, bands)


def uint32(*values: int) -> NDArray[np.uint32]:
    return np.array(values, dtype=np.uint32)


def same(left: BandSegment, right: BandSegment) -> bool:
    return all(one.tobytes() == two.tobytes() for one, two in zip(left.sections().values(), right.sections().values(), strict=True))


def check(segment: BandSegment, documents: list[Document], queries: list[tuple[int, ...]], limit: int) -> None:
    model = Reference(documents)
    assert len(segment) == len(documents)
    assert segment.groups == len(model.groups)
    assert segment.all_rows().tolist() == sorted(row for row, _, _ in documents)
    every = np.arange(segment.groups, dtype=np.uint32)
    assert segment.digests(every).tolist() == [digest for digest, _ in model.groups]
    assert segment.sizes(every).tolist() == [len(rows) for rows in model.rows.values()]
    offsets, rows = segment.rows(every, limit)
    assert [rows[a:b].tolist() for a, b in itertools.pairwise(offsets)] == [own[:limit] for own in model.rows.values()]

    found = segment.candidates(np.array(queries, dtype=np.uint32).reshape(-1), limit, workers=2)
    for i, query in enumerate(queries):
        expected = model.candidates(query)
        here = slice(found.offsets[i], found.offsets[i + 1])
        assert list(zip(found.shared[here].tolist(), found.groups[here].tolist(), strict=True)) == expected[:limit]
        assert found.totals[i] == len(expected)
    assert [part.dtype for part in found] == [np.int64, np.uint32, np.uint16, np.int64]
    gone = sorted(row for row, _, _ in documents)[::3]
    for query, removed in itertools.product(queries, ([], gone)):
        expected = model.candidates(query)
        alive = [
            (shared, group, [row for row in model.rows[model.groups[group]] if row not in removed]) for shared, group in expected[:limit]
        ]
        total, near = segment.near(uint32(*query), limit, 10**6, np.array(removed, dtype=np.int64))
        assert total == len(expected)
        assert near == [(shared, model.groups[group][0], len(rows), rows) for shared, group, rows in alive if rows]
        _, few = segment.near(uint32(*query), limit, 1, np.array(removed, dtype=np.int64))
        assert few == [(shared, digest, size, rows[:1]) for shared, digest, size, rows in near]


# Few different keys, so that buckets are shared; and keys that lie at the ends of the range.
key = st.integers(0, 3) | st.sampled_from([0, 2**31 - 1, 2**31, 2**32 - 1]) | st.integers(0, 2**32 - 1)


@st.composite
def collections(draw: st.DrawFn) -> tuple[int, list[Document]]:
    """Documents of which many have the same digest, and then usually the same keys."""
    bands = draw(st.integers(1, 5))
    contents = st.tuples(st.integers(0, 3) | st.integers(0, 2**64 - 1), st.tuples(*[key] * bands))
    kinds = draw(st.lists(contents, min_size=1, max_size=20))
    chosen = draw(st.lists(st.sampled_from(kinds), max_size=40))
    rows = sorted(draw(st.sets(st.integers(0, 99) | st.integers(0, 2**63 - 1), min_size=len(chosen), max_size=len(chosen))))
    return bands, [(row, digest, keys) for row, (digest, keys) in zip(rows, chosen, strict=True)]


@given(collections(), st.data(), st.integers(1, 50))
@settings(max_examples=200)
def test_equals_the_dictionary(collection: tuple[int, list[Document]], data: st.DataObject, limit: int) -> None:
    bands, documents = collection
    queries = [keys for _, _, keys in documents[:5]] + data.draw(st.lists(st.tuples(*[key] * bands), max_size=5))
    segment = build(documents, bands)
    assert segment.bands == bands
    check(segment, documents, queries, limit)
    check(BandSegment.open(segment.sections()), documents, queries, limit)
    assert same(segment, build(documents, bands))


@given(collections(), st.data())
@settings(max_examples=200)
def test_merging_equals_building(collection: tuple[int, list[Document]], data: st.DataObject) -> None:
    bands, documents = collection
    parts: list[list[Document]] = [[] for _ in range(data.draw(st.integers(1, 4)))]
    for document in documents:  # rows of one part may lie between those of another
        parts[data.draw(st.integers(0, len(parts) - 1))].append(document)
    removed = sorted(data.draw(st.sets(st.sampled_from([row for row, _, _ in documents] or [5]) | st.integers(-9, 99))))
    merged = BandSegment.merge([build(part, bands) for part in parts], np.array(removed, dtype=np.int64))
    left = [document for document in documents if document[0] not in removed]
    assert same(merged, build(left, bands))
    check(merged, left, [keys for _, _, keys in documents[:4]], 3)


@pytest.mark.parametrize("count", [7, 8, 9, 300, 5_000])
def test_every_size_of_directory(count: int) -> None:
    generator = np.random.default_rng(count)
    keys = generator.integers(0, 2**32, size=(count, 3), dtype=np.uint32)
    keys[: count // 3, 1] = keys[0, 1]
    documents = [(row, int(generator.integers(2**64, dtype=np.uint64)), tuple(map(int, keys[row]))) for row in range(count)]
    near = keys[:20].copy()
    near[:, 0] ^= 1
    check(build(documents, 3), documents, [tuple(map(int, query)) for query in np.concatenate([keys[:20], near])], 10)


@pytest.fixture(scope="module")
def large() -> tuple[NDArray[np.uint32], BandSegment]:
    """Enough groups for 16 remaining bits, half of them numbered so that buckets and keys are full of neighbours."""
    generator = np.random.default_rng(4)
    keys = generator.integers(0, 2**32, size=(300_000, 4), dtype=np.uint32)
    keys[::2, 2] = generator.integers(0, 1000, size=150_000)  # some 150 groups a key
    keys[::50, 3] = 77  # 2 % of the groups share a band
    keys[::60, 1] = 78
    segment = BandSegment.build(np.arange(len(keys)), generator.permutation(len(keys)).astype(np.uint64), keys.reshape(-1), 4)
    return keys, segment


@pytest.mark.parametrize("limit", [1, 10, 10**9])
def test_large_segments_and_hot_buckets(large: tuple[NDArray[np.uint32], BandSegment], limit: int) -> None:
    keys, segment = large
    assert len(segment.sections()["rests16"]) == 4 * len(keys)
    assert len(segment.sections()["rests32"]) == 0
    queries = np.concatenate([keys[:20], keys[100:120] ^ np.uint32(1), keys[50:51]])
    queries[20:25, 3] = 77  # one hot bucket
    queries[25:30, 1:4] = (78, 5, 77)  # two of them, and a warm one
    found = segment.candidates(queries.reshape(-1), limit)
    for i, query in enumerate(queries):
        shared = (keys == query).sum(axis=1)
        groups = np.nonzero(shared)[0]
        order = groups[np.lexsort((groups, -shared[groups]))]
        here = slice(found.offsets[i], found.offsets[i + 1])
        assert found.totals[i] == len(order)
        assert found.groups[here].tolist() == order[:limit].tolist()
        assert found.shared[here].tolist() == shared[order[:limit]].tolist()


def test_threads_change_nothing(large: tuple[NDArray[np.uint32], BandSegment]) -> None:
    keys, segment = large
    queries = keys[:3_000].reshape(-1)
    for one, three in zip(segment.candidates(queries, 7), segment.candidates(queries, 7, workers=3), strict=True):
        np.testing.assert_array_equal(one, three)


def test_large_merges(large: tuple[NDArray[np.uint32], BandSegment]) -> None:
    keys, segment = large
    rows, digests = np.arange(len(keys)), segment.digests(np.arange(len(keys), dtype=np.uint32))
    parts = [BandSegment.build(rows[i::3].copy(), digests[i::3].copy(), keys[i::3].reshape(-1), 4) for i in range(3)]
    assert same(BandSegment.merge(parts, np.zeros(0, dtype=np.int64)), segment)


@pytest.mark.parametrize("count", [1023, 1024, 1025, 70_000])
def test_keys_stand_in_order_with_equal_ones_by_group(count: int) -> None:
    """Few are compared, many are sorted a digit at a time."""
    random = np.random.default_rng(count)
    keys = random.integers(0, 2**32, (count, 3), dtype=np.uint32)
    keys[::3, 1] = random.choice(np.array([0, 1, 0x7FF, 0x800, 0x3FFFFF, 0x400000, 0xFFFFFFFF], dtype=np.uint32), len(keys[::3]))
    keys[:, 2] = 7
    sections = BandSegment.build(np.arange(count), np.arange(count, dtype=np.uint64), keys.reshape(-1), 3).sections()
    buckets = len(sections["directory"]) // 3 - 1
    rests = sections["rests16" if len(sections["rests16"]) else "rests32"].astype(np.uint64)
    for band in range(3):
        order = np.lexsort((np.arange(count), keys[:, band]))
        ascending = keys[order, band].astype(np.uint64)
        assert (sections["groups"][band * count :][:count] == order).all()
        assert (rests[band * count :][:count] == ascending % (2**32 // buckets)).all()
        firsts = np.searchsorted(ascending, np.arange(buckets + 1, dtype=np.uint64) * np.uint64(2**32 // buckets))
        assert (sections["directory"][band * (buckets + 1) :][: buckets + 1] == firsts).all()


def test_a_million_copies_are_one_entry() -> None:
    copies = 1_000_000
    keys = np.tile(uint32(1, 2, 3), copies)
    segment = BandSegment.build(np.arange(copies), np.full(copies, 9, dtype=np.uint64), keys, 3)
    found = segment.candidates(uint32(1, 2, 3, 1, 9, 9), 10)
    assert (found.groups.tolist(), found.shared.tolist(), found.totals.tolist()) == ([0, 0], [3, 1], [1, 1])
    offsets, rows = segment.rows(uint32(0), 3)
    assert (offsets.tolist(), rows.tolist()) == ([0, 3], [0, 1, 2])
    assert segment.sizes(uint32(0, 0)).tolist() == [copies, copies]
    assert sum(section.nbytes for section in segment.sections().values()) < 8 * copies + 1000
    merged = BandSegment.merge([segment, build([(copies, 9, (1, 2, 3))], 3)], np.arange(5))
    assert merged.sizes(uint32(0)).tolist() == [copies - 4]


def test_the_same_digest_with_other_keys_is_another_group() -> None:
    """Digests can collide: then the other document must not vanish. All digests equal must not take for ever either."""
    count = 50_000
    keys = np.random.default_rng(1).integers(0, 2**32, size=(count, 2), dtype=np.uint32)
    segment = BandSegment.build(np.arange(count), np.zeros(count, dtype=np.uint64), keys.reshape(-1), 2)
    assert segment.groups == count
    assert segment.candidates(keys[count - 1], 5).groups.tolist() == [count - 1]


def test_bytes_of_a_document() -> None:
    count, bands = 300_000, 21
    generator = np.random.default_rng(2)
    keys = generator.integers(0, 2**32, size=count * bands, dtype=np.uint32)
    segment = BandSegment.build(np.arange(count), generator.integers(0, 2**64, size=count, dtype=np.uint64), keys, bands)
    assert sum(section.nbytes for section in segment.sections().values()) / count < 8 * bands


def test_an_empty_segment() -> None:
    segment = build([], 3)
    check(segment, [], [(1, 2, 3), (0, 0, 0)], 5)
    assert same(segment, BandSegment.merge([segment, build([(4, 1, (1, 2, 3))], 3)], np.array([4])))
    assert segment.candidates(np.zeros(0, dtype=np.uint32), 5).offsets.tolist() == [0]


def test_sections_are_used_in_place(tmp_path: Path) -> None:
    """Mapped from files, read-only; the segment keeps the mapping alive."""
    keys = np.arange(40, dtype=np.uint32)
    built = BandSegment.build(np.arange(10), np.arange(10, dtype=np.uint64), keys, 4)
    mapped = {}
    for name, section in built.sections().items():
        section.tofile(tmp_path / name)
        mapped[name] = np.memmap(tmp_path / name, section.dtype, mode="r") if section.size else np.zeros(0, section.dtype)
    segment = BandSegment.open(mapped)
    assert all(np.shares_memory(segment.sections()[name], mapped[name]) for name in mapped if mapped[name].size)
    alive = weakref.ref(mapped["groups"])
    del mapped
    gc.collect()
    assert alive() is not None
    assert segment.candidates(keys, 3).groups.tolist() == list(range(10))


def sections_of_ten(seed: int = 3) -> dict[str, NDArray[Any]]:
    generator = np.random.default_rng(seed)
    keys = generator.integers(0, 4, size=(10, 3), dtype=np.uint32) << np.uint32(29)
    segment = BandSegment.build(np.arange(10, 20), generator.integers(0, 6, size=10, dtype=np.uint64), keys.reshape(-1), 3)
    return {name: section.copy() for name, section in segment.sections().items()}


def changed(name: str, place: int, value: int) -> Callable[[dict[str, NDArray[Any]]], None]:
    def change(sections: dict[str, NDArray[Any]]) -> None:
        sections[name][place] = value

    return change


def turned(name: str) -> Callable[[dict[str, NDArray[Any]]], None]:
    def turn(sections: dict[str, NDArray[Any]]) -> None:
        sections[name] = sections[name].reshape(3, -1)[:, ::-1].reshape(-1)

    return turn


DAMAGES = {
    "shape": [
        changed("shape", 0, 0),
        changed("shape", 0, 65536),
        changed("shape", 0, 4),
        changed("shape", 1, 2**64 - 1),
        changed("shape", 1, 2**31),
    ],
    "directory": [
        changed("directory", 0, 1),
        changed("directory", 1, 2**32 - 1),
        changed("directory", -1, 5),
        changed("directory", -1, 2**32 - 1),
    ],
    "rests": [changed("rests32", 0, 2**32 - 1), changed("rests32", -1, 2**31), turned("rests32"), turned("groups")],
    "groups": [changed("groups", 0, 10), changed("groups", 5, 2**32 - 1), lambda sections: sections["groups"].fill(0)],
    "row_offsets": [
        changed("row_offsets", 0, 1),
        changed("row_offsets", -1, 9),
        changed("row_offsets", 2, 2**32 - 1),
        changed("row_offsets", 2, 0),
    ],
    "rows": [changed("rows", 0, -1), changed("rows", 0, 2**62), changed("rows", -1, 0)],
}


@pytest.mark.parametrize(("name", "damage"), [(name, damage) for name, damages in DAMAGES.items() for damage in damages])
def test_damaged_sections_are_refused(name: str, damage: Callable[[dict[str, NDArray[Any]]], None]) -> None:
    sections = sections_of_ten()
    BandSegment.open(sections)
    damage(sections)
    with pytest.raises(ValueError, match=rf"^({name}|directory|row_offsets)"):
        BandSegment.open(sections)


@pytest.mark.parametrize("name", SECTIONS)
def test_sections_of_the_wrong_kind_are_refused(name: str) -> None:
    sections = sections_of_ten()
    own = sections[name]
    odd = np.frombuffer(bytes(1 + own.nbytes + own.itemsize), dtype=np.uint8)[1 : 1 + own.nbytes].view(own.dtype)
    wrong = [own[:-1], np.append(own, own), own.astype(np.float64), own.astype(">i8"), own.reshape(1, -1), own.tolist(), None, bytes(own)]
    wrong += [np.repeat(own, 2)[::2]] if len(own) > 1 else []
    wrong += [odd] if len(own) and odd.ctypes.data % own.itemsize else []
    for value in wrong:
        if (
            isinstance(value, np.ndarray)
            and value.dtype == own.dtype
            and value.shape == own.shape
            and value.flags.c_contiguous
            and value.flags.aligned
        ):
            continue  # an empty section without its last value is still the same
        with pytest.raises(ValueError, match=name.removesuffix("16").removesuffix("32")):
            BandSegment.open(sections | {name: value})
    del sections[name]
    with pytest.raises(ValueError, match=f"'{name}' of a band segment is missing"):
        BandSegment.open(sections)


def test_a_row_in_two_groups_is_refused() -> None:
    sections = build([(1, 1, (1,)), (2, 2, (2,)), (3, 1, (1,)), (4, 2, (2,))], 1).sections()
    assert sections["rows"].tolist() == [1, 3, 2, 4]
    for damaged in ([1, 2, 2, 4], [1, 4, 2, 4], [1, 3, 2, 3]):
        with pytest.raises(ValueError, match="rows: a row belongs to one group"):
            BandSegment.open(sections | {"rows": np.array(damaged)})


def test_unknown_sections_are_refused() -> None:
    with pytest.raises(ValueError, match="'more'"):
        BandSegment.open(sections_of_ten() | {"more": uint32(1)})


@given(st.sampled_from(list(SECTIONS)), st.integers(0, 99), st.integers(0, 2**64 - 1) | st.integers(0, 12), st.integers(0, 5))
@settings(max_examples=500)
def test_any_damage_is_refused_or_harmless(name: str, place: int, value: int, seed: int) -> None:
    sections = sections_of_ten(seed)
    section = sections[name]
    if not len(section):
        return
    raw = section.view(f"uint{8 * section.itemsize}")
    raw[place % len(raw)] = value % 2 ** (8 * section.itemsize)
    try:
        segment = BandSegment.open(sections)
    except ValueError:
        return
    every = np.arange(segment.groups, dtype=np.uint32)
    queries = np.arange(8 * segment.bands, dtype=np.uint32) << np.uint32(29)
    found = segment.candidates(queries, 100)
    assert set(found.groups.tolist()) <= set(every.tolist())
    assert segment.sizes(every).sum() == len(segment)
    assert len(BandSegment.merge([segment], np.zeros(0, dtype=np.int64))) == len(segment)


@pytest.mark.parametrize(
    ("rows", "digests", "keys", "bands", "message"),
    [
        ([3, 2], [1, 2], [1, 2], 1, "rows: 2 after 3"),
        ([3, 3], [1, 2], [1, 2], 1, "rows: 3 after 3"),
        ([-1, 3], [1, 2], [1, 2], 1, "rows: expected 0 or more"),
        ([1, 2], [1], [1, 2], 1, "digests: expected one per row"),
        ([1, 2], [1, 2], [1, 2, 3], 1, "keys: expected"),
        ([1, 2], [1, 2], [1, 2], 0, "bands=0"),
        ([1, 2], [1, 2], [1, 2], 65536, "bands=65536"),
        ([1, 2], [1, 2], [1, 2], True, "bands=True"),
    ],
)
def test_wrong_documents(rows: list[int], digests: list[int], keys: list[int], bands: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BandSegment.build(np.array(rows), np.array(digests, dtype=np.uint64), np.array(keys, dtype=np.uint32), bands)


def test_wrong_types() -> None:
    rows, digests, keys = np.arange(2), np.arange(2, dtype=np.uint64), uint32(1, 2)
    for wrong in ((rows.astype(np.int32), digests, keys), (rows, rows, keys), (rows, digests, keys.reshape(1, 2)), ([1, 2], digests, keys)):
        with pytest.raises(InputError, match=r"rows|digests|keys"):
            BandSegment.build(*wrong, 1)  # type: ignore[arg-type]
    segment = build([(1, 2, (3, 4))], 2)
    with pytest.raises(InputError, match="keys"):
        segment.candidates(np.arange(2), 5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="keys"):
        segment.candidates(uint32(1, 2, 3), 5)
    for limit in (0, -1, True, 1.5, None):
        with pytest.raises(InputError, match="limit="):
            segment.candidates(uint32(1, 2), limit)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="limit="):
            segment.rows(uint32(0), limit)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="workers="):
        segment.candidates(uint32(1, 2), 5, workers=0)
    for group in (1, 2**32 - 1):
        for call in (segment.sizes, segment.digests, lambda groups: segment.rows(groups, 1)):
            with pytest.raises(ValueError, match=f"groups: {group}"):
                call(uint32(0, group))


def test_segments_that_cannot_be_merged() -> None:
    none = np.zeros(0, dtype=np.int64)
    one = build([(1, 2, (3, 4))], 2)
    with pytest.raises(ValueError, match="row 1 is there twice"):
        BandSegment.merge([one, one], none)
    with pytest.raises(ValueError, match="different numbers of bands"):
        BandSegment.merge([one, build([(2, 2, (3,))], 1)], none)
    with pytest.raises(ValueError, match="at least one"):
        BandSegment.merge([], none)
    with pytest.raises(ValueError, match="removed: 1 after 2"):
        BandSegment.merge([one], np.array([2, 1]))
    with pytest.raises(InputError, match="removed"):
        BandSegment.merge([one], [1])  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _native.merge_bands([None], none)


def test_real_texts() -> None:
    """From texts to candidates: an edited copy is found, copies are one group, and an empty text finds empty texts alone."""
    words = [f"w{i}" for i in range(300)]
    texts = [" ".join(words), " ".join([*words[:280], "the", "end"]), " ".join(words).upper(), "", " ".join(reversed(words)), " \n"]
    data, offsets = _native.pack_strings(texts)
    keys = np.asarray(_native.band_keys(_native.minhash_texts(data, offsets, 0, True, 5, 0, 128, 1), 128, 21, 6))
    segment = BandSegment.build(np.arange(6), np.asarray(_native.content_digests(data, offsets, 0, True, 1)), keys, 21)
    assert [segment.rows(uint32(group), 9)[1].tolist() for group in range(segment.groups)] == [[0, 2], [1], [3, 5], [4]]
    found = segment.candidates(keys, 9)
    assert [found.groups[a:b].tolist() for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)] == [
        [0, 1],
        [1, 0],
        [0, 1],
        [2],
        [3],
        [2],
    ]
    assert Counter(found.shared.tolist())[21] == 6
