"""The kernel that finds repeated passages against the slow reference, on generated corpora."""

from __future__ import annotations

import itertools
import random
from array import array
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lookalike import _native
from reference_passages import Passage, cut_units, repeated

# Few different units, in pieces that come again, so that passages overlap, nest and follow each other.
pieces = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6), min_size=1, max_size=4)


@st.composite
def corpora(draw: st.DrawFn) -> list[list[int]]:
    shared = draw(pieces)
    piece = st.one_of(st.sampled_from(shared), st.lists(st.integers(0, 5), max_size=3))
    documents = draw(st.lists(st.lists(piece, max_size=5), max_size=6))
    return [list(itertools.chain.from_iterable(document)) for document in documents]


def found(
    documents: Sequence[Sequence[int]],
    length: int,
    within: bool,
    *,
    order: Sequence[int] | None = None,
    workers: int = 1,
    memory: int = 1 << 20,
) -> list[Passage]:
    units = array("Q", [(unit + 1) * 0x9E3779B97F4A7C15 % 2**64 for document in documents for unit in document])
    offsets = array("q", itertools.accumulate(map(len, documents), initial=0))
    repeats = _native.Repeats(units, offsets, length, within, workers, memory)
    half = len(documents) // 2
    for stage in (repeats.mark, repeats.find):
        stage(0, half)
        stage(half, len(documents))
    for number in range(repeats.slices()):
        repeats.collect(number)
    taken = array("q", order if order is not None else range(len(documents)))
    parts = [np.asarray(repeats.decide(part)) for part in (taken[:half], taken[half:])]
    return [Passage(*row) for row in np.concatenate(parts).reshape(-1, 5).tolist()]


@given(corpora(), st.integers(1, 8), st.booleans(), st.integers(1, 3))
@example([[0] * 20], 3, True, 1)
@example([[0] * 20, [0] * 9], 3, False, 2)
@example([[1, 2, 3], [1, 2, 3, 4], [2, 3, 4]], 3, True, 1)
@settings(max_examples=600, deadline=None)
def test_as_the_reference(documents: list[list[int]], length: int, within: bool, workers: int) -> None:
    expected = repeated(documents, length, within)
    assert found(documents, length, within, workers=workers) == expected
    assert found(documents, length, within, workers=workers, memory=64) == expected  # in many slices


@given(corpora(), st.integers(1, 5), st.booleans(), st.randoms(use_true_random=False))
@settings(max_examples=250, deadline=None)
def test_in_another_order(documents: list[list[int]], length: int, within: bool, chance: random.Random) -> None:
    order = list(range(len(documents)))
    chance.shuffle(order)
    assert found(documents, length, within, order=order) == repeated(documents, length, within, order)


@given(corpora(), st.integers(1, 6), st.booleans())
@settings(max_examples=250, deadline=None)
def test_what_is_cut_stays_elsewhere(documents: list[list[int]], length: int, within: bool) -> None:
    passages = found(documents, length, within)
    cut = cut_units(passages)
    for each in passages:
        copy = [(each.source, each.source_first + i) for i in range(each.length)]
        assert not cut & set(copy)
        assert [documents[document][place] for document, place in copy] == documents[each.document][each.first : each.first + each.length]
    # Cutting what is left again: nothing is both whole and elsewhere before it.
    whole = [
        (document, first)
        for document, units in enumerate(documents)
        for first in range(len(units) - length + 1)
        if not any((document, first + i) in cut for i in range(length))
    ]
    seen: dict[tuple[int, ...], tuple[int, int]] = {}
    for document, first in whole:
        content = tuple(documents[document][first : first + length])
        other, place = seen.setdefault(content, (document, first))
        assert (other, place) == (document, first) or (other == document and (not within or place + length > first))


def test_long_documents_cross_the_blocks_of_the_kernel() -> None:
    chance = random.Random(3)
    passage = [chance.randrange(1000) for _ in range(70_000)]
    documents = [[chance.randrange(1000) for _ in range(40_000)] + passage, [*passage, 1, 2, 3]]
    for workers in (1, 2):
        assert found(documents, 50, True, workers=workers) == [Passage(1, 0, 70_000, 0, 40_000)]


def test_many_copies_are_compared_with_the_one_that_stays() -> None:
    chance = random.Random(4)
    passage = [chance.randrange(10**6) for _ in range(60)]
    documents = [[*passage, 10**6 + i] for i in range(3000)]
    assert found(documents, 50, True, workers=2) == [Passage(i, 0, 60, 0, 0) for i in range(1, 3000)]


def test_texts_that_collide_by_the_public_hash_do_not() -> None:
    texts = [b"one two three four", b"one two three fore"]
    data, offsets = b"".join(texts), array("q", [0, len(texts[0]), len(texts[0]) + len(texts[1])])
    units, ends = _native.unit_hashes(data, offsets, 0, True, False)
    assert (list(ends), list(units[:3]) == list(units[4:7]), units[3] == units[7]) == ([0, 4, 8], True, False)


@pytest.mark.parametrize(
    ("units", "offsets", "length"),
    [([1, 2], [0, 3], 1), ([1, 2], [0, 1], 1), ([1, 2], [], 1), ([1, 2], [0, 2], 0), ([1, 2], [0, 2], 10**7), ([1, 2], [2, 0, 2], 1)],
)
def test_wrong_arguments(units: list[int], offsets: list[int], length: int) -> None:
    with pytest.raises(ValueError, match=r"offsets|length"):
        _native.Repeats(array("Q", units), array("q", offsets), length, True, 1, 1 << 20)


def test_documents_that_are_not_there() -> None:
    repeats = _native.Repeats(array("Q", [1, 2]), array("q", [0, 2]), 1, True, 1, 1 << 20)
    for call in (
        lambda: repeats.mark(0, 2),
        lambda: repeats.find(1, 0),
        lambda: repeats.decide(array("q", [1])),
        lambda: repeats.collect(9),
    ):
        with pytest.raises(ValueError, match="fewer"):
            call()
