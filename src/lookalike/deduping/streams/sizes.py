"""How large a Bloom filter has to be, and how often it errs. It has blocks of 512 bits, and all bits of an item lie in one."""

from __future__ import annotations

import math
from typing import NamedTuple

BLOCK_BITS = 512
MOST_HASHES = 48
MOST_BITS_PER_ITEM = 512


class Sizes(NamedTuple):
    blocks: int
    hashes: int  # bits of an item

    @property
    def nbytes(self) -> int:
        return self.blocks * BLOCK_BITS // 8

    def rate(self, items: float) -> float:
        """How probable it is that something new is taken for seen, after so many different items."""
        return _rate(items / self.blocks, self.hashes)


def sizes(rate: float, items: int) -> Sizes:
    """The smallest filter that errs at most at this rate when it holds so many different items."""
    low, high = 1, MOST_BITS_PER_ITEM * 4  # bits per item, in quarters
    while low < high:
        middle = (low + high) // 2
        if _best(middle / 4)[0] <= rate:
            high = middle
        else:
            low = middle + 1
    blocks = max(math.ceil(items * low / 4 / BLOCK_BITS), 1)
    return Sizes(blocks, _best(low / 4)[1])


def _best(bits_per_item: float) -> tuple[float, int]:
    """The lowest rate, and the number of hashes that gives it."""
    mean = BLOCK_BITS / bits_per_item
    return min((_rate(mean, hashes), hashes) for hashes in range(1, MOST_HASHES + 1))


def _rate(mean: float, hashes: int) -> float:
    """The rate over all blocks: how many items a block has is Poisson's distribution around the mean."""
    if mean <= 0:
        return 0.0
    most = int(mean + 12 * math.sqrt(mean) + 12)
    total, seen, logarithm = 0.0, 0.0, -mean
    for items in range(most + 1):
        if items:
            logarithm += math.log(mean / items)
        probability = math.exp(logarithm)
        total += probability * _in_block(items * hashes, hashes)
        seen += probability
    return min(total + max(1 - seen, 0.0), 1.0)


def _in_block(thrown: int, hashes: int) -> float:
    """The expectation of the share of bits that are set, to the power of the hashes, after so many bits were thrown."""
    empty = (1 - 1 / BLOCK_BITS) ** thrown
    filled = 1 - empty
    if filled <= 0:
        return 0.0
    both = (1 - 2 / BLOCK_BITS) ** thrown
    variance = max(empty / BLOCK_BITS + both * (1 - 1 / BLOCK_BITS) - empty * empty, 0.0)
    curvature = hashes * (hashes - 1) / 2 * variance / (filled * filled)
    return min(float(filled**hashes * (1 + curvature)), 1.0)
