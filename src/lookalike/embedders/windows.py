"""Long texts in windows: a model sees so many tokens at a time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def windows_of(tokens: Sequence[int], most: int) -> list[Sequence[int]]:
    """The tokens in as few windows of at most ``most`` as possible, of equal size but for one token.

    Equal, so that no short rest says little and counts much; without tokens there is none.
    """
    count = -(-len(tokens) // most)
    borders = [len(tokens) * number // max(1, count) for number in range(count + 1)]
    return [tokens[low:high] for low, high in pairwise(borders)]
