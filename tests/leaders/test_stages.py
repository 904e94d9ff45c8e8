"""The stages of dedupe, scheduled as badly as can be: batches, buckets and pairs in any order and in any parts. They say what the engine says."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import lookalike as la
import reference_dedupe
from lookalike import _native
from lookalike.leaders import candidates as finding
from lookalike.leaders.candidates import Bucketed, Pairs, bucketed, candidates, distinct, grouped, last_candidates
from lookalike.leaders.decide import KEPT, REMOVED, UNDECIDED, Decided, Open, decide, originals
from lookalike.leaders.decider import Decider
from lookalike.leaders.neighbours import simhash_pairs, vector_pairs
from lookalike.leaders.rounds import in_rounds
from lookalike.leaders.rule import Rule
from lookalike.leaders.sketching import Sketches, sketch
from lookalike.leaders.verify import verify
from lookalike.recipe import Recipe
from lookalike.text.columns import Joined

Answer = dict[int, tuple[int, float]]  # by priority: what it points at, -1 where it is kept, and the similarity
KEY = np.array([3, 1 << 63 | 77, 5, 0x9E3779B97F4A7C15], np.uint64)


class Scattered(NamedTuple):
    """How a corpus is spread: the part of each document, of each bucket and of each pair."""

    draw: np.random.Generator
    parts: int

    def split(self, count: int) -> list[NDArray[np.int64]]:
        where = self.draw.integers(0, self.parts, count)
        return [self.draw.permutation(np.flatnonzero(where == part)) for part in range(self.parts)]


def by_stages(sketches: Sketches, priorities: NDArray[np.int64], rule: Rule, bands: int, limit: int, scattered: Scattered) -> Answer:
    """What a scheduler of the stages does with documents whose keys have so many bands."""
    first = originals(sketches.digests, priorities)
    comparable = np.diff(sketches.offsets) > 0
    keys = sketches.keys.reshape(-1, bands)
    members, copies = comparable & (first == priorities), comparable & (first != priorities)

    def buckets(which: NDArray[np.bool_]) -> list[Bucketed]:
        """Documents come in batches, buckets go to parts."""
        chosen = np.flatnonzero(which)
        batches = [bucketed(keys[chosen[part]], bands, priorities[chosen[part]]) for part in scattered.split(len(chosen))]
        places = scattered.draw.integers(0, scattered.parts, 1 << 16)
        return [grouped(batch.taken(places[batch.buckets % (1 << 16)] == part) for batch in batches) for part in range(scattered.parts)]

    def compare(pairs: Pairs) -> NDArray[np.float64]:
        found = np.zeros(len(pairs.earlier))
        for part in scattered.split(len(found)):
            found[part] = verify(Pairs(pairs.earlier[part], pairs.later[part]), priorities, sketches.features, sketches.offsets, rule)
        return found

    parts = buckets(members)
    everyone, decided = in_rounds(
        priorities[members],
        priorities[copies],
        lambda removed: [candidates(part, removed, limit) for part in parts],
        lambda kept: [last_candidates(part, kept, limit) for part in buckets(members | (copies & ~np.isin(first, kept)))],
        compare,
        rule.threshold,
        limit,
    )
    return answered(priorities, first, everyone, decided)


def answered(priorities: NDArray[np.int64], first: NDArray[np.int64], everyone: NDArray[np.int64], decided: Decided) -> Answer:
    """A copy of a document that stays points at it; a document that nothing is compared with stays."""
    found = {
        int(q): (int(leader), float(similarity))
        for q, leader, similarity in zip(everyone, decided.leaders, decided.similarities, strict=True)
    }
    copies = {int(q): (int(original), 1.0) for q, original in zip(priorities, first, strict=True) if q != original}
    return {q: found.get(q, copies.get(q, (-1, 0.0))) for q in priorities.tolist()}


def reordered(sketches: Sketches, order: NDArray[np.int64]) -> Sketches:
    count = len(sketches)
    lists = [sketches.features[sketches.offsets[i] : sketches.offsets[i + 1]] for i in order]
    per_document = [part.reshape(count, -1)[order].reshape(-1) if count else part for part in sketches[2:]]
    return Sketches(np.concatenate([np.zeros(0, np.uint64), *lists]), np.cumsum([0, *map(len, lists)]), *per_document)


def by_engine(decider: Decider, sketches: Sketches, priorities: NDArray[np.int64]) -> Answer:
    """The local engine meets documents by priority."""
    order = np.argsort(priorities)
    names = priorities[order].tolist()
    leaders, similarities = decider.offer(reordered(sketches, order))
    return {
        q: (-1 if leader < 0 else names[leader], s) for q, leader, s in zip(names, leaders.tolist(), similarities.tolist(), strict=True)
    }


@st.composite
def corpora(draw: st.DrawFn) -> Sketches:
    """Documents of a few features with keys of two bands; those of equal digests are equal."""
    features = st.sets(st.integers(0, 9) | st.sampled_from([2**64 - 1]), max_size=8)
    contents = draw(st.lists(st.tuples(features, st.lists(st.integers(0, 2), min_size=2, max_size=2)), min_size=1, max_size=14))
    numbers = draw(st.lists(st.integers(0, len(contents) - 1), max_size=40))
    lists = [sorted(contents[number][0]) for number in numbers]
    return Sketches(
        np.array([value for each in lists for value in each], np.uint64),
        np.cumsum([0, *map(len, lists)], dtype=np.int64),
        np.array([word for number in numbers for word in (number, number)], np.uint64),
        np.array([key for number in numbers for key in contents[number][1]], np.uint64),
        np.zeros(0, np.uint64),
    )


def check_as_the_engine(sketches: Sketches, threshold: float, limit: int, small: int, parts: int, seed: int) -> None:
    """Any priorities, any order of batches, any split of documents, buckets and pairs."""
    draw = np.random.default_rng(seed)
    priorities = draw.choice(1000, len(sketches), replace=False).astype(np.int64) if len(sketches) else np.zeros(0, np.int64)
    order = np.argsort(priorities)
    names = priorities[order].tolist()
    leaders, similarities = _native.Leaders(2, threshold, limit).offer(*reordered(sketches, order)[:4])
    wanted = {q: (-1 if leader < 0 else names[leader], s) for q, leader, s in zip(names, leaders, similarities, strict=True)}
    with patch.object(finding, "SMALL", small):
        assert by_stages(sketches, priorities, Rule("minhash", Recipe(), threshold), 2, limit, Scattered(draw, parts)) == wanted


limits = st.sampled_from([1, 2, 3, 100])


@given(
    corpora(), st.sampled_from([0.2, 0.34, 0.5, 0.8, 1.0]), limits, st.sampled_from([0, 3, 32]), st.integers(1, 4), st.integers(0, 2**32)
)
def test_the_stages_decide_as_the_engine(sketches: Sketches, threshold: float, limit: int, small: int, parts: int, seed: int) -> None:
    check_as_the_engine(sketches, threshold, limit, small, parts, seed)


@pytest.mark.parametrize("limit", [1, 2, 4])
def test_the_stages_decide_as_the_engine_where_buckets_are_full(limit: int) -> None:
    """Sets that overlap a little, most of them in one bucket: what is hard to find by chance alone."""
    for seed in range(60):
        draw = np.random.default_rng(seed)
        contents = [np.unique(draw.integers(0, 12, 6)).astype(np.uint64) for _ in range(40)]
        keys = np.where(draw.random((40, 2)) < 0.6, 0, draw.integers(1, 4, (40, 2))).astype(np.uint64)
        chosen = draw.integers(0, 40, 60)
        lists = [contents[i] for i in chosen]
        digests = np.column_stack((chosen, chosen)).astype(np.uint64).reshape(-1)
        offsets = np.cumsum([0, *map(len, lists)])
        corpus = Sketches(np.concatenate(lists), offsets, digests, keys[chosen].reshape(-1), np.zeros(0, np.uint64))
        check_as_the_engine(corpus, 0.5, limit, seed % 3 * 8, 1 + seed % 4, seed)


def test_full_buckets_take_rounds_and_end_alike() -> None:
    """Two hundred variants of a template just below the threshold, in buckets for five, with near-copies and copies of each."""
    draw = np.random.default_rng(7)
    base = np.arange(20, dtype=np.uint64)
    lists = []
    for number in range(200):
        own = np.concatenate((base, np.arange(100 + 10 * number, 107 + 10 * number, dtype=np.uint64)))
        lists += [own, np.concatenate((own[:-1], [np.uint64(10**6 + number)])), own][: draw.integers(1, 4)]
    digests = [word for each in lists for word in (zlib.crc32(each.tobytes()), 5)]
    keys = draw.integers(0, 2, (len(lists), 2), dtype=np.uint64)
    same = {digest: keys[place] for place, digest in enumerate(digests[::2])}
    sketches = Sketches(
        np.concatenate(lists),
        np.cumsum([0, *map(len, lists)]),
        np.array(digests, np.uint64),
        np.array([same[digest] for digest in digests[::2]], np.uint64).reshape(-1),
        np.zeros(0, np.uint64),
    )
    priorities = draw.permutation(len(lists)).astype(np.int64)
    names = np.argsort(priorities)
    leaders, similarities = _native.Leaders(2, 0.7, 5).offer(*reordered(sketches, names)[:4])
    wanted = {q: (int(leader), s) for q, (leader, s) in enumerate(zip(leaders, similarities, strict=True))}
    assert by_stages(sketches, priorities, Rule("minhash", Recipe(), 0.7), 2, 5, Scattered(draw, 3)) == wanted
    assert 100 < sum(leader < 0 for leader, _ in wanted.values()) < len(lists)


WORDS = ["alpha", "beta", "gamma", "delta", "river", "king", "stone", "相", "似"]
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=1, max_size=24)


def packed(documents: Sequence[str]) -> Joined:
    return Joined(*map(np.asarray, _native.pack_strings(list(documents))))


def joined(parts: Sequence[Sketches]) -> Sketches:
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    whole = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
    return Sketches(whole[0], np.concatenate(([0], np.cumsum(lengths))), *whole[2:])


@given(texts, st.integers(0, 2**32))
def test_texts_in_any_batches(documents: list[str], seed: int) -> None:
    """From texts on: sketches of batches in any order, and the removals of the engine and of ``dedupe``."""
    draw = np.random.default_rng(seed)
    recipe = Recipe(ngram=2)
    rule = Rule("minhash", recipe, 0.5)
    order = draw.permutation(len(documents)).astype(np.int64)
    cut = int(draw.integers(0, len(documents) + 1))
    found = joined([sketch(packed([documents[i] for i in part]), rule, key=KEY) for part in (order[:cut], order[cut:])])
    answer = by_stages(found, order, rule, rule.banding.bands, 256, Scattered(draw, 2))
    assert answer == by_engine(Decider(rule, 1 << 40, pytest.fail), found, order)
    report = la.dedupe([{"id": i, "text": text} for i, text in enumerate(documents)], threshold=0.5, recipe=recipe)
    assert {each.id: (each.kept_id, each.similarity) for each in report.removed} == {q: a for q, a in answer.items() if a[0] >= 0}


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2**8) | st.integers(0, 2**64 - 1)), max_size=40),
    st.integers(0, 6),
    st.integers(0, 2**32),
)
def test_simhashes(documents: list[tuple[int, int]], k: int, seed: int) -> None:
    """A document without tokens (digest 0) is like another such one; of the others, equal SimHashes are copies."""
    priorities = np.random.default_rng(seed).permutation(len(documents)).astype(np.int64)
    codes = np.array([code for _, code in documents], np.uint64)
    nothing = np.array([not digest for digest, _ in documents], np.bool_)
    first = originals(np.column_stack((np.where(nothing, 0, codes), ~nothing)).astype(np.uint64).reshape(-1), priorities)
    members = ~nothing & (first == priorities)
    pairs, similarities = simhash_pairs(codes[members], priorities[members], 64, k)
    everyone = np.sort(priorities[members])
    kept = everyone[decide(everyone, pairs, similarities, 1 - k / 64).standings == KEPT]
    goes = ~nothing & ~np.isin(first, kept)
    last = [
        (q, c, e, d)
        for e, d in zip(priorities[goes], codes[goes], strict=True)
        for q, c in zip(priorities, codes, strict=True)
        if q in kept and q < e
    ]
    near = [(q, e, 1 - (int(c) ^ int(d)).bit_count() / 64) for q, c, e, d in last]
    known = Pairs(np.array([q for q, _, _ in near], np.int64), np.array([e for _, e, _ in near], np.int64))
    everyone = np.union1d(everyone, priorities[goes])
    answer = answered(priorities, first, everyone, decide(everyone, known, np.array([s for *_, s in near], np.float64), 1 - k / 64))
    order = np.argsort(priorities)
    wanted = reference_dedupe.simhash_leaders([documents[i] for i in order], k, 64)
    assert answer == {q: (-1 if leader is None else leader, similarity) for q, (leader, similarity) in enumerate(wanted)}


def test_vectors() -> None:
    draw = np.random.default_rng(3)
    vectors = draw.normal(size=(300, 8)).astype(np.float32)
    vectors[150:] = vectors[:150] + draw.normal(scale=0.25, size=(150, 8)).astype(np.float32)
    halves = np.asarray(_native.unit_halves(vectors.reshape(-1), 8))
    priorities = draw.permutation(300).astype(np.int64)
    pairs, cosines = vector_pairs(halves, np.asarray(_native.vector_squares(halves, 8)), 8, priorities, 0.9)
    found = decide(np.arange(300), pairs, cosines, 0.9)
    rule = Rule("meaning", Recipe(), 0.9, dimensions=8)
    sketches = Sketches(
        halves.view(np.uint64), np.arange(301) * 2, np.zeros(600, np.uint64), np.zeros(0, np.uint64), np.zeros(0, np.uint64)
    )
    wanted = by_engine(Decider(rule, 1 << 40, pytest.fail), sketches, priorities)
    assert {q: (int(found.leaders[q]), float(found.similarities[q])) for q in range(300)} == wanted
    assert 50 < (found.standings == REMOVED).sum() < 200


@given(corpora(), st.sampled_from([0.0, 0.4, 0.8]), st.integers(1, 3))
def test_verify_is_exact(sketches: Sketches, threshold: float, workers: int) -> None:
    sets = [set(sketches.features[a:b].tolist()) for a, b in zip(sketches.offsets, sketches.offsets[1:], strict=False)]
    left, right = (
        np.array(side, np.int64) for side in ([i for i in range(len(sets)) for _ in sets], [k for _ in sets for k in range(len(sets))])
    )
    found = _native.feature_similarities(sketches.features, sketches.offsets, left, right, threshold, False, workers)
    for i, k, similarity in zip(left, right, found, strict=True):
        exact = reference_dedupe.jaccard(sets[i], sets[k]) if sets[i] and sets[k] else 0.0
        assert similarity == exact or (similarity <= exact < threshold)


def test_what_is_open_is_not_decided() -> None:
    """In a bucket where one leads, the others wait; what a kept document removes is removed at once."""
    members = grouped([Bucketed(np.zeros(40, np.uint64), np.arange(40, dtype=np.int64))])
    pairs, left_open = candidates(members, [])
    assert set(pairs.earlier.tolist()) == {0}
    assert left_open.leads.tolist() == [1] + [0] * 39
    similarities = np.where(pairs.later < 30, 0.9, 0.1)
    found = decide(np.arange(40), pairs, similarities, 0.8, left_open)
    assert found.standings.tolist() == [KEPT] + [REMOVED] * 29 + [KEPT] + [UNDECIDED] * 9
    pairs, left_open = candidates(members, [np.arange(1, 30)])
    assert set(pairs.earlier.tolist()) == set(range(30, 39))
    assert len(left_open.buckets) == 0


def test_distinct_pairs() -> None:
    pairs = distinct(Pairs(np.array([3, 1, 1]), np.array([5, 2, 9])), Pairs(np.array([1, 3]), np.array([2, 4])))
    assert list(zip(*map(list, pairs), strict=True)) == [(1, 2), (1, 9), (3, 4), (3, 5)]


@pytest.mark.parametrize("seed", range(3))
def test_with_priorities_of_their_own_the_reading_order_does_not_matter(seed: int) -> None:
    """``keep='best:…'`` is a priority: the same documents stay, and the others point at the same ones."""
    draw = np.random.default_rng(5)
    words = [f"word{i}" for i in range(60)]
    documents = []
    for number in range(120):
        chosen = list(draw.permutation(words)[:40]) if number % 4 == 0 else documents[-1]["text"].split()
        chosen[int(draw.integers(0, 40))] = f"other{number}"
        documents.append({"id": number, "text": " ".join(chosen), "priority": float(1000 - number)})
    in_order = la.dedupe(documents, threshold=0.6)
    shuffled = [documents[i] for i in np.random.default_rng(seed).permutation(len(documents))]
    found = la.dedupe(shuffled, threshold=0.6, keep="best:priority")
    assert {each.id: (each.kept_id, each.similarity) for each in found.removed} == {
        each.id: (each.kept_id, each.similarity) for each in in_order.removed
    }
    assert 20 < len(found.removed) < 110


NO_OPEN = (np.zeros(3, np.int64), np.zeros(0, np.uint32), np.zeros(0, np.uint8))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({0: np.zeros(0, np.int64)}, "offsets"),
        ({0: np.array([0, 0, 2])}, "offsets"),
        ({0: np.array([0, 0, 0])}, "edges"),
        ({1: np.array([1], np.uint32)}, "earlier documents"),
        ({2: np.zeros(2)}, "similarities"),
        ({3: 0.0}, "threshold"),
        ({4: np.zeros(2, np.int64)}, "open buckets"),
        ({4: np.array([0, 0, 1]), 5: np.array([1], np.uint32), 6: np.zeros(1, np.uint8)}, "numbers below"),
        ({4: np.array([0, 0, 1]), 5: np.array([0], np.uint32)}, "flag"),
        ({7: 0}, "bucket_limit"),
    ],
)
def test_decide_checks_what_it_gets(change: dict[int, object], message: str) -> None:
    arguments: list[object] = [np.array([0, 0, 1]), np.array([0], np.uint32), np.array([0.9]), 0.8, *NO_OPEN, 1]
    assert bytes(_native.decide(*arguments)[0]) == bytes([KEPT, REMOVED])  # type: ignore[arg-type]
    for place, value in change.items():
        arguments[place] = value
    with pytest.raises(ValueError, match=message):
        _native.decide(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("left", "right", "least", "message"),
    [([0], [0, 1], 0.5, "as many"), ([2], [0], 0.5, "places"), ([0], [-1], 0.5, "places"), ([0], [1], 1.5, "least")],
)
def test_similarities_check_what_they_get(left: list[int], right: list[int], least: float, message: str) -> None:
    pairs = np.array(left, np.int64), np.array(right, np.int64)
    with pytest.raises(ValueError, match=message):
        _native.feature_similarities(np.arange(4, dtype=np.uint64), np.array([0, 2, 4]), *pairs, least, False, 1)


def test_an_open_bucket_beyond_its_limit_is_complete() -> None:
    left_open = Open(np.zeros(3, np.uint64), np.arange(3), np.array([1, 1, 0], np.uint8))
    nothing = Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64))
    four = Open(np.zeros(4, np.uint64), np.arange(4), np.array([1, 1, 0, 0], np.uint8))
    assert decide(np.arange(3), nothing, np.zeros(0), 0.5, left_open, 3).standings.tolist() == [KEPT, KEPT, KEPT]
    assert decide(np.arange(4), nothing, np.zeros(0), 0.5, four, 2).standings.tolist() == [KEPT] * 4
    assert decide(np.arange(4), nothing, np.zeros(0), 0.5, four, 3).standings.tolist() == [KEPT] * 3 + [UNDECIDED]
