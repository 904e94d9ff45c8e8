"""Which tag of one page is which of the other.

``order`` pairs the first with the first, the second with the second …, as the design of page similarity has it; one inserted
tag shifts everything behind it. ``best`` pairs in document order too, but leaves tags out where that makes the pairs more
alike: the sum of their resemblance is the largest possible.

The resemblance that decides on pairs is an estimate (equal names, and the classes that the parts of attributes and strings
fall into: ``native/pages/tag_alignment.hpp``), so that a million pairs cost milliseconds; what a pair scores is computed exactly
afterwards.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from lookalike import _native
from lookalike.markup.elements import Element
from lookalike.pages.tags import TagWeights

MAX_CELLS = 4_000_000  # of one table: 2,000 tags against 2,000
ANCHORED_FROM = 100_000  # cells: in larger tables equal runs are paired first, if they make up half of a page
TOO_LARGE = "too many changed tags in a row for the best pairing: they were paired in order"
Pair = tuple[int, int]
_IS_TEXT, _HAS_STRING = 1, 2


@dataclass(frozen=True, slots=True)
class Pairing:
    """Pairs of positions, ascending on both sides; ``note`` says where a page was too large for the best pairing."""

    pairs: list[Pair]
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Numbered:
    """Two pages in numbers: equal tags have the same; and a tag for each number."""

    left: list[int]
    right: list[int]
    distinct: list[Element]

    @classmethod
    def of(cls, left: Sequence[Element], right: Sequence[Element]) -> Numbered:
        numbers: dict[Hashable, int] = {}
        distinct: list[Element] = []
        sides: tuple[list[int], list[int]] = ([], [])
        for side, elements in zip(sides, (left, right), strict=True):
            for element in elements:
                number = numbers.setdefault(_identity(element), len(distinct))
                if number == len(distinct):
                    distinct.append(element)
                side.append(number)
        return cls(*sides, distinct)


def in_order(left: Sequence[Element], right: Sequence[Element]) -> Pairing:
    return Pairing([(place, place) for place in range(min(len(left), len(right)))])


def best(pages: Numbered, weights: TagWeights) -> Pairing:
    """The pairing with the largest sum of estimated resemblance."""
    a, b, distinct = pages.left, pages.right, pages.distinct
    # Equal tags at both ends belong together in some best pairing: nothing else resembles a tag more than its equal.
    start = _common(a, b)
    end = _common(a[start:][::-1], b[start:][::-1])
    pairs = [(place, place) for place in range(start)]
    note = None
    for (i, k), (j, m) in _stretches(a, b, start, end):
        if a[i:j] == b[k:m]:
            pairs += zip(range(i, j), range(k, m), strict=True)
        elif (j - i) * (m - k) > MAX_CELLS:
            pairs += zip(range(i, j), range(k, m), strict=False)
            note = TOO_LARGE
        elif i < j and k < m:
            pairs += ((i + x, k + y) for x, y in _aligned(a[i:j], b[k:m], distinct, weights))
    pairs += ((len(a) - back, len(b) - back) for back in range(end, 0, -1))
    return Pairing(pairs, note)


def _identity(element: Element) -> Hashable:
    if not element.attrs:
        return element.name, element.string
    values = [(key, value if isinstance(value, str) else tuple(value)) for key, value in element.attrs.items()]
    return element.name, element.string, frozenset(values)


def _common(a: Sequence[int], b: Sequence[int]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def _stretches(a: list[int], b: list[int], start: int, end: int) -> Iterator[tuple[Pair, Pair]]:
    """The stretches where large pages agree and those between them; one for the whole, where they agree in little."""
    last = len(a) - end, len(b) - end
    here = start, start
    sizes = last[0] - start, last[1] - start
    if sizes[0] * sizes[1] > ANCHORED_FROM:
        runs = _native.align_tokens(array("Q", a[start : last[0]]), array("Q", b[start : last[1]]), array("I"))
        if 2 * sum(length for *_, length in runs) >= min(sizes) or sizes[0] * sizes[1] > MAX_CELLS:
            for i, k, length in runs:
                place = start + i, start + k
                yield here, place
                here = place[0] + length, place[1] + length
                yield place, here
    yield here, last


def _aligned(left: list[int], right: list[int], distinct: Sequence[Element], weights: TagWeights) -> Iterator[Pair]:
    used = sorted({*left, *right})
    rows = {number: row for row, number in enumerate(used)}
    tags = [distinct[number] for number in used]
    names: dict[str, int] = {}
    found = _native.align_tags(
        array("I", [rows[number] for number in left]),
        array("I", [rows[number] for number in right]),
        array("I", [names.setdefault(tag.name, len(names)) for tag in tags]),
        bytes(_IS_TEXT * tag.is_text + _HAS_STRING * (tag.string is not None) for tag in tags),
        *_native.pack_strings([_attribute_words(tag) for tag in tags]),
        *_native.pack_strings([tag.string or "" for tag in tags]),
        float(weights.name),
        float(weights.attrs),
        float(weights.string),
    )
    return zip(*found, strict=True)


def _attribute_words(element: Element) -> str:
    """The keys, and the keys with each word of their values; one per line."""
    lines = []
    for key, value in element.attrs.items():
        lines += [key, *(f"{key}={word}" for word in (value.split() if isinstance(value, str) else value))]
    return "\n".join(lines)
