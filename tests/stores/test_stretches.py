"""What was just added, and what it takes in memory."""

from __future__ import annotations

import sys

import numpy as np

from lookalike.stores.stretches import Stretch


def test_texts_count_with_the_bytes_that_they_take() -> None:
    """A Chinese text takes more than a byte for each character: what is kept in memory is bounded by bytes."""
    text = "合同" * 10_000
    rows = np.arange(3, dtype=np.int64)
    stretch = Stretch(rows, {"text": (rows, [text] * 3), "simhash": (rows, np.zeros(3, np.uint64))})
    assert stretch.nbytes() == 3 * sys.getsizeof(text) + 24
    assert stretch.nbytes() > 3 * 2 * len(text)
