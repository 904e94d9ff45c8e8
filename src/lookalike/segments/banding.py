"""How to cut a MinHash sketch into bands: ``choose_banding``.

A sketch of ``bands * rows`` values is cut into bands of ``rows`` values, and two documents are candidates of each other if all
values of at least one band agree. Of documents with similarity s each value agrees with probability s, a band with s^rows,
and at least one of the bands with 1 - (1 - s^rows)^bands: an S-curve, flat at both ends and steep between.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from typing import NamedTuple

from lookalike.checks import check_int, check_share, is_number
from lookalike.errors import InputError

MAX_SIZE = 65536  # values of a sketch
MAX_BANDS = 65535  # an index counts shared bands in 16 bits


class Banding(NamedTuple):
    """So many bands of so many values (rows) each."""

    bands: int
    rows: int

    def recall(self, similarity: float) -> float:
        """How likely two documents with this Jaccard similarity are candidates of each other."""
        check_int("bands", self.bands, 1, MAX_BANDS)
        check_int("rows", self.rows, 1, MAX_SIZE)
        check_share("similarity", similarity, "give a number from 0 to 1")
        return 1 - _power(1 - _power(float(similarity), self.rows), self.bands)


def choose_banding(size: int, threshold: float, recall: float = 0.99) -> Banding:
    """The bands for sketches of ``size`` values that find pairs at the threshold with at least this recall.

    Of the bandings that do, the one with the most rows per band: it brings up the fewest candidates below the threshold. If the
    sketch is too small for any to do, each value is a band of its own: ask ``recall(threshold)`` of the result.
    """
    check_int("size", size, 1, MAX_SIZE)
    _check_share("threshold", threshold, "above 0, up to 1")
    _check_share("recall", recall, "above 0 and below 1")
    if recall == 1:
        raise InputError("recall=1: no number of bands finds every pair; choose 0.999, say")
    return chosen_banding(size, float(threshold), float(recall))


@lru_cache(maxsize=256)  # every search asks for it
def chosen_banding(size: int, threshold: float, recall: float) -> Banding:
    """The same for numbers that were checked."""

    def banding(rows: int) -> Banding:
        return Banding(min(size // rows, MAX_BANDS), rows)

    # More rows leave fewer bands, each less likely to agree: the recall only falls.
    enough = bisect_left(range(1, size + 1), True, key=lambda rows: banding(rows).recall(threshold) < recall)
    return banding(max(enough, 1))


def _power(base: float, exponent: int) -> float:
    """By multiplications alone: the C library's power differs between platforms in the last bit, and the chosen bands must not."""
    result = 1.0
    while exponent:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


def _check_share(name: str, value: float, wanted: str) -> None:
    if not is_number(value) or not 0 < value <= 1:
        raise InputError(f"{name}={value!r}: give a number {wanted}")
