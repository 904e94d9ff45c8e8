"""Passage segments against dictionaries of lists, and under fire: damaged sections are refused or searched safely."""

from __future__ import annotations

import gc
import random
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike import _native
from lookalike._native import merge_postings
from lookalike.segments.container import forget_segment, mapped_file, read_segment, write_segment
from lookalike.segments.passages import SECTIONS, PassageSegment, QueryPrints

NOTHING = np.zeros(0, dtype=np.int64)
Print = tuple[int, int, int]  # hash, start, end
Place = tuple[int, int, int]  # row, start, end

hashes = st.integers(0, 6) | st.sampled_from([2**63, 2**64 - 1, 2**64 - 2, 2**32]) | st.integers(0, 2**64 - 1)
edges = st.integers(0, 300) | st.sampled_from([0, 65_535, 65_536, 70_000, 2**32 - 1]) | st.integers(0, 2**32 - 1)
prints = st.tuples(hashes, edges, edges).map(lambda one: (one[0], min(one[1:]), max(one[1:])))
corpora = st.dictionaries(st.integers(0, 60) | st.just(2**63 - 1), st.lists(prints, max_size=12), max_size=12)


def build(corpus: dict[int, list[Print]]) -> PassageSegment:
    rows = sorted(corpus)
    every = [one for row in rows for one in corpus[row]]
    offsets = np.cumsum([0, *(len(corpus[row]) for row in rows)], dtype=np.int64)
    values, starts, ends = (np.array([one[i] for one in every], dtype=dtype) for i, dtype in enumerate((np.uint64, np.uint32, np.uint32)))
    return PassageSegment.build(np.array(rows, dtype=np.int64), offsets, values, starts, ends)


def places(corpus: dict[int, list[Print]]) -> dict[int, list[Place]]:
    found = defaultdict(list)
    for row in sorted(corpus):
        for value, start, end in corpus[row]:
            found[value].append((row, start, end))
    return found


def assert_finds(segment: PassageSegment, expected: dict[int, list[Place]]) -> None:
    wanted = [*expected, 3, 2**64 - 1, 12345]
    asked = np.array(wanted, dtype=np.uint64)
    assert segment.frequencies(asked).tolist() == [len({place[0] for place in expected.get(value, [])}) for value in wanted]
    found = segment.postings(asked)
    assert (found.offsets[0], found.offsets[-1]) == (0, len(found.rows))
    every = list(zip(found.rows.tolist(), found.starts.tolist(), found.ends.tolist(), strict=True))
    assert [every[a:b] for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)] == [expected.get(value, []) for value in wanted]


def assert_same(one: PassageSegment, other: PassageSegment) -> None:
    for name, array in one.sections().items():
        assert array.dtype == other.sections()[name].dtype == SECTIONS[name]
        np.testing.assert_array_equal(array, other.sections()[name], err_msg=name)


@given(corpora)
@settings(max_examples=150)
def test_equals_a_dictionary_of_lists(corpus: dict[int, list[Print]]) -> None:
    segment = build(corpus)
    assert len(segment) == len(corpus)
    assert segment.all_rows().tolist() == sorted(corpus)
    assert segment.fingerprints().tolist() == [len(corpus[row]) for row in sorted(corpus)]
    assert_finds(segment, places(corpus))
    assert_finds(PassageSegment.open(segment.sections()), places(corpus))


@given(corpora, st.sets(st.integers(0, 60)))
@settings(max_examples=150)
def test_frequencies_without_removed_rows(corpus: dict[int, list[Print]], gone: set[int]) -> None:
    kept = places({row: prints for row, prints in corpus.items() if row not in gone})
    asked = sorted(places(corpus))
    found = build(corpus).frequencies(np.array(asked, dtype=np.uint64), np.array(sorted(gone), dtype=np.int64))
    assert found.tolist() == [len({place[0] for place in kept.get(value, [])}) for value in asked]


