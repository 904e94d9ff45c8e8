"""What a share of common words cannot see: other numbers, a "not" more, the same words in another order.

``价格100元`` and ``价格1000元`` have nearly all of their letters in common. So has ``Alice owes Bob`` with ``Bob owes Alice``. A comparison
names such differences, and of short texts it does not say that they are alike.
"""

from __future__ import annotations

from lookalike.comparison.doubts.negations import negations
from lookalike.comparison.doubts.numbers import numbers
from lookalike.comparison.doubts.order import order
from lookalike.comparison.doubts.saying import Doubt
from lookalike.comparison.doubts.saying import Said as Said

LOOKED_AT_TOKENS = 100  # of the shorter text: in longer ones numbers and words differ anyhow, and edits show where
SHORT_TOKENS = 20  # up to here one such difference is a different statement, and the verdict is withheld
LEAST_SCORE = 0.5  # below, the texts differ in more than this


def doubts(left: Said, right: Said, score: float) -> list[Doubt]:
    """What to say of two texts whose words are alike; nothing of long ones."""
    if score == 1 or score < LEAST_SCORE or min(left.size, right.size) > LOOKED_AT_TOKENS:
        return []
    return [doubt for find in (numbers, negations, order) if (doubt := find(left, right))]


def are_short(left: Said, right: Said) -> bool:
    return min(left.size, right.size) <= SHORT_TOKENS
