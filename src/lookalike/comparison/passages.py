"""The fragments that two texts share, and how much of each text they make up."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate

from lookalike.comparison.texts import TextPair
from lookalike.fingerprints.winnowing import Winnowing, winnow
from lookalike.model import Passage, Span
from lookalike.text.tokenize import stream


def shared_passages(pair: TextPair) -> list[Passage]:
    """The maximal shared runs of at least k tokens, or of all tokens where a text has fewer than k."""
    left, right = pair.winnowing
    fewest = min(len(stream(text, pair.recipe).hashes) for text in (pair.left, pair.right))
    if 0 < fewest < pair.recipe.ngram:
        left, right = (winnow(text, k=fewest, window=1, recipe=pair.recipe) for text in (pair.left, pair.right))
    return left.passages(right)


def containment(pair: TextPair, passages: list[Passage]) -> dict[str, float]:
    """The share of each text inside shared passages, by the characters of its tokens. A text without tokens is contained."""
    left, right = pair.winnowing
    return {
        "left": _covered(left, [passage.left for passage in passages]),
        "right": _covered(right, [passage.right for passage in passages]),
    }


def _covered(side: Winnowing, spans: list[Span]) -> float:
    if side.source is None or not side.values:
        return 1.0
    tokens = side.source.tokens
    before = [0, *accumulate(end - start for start, end in zip(tokens.starts, tokens.ends, strict=True))]
    inside = at = 0
    for start, end in sorted(spans):
        first, last = max(at, bisect_left(tokens.starts, start)), bisect_left(tokens.starts, end)
        if last > first:
            inside, at = inside + before[last] - before[first], last
    return inside / before[-1]
