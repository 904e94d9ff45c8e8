"""How alike two tags are: by name, attributes and string, as the design of page similarity has it.

A tag's similarity is the weighted mean of three: of the names (1 or 0), of the attributes (the Jaccard index of the keys, and
the mean similarity of the values of common keys), and of the strings. A text's is that of the strings. A tag and a text
have nothing in common. Two tags without attributes agree in them, and so do two without a string.

Types of tags can have weights of their own (``TagWeights.by_tag``): of a ``script`` the attributes say all, of a ``p`` the string does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lookalike.checks import check_share, is_number, refuse
from lookalike.errors import InputError
from lookalike.markup.elements import TEXT, Attributes, Element
from lookalike.pages.strings import StringSimilarity, chosen_similarity

Value = str | list[str]


MAX_WEIGHT = 1e100  # sums of products of weights stay finite


@dataclass(frozen=True, slots=True)
class TagWeights:
    """What name, attributes and string weigh in a tag, and what the keys weigh in the attributes (the values: the rest).

    ``by_tag`` has other weights for tags with some names. They hold where both tags have the name; of their ``keys`` nothing is taken.
    """

    name: float = 1.0
    attrs: float = 1.0
    string: float = 1.0
    keys: float = 0.5
    by_tag: Mapping[str, TagWeights] = field(default_factory=dict)

    def __post_init__(self) -> None:
        parts = (self.name, self.attrs, self.string)
        if any(not is_number(part) or not 0 <= part <= MAX_WEIGHT for part in parts):
            raise refuse("weights", parts, f"give three numbers from 0 to {MAX_WEIGHT:g}, for name, attributes and string")
        if not sum(parts):
            raise InputError("weights=(0, 0, 0): at least one must be above 0")
        check_share("keys", self.keys)
        if not isinstance(self.by_tag, Mapping):
            raise refuse("by_tag", self.by_tag, "give a mapping from names of tags to TagWeights")
        for name, weights in self.by_tag.items():
            if not isinstance(name, str) or not isinstance(weights, TagWeights) or weights.by_tag:
                raise refuse("by_tag", {name: weights}, "give names of tags, in lower case, and TagWeights without by_tag")


class TagSimilarity:
    """Similarities of tags. What was computed once is remembered: pages repeat themselves."""

    def __init__(self, strings: str | StringSimilarity = "lexical", weights: TagWeights | None = None) -> None:
        self.weights = weights or TagWeights()
        self._measure = chosen_similarity(strings)
        self._strings: dict[tuple[str, str], float] = {}

    def prepare(self, elements: Iterable[Element]) -> None:
        """Shows all strings at once to a similarity that wants to see them: a model reads many faster than one by one."""
        prepare = getattr(self._measure, "prepare", None)
        if prepare is not None:
            found = [(element.string, *element.attrs.values()) for element in elements]
            prepare({value for values in found for value in values if isinstance(value, str)})

    def __call__(self, left: Element, right: Element) -> float:
        if left.name == TEXT or right.name == TEXT:
            return self.of_strings(left.string, right.string) if left.name == right.name else 0.0
        weights = self.weights.by_tag.get(left.name, self.weights) if left.name == right.name else self.weights
        total = weights.name * (left.name == right.name)
        if weights.attrs:
            total += weights.attrs * self.of_attributes(left.attrs, right.attrs)
        if weights.string:
            total += weights.string * self.of_strings(left.string, right.string)
        return min(1.0, total / (weights.name + weights.attrs + weights.string))

    def of_attributes(self, left: Attributes, right: Attributes) -> float:
        if left == right:
            return 1.0
        common = left.keys() & right.keys()
        if not common:
            return 0.0
        keys = len(common) / (len(left) + len(right) - len(common))
        values = sum(self.of_values(left[key], right[key]) for key in sorted(common)) / len(common)
        return self.weights.keys * keys + (1.0 - self.weights.keys) * values

    def of_values(self, left: Value, right: Value) -> float:
        if isinstance(left, str) and isinstance(right, str):
            return self.of_strings(left, right)
        if isinstance(left, list) and isinstance(right, list):
            return jaccard(left, right)
        return 0.0

    def of_strings(self, left: str | None, right: str | None) -> float:
        if left is None or right is None:
            return float(left is right)
        if left == right:
            return 1.0
        known = self._strings.get((left, right))
        if known is None:
            known = self._strings[left, right] = min(1.0, max(0.0, float(self._measure(left, right))))
        return known


def jaccard(left: Sequence[str], right: Sequence[str]) -> float:
    a, b = set(left), set(right)
    return len(a & b) / len(a | b) if a or b else 1.0
