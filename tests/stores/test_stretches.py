"""What was just added, and what it takes in memory."""

from __future__ import annotations

import sys

import numpy as np

from lookalike.stores.embedded.sealing import JOINED, Fresh
from lookalike.stores.stretches import Stretch


def test_texts_count_with_the_bytes_that_they_take() -> None:
    """A Chinese text takes more than a byte for each character: what is kept in memory is bounded by bytes."""
    text = "合同" * 10_000
    rows = np.arange(3, dtype=np.int64)
    stretch = Stretch(rows, {"text": (rows, [text] * 3), "simhash": (rows, np.zeros(3, np.uint64))})
    assert stretch.nbytes() == 3 * sys.getsizeof(text) + 24
    assert stretch.nbytes() > 3 * 2 * len(text)


def _written(first: int, count: int) -> Stretch:
    """As a write of so many documents leaves them; every third has no text."""
    rows = np.arange(first, first + count, dtype=np.int64)
    texts = rows[rows % 3 > 0]
    return Stretch(rows, {"text": (texts, [f"text {row}" for row in texts]), "simhash": (rows, rows.astype(np.uint64) * np.uint64(7))})


def test_joined_they_are_what_one_write_of_all_would_be() -> None:
    parts = [_written(0, 1), _written(1, 1), _written(2, 5), _written(7, 1)]
    joined, whole = Stretch.joined(parts), _written(0, 8)
    assert joined.rows.tolist() == whole.rows.tolist()
    for name, (rows, values) in whole.columns.items():
        assert joined.columns[name][0].tolist() == rows.tolist()
        assert list(joined.columns[name][1]) == list(values)
        assert type(joined.columns[name][1]) is type(values)


def test_many_small_writes_are_kept_together() -> None:
    """Each of their stretches would take more memory than the documents that it holds."""
    fresh = Fresh()
    for row in range(5, 5 + 3 * JOINED + 2):
        fresh.keep(_written(row, 1))
    parts = fresh.take(5, 5 + 3 * JOINED + 2)
    assert parts is not None
    assert [len(part.rows) for part in parts] == [JOINED] * 3 + [1, 1]
    assert Stretch.joined(parts).rows.tolist() == list(range(5, 5 + 3 * JOINED + 2))
    assert fresh.take(5, 6) is None  # they are given once


def test_a_gap_in_what_was_kept_is_noticed() -> None:
    fresh = Fresh()
    for row in [*range(JOINED - 1), JOINED + 1]:  # within those that are put together
        fresh.keep(_written(row, 1))
    assert fresh.take(0, JOINED + 2) is None
    fresh.keep(_written(0, 2))
    fresh.keep(_written(3, 1))
    assert fresh.take(0, 4) is None
