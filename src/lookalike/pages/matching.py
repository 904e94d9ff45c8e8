"""Two pages by their tags: which matched which, how alike head and body are, and the page: ``match_tags(a, b)``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from math import fsum
from typing import Any

from lookalike import _native
from lookalike.checks import refuse
from lookalike.errors import InputError
from lookalike.markup.elements import Element
from lookalike.markup.page import Page
from lookalike.pages import alignment
from lookalike.pages.alignment import TOO_LARGE, Numbered, Pair, Pairing, best, in_order
from lookalike.pages.strings import MAX_CELLS, StringSimilarity, lexical
from lookalike.pages.tags import TagSimilarity, TagWeights

ALIGNMENTS = ("best", "order")


@dataclass(frozen=True, slots=True)
class PartMatch:
    """Head or body: the pairs with their similarities, and the mean over all tags and texts, where one without a partner counts 0."""

    left: Sequence[Element] = field(repr=False)
    right: Sequence[Element] = field(repr=False)
    pairs: list[Pair] = field(repr=False)
    similarities: list[float] = field(repr=False)
    note: str | None = None

    @property
    def size(self) -> int:
        """How many things were compared: pairs, and tags without a partner."""
        return len(self.left) + len(self.right) - len(self.pairs)

    @property
    def score(self) -> float:
        """1 for two empty parts."""
        return min(1.0, fsum(self.similarities) / self.size) if self.size else 1.0

    @property
    def gone(self) -> list[int]:
        """Places on the left without a partner."""
        return _missing([left for left, _ in self.pairs], len(self.left))

    @property
    def new(self) -> list[int]:
        """Places on the right without a partner."""
        return _missing([right for _, right in self.pairs], len(self.right))

    def to_dict(self) -> dict[str, Any]:
        equal = sum(similarity == 1.0 for similarity in self.similarities)
        return {
            "score": self.score,
            "left": len(self.left),
            "right": len(self.right),
            "equal": equal,
            "changed": len(self.pairs) - equal,
            "gone": len(self.left) - len(self.pairs),
            "new": len(self.right) - len(self.pairs),
        }


def _missing(places: Sequence[int], count: int) -> list[int]:
    borders = [-1, *places, count]
    return [place for low, high in pairwise(borders) for place in range(low + 1, high)]


@dataclass(frozen=True, slots=True)
class TagMatch:
    """Two pages by their tags. ``weight`` is that of the head."""

    head: PartMatch
    body: PartMatch
    weight: float
    align: str

    @property
    def score(self) -> float:
        return self.weight * self.head.score + (1.0 - self.weight) * self.body.score

    @property
    def notes(self) -> list[str]:
        return [f"{name}: {part.note}" for name, part in (("head", self.head), ("body", self.body)) if part.note]

    def to_dict(self) -> dict[str, Any]:
        return {"align": self.align, "weight": self.weight, "head": self.head.to_dict(), "body": self.body.to_dict()}


def match_tags(
    left: Page,
    right: Page,
    *,
    align: str = "best",
    weight: str | float = "equal",
    strings: str | StringSimilarity = "lexical",
    weights: TagWeights | None = None,
) -> TagMatch:
    """The similarity of two pages by tag features: weight · head + (1 - weight) · body.

    ``align``: "best" or "order". ``weight`` of the head: "equal" (a half), "tags" (its share of all tags and texts), or a
    number. ``strings``: "lexical", "meaning", another measure, or a function of two strings. ``weights``: what name, attributes and
    string of a tag weigh, also by the type of tag.
    """
    check_pages(left, right)
    check_align(align)
    check_weight(weight)
    chosen = TagWeights() if weights is None else weights
    if not isinstance(chosen, TagWeights):
        raise InputError(f"weights is a {type(weights).__name__}: give TagWeights, or None for the usual ones")
    if not chosen.by_tag and (strings is lexical or (isinstance(strings, str) and strings == "lexical")):
        head, body = (_match_lexically(left, right, part, align, chosen) for part in ("head", "body"))
    else:
        similarity = TagSimilarity(strings, chosen)
        similarity.prepare(chain(left.head, left.body, right.head, right.body))
        head, body = (_match(getattr(left, part), getattr(right, part), align, similarity) for part in ("head", "body"))
    return TagMatch(head, body, head_weight(weight, head, body), align)


def _match_lexically(left: Page, right: Page, part: str, align: str, weights: TagWeights) -> PartMatch:
    """The same as ``_match`` with a ``TagSimilarity("lexical")``, all of it in the native core."""
    found = [
        PartMatch(
            getattr(left, part),
            getattr(right, part),
            list(zip(at_left, at_right, strict=True)),
            list(similarities),
            TOO_LARGE if too_large else None,
        )
        for at_left, at_right, similarities, too_large in _native.match_tags(
            left.tree.table,
            right.tree.table,
            part == "body",
            align == "best",
            float(weights.name),
            float(weights.attrs),
            float(weights.string),
            float(weights.keys),
            alignment.MAX_CELLS,
            alignment.ANCHORED_FROM,
            MAX_CELLS,
        )
    ]
    return _better(*found)


def _match(left: Sequence[Element], right: Sequence[Element], align: str, similarity: TagSimilarity) -> PartMatch:
    numbered = Numbered.of(left, right)
    plain = _scored(left, right, in_order(left, right), numbered, similarity)
    if align == "order" or plain.score == 1.0:
        return plain
    return _better(_scored(left, right, best(numbered, similarity.weights), numbered, similarity), plain)


def _better(found: PartMatch, plain: PartMatch | None = None) -> PartMatch:
    # The pairing goes by an estimate: now and then the plain order is better.
    return found if plain is None or found.score >= plain.score else plain


def _scored(
    left: Sequence[Element], right: Sequence[Element], pairing: Pairing, numbered: Numbered, similarity: TagSimilarity
) -> PartMatch:
    a, b, distinct = numbered.left, numbered.right, numbered.distinct
    known: dict[Pair, float] = {}
    similarities: list[float] = []
    for i, j in pairing.pairs:
        pair = a[i], b[j]
        found = 1.0 if pair[0] == pair[1] else known.get(pair)
        if found is None:
            found = known[pair] = similarity(distinct[pair[0]], distinct[pair[1]])
        similarities.append(found)
    return PartMatch(left, right, pairing.pairs, similarities, pairing.note)


def check_pages(left: object, right: object) -> None:
    for name, given in (("left", left), ("right", right)):
        if not isinstance(given, Page):
            raise InputError(f"{name} is a {type(given).__name__}: give a page, as la.page makes it")


def check_align(align: object) -> None:
    if not isinstance(align, str) or align not in ALIGNMENTS:
        raise refuse("align", align, "choose 'best' or 'order'")


def check_weight(weight: str | float) -> None:
    if isinstance(weight, str) and weight in ("equal", "tags"):
        return
    if isinstance(weight, (bool, str)) or not isinstance(weight, (int, float)) or not 0 <= weight <= 1:
        raise InputError(f"weight={weight!r}: choose 'equal', 'tags', or a number from 0 to 1 for the head")


def head_weight(weight: str | float, head: PartMatch, body: PartMatch) -> float:
    if weight == "tags":
        total = len(head.left) + len(head.right) + len(body.left) + len(body.right)
        return (len(head.left) + len(head.right)) / total if total else 0.5
    return 0.5 if isinstance(weight, str) else float(weight)
