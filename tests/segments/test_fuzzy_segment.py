"""Segments of TLSH and ssdeep digests against comparing the query with every digest."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import ppdeep
import pytest
import tlsh as libtlsh
from hypothesis import example, given, settings
from hypothesis import strategies as st

import reference_fuzzy as reference
from lookalike import _native
from lookalike.errors import InputError
from lookalike.fingerprints.fuzzy_ssdeep import Ssdeep, ssdeeps
from lookalike.fingerprints.fuzzy_tlsh import Tlsh, tlshs
from lookalike.segments.fuzzy import SsdeepSegment, TlshSegment
from stable import stable_id

MANY = settings(max_examples=150, deadline=None)
ALL = 2**40
NONE = np.zeros(0, dtype=np.int64)

Segment = TlshSegment | SsdeepSegment
Ranked = list[tuple[int, int]]
KINDS: list[Any] = [TlshSegment, SsdeepSegment]


# What is searched: digests of related inputs, and digests that no input has.


@functools.cache
def related_inputs() -> list[bytes]:
    """Families of inputs: each one is an edited copy of the one before."""
    rng = random.Random(1)
    inputs = []
    for _ in range(250):
        data = reference.an_input(rng, 1 << 14)
        for _ in range(8):
            inputs.append(data)
            data = reference.edited(rng, data)
    return inputs


@functools.cache
def tlsh_digests() -> list[str]:
    """Digests of related inputs, and copies with a few changed digits, so that headers of every kind occur."""
    found = [print_.value for print_ in tlshs(related_inputs()) if print_.value]
    rng = random.Random(2)
    for digest in rng.choices(found, k=800):
        digits = list(digest)
        for _ in range(rng.randrange(1, 6)):
            digits[2 + rng.randrange(8 if rng.random() < 0.5 else 70)] = rng.choice("0123456789ABCDEF")
        found.append("".join(digits))
    return found


@functools.cache
def ssdeep_digests() -> list[str]:
    found = [print_.value for print_ in ssdeeps(related_inputs()) if print_.value]
    return found + [digest for pair in reference.ssdeep_digests(seed=3, count=600) for digest in pair]


def digests_of(kind: Any) -> list[str]:
    return tlsh_digests() if kind is TlshSegment else ssdeep_digests()


# The obvious way.


def brute(documents: list[tuple[int, str]], query: str, worst: int) -> Ranked:
    """Rank and row of what is near enough; the rank of an ssdeep score is 100 less the score, as Ssdeep.distance has it."""
    kind: Any = Tlsh if query.startswith("T1") else Ssdeep
    ranked = ((kind(query).distance(kind(digest)), row) for row, digest in documents)
    return sorted((rank, row) for rank, row in ranked if rank <= worst)


def search(segment: Any, query: str, worst: int, limit: int = ALL, workers: int = 1) -> tuple[Ranked, int]:
    """The same from a segment, and the total."""
    if isinstance(segment, TlshSegment):
        found = segment.search(query, worst, limit, workers)
        assert found.values.dtype == np.uint32
        ranks = found.values.tolist()
    else:
        scored = segment.search(query, 100 - worst, limit, workers)
        assert scored.values.dtype == np.uint32
        found, ranks = scored, [100 - score for score in scored.values.tolist()]
    assert found.rows.dtype == np.int64
    return list(zip(ranks, found.rows.tolist(), strict=True)), found.total


def check(segment: Any, documents: list[tuple[int, str]], query: str, worst: int) -> None:
    expected = brute(documents, query, worst)
    assert search(segment, query, worst) == (expected, len(expected))


def numbered(digests: list[str]) -> list[tuple[int, str]]:
    """Documents with gaps between their rows."""
    return [(3 * number + 5, digest) for number, digest in enumerate(digests)]


def build(kind: Any, documents: list[tuple[int, str]]) -> Any:
    return kind.build([row for row, _ in documents], [digest for _, digest in documents])


def same_sections(left: Segment, right: Segment) -> bool:
    mine, others = left.sections(), right.sections()
    return mine.keys() == others.keys() and all(
        mine[name].dtype == others[name].dtype and mine[name].tobytes() == others[name].tobytes() for name in mine
    )


@pytest.mark.parametrize("worst", [0, 1, 12, 30, 60, 100, 200, 400, 2_473, 2**31])
def test_tlsh_equals_brute_force(worst: int) -> None:
    documents = numbered(tlsh_digests())
    segment = build(TlshSegment, documents)
    for query in tlsh_digests()[::601]:
        check(segment, documents, query, worst)


@pytest.mark.parametrize("least", [1, 2, 10, 35, 60, 90, 99, 100])
def test_ssdeep_equals_brute_force(least: int) -> None:
    documents = numbered(ssdeep_digests())
    segment = build(SsdeepSegment, documents)
    for query in ssdeep_digests()[::101]:
        check(segment, documents, query, 100 - least)


def test_tlsh_equals_the_library() -> None:
    digests = [print_.value for print_ in tlshs(related_inputs()[::2]) if print_.value]
    segment = TlshSegment.build(range_of(digests), digests)
    for query in digests[::97]:
        distances = [libtlsh.diff(query, digest) for digest in digests]
        expected = sorted((distance, row) for row, distance in enumerate(distances) if distance <= 80)
        assert search(segment, query, 80)[0] == expected


def test_ssdeep_finds_what_ppdeep_finds() -> None:
    """ppdeep counts edits in another way than the tool, so its scores are higher; but it scores the same digests above 0."""
    found = [print_.value for print_ in ssdeeps(related_inputs()[::2]) if print_.value]
    # Of shorter parts ppdeep takes equal first ones as equal digests.
    digests = [digest for digest in found if len(reference.shorten_runs(digest.split(":")[1])) >= 7]
    segment = SsdeepSegment.build(range_of(digests), digests)
    for query in digests[::97]:
        scores = [ppdeep.compare(query, digest) for digest in digests]
        ranked = search(segment, query, 99)[0]
        assert sorted(row for _, row in ranked) == [row for row, score in enumerate(scores) if score >= 1]
        assert all(100 - rank <= scores[row] for rank, row in ranked)


def range_of(digests: list[str]) -> Any:
    return np.arange(len(digests), dtype=np.int64)


# Few different bytes and letters, so that equal and near digests, long runs and periods are common.
TLSH_DIGESTS = st.lists(st.sampled_from([0x00, 0x11, 0x10, 0x0F, 0xF0, 0xFF, 0x80, 0x1B]), min_size=35, max_size=35).map(
    lambda values: "T1" + bytes(values).hex().upper()
) | st.builds(
    lambda header, values: "T1" + (header + values * 32).hex().upper(), st.binary(min_size=3, max_size=3), st.binary(min_size=1, max_size=1)
)


def ssdeep_part(most: int) -> st.SearchStrategy[str]:
    runs = st.lists(st.builds(lambda letters, times: letters * times, st.text("ABb", max_size=4), st.integers(0, 12)), max_size=6)
    return runs.map(lambda pieces: "".join(pieces)[:most])


SSDEEP_DIGESTS = st.builds(
    lambda level, first, second: f"{3 << level}:{first}:{second}",
    st.sampled_from([0, 0, 1, 1, 2, 29, 30]),
    ssdeep_part(64),
    ssdeep_part(32),
)
BATCHES = {TlshSegment: st.lists(TLSH_DIGESTS, max_size=30), SsdeepSegment: st.lists(SSDEEP_DIGESTS, max_size=30)}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@MANY
def test_any_digests_equal_brute_force(kind: Any, data: st.DataObject) -> None:
    digests = data.draw(BATCHES[kind])
    query = data.draw((TLSH_DIGESTS if kind is TlshSegment else SSDEEP_DIGESTS) | st.sampled_from(digests or ["3::"]))
    if kind is TlshSegment and not query.startswith("T1"):
        query = "T1" + "00" * 35
    worst = data.draw(st.integers(0, 900) if kind is TlshSegment else st.integers(0, 99))
    documents = numbered(digests)
    check(build(kind, documents), documents, query, worst)


@given(SSDEEP_DIGESTS, SSDEEP_DIGESTS)
@example("3:aaaaa:b", "3:aaa:b")
@example("3::", "3::")
@example("3:abc:ab", "3:abc:ab")
@example("3:abc:ab", "6:ab:abc")
@MANY
def test_a_pair_is_found_by_its_score(left: str, right: str) -> None:
    score = reference.ssdeep_score(left, right)
    expected = [(100 - score, 0)] if score else []
    assert search(SsdeepSegment.build([0], [left]), right, 99)[0] == expected


def test_one_run_of_seven_letters_is_found_wherever_it_is() -> None:
    rng = random.Random(4)
    left, right, run = reference.ALPHABET[:28], reference.ALPHABET[28:56], reference.ALPHABET[57:]

    def with_run(letters: str, size: int, at: int) -> str:
        filled = "".join(rng.choices(letters, k=size))
        return filled[:at] + run + filled[at + 7 :]

    for size, level, parts in ((64, 5, "{}:Z"), (32, 5, "Z:{}")):
        segment = SsdeepSegment.build(
            np.arange(size - 6), [f"{3 << level}:{parts.format(with_run(left, size, at))}" for at in range(size - 6)]
        )
        for at in range(size - 6):
            rows, total = search(segment, f"{3 << level}:{parts.format(with_run(right, size, at))}", 99)
            assert total == len(rows) == size - 6
    # One letter less in common, and there is nothing to find.
    broken = with_run(right, 64, 20).replace(run, run[:3] + "a" + run[4:])
    assert search(SsdeepSegment.build([0], [f"96:{with_run(left, 64, 9)}:"]), f"96:{broken}:", 99) == ([], 0)


def test_neighbouring_block_sizes_are_compared() -> None:
    part = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef"
    digests = [
        f"{3 << level}:{first}:{second}" for level in range(5, 10) for first, second in ((part, ""), ("", part), (part, part), ("", ""))
    ]
    documents = numbered(digests)
    segment = build(SsdeepSegment, documents)
    for query in digests:
        check(segment, documents, query, 99)


# Many entries: threads, tasks and both ways to collect candidates.


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_a_large_tlsh_segment(workers: int) -> None:
    generator = np.random.default_rng(5)
    records = generator.integers(0, 256, (150_000, 35), dtype=np.uint8)
    records[:, 1:3] = generator.choice([0x13, 0x14, 0x23, 0xF2], (len(records), 2))  # few groups, so that some are larger than a task
    records[1::2, 3:] = records[::2, 3:]
    records[1::2, 3 + generator.integers(32)] ^= 0x41
    segment = TlshSegment.build(np.arange(len(records)), ["T1" + record.tobytes().hex().upper() for record in records])
    for at in range(0, len(records), 30_001):
        query = records[at].tobytes()
        distances = np.asarray(_native.tlsh_distances(query, records.tobytes()))
        for worst in (20, 170, 3_000):
            rows = np.flatnonzero(distances <= worst)
            found = segment.search("T1" + query.hex().upper(), worst, ALL, workers)
            order = np.lexsort((rows, distances[rows]))
            assert found.total == len(rows)
            assert np.array_equal(found.rows, rows[order])
            assert np.array_equal(found.values, distances[rows][order])


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_a_large_ssdeep_segment(workers: int) -> None:
    rng = random.Random(6)
    digests = []
    while len(digests) < 30_000:
        first, second = "".join(rng.choices(reference.ALPHABET, k=60)), "".join(rng.choices(reference.ALPHABET, k=30))
        digests += [
            f"{3 << rng.randrange(4, 8)}:{reference.edited_digest(rng, first, 64)}:{reference.edited_digest(rng, second, 32)}"
            for _ in range(rng.choice((1, 1, 1, 5, 300)))  # few candidates for some queries, many for others
        ]
    segment = SsdeepSegment.build(range_of(digests), digests)
    packed, offsets = "".join(digests).encode(), np.cumsum([0, *map(len, digests)], dtype=np.int64)
    for query in digests[::1_777]:
        scores = np.asarray(_native.ssdeep_scores(query, packed, offsets)).astype(np.int64)
        for least in (1, 40, 80):
            rows = np.flatnonzero(scores >= least)
            order = np.lexsort((rows, -scores[rows]))
            found = segment.search(query, least, ALL, workers)
            assert found.total == len(rows)
            assert np.array_equal(found.rows, rows[order])
            assert np.array_equal(found.values, scores[rows][order])


# Limits and skew.


@pytest.mark.parametrize("kind", KINDS)
def test_every_limit_keeps_the_best(kind: Any) -> None:
    digests = digests_of(kind)[:60] * 3
    documents = numbered(digests)
    segment = build(kind, documents)
    for query in digests[:60:7]:
        everything = brute(documents, query, 99)
        for limit in range(1, len(everything) + 3):
            assert search(segment, query, 99, limit) == (everything[:limit], len(everything))


@pytest.mark.parametrize("kind", KINDS)
def test_equal_digests_are_one_entry(kind: Any) -> None:
    digests = digests_of(kind)
    copies = [digests[0]] * 200_000 + digests[1:5]
    segment = kind.build(range_of(copies), copies)
    assert len(segment) == len(copies)
    assert len(segment.sections()["starts"]) == len(set(copies)) + 1
    found, total = search(segment, digests[0], 0, limit=3)
    assert found == [(0, 0), (0, 1), (0, 2)]
    assert total == copies.count(digests[0])


def test_a_run_that_all_digests_share() -> None:
    rng = random.Random(7)
    digests = [f"768:{''.join(rng.choices('ABCD', k=rng.randrange(40)))}hotrunx:{''.join(rng.choices('ABCD', k=9))}" for _ in range(6_000)]
    documents = numbered(digests)
    segment = build(SsdeepSegment, documents)
    for query in ("768:hotrunx:", "1536:ABCD:hotrunx", "384:hotrunx:hotrunx", *digests[:4]):
        check(segment, documents, query, 99)
        check(segment, documents, query, 40)


# The segment protocol.


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_segment(kind: Any) -> None:
    segment = kind.build([], [])
    assert len(segment) == 0
    assert segment.digests() == segment.all_rows().tolist() == []
    assert search(segment, digests_of(kind)[0], 99) == ([], 0)
    assert same_sections(kind.open(segment.sections()), segment)
    assert same_sections(kind.merge([], NONE), segment)
    assert same_sections(kind.merge([segment, segment], NONE), segment)


@pytest.mark.parametrize("kind", KINDS)
def test_everything_can_be_read_back(kind: Any) -> None:
    documents = numbered(digests_of(kind) + digests_of(kind)[:50])
    segment = build(kind, documents)
    assert segment.all_rows().tolist() == [row for row, _ in documents]
    assert segment.digests() == [digest for _, digest in documents]
    assert same_sections(kind.build(segment.all_rows(), segment.digests()), segment)
    assert all(type(array) is np.ndarray and array.ndim == 1 and array.flags.c_contiguous for array in segment.sections().values())


@pytest.mark.parametrize("kind", KINDS)
def test_a_mapped_file_is_used_in_place(kind: Any, tmp_path: Path) -> None:
    documents = numbered(digests_of(kind))
    built = build(kind, documents)
    mapped = {}
    for name, array in built.sections().items():
        array.tofile(tmp_path / name)
        mapped[name] = np.memmap(tmp_path / name, array.dtype, "r")
    addresses = {name: array.ctypes.data for name, array in mapped.items()}
    segment = kind.open(mapped)
    del mapped, array
    assert {name: array.ctypes.data for name, array in segment.sections().items()} == addresses
    assert not any(array.flags.writeable for array in segment.sections().values())
    assert same_sections(segment, built)
    check(segment, documents, documents[100][1], 60)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@MANY
def test_merging_equals_building(kind: Any, data: st.DataObject) -> None:
    digests = data.draw(BATCHES[kind])
    owners = [data.draw(st.integers(0, 3)) for _ in digests]
    documents = numbered(digests)
    parts = [build(kind, [document for document, owner in zip(documents, owners, strict=True) if owner == part]) for part in range(4)]
    removed = {row for row, _ in documents if data.draw(st.booleans())} if data.draw(st.booleans()) else set()
    merged = kind.merge(parts, np.array(sorted(removed | {4}), dtype=np.int64))  # 4 is nobody's row
    assert same_sections(merged, build(kind, [(row, digest) for row, digest in documents if row not in removed]))


@pytest.mark.parametrize("kind", KINDS)
def test_merging_many_segments(kind: Any) -> None:
    documents = numbered(digests_of(kind) * 2)
    parts = [build(kind, documents[at : at + 173]) for at in range(0, len(documents), 173)]
    random.Random(8).shuffle(parts)
    assert same_sections(kind.merge(parts, NONE), build(kind, documents))
    halves = [kind.merge(parts[::2], NONE), kind.merge(parts[1::2], NONE)]
    removed = np.array([row for row, _ in documents[::3]], dtype=np.int64)
    assert same_sections(kind.merge(halves, removed), build(kind, [document for at, document in enumerate(documents) if at % 3]))
    assert len(kind.merge(parts, np.array([row for row, _ in documents], dtype=np.int64))) == 0


# Damaged sections.


def damaged(rng: random.Random, sections: dict[str, Any]) -> dict[str, Any]:
    """A copy with one section changed at random, or two."""
    changed = dict(sections)
    for name in rng.sample(sorted(changed), rng.choice((1, 1, 1, 2))):
        array = changed[name].copy()
        way = rng.randrange(7)
        if way == 0 and len(array):
            raw = array.view(np.uint8)
            raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        elif way == 1 and len(array):
            array[rng.randrange(len(array))] = rng.choice((0, 1, 63, 64, min(len(array), 255), np.iinfo(array.dtype).max))
        elif way == 2:
            array = array[: rng.randrange(len(array) + 1)].copy()
        elif way == 3:
            array = np.concatenate((array, np.frombuffer(rng.randbytes(array.itemsize * rng.randrange(1, 5)), array.dtype)))
        elif way == 4 and len(array) > 1:
            left, right = rng.randrange(len(array)), rng.randrange(len(array))
            array[[left, right]] = array[[right, left]]
        elif way == 5:
            array = np.frombuffer(rng.randbytes(array.nbytes), array.dtype)
        elif len(array):
            array = np.delete(array, rng.randrange(len(array)))
        changed[name] = array
    return changed


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_sections_are_refused_or_answer_correctly(kind: Any) -> None:
    rng = random.Random(9)
    refused = 0
    for trial in range(6_000):
        if trial % 100 == 0:
            digests = rng.choices(digests_of(kind), k=rng.choice((1, 2, 9, 40)))
            sections = build(kind, numbered(digests)).sections()
        try:
            segment = kind.open(damaged(rng, sections))
        except ValueError:
            refused += 1
            continue
        documents = list(zip(segment.all_rows().tolist(), segment.digests(), strict=True))
        check(segment, documents, rng.choice(digests), 99)
        check(segment, documents, documents[0][1] if documents else digests[0], 30)
    assert refused > 3_000


@pytest.mark.parametrize("kind", KINDS)
def test_sections_of_other_documents_are_refused(kind: Any) -> None:
    sections = build(kind, numbered(digests_of(kind)[:300])).sections()
    others = build(kind, numbered(digests_of(kind)[300:600])).sections()
    fitting = 0
    for name in sections:
        if len(sections[name]) == len(others[name]):
            fitting += 1
            continue  # rows alone may be exchanged: they say nothing about the digests
        with pytest.raises(ValueError, match=f"{kind.kind} segment: "):
            kind.open(sections | {name: others[name]})
    assert fitting < len(sections) / 2


def test_digests_out_of_order_are_refused() -> None:
    """Merging relies on the order, although a search would not notice."""
    message = "expected distinct digests in ascending order"
    tlsh = TlshSegment.build([0, 1], ["T1" + "0" * 69 + "1", "T1" + "0" * 69 + "2"]).sections()
    backwards = tlsh["codes"].reshape(4, 2)[:, ::-1].flatten()
    twice = np.repeat(tlsh["codes"].reshape(4, 2)[:, 0], 2)
    for codes in (backwards, twice):
        with pytest.raises(ValueError, match=message):
            TlshSegment.open(tlsh | {"codes": codes})
    ssdeep = SsdeepSegment.build([0, 1], ["3:A:", "3:B:"]).sections()
    with pytest.raises(ValueError, match=message):
        SsdeepSegment.open(ssdeep | {"letters": ssdeep["letters"][::-1].copy(), "postings": 1 - ssdeep["postings"]})
    empty = SsdeepSegment.build([0, 1], ["3::", "6::"]).sections()
    with pytest.raises(ValueError, match=message):
        SsdeepSegment.open(empty | {"levels": np.zeros(2, np.uint8)})


def misaligned(array: Any) -> Any:
    raw = np.zeros(array.nbytes + 1, np.uint8)[1:]
    raw[:] = array.view(np.uint8)
    return raw.view(array.dtype)


UNUSABLE: list[Callable[[Any], Any]] = [
    lambda array: array.tolist(),
    lambda array: array.tobytes(),
    lambda array: None,
    lambda array: array.astype(np.float64),
    lambda array: array.astype(array.dtype.newbyteorder(">")) if array.itemsize > 1 else array.view(bool),
    lambda array: array.view(f"i{array.itemsize}" if array.dtype.kind == "u" else "u8"),
    lambda array: array.reshape(1, -1),
    lambda array: np.repeat(array, 2)[::2],
    lambda array: misaligned(array) if array.itemsize > 1 else array[::-1],
]


@pytest.mark.parametrize("kind", KINDS)
def test_other_arrays_are_refused(kind: Any) -> None:
    sections = build(kind, numbered(digests_of(kind)[:9])).sections()
    for name in sections:
        for change in UNUSABLE:
            with pytest.raises(ValueError, match=f"{kind.kind} segment: {name} should be a plain array of {sections[name].dtype}"):
                kind.open(sections | {name: change(sections[name])})
        with pytest.raises(ValueError, match="segment: expected the sections rows, starts"):
            kind.open({other: array for other, array in sections.items() if other != name})
    with pytest.raises(ValueError, match="segment: expected the sections rows, starts"):
        kind.open(sections | {"more": sections["rows"]})


@pytest.mark.parametrize("kind", KINDS)
def test_the_kernel_refuses_other_arrays_too(kind: Any) -> None:
    sections = build(kind, numbered(digests_of(kind)[:9])).sections()
    kernel = getattr(_native, kind.__name__)
    for name in sections:
        for change in UNUSABLE[3:]:
            with pytest.raises((TypeError, ValueError)):
                kernel(**sections | {name: change(sections[name])})
    with pytest.raises(TypeError):
        kernel.merge([None], NONE)
    with pytest.raises((TypeError, ValueError)):
        kernel.build(np.zeros(1, np.int32), b"3::", np.array([0, 3]))
    with pytest.raises(ValueError, match="offsets"):
        kernel.build(np.zeros(1, np.int64), b"3::", np.array([0, 4]))


# Arguments.


BAD_ROWS: list[tuple[Any, str]] = [
    ([0], "one per digest"),
    ([0, 1, 2], "one per digest"),
    ([1, 1], "ascending"),
    ([2, 1], "ascending"),
    ([-1, 1], "from 0 on"),
    ([0.0, 1.0], "int64"),
    (np.array([0, 1], np.int32), "int64"),
    ([[0, 1]], "int64"),
    (["a", "b"], "int64"),
    (None, "NoneType"),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("rows", "message"), BAD_ROWS, ids=stable_id)
def test_bad_rows_are_refused(kind: Any, rows: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        kind.build(rows, digests_of(kind)[:2])


@pytest.mark.parametrize("kind", KINDS)
def test_bad_digests_are_refused(kind: Any) -> None:
    good = digests_of(kind)[0]
    other = digests_of(SsdeepSegment if kind is TlshSegment else TlshSegment)[0]
    segment = kind.build([0], [good])
    for bad in ("", other, good + "=", good.replace(":", ";").replace("T1", "T2"), good[:-1] + "é", "3:\ud800:"):
        with pytest.raises(InputError, match=r"digests\[1\] is not a digest"):
            kind.build([0, 1], [good, bad])
        with pytest.raises(InputError, match="is not a digest"):
            segment.search(bad, 1, 1)
    for bad in (None, 3, ["3::"]):
        with pytest.raises(InputError, match="item 1 is a"):
            kind.build([0, 1], [good, bad])
        with pytest.raises(InputError, match=r"expected a .* digest as a str"):
            segment.search(bad, 1, 1)
    with pytest.raises(InputError, match="give a list"):
        kind.build([0], good)


def test_tlsh_digits_are_upper_case_hexadecimal() -> None:
    for code in range(128):
        digest = "T1" + chr(code) * 70
        if chr(code) in "0123456789ABCDEF":
            assert TlshSegment.build([0], [digest]).digests() == [digest]
        else:
            with pytest.raises(InputError, match="is not a digest"):
                TlshSegment.build([0], [digest])


@pytest.mark.parametrize("wrong", [-1, 2**64, True, 1.0, "3", None])
def test_bad_numbers_are_refused(wrong: Any) -> None:
    for kind, name in ((TlshSegment, "max_distance"), (SsdeepSegment, "min_score")):
        digest = digests_of(kind)[0]
        segment: Any = kind.build([0], [digest])
        with pytest.raises(InputError, match=f"{name}="):
            segment.search(digest, wrong, 1)
        with pytest.raises(InputError, match="limit="):
            segment.search(digest, 1, wrong)
        with pytest.raises(InputError, match="workers="):
            segment.search(digest, 1, 1, workers=wrong)


def test_scores_and_limits_begin_at_one() -> None:
    segment = SsdeepSegment.build([0], ["3::"])
    for least in (0, 101):
        with pytest.raises(InputError, match="min_score="):
            segment.search("3::", least, 1)
    with pytest.raises(InputError, match="limit="):
        segment.search("3::", 1, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_bad_merges_are_refused(kind: Any) -> None:
    segment = build(kind, numbered(digests_of(kind)[:3]))
    with pytest.raises(InputError, match="removed: expected ascending"):
        kind.merge([segment], np.array([5, 3]))
    with pytest.raises(InputError, match=r"removed: .* int64"):
        kind.merge([segment], np.array([0.5]))
    with pytest.raises(InputError, match="segment: rows: expected"):
        kind.merge([segment, segment], NONE)
    other = SsdeepSegment if kind is TlshSegment else TlshSegment
    with pytest.raises(TypeError):
        kind.merge([segment, build(other, [])], NONE)