@given(corpora, st.lists(st.integers(0, 3), min_size=12, max_size=12), st.sets(st.integers(0, 60)))
@settings(max_examples=200)
def test_merging_equals_building(corpus: dict[int, list[Print]], homes: list[int], gone: set[int]) -> None:
    """However documents are spread over segments, and whatever is removed."""
    parts: list[dict[int, list[Print]]] = [{}, {}, {}, {}]
    for home, row in zip(homes, corpus, strict=False):
        parts[home][row] = corpus[row]
    merged = PassageSegment.merge([build(part) for part in parts], np.array(sorted(gone), dtype=np.int64))
    assert_same(merged, build({row: prints for row, prints in corpus.items() if row not in gone}))


def random_columns(documents: int, each: int, seed: int) -> tuple[np.ndarray, ...]:
    generator = np.random.default_rng(seed)
    count = documents * each
    values = generator.integers(0, 2**64, size=count, dtype=np.uint64)
    values[generator.random(count) < 0.3] %= np.uint64(500)
    starts = generator.integers(0, 200_000, size=count, dtype=np.uint32)
    ends = starts + generator.integers(0, 100_000, size=count, dtype=np.uint32)
    return np.arange(documents) * 7 + 3, np.arange(documents + 1) * each, values, starts, ends


@pytest.mark.parametrize("each", [30, 1100])
def test_many_fingerprints_equal_a_sorted_table(each: int) -> None:
    """Enough of them for the passes of the sort, and for several parts; with hashes that all share their upper bits, and that stand everywhere."""
    rows, offsets, values, starts, ends = random_columns(2_000, each, seed=1)
    values[1_000:9_000] = (values[1_000:9_000] & np.uint64(0xFFFF)) | np.uint64(0xABCDEF << 40)
    segment = PassageSegment.build(rows, offsets, values, starts, ends)
    distinct, number = np.unique(values, return_inverse=True)
    order = np.argsort(number, kind="stable")
    found = segment.postings(distinct)
    np.testing.assert_array_equal(found.offsets, np.append(0, np.bincount(number).cumsum()))
    np.testing.assert_array_equal(found.rows, np.repeat(rows, each)[order])
    np.testing.assert_array_equal(found.starts, starts[order])
    np.testing.assert_array_equal(found.ends, ends[order])
    pairs = np.unique(np.stack([number, np.repeat(np.arange(2_000), each)]), axis=1)
    np.testing.assert_array_equal(segment.frequencies(distinct), np.bincount(pairs[0]))
    missing = np.setdiff1d(np.random.default_rng(2).integers(0, 2**64, size=1_000, dtype=np.uint64), distinct)
    assert not segment.frequencies(missing).any()


@pytest.mark.parametrize("each", [11, 700])
def test_merging_many_segments_equals_building(each: int) -> None:
    """Few postings, and so many that they are sorted in several parts."""
    rows, offsets, values, starts, ends = random_columns(3_000, each, seed=4)
    parts = [PassageSegment.build(rows[i : i + 200], offsets[i : i + 201], values, starts, ends) for i in range(0, 3_000, 200)]
    random.Random(1).shuffle(parts)
    gone = rows[::3].copy()
    kept = np.flatnonzero(np.arange(3_000) % 3)
    places = (kept[:, None] * each + np.arange(each)).ravel()
    expected = PassageSegment.build(rows[kept], np.arange(len(kept) + 1) * each, values[places], starts[places], ends[places])
    assert_same(PassageSegment.merge(parts, gone), expected)
    first = PassageSegment.merge(parts[:8], NOTHING)
    assert_same(PassageSegment.merge([PassageSegment.merge(parts[8:], gone), first], gone), expected)


