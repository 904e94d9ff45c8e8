"""The fragments that two texts share, and how much of each text they make up."""

from __future__ import annotations

from array import array
from bisect import bisect, bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise

from lookalike import _native
from lookalike.comparison.texts import TextPair
from lookalike.fingerprints.winnowing import WinnowedTokens, winnow
from lookalike.model import Passage, Span
from lookalike.text.tokenize import TokenStream

Spans = tuple[Span, ...]


def shared_passages(pair: TextPair, ignored: tuple[Spans, Spans] = ((), ())) -> list[Passage]:
    """The maximal shared runs of at least k tokens, or of all tokens where a text has fewer than k.

    The pair holds spaces where text is ignored; a passage does not run across that.
    """
    left, right = (side.winnowing for side in pair.sides)
    fewest = min(len(side.tokens.hashes) for side in pair.sides)
    if 0 < fewest < pair.recipe.ngram:
        short = [winnow(text, k=fewest, window=1, recipe=pair.recipe) for text in (pair.left, pair.right)]
        found, sides, shortest = short[0].passages(short[1]), tuple(each.source.tokens for each in short if each.source), fewest
    else:
        found, sides, shortest = left.passages(right), (left.tokens, right.tokens), left.k
    if not any(ignored):
        return found
    cuts = tuple([bisect_left(side.starts, start) for start, _ in spans] for side, spans in zip(sides, ignored, strict=True))
    return [part for passage in found for part in _apart(passage, sides, cuts, shortest)]


def longest_first(passages: Sequence[Passage]) -> list[tuple[int, Passage]]:
    """Passages with their numbers in order of place, from 1, as lists name them: the longest first, which says the most."""
    return sorted(enumerate(passages, 1), key=lambda each: (each[1].left[0] - each[1].left[1], each[0]))


def _apart(passage: Passage, sides: Sequence[TokenStream], cuts: Sequence[list[int]], shortest: int) -> Iterator[Passage]:
    """The parts of a passage between the tokens before which something is ignored on either side."""
    firsts = [bisect_left(side.starts, span[0]) for side, span in zip(sides, passage, strict=True)]
    length = bisect_left(sides[0].starts, passage.left[1]) - firsts[0]
    inside: set[int] = set()
    for first, places in zip(firsts, cuts, strict=True):
        inside.update(cut - first for cut in places[bisect(places, first) : bisect(places, first + length - 1)])
    for start, end in pairwise([0, *sorted(inside), length]):
        if end - start >= shortest:
            spans = ((side.starts[first + start], side.ends[first + end - 1]) for side, first in zip(sides, firsts, strict=True))
            yield Passage(*spans)


def containment(pair: TextPair, passages: list[Passage]) -> dict[str, float]:
    """The share of each text inside shared passages, by the characters of its tokens. A text without tokens is contained."""
    left, right = (side.winnowing for side in pair.sides)
    return {
        "left": _covered(left, [passage.left for passage in passages]),
        "right": _covered(right, [passage.right for passage in passages]),
    }


def _covered(side: WinnowedTokens, spans: list[Span]) -> float:
    if not len(side.values):
        return 1.0
    ordered = sorted(spans)
    starts, ends = array("I", [span[0] for span in ordered]), array("I", [span[1] for span in ordered])
    inside, every = _native.covered_characters(side.tokens.starts, side.tokens.ends, starts, ends)
    return inside / every
