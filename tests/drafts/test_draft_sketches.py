from __future__ import annotations

import statistics
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.drafts.sketches import FrequentPassages, Spread, Top

shares = st.lists(st.floats(0, 1), min_size=1, max_size=60)


@given(shares)
def test_mean_and_median(values: list[float]) -> None:
    spread = Spread()
    for value in values:
        spread.add(value)
    assert spread.mean == pytest.approx(statistics.fmean(values))
    assert spread.median == pytest.approx(statistics.median(values), abs=0.00051)


@given(shares, shares)
def test_merging_is_adding(first: list[float], second: list[float]) -> None:
    together, part, other = Spread(), Spread(), Spread()
    for value in first:
        together.add(value)
        part.add(value)
    for value in second:
        together.add(value)
        other.add(value)
    part.merge(other)
    assert part.steps == together.steps
    assert part.mean == pytest.approx(together.mean)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers()), max_size=40), st.integers(1, 5))
def test_top_keeps_the_largest_in_order(items: list[tuple[int, int]], size: int) -> None:
    top: Top[int] = Top(size)
    for key, item in items:
        top.add(key, item)
    assert top.items() == [item for _, item in sorted(items, key=lambda pair: -pair[0])[:size]]


@settings(max_examples=60)
@given(st.lists(st.lists(st.integers(0, 30).map(lambda i: f"passage number {chr(97 + i)}"), max_size=5), max_size=60), st.integers(1, 6))
def test_no_frequent_passage_is_lost(pairs: list[list[str]], capacity: int) -> None:
    sketch = FrequentPassages(capacity)
    truth: Counter[str] = Counter()
    for i, passages in enumerate(pairs):
        sketch.add([(text, "deleted") for text in passages], str(i))
        truth.update(set(passages))
    found = {entry.text: entry for entry in sketch.most(100)}
    assert len(sketch._entries) <= 2 * capacity + 5
    assert sketch.taken_off <= truth.total() / capacity
    for text, count in truth.items():
        if count > sketch.taken_off + 1:
            assert found[text].count <= count <= found[text].count + found[text].unsure


def test_exact_while_there_is_room() -> None:
    sketch = FrequentPassages()
    for i in range(3):
        sketch.add([("In conclusion", "deleted"), ("IN CONCLUSION", "deleted"), ("seen once " + "abc"[i], "deleted")], f"id{i}")
    sketch.add([("in conclusion", "reworded")], "last")
    (only,) = sketch.most(10)
    assert only.to_dict() == {
        "text": "IN CONCLUSION",
        "count": 4,
        "unsure": 0,
        "deleted": 3,
        "reworded": 1,
        "ids": ["id0", "id1", "id2", "last"],
    }


def test_a_part_of_a_passage_is_not_repeated() -> None:
    sketch = FrequentPassages()
    for i in range(2):
        sketch.add([("as an assistant, I cannot", "deleted"), ("as an assistant", "deleted"), ("I cannot", "deleted")], str(i))
    sketch.add([("I cannot", "deleted")], "2")
    assert [(entry.text, entry.count) for entry in sketch.most(10)] == [("I cannot", 3), ("as an assistant, I cannot", 2)]
