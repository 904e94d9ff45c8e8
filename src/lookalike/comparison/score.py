"""The headline score of two texts: one number from 0 (nothing in common) to 1 (equal up to normalisation).

It is the blend of common words and phrases of ``lookalike.text.blending`` on a curve. ``docs/score.md`` has the formula, what it was
calibrated on, and its limits.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from lookalike.checks import check_str
from lookalike.comparison.read_text import ReadText
from lookalike.text.blending import FEW_TOKENS, SHORT_TOKENS, blended, damped_share, smoothed

BLEND = "blend-2"
SHORT = "words-2"
FEW = "letters-2"
CHARACTERS = "characters-2"
TRIVIAL = "trivial-1"

_BELOW_ONE = math.nextafter(1.0, 0.0)
_SHORT_NOTE = f"short texts (about {SHORT_TOKENS} tokens or fewer): compared by their words alone, and one word changes the score a lot"
_FEW_NOTE = f"a few words (about {FEW_TOKENS} tokens or fewer): compared by pairs of letters, and one letter changes the score a lot"
_CHARACTERS_NOTE = "a text of control characters alone: compared by single characters"
_EMPTY_NOTE = "one text is empty: nothing in common"
_BOTH_EMPTY_NOTE = "both texts are empty: equal"


@dataclass(frozen=True, slots=True)
class TextScore:
    """How alike two texts are, how that was found, and what went in.

    ``parts`` holds the shares of common ``words`` and ``phrases``, the weight of the words (``words_weight``), and their
    ``blend`` before the final curve.
    """

    value: float
    method: str
    note: str | None = None
    parts: dict[str, float] = field(default_factory=dict)


def text_score(left: str, right: str) -> TextScore:
    """How alike two texts are, from 0 to 1; the same in both directions and on every machine.

    1.0 means equal but for case, width, compatibility forms and white space; 0.0 means no piece in common.

    >>> text_score("The Cat sat.", "the cat  sat.").value
    1.0
    >>> text_score("cat", "dog").value
    0.0
    """
    return score_of(ReadText(check_str("left", left)), ReadText(check_str("right", right)))


def score_of(left: ReadText, right: ReadText) -> TextScore:
    """The same for texts that other parts of a comparison read too."""
    if left.equals(right):
        return TextScore(1.0, TRIVIAL, None if left.visible else _BOTH_EMPTY_NOTE)
    if not (left.visible and right.visible):
        return TextScore(0.0, TRIVIAL, _EMPTY_NOTE)
    if not (left.size and right.size):
        return _by_characters(left, right)
    return _blended(left, right)


def _blended(left: ReadText, right: ReadText) -> TextScore:
    found = blended(left, right)
    value = _final(found.value, left, right)
    parts = {"words": found.words, "words_weight": found.words_weight, "blend": found.value}
    if found.phrases is None:
        method, note = (FEW, _FEW_NOTE) if found.few else (SHORT, _SHORT_NOTE)
        return TextScore(value, method, note, parts)
    return TextScore(value, BLEND, None, parts | {"phrases": found.phrases})


def _by_characters(left: ReadText, right: ReadText) -> TextScore:
    found = damped_share(Counter(left.visible), Counter(right.visible))
    return TextScore(_final(found, left, right), CHARACTERS, _CHARACTERS_NOTE, {"characters": found, "blend": found})


def _final(blend: float, left: ReadText, right: ReadText) -> float:
    """The blend on the curve 3x² - 2x³, as if one more character differed.

    The curve pulls the accidental overlap of unrelated texts (about a fifth) towards 0 and a light edit towards 1,
    keeps the order of pairs, and has no constant to tune.
    """
    found = smoothed(blend, left, right)
    return min(found * found * (3.0 - 2.0 * found), _BELOW_ONE)
