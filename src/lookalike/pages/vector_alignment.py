"""The pairing of two sequences, in order on both sides, with the largest sum of similarities."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lookalike.pages.alignment import Pair


def largest_sum(table: NDArray[np.float32]) -> list[Pair]:
    """Pairs of a row and a column, ascending in both. Of equally good pairings, one with many pairs."""
    import numpy as np

    rows, columns = table.shape
    sums = np.zeros((rows + 1, columns + 1))
    for row in range(rows):
        here, above = sums[row + 1], sums[row]
        np.maximum(above[1:], above[:-1] + table[row], out=here[1:])
        np.maximum.accumulate(here, out=here)
    pairs: list[Pair] = []
    row, column = rows, columns
    while row and column:
        if sums[row, column] == sums[row - 1, column - 1] + table[row - 1, column - 1]:
            row, column = row - 1, column - 1
            pairs.append((row, column))
        elif sums[row, column] == sums[row - 1, column]:
            row -= 1
        else:
            column -= 1
    return pairs[::-1]
