"""What tasks of Spark do with arrays, without Spark: nothing is lost or doubled, whatever is split."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike import _native
from lookalike.deduping.spark import blobs, stages
from lookalike.deduping.spark.blobs import (
    CELLS,
    CODES,
    COPIES,
    DIGESTS,
    EDGES,
    FACTS,
    MEMBERS,
    OPEN,
    PAIRS,
    PROBLEMS,
    ROWS,
    WANTED,
    Blob,
    arrays_of,
    batch_of,
    batches_of,
    blobs_of,
    by_partition,
    coded,
    decoded,
    pieces,
    scattered,
)
from lookalike.deduping.spark.residue import Remaining
from lookalike.deduping.spark.settling import open_in, settle
from lookalike.deduping.spark.sketching import SALTS, code_digests
from lookalike.deduping.spark.stages import (
    Grouping,
    LastPairing,
    PairRound,
    cells_apart,
    cells_of,
    edge_rows,
    edges_in,
    find_codes,
    find_copies,
    members_in,
    members_of,
    new_pairs,
    routed,
)
from lookalike.leaders.candidates import Bucketed, Pairs, grouped
from lookalike.leaders.decide import NOTHING_OPEN, Open
from lookalike.leaders.sketching import Sketches
from lookalike.leaders.verify import verify
from lookalike.segments.banding import Banding

names = st.lists(st.integers(0, 2**63 - 1), unique=True, max_size=50)


def known(value: Any) -> Any:
    return SimpleNamespace(value=value)


def batch(found: Any) -> list[Any]:
    return [batch_of([Blob(*map(_plain, blob)) for blob in found])]


@given(st.lists(st.integers(0, 2**63 - 1), max_size=50))
def test_numbers_travel_in_few_bytes(values: list[int]) -> None:
    for each in (values, sorted(values)):
        assert decoded(coded(np.array(each, np.int64))).tolist() == each
    assert len(coded(np.arange(1000, 2000))) == 9 + 999


@given(names, st.integers(1, 5), st.integers(1, 100))
def test_everything_arrives_once(values: list[int], partitions: int, most: int) -> None:
    """However small the rows must be."""
    own = np.array(values, np.int64)
    targets = blobs.target_of(own.astype(np.uint64), partitions)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blobs, "MOST_BYTES", most)
        sent = [each for batch in batches_of(scattered(ROWS, targets, own, own.astype(np.uint64))) for each in blobs_of([batch])]
    assert all(len(blob.b) <= max(most, 8) for blob in sent)
    found = [(p, *arrays_of(kinds[ROWS], "u8")) for p, kinds in by_partition(batch(sent))]
    assert sorted(name for _, arrived, _ in found for name in arrived.tolist()) == sorted(values)
    assert all((arrived == beside.astype(np.int64)).all() for _, arrived, beside in found)


def _plain(value: Any) -> Any:
    return value if isinstance(value, int) else bytes(value)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 40)), max_size=60), st.integers(1, 20))
def test_rows_hold_whole_buckets(rows: list[tuple[int, int]], most: int) -> None:
    distinct = sorted(set(rows))
    members = grouped([Bucketed(np.array([b for b, _ in distinct], np.uint64), np.array([n for _, n in distinct], np.int64))])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "MEMBERS_PER_ROW", most)
        parts = [members_in(blob) for blob in members_of(0, members)]
    seen = [set(part.buckets.tolist()) for part in parts]
    assert sum(map(len, seen)) == len(set(members.buckets.tolist())), "a bucket is in two rows"
    assert all(len(part.buckets) <= most or len(own) == 1 for part, own in zip(parts, seen, strict=True))
    joined = [pair for part in parts for pair in zip(part.buckets.tolist(), part.priorities.tolist(), strict=True)]
    assert joined == list(zip(members.buckets.tolist(), members.priorities.tolist(), strict=True))


@given(st.lists(st.integers(0, 8), max_size=30), st.sets(st.integers(0, 30)))
def test_buckets_of_more_than_one_stay_without_copies(buckets: list[int], copies: set[int]) -> None:
    """The document that is in a bucket is the place of the bucket in the list."""
    own, words = np.arange(len(buckets)), np.array(buckets, np.uint64)
    task = Grouping(known(np.array(sorted(copies), np.int64)))
    found = [members_in(blob) for blob in blobs_of(task(batch(pieces(3, ROWS, own, words))))]
    rows = [pair for part in found for pair in zip(part.buckets.tolist(), part.priorities.tolist(), strict=True)]
    living = sorted((bucket, n) for n, bucket in enumerate(buckets) if n not in copies)
    held = [bucket for bucket, _ in living]
    assert rows == [(bucket, n) for bucket, n in living if held.count(bucket) > 1]


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from([CELLS, PAIRS]), st.binary(max_size=4)), max_size=20), st.integers(1, 7))
def test_cells_come_apart_as_they_are(rows: list[tuple[int, int, bytes]], most: int) -> None:
    """Whatever is between them, and however they are cut into batches, some of which are slices or empty."""
    sent = [Blob(p, kind, n.to_bytes(8, "big"), b"", cell) for n, (p, kind, cell) in enumerate(rows)]
    whole = batch_of(sent)
    others, cells = cells_apart([whole.slice(first, most) for first in range(0, len(sent) + most, most)])
    assert [Blob(*map(_plain, blob)) for blob in blobs_of(others)] == [blob for blob in sent if blob.kind == PAIRS]
    for target in range(3):
        found, wanted = cells_of(cells[target]), [blob for blob in sent if blob[:2] == (target, CELLS)]
        assert found.column("n").to_pylist() == [int.from_bytes(blob.a, "big") for blob in wanted]
        assert found.column("cell").cast("large_binary").to_pylist() == [blob.c for blob in wanted]


def test_edges_and_open_buckets_are_split(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "MOST_BYTES", 3 * stages.EDGE)
    pairs, similarities = Pairs(np.arange(10), np.arange(20, 30)), np.linspace(0.8, 1, 10)
    sent = list(edge_rows(4, pairs, similarities))
    assert [len(blob.b) // 8 for blob in sent] == [3, 3, 3, 1]
    back, found = edges_in(sent)
    assert (back.earlier.tolist(), back.later.tolist(), found.tolist()) == (*map(np.ndarray.tolist, pairs), similarities.tolist())
    left_open = Open(np.arange(5, dtype=np.uint64), np.arange(5), np.ones(5, np.uint8))
    rows = list(stages.open_rows(4, left_open))
    assert [len(blob.c) for blob in rows] == [3, 2]
    assert [each.tolist() for each in open_in(rows)] == [each.tolist() for each in left_open]


def test_a_leader_with_many_members_has_several_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "MEMBERS_PER_TARGET", 1000)
    later = np.arange(1, 20_001)
    pairs = Pairs(np.concatenate((np.zeros(20_000, np.int64), [5])), np.concatenate((later, [7])))
    sent = list(routed(pairs, 50))
    found = [(int(e), int(n)) for blob in sent for n, e in zip(*arrays_of([blob], "i8"), strict=True)]
    assert sorted(found) == sorted(zip(pairs.earlier.tolist(), pairs.later.tolist(), strict=True))
    assert 10 < len({blob.p for blob in sent}) <= 22
    assert max(len(blob.b) // 8 for blob in sent) < 6000


def test_pairs_that_are_known_are_not_new() -> None:
    both = [*pieces(3, PAIRS, np.array([4, 4, 9]), np.array([1, 1, 2])), *pieces(3, EDGES, np.array([9]), np.array([2]))]
    found = {blob.kind: blob for blob in blobs_of(new_pairs(batch(both)))}
    assert [each.tolist() for each in arrays_of([found[PAIRS]], "i8")] == [[4], [1]]
    assert decoded(found[WANTED].a).tolist() == [1, 4]


def test_copies_and_codes() -> None:
    codes = np.array([2**63 + 5, 2**63 + 5, 7, 0, 0], np.uint64)
    digests = code_digests(codes, np.array([[1, 1], [2, 2], [3, 3], [0, 0], [0, 0]], np.uint64))
    said_before = [Blob(0, FACTS, b"{}"), Blob(1, PROBLEMS, b"[]")]  # partition 0 has no digests
    sent = batch([*pieces(1, DIGESTS, np.array([10, 20, 30, 40, 50]), digests), *said_before])
    for task in (find_copies, find_codes):
        through = [Blob(*blob[:2], *map(bytes, blob[2:])) for blob in blobs_of(task(sent)) if blob.kind in (FACTS, PROBLEMS)]
        assert through == said_before
        copies = [blob for blob in blobs_of(task(sent)) if blob.kind == COPIES]
        assert [each.tolist() for each in arrays_of(copies, "i8")] == [[20, 50], [10, 40]]
    said = [blob for blob in blobs_of(find_codes(sent)) if blob.kind == CODES]
    assert [each.tolist() for each in arrays_of(said, "u8")] == [[10, 30], [2**63 + 5, 7]]


@given(
    st.lists(st.tuples(st.sets(st.integers(0, 9), min_size=1, max_size=8), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=30),
    st.sampled_from([0.3, 0.5, 0.8]),
    st.sampled_from([1, 2, 256]),
)
def test_tasks_one_after_the_other_decide_as_the_native_leaders(
    documents: list[tuple[set[int], int, int]], threshold: float, limit: int
) -> None:
    """Rows, buckets, pairs, edges, settling, and the last pairs; here, every document has other features than the others."""
    documents = [(own | {100 + i}, *keys) for i, (own, *keys) in enumerate(documents)]
    keys = np.array([keys for _, *keys in documents], np.uint64)
    sets = [own for own, *_ in documents]
    own = np.arange(len(documents), dtype=np.int64)
    rows = Bucketed((keys + np.array([0, 1000], np.uint64)).reshape(-1), np.repeat(own, 2))
    sent = scattered(ROWS, blobs.target_of(rows.buckets, 2), rows.priorities, rows.buckets)
    members = list(Grouping(known(np.zeros(0, np.int64)))(batch(sent)))

    def edges(tasks: Any) -> list[Blob]:
        pairs = Pairs(
            *reversed(
                [np.concatenate(part) for part in zip(*(arrays_of([b], "i8") for b in tasks if b.kind == PAIRS), strict=True)]
                or [own[:0], own[:0]]
            )
        )
        similar = np.array([len(sets[a] & sets[b]) / len(sets[a] | sets[b]) for a, b in zip(*pairs, strict=True)])
        good = similar >= threshold if len(similar) else np.zeros(0, np.bool_)
        return list(edge_rows(0, Pairs(*(part[good] for part in pairs)), similar[good] if len(similar) else np.zeros(0)))

    removed: list[Any] = []
    all_edges: list[Blob] = []
    while True:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("lookalike.leaders.candidates.SMALL", 4)
            patch.setattr(stages, "SMALL", 4)
            found = list(blobs_of(PairRound(known(removed), 3, limit)(members)))
        all_edges += edges(found)
        still_open = [arrays_of([blob], "u8", "u1") for blob in found if blob.kind == OPEN]
        names_, buckets, leads = map(np.concatenate, zip(*still_open, strict=True)) if still_open else (None, None, None)
        left_open = NOTHING_OPEN if names_ is None else Open(buckets, names_, leads)
        settled = settle(*edges_in(all_edges), left_open, threshold, limit)
        removed.append(np.setdiff1d(settled.removed, np.concatenate(removed) if removed else own[:0]))
        if not len(settled.undecided):
            break
    gone = np.sort(np.concatenate(removed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "SMALL", 4)
        all_edges += edges(blobs_of(LastPairing(known(gone), known((own[:0], own[:0])), 3, limit)(members)))
    pairs, similarities = edges_in(all_edges)
    best: dict[int, tuple[float, int]] = {}
    for a, b, s in zip(pairs.earlier.tolist(), pairs.later.tolist(), similarities.tolist(), strict=True):
        if a not in gone and b in gone:
            best[b] = max(best.get(b, (0.0, 0)), (s, -a))
    features = [np.array(sorted(each), np.uint64) for each in sets]
    digests = np.repeat(np.arange(1, len(sets) + 1, dtype=np.uint64), 2)
    offsets = np.cumsum([0, *map(len, features)], dtype=np.int64)
    sketches = Sketches(np.concatenate(features), offsets, digests, keys.reshape(-1), np.zeros(0, np.uint64))
    leaders, wanted = _native.Leaders(2, threshold, limit).offer(*sketches[:4])
    assert {b: (-a, s) for b, (s, a) in best.items()} == {
        i: (int(leader), s) for i, (leader, s) in enumerate(zip(leaders, wanted, strict=True)) if leader >= 0
    }


def settled_in_rounds(members: list[Any], compare: Any, threshold: float) -> tuple[Any, int]:
    """Who goes, by tasks one after the other; and the rounds that it took."""
    removed: list[Any] = []
    edges: list[Blob] = []
    while True:
        found = list(blobs_of(PairRound(known(removed), 400)(members)))
        new = [Blob(*map(_plain, blob)) for blob in found if blob.kind == PAIRS]
        edges += [edge for pairs in map(_pairs_of, new) for edge in edge_rows(0, *compare(pairs))]
        settled = settle(*edges_in(edges), open_in([blob for blob in found if blob.kind == OPEN]), threshold)
        removed.append(np.setdiff1d(settled.removed, np.concatenate(removed) if removed else settled.removed[:0]))
        if not len(settled.undecided):
            return np.sort(np.concatenate(removed)), len(removed)


def _pairs_of(blob: Blob) -> Pairs:
    later, earlier = arrays_of([blob], "i8")
    return Pairs(earlier, later)


def test_a_star_of_a_million() -> None:
    """One document and a million near-copies of it in one bucket: one round, and no task compares more than some of them."""
    count = 1_000_001
    sent = pieces(0, ROWS, np.arange(count), np.full(count, 7, np.uint64))
    members = list(Grouping(known(np.zeros(0, np.int64)))(batches_of(sent)))
    sizes: list[int] = []

    def compare(pairs: Pairs) -> tuple[Pairs, Any]:
        sizes.append(len(pairs.later))
        return pairs, np.where(pairs.earlier == 0, 0.9, 0.0)

    gone, rounds = settled_in_rounds(members, compare, 0.8)
    assert rounds == 1
    assert (gone == np.arange(1, count)).all()
    assert len(sizes) > 12
    assert max(sizes) < 3 * stages.MEMBERS_PER_TARGET


def test_ten_thousand_variants_of_a_template() -> None:
    """All share a bucket, most stay, and 256 of them are compared with: as the native leaders decide."""
    draw = np.random.default_rng(3)
    count, size = 10_000, 40
    features = np.sort(draw.integers(1000, 2**40, (count, size), dtype=np.uint64), axis=1)
    features[:, :24] = np.arange(24)  # of 40 the template has 24: variants are .43 alike
    for place in draw.choice(count, 3000, replace=False):  # and some are near-copies of others
        features[place] = features[draw.integers(0, count)]
        features[place, -1] = 2**41 + place
    offsets = np.arange(count + 1, dtype=np.int64) * size
    rule: Any = SimpleNamespace(threshold=0.8, method="minhash")
    own = np.arange(count)
    sent = pieces(0, ROWS, own, np.full(count, 7, np.uint64))
    members = list(Grouping(known(np.zeros(0, np.int64)))(batches_of(sent)))

    def compare(pairs: Pairs) -> tuple[Pairs, Any]:
        found = verify(pairs, own, features.reshape(-1), offsets, rule)
        return Pairs(*(side[found > 0] for side in pairs)), found[found > 0]

    gone, _ = settled_in_rounds(members, compare, 0.8)
    digests = np.repeat(np.arange(1, count + 1, dtype=np.uint64), 2)
    leaders, _ = _native.Leaders(1, 0.8, 256).offer(features.reshape(-1), offsets, digests, np.full(count, 7, np.uint64))
    assert (gone == np.flatnonzero(np.asarray(leaders) >= 0)).all()
    assert 30 < len(gone) < 3000, "the bucket was not full"


@pytest.mark.parametrize("group", [0, -7])
def test_the_residue_is_settled_in_one_process(group: int) -> None:
    """A chain of sets in one bucket that holds two: they are decided as the native leaders decide, whatever the order in which they come.
    All share a bucket that is not concerned, too, of which not all members are here: nobody is compared in it."""
    sets = [set(range(i, i + 6)) for i in range(60)]
    own = np.arange(60)
    features = np.concatenate([np.array(sorted(each), np.uint64) for each in sets])
    offsets = np.arange(61, dtype=np.int64) * 6
    mixed = np.random.default_rng(1).permutation(60)
    shuffled = np.concatenate([features[6 * n : 6 * n + 6] for n in mixed])
    fake = SimpleNamespace(
        features=lambda cells: (
            mixed,
            Sketches(shuffled, offsets, np.zeros(0, np.uint64), np.zeros(120, np.uint64), np.zeros(0, np.uint64)),
        ),
        priorities=SimpleNamespace(numbers=lambda names: names),
        rule=SimpleNamespace(threshold=0.7, method="minhash", banding=Banding(2, 1)),
    )
    salt = np.array([group], np.int64).view(np.uint64) * SALTS[0]
    cells = [Blob(0, CELLS, int(n).to_bytes(8, "big"), np.array([group], ">i8").tobytes() if group else b"", b"") for n in own]
    sent = batch([Blob(0, MEMBERS, coded(own), np.repeat(salt, 60).tobytes()), *cells])
    task: Any = Remaining(fake, limit=2)  # type: ignore[arg-type]
    gone = [name for blob in blobs_of(task(sent)) for name in decoded(blob.a).tolist()]
    digests = np.repeat(np.arange(1, 61, dtype=np.uint64), 2)
    leaders, _ = _native.Leaders(1, 0.7, 2).offer(features, offsets, digests, np.zeros(60, np.uint64))
    assert gone == np.flatnonzero(np.asarray(leaders) >= 0).tolist()
    assert 0 < len(gone) < 30
