"""What a share of common words cannot see: other numbers, a "not" more, the same words in another order.

``价格100元`` and ``价格1000元`` have nearly all of their letters in common. So has ``Alice owes Bob`` with ``Bob owes Alice``. A comparison
names such differences, and of short texts it does not say that they are alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from lookalike.comparison.read_text import ReadText
from lookalike.text.blending import function_words
from lookalike.text.forms import without_form

LOOKED_AT_TOKENS = 100  # of the shorter text: in longer ones numbers and words differ anyhow, and edits show where
SHORT_TOKENS = 20  # up to here one such difference is a different statement, and the verdict is withheld
LEAST_SCORE = 0.5  # below, the texts differ in more than this
LEAST_COMMON = 0.8  # of the words: otherwise no order can be compared
SHOWN = 4

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_CHINESE_DIGIT = re.compile("[一二三四五六七八九十两兩]")
_NEGATIONS = frozenset(("not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "without", "cannot"))
_SHORTENED = frozenset(
    [
        "don",
        "doesn",
        "didn",
        "isn",
        "wasn",
        "weren",
        "aren",
        "won",
        "can",
        "couldn",
        "shouldn",
        "wouldn",
        "hasn",
        "haven",
        "hadn",
        "mustn",
        "needn",
        "ain",
    ]
)
# Single ideographs that negate, outside of words in which they do not.
_CHINESE_NEGATION = re.compile("差不多|不但|不仅|不過|不过|不管|不断|不斷|无论|無論|未来|未來|不少|不错|不錯|([不没沒无無未勿])")


def doubts(left: ReadText, right: ReadText, score: float) -> list[str]:
    """What to say of two texts whose words are alike; nothing of long ones."""
    if score == 1 or score < LEAST_SCORE or min(left.size, right.size) > LOOKED_AT_TOKENS:
        return []
    return [note for find in (_numbers, _negations, _order) if (note := find(left, right))]


def are_short(left: ReadText, right: ReadText) -> bool:
    return min(left.size, right.size) <= SHORT_TOKENS


def _numbers(left: ReadText, right: ReadText) -> str | None:
    sides = [Counter(_NUMBER.findall(without_form(side.text, ["width", "numerals"]))) for side in (left, right)]
    only = [sides[0] - sides[1], sides[1] - sides[0]]
    for side, more in zip((left, right), only, strict=True):
        # A digit in Chinese is as often a word (一起, 十分) as a number.
        more -= Counter(without_form(digit, ["numerals"]) for digit in _CHINESE_DIGIT.findall(side.text))
    return _sides("numbers differ", [*only[0].elements()], [*only[1].elements()])


def _negations(left: ReadText, right: ReadText) -> str | None:
    sides = [Counter(_negating(side)) for side in (left, right)]
    if sides[0].total() == sides[1].total():
        return None
    return _sides("one text negates", [*(sides[0] - sides[1]).elements()], [*(sides[1] - sides[0]).elements()])


def _negating(side: ReadText) -> Iterable[str]:
    for before, word in zip(["", *side.words], side.words, strict=False):
        if word in _NEGATIONS or (word == "t" and before in _SHORTENED):
            yield word if word != "t" else f"{before}'t"
    yield from (match[1] for match in _CHINESE_NEGATION.finditer(side.text) if match[1])


def _order(left: ReadText, right: ReadText) -> str | None:
    """The words that stand once in each text, where they do not come in the same order."""
    common = (left.counts & right.counts).total()
    if common < LEAST_COMMON * max(left.size, right.size):
        return None
    places = {word: place for place, word in enumerate(right.words) if right.counts[word] == 1}
    once = [(word, places[word]) for word in left.words if left.counts[word] == 1 and word in places]
    moved = [
        word for at, (word, place) in enumerate(once) if any((there < place) != (i < at) for i, (_, there) in enumerate(once) if i != at)
    ]
    named = [word for word in moved if word not in function_words()] or moved
    if named:
        return f"words in another order: {_listed(named)}"
    return "the same words in another order" if left.counts == right.counts and left.words != right.words else None


def _sides(said: str, left: list[str], right: list[str]) -> str | None:
    if not (left or right):
        return None
    if len(left) == len(right) == 1:
        return f"{said}: {left[0]}, {right[0]}"
    parts = [f"{side} {_listed(values)}" for side, values in (("left", left), ("right", right)) if values]
    return f"{said}: {'; '.join(parts)}"


def _listed(values: list[str]) -> str:
    return ", ".join(values[:SHOWN]) + (f" and {len(values) - SHOWN} more" if len(values) > SHOWN else "")