def test_segments_in_files_are_merged_as_those_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read of a mapped file is let go, and is there again for whoever reads it once more."""
    rows, offsets, values, starts, ends = random_columns(3_000, 700, seed=5)
    parts = [PassageSegment.build(rows[i : i + 1_000], offsets[i : i + 1_001], values, starts, ends) for i in range(0, 3_000, 1_000)]
    mapped = []
    for number, part in enumerate(parts):
        path = tmp_path / f"{number}.winnowing"
        write_segment(path, "winnowing", "recipe", part.sections())
        sections = read_segment(path, "winnowing", "recipe", read_once=True)
        assert mapped_file(sections["places"]) is not None
        mapped.append(PassageSegment.open(sections))
        forget_segment(sections)
    expected = PassageSegment.merge(parts, rows[::9].copy())
    for _ in range(2):
        assert_same(PassageSegment.merge(mapped, rows[::9].copy()), expected)
    asked: list[bool] = []
    monkeypatch.setattr(_native, "merge_postings", lambda *given: asked.append(given[2]) or merge_postings(*given))
    for some, read_once in ((mapped, True), ([*mapped[:2], parts[2]], False)):  # memory that is no file stays as it is
        assert_same(PassageSegment.merge(some, rows[::9].copy()), expected)
        assert asked.pop() == read_once


def test_columns_of_winnows() -> None:
    texts = [
        "the quick brown fox jumps over the lazy dog and runs away",
        "",
        "相似的文本得到相近的指纹，不同的文本得到不同的指纹。",
        "x",
    ] * 50
    for recipe in ("default", "winnow-sha1"):
        found = la.winnows(texts, recipe=recipe)
        segment = PassageSegment.build(np.arange(200), found.offsets, found.values, found.starts, found.ends)
        corpus = {row: [(value, *span) for value, span in zip(one.values, one.spans, strict=True)] for row, one in enumerate(found)}
        assert_finds(segment, places(corpus))


def test_a_million_documents_with_the_same_hash() -> None:
    count = 1_000_000
    values = np.full(count * 2, 99, dtype=np.uint64)
    values[1::2] = np.arange(count)
    starts = np.tile(np.array([5, 20], dtype=np.uint32), count)
    segment = PassageSegment.build(np.arange(count), np.arange(count + 1) * 2, values, starts, starts + 10)
    asked = np.full(10_000, 99, dtype=np.uint64)
    assert set(segment.frequencies(asked).tolist()) == {count}
    assert segment.frequencies(np.array([99, 100], dtype=np.uint64), np.arange(0, count, 2)).tolist() == [count // 2, 0]
    assert sum(array.nbytes for array in segment.sections().values()) < 16 * len(values)


def test_one_document_with_the_same_hash_a_million_times() -> None:
    count = 1_000_000
    starts = np.arange(count, dtype=np.uint32) * 4
    segment = PassageSegment.build(np.array([7]), np.array([0, count]), np.full(count, 3, dtype=np.uint64), starts, starts + 20)
    assert segment.frequencies(np.array([3, 4], dtype=np.uint64)).tolist() == [1, 0]
    np.testing.assert_array_equal(segment.postings(np.array([3], dtype=np.uint64)).starts, starts)


@pytest.mark.parametrize("length", [30, 300, 70_000])
def test_bytes_a_posting(length: int) -> None:
    rows, offsets, values, _, _ = random_columns(10_000, 60, seed=8)
    starts = np.tile(np.arange(60, dtype=np.uint32) * 2_000, 10_000)
    segment = PassageSegment.build(rows, offsets, values, starts, starts + np.uint32(length))
    assert sum(array.nbytes for array in segment.sections().values()) < 16 * len(values)


# ---- From a file


def test_sections_are_used_where_they_are(tmp_path: Path) -> None:
    segment = build(SMALL)
    mapped = {}
    for name, array in segment.sections().items():
        array.tofile(tmp_path / name)
        size = (tmp_path / name).stat().st_size
        mapped[name] = np.memmap(tmp_path / name, dtype=array.dtype, mode="r") if size else np.zeros(0, array.dtype)
    again = PassageSegment.open(mapped)
    assert all(np.shares_memory(again.sections()[name], mapped[name]) for name in mapped if mapped[name].size)
    mapped.clear()
    gc.collect()
    assert_finds(again, places(SMALL))


def test_a_segment_keeps_its_arrays() -> None:
    segment = PassageSegment.open({name: array.copy() for name, array in build(SMALL).sections().items()})
    native = segment._native
    del segment
    gc.collect()
    junk = [np.full(1000, 255, dtype=np.uint8) for _ in range(200)]
    assert np.asarray(native.frequencies(np.array([1], dtype=np.uint64), NOTHING)).tolist() == [len({p[0] for p in places(SMALL)[1]})]
    assert len(junk) == 200


# Small, but with everything that a segment can have: repeats, upper halves, empty documents, all widths of hashes.
_generator = random.Random(5)
SMALL: dict[int, list[Print]] = {row: [] for row in range(0, 40, 5)}
for _row in range(0, 60, 2):
    _starts = sorted(_generator.choice([_generator.randrange(500), _generator.randrange(2**31)]) for _ in range(_generator.randrange(8)))
    SMALL[_row] = [
        (_generator.choice([1, 2, 3, _generator.getrandbits(64)]), start, start + _generator.choice([5, 30, 80_000])) for start in _starts
    ]


def decoded(sections: dict[str, np.ndarray]) -> dict[int, list[Place]]:
    """What sections say, read as slowly and plainly as possible."""
    parts = {name: array.tolist() for name, array in sections.items()}
    (bits,) = parts["suffix_bits"]
    width = (bits + 7) // 8
    found = defaultdict(list)
    for bucket, (first, last) in enumerate(zip(parts["directory"], parts["directory"][1:], strict=False)):
        for posting in range(first, last):
            suffix = int.from_bytes(bytes(parts["suffixes"][posting * width : (posting + 1) * width]), "little")
            place = parts["places"][posting]
            document = max(d for d, begin in enumerate(parts["firsts"][:-1]) if begin <= place < parts["firsts"][d + 1])
            upper = 0
            for change in parts["uppers"]:
                if parts["firsts"][document] <= change >> 32 <= place:
                    upper = change & 0xFFFFFFFF
            start = (upper >> 16 << 16) + parts["starts"][place]
            end = start + ((upper & 0xFFFF) << 16) + parts["lengths"][place]
            found[bucket << bits | suffix].append((parts["rows"][document], start, end))
    return found


def test_the_layout() -> None:
    assert decoded(build(SMALL).sections()) == places(SMALL)


def damaged(array: np.ndarray, generator: random.Random) -> np.ndarray:
    """A copy with one thing wrong."""
    raw = bytearray(array.tobytes())
    size, width = len(array), array.itemsize
    kind = generator.randrange(7)
    if kind == 0 and raw:
        raw[generator.randrange(len(raw))] ^= 1 << generator.randrange(8)
    elif kind == 1:
        del raw[generator.randrange(size + 1) * width :]
    elif kind == 2:
        raw += generator.randbytes(width * generator.randint(1, 70))
    elif kind == 3 and size:
        at = generator.randrange(size) * width
        raw[at : at + width] = generator.choice([b"\0", b"\xff", b"\x7f", b"\x01"]) * width
    elif kind == 4 and size > 1:
        a, b = sorted(generator.sample(range(size), 2))
        raw[a * width : (a + 1) * width], raw[b * width : (b + 1) * width] = (
            raw[b * width : (b + 1) * width],
            raw[a * width : (a + 1) * width],
        )
    elif kind == 5:
        raw = bytearray(generator.randbytes(len(raw)))
    else:
        at = generator.randrange(size + 1) * width
        raw[at:at] = raw[:width] if size else b"\0" * width
    return np.frombuffer(bytes(raw), dtype=array.dtype)


@pytest.mark.parametrize("name", SECTIONS)
def test_damaged_sections_are_refused_or_safe(name: str) -> None:
    """Whatever is wrong with a section, and with another one at the same time: an error, or the answers that the arrays hold."""
    generator = random.Random(name)
    good = build(SMALL).sections()
    refused = 0
    for turn in range(700):
        sections = dict(good)
        sections[name] = damaged(sections[name], generator)
        if turn % 3 == 0:
            other = generator.choice(list(SECTIONS))
            sections[other] = damaged(sections[other], generator)
        try:
            segment = PassageSegment.open(sections)
        except la.InputError:
            refused += 1
            continue
        assert_finds(segment, decoded(sections))
        rows = set(sections["rows"].tolist())
        query = np.array(list(decoded(sections)), dtype=np.uint64)
        zeros = np.zeros(len(query), dtype=np.uint32)
        found = segment.sharing(np.unique(query), NOTHING, 5)
        assert set(found.rows.tolist()) <= rows
        offsets, passages = segment.passages(
            QueryPrints(query, zeros, zeros + np.uint32(9), np.ones(len(query), np.uint8)), found.documents
        )
        assert len(offsets) == len(found.documents) + 1
        assert offsets[-1] == len(passages)
        assert set(PassageSegment.merge([segment], NOTHING).all_rows().tolist()) == rows
    assert refused > 150


@pytest.mark.parametrize(
    ("name", "index", "value", "reason"),
    [
        ("rows", 1, 3, "rows: 3 at 1"),
        ("firsts", 1, 4, "firsts: expected to ascend from 0 to 3"),
        ("suffix_bits", 0, 200, "suffix_bits: 200 and the directory exceed 64 bits"),
        ("suffix_bits", 0, 1, "suffixes: expected 11 bytes"),
        ("directory", 1, 4, "directory: expected to ascend"),
        ("suffixes", 1, 255, "more bits than suffix_bits says"),
        ("places", 2, 0, "places: 0 is too large or there twice"),
        ("places", 0, 3, "places: 3 is too large or there twice"),
        ("repeats", 0, 2, "repeats: posting 1 is missing"),
        ("uppers", 0, 3 << 32, "uppers: place 3 is out of order"),
        ("uppers", 0, 1 << 32 | 0xFFFFFFFF, "the span of place 1 ends beyond 32 bits"),
    ],
)
def test_what_is_wrong_is_said(name: str, index: int, value: int, reason: str) -> None:
    good = build({3: [(700, 0, 5), (700, 70_000, 70_005)], 9: [(1000, 10, 65_545)]}).sections()
    assert [good[key].tolist() for key in ("places", "repeats", "uppers")] == [[0, 1, 2], [1], [1 << 32 | 1 << 16]]
    array = good[name].copy()
    array[index] = value
    with pytest.raises(la.InputError, match=re.escape(reason)):
        PassageSegment.open({**good, name: array})


def test_more_repeats_than_repeated_postings() -> None:
    good = build({3: [(7, 0, 5), (7, 6, 9)], 4: [(7, 0, 5)]}).sections()
    with pytest.raises(la.InputError, match="repeats: there are more than repeated postings"):
        PassageSegment.open({**good, "repeats": np.array([1, 2], dtype=np.uint32)})


@pytest.mark.parametrize("name", SECTIONS)
def test_sections_of_the_wrong_kind(name: str) -> None:
    good = build(SMALL).sections()
    array = good[name]
    wrong = [
        array.astype(np.float64),
        array.astype(array.dtype.newbyteorder(">")) if array.itemsize > 1 else array.astype(np.int8),
        array.astype(np.int32),
        np.repeat(array, 2)[::2] if array.size > 1 else array.astype(np.uint16),
        array.reshape(1, -1),
    ]
    for bad in wrong:
        with pytest.raises(ValueError, match=name):
            PassageSegment.open({**good, name: bad})
    with pytest.raises(ValueError, match="sections"):
        PassageSegment.open({key: value for key, value in good.items() if key != name})
    if array.itemsize > 1 and array.size:
        shifted = np.frombuffer(b"\0" + array.tobytes(), dtype=np.uint8)[1:].view(array.dtype)
        with pytest.raises(ValueError, match="aligned"):
            PassageSegment.open({**good, name: shifted})
    with pytest.raises(ValueError, match="extra"):
        PassageSegment.open({**good, "extra": array})


# ---- Bad input

COLUMNS = {
    "rows": np.array([1, 2]),
    "offsets": np.array([0, 1, 3]),
    "values": np.arange(3, dtype=np.uint64),
    "starts": np.arange(3, dtype=np.uint32),
    "ends": np.arange(3, dtype=np.uint32) + 5,
}


@pytest.mark.parametrize(
    "change",
    [
        {"rows": np.array([2, 2])},
        {"rows": np.array([2, 1])},
        {"rows": np.array([-1, 1])},
        {"rows": np.array([1, 2, 3])},
        {"rows": [1, 2]},
        {"rows": np.array([1, 2], dtype=np.int32)},
        {"offsets": np.array([0, 3, 1])},
        {"offsets": np.array([0, 1, 4])},
        {"offsets": np.array([-1, 1, 3])},
        {"offsets": NOTHING},
        {"values": np.arange(3)},
        {"values": np.zeros((3, 1), dtype=np.uint64)},
        {"starts": np.zeros(2, dtype=np.uint32)},
        {"starts": np.full(3, 9, dtype=np.uint32)},
        {"ends": np.zeros(4, dtype=np.uint32)},
        {"ends": np.zeros(3, dtype=np.float32)},
    ],
)
def test_bad_columns_are_refused(change: dict[str, object]) -> None:
    assert len(PassageSegment.build(**COLUMNS)) == 2
    with pytest.raises(la.InputError):
        PassageSegment.build(**{**COLUMNS, **change})  # type: ignore[arg-type]


def test_bad_searches_are_refused() -> None:
    segment = PassageSegment.build(**COLUMNS)
    one = np.ones(1, dtype=np.uint64)
    small = np.ones(1, dtype=np.uint32)
    used = np.ones(1, dtype=np.uint8)
    for call in (
        lambda: segment.frequencies(np.array([1])),
        lambda: segment.frequencies(one, np.array([2, 2])),
        lambda: segment.postings(np.array([1.5])),
        lambda: segment.sharing(np.array([2, 1], dtype=np.uint64), NOTHING, 3),
        lambda: segment.sharing(one, np.array([5, 3]), 3),
        lambda: PassageSegment.merge([segment], np.array([3, 1])),
        lambda: PassageSegment.merge([segment, segment], NOTHING),
        lambda: segment.passages(QueryPrints(one, small, small, used), np.array([2], dtype=np.uint32)),
        lambda: segment.passages(QueryPrints(one, small, small, used[:0]), small),
        lambda: segment.passages(QueryPrints(one, small[:0], small, used), small),
    ):
        with pytest.raises(la.InputError, match=r"^\w+.*: "):
            call()
    with pytest.raises(TypeError):
        _native.merge_postings([None], NOTHING)  # type: ignore[list-item]
    with pytest.raises(TypeError):
        _native.build_postings(*(array.astype(np.float64) for array in COLUMNS.values()))


def test_hashes_beyond_the_directory() -> None:
    """The directory covers the bits that are in use; a hash with more of them is not there."""
    for most in (0, 1, 2, 255, 2**40):
        segment = build({1: [(most, 0, 5)]})
        asked = [most + 1, 2 * most + 2, 2**32, 2**63, 2**64 - 2, 2**64 - 1, most]
        assert segment.frequencies(np.array(asked, dtype=np.uint64)).tolist() == [0] * 6 + [1]


def test_empty_segments() -> None:
    empty = build({})
    assert len(empty) == len(PassageSegment.merge([], NOTHING)) == 0
    assert_same(PassageSegment.merge([empty, empty], NOTHING), empty)
    assert_finds(empty, {})
    hollow = build({3: [], 9: []})
    assert (len(hollow), hollow.fingerprints().tolist()) == (2, [0, 0])
    assert_finds(hollow, {})
    assert_same(PassageSegment.merge([hollow], np.array([3, 9])), empty)


def test_columns_that_are_parts_of_larger_ones() -> None:
    """Offsets need not begin at 0, so that batches can be cut without copying."""
    rows, offsets, values, starts, ends = random_columns(50, 4, seed=3)
    part = PassageSegment.build(rows[20:30], offsets[20:31], values, starts, ends)
    whole = PassageSegment.build(rows[20:30], np.arange(11) * 4, values[80:120], starts[80:120], ends[80:120])
    assert_same(part, whole)
