"""The headline score of two texts: one number from 0 (nothing in common) to 1 (equal up to normalisation).

Two shares of common text are blended: of *word pieces* (the three-character parts of each word, where function words
count a quarter) and of *phrases* (three tokens in a row). The longer the texts, the more the phrases decide, since
unrelated long texts share most of their vocabulary but few of their phrases.

``docs/score.md`` has the formula, what it was calibrated on, and its limits.
"""

from __future__ import annotations

import functools
import math
from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lookalike import _native
from lookalike.checks import check_str
from lookalike.comparison.read_text import ReadText
from lookalike.text import stopwords
from lookalike.text.normalize import fold
from lookalike.text.word_lists import WordLists

BLEND = "blend-2"
SHORT = "words-2"
FEW = "letters-2"
CHARACTERS = "characters-2"
TRIVIAL = "trivial-1"

# The constants were chosen with benchmarks/quality.py. Those in tokens and the weight may be halved or doubled and the
# score still orders every labelled set better than the Jaccard index of character 3-grams does: see docs/score.md.

# Pieces of 3 characters: 2 confuses long texts, 4 loses the common stem of short inflected words.
PIECE = 3
# A name or a title of so many tokens: pieces of 2, since one typing error breaks three of the few pieces of 3.
FEW_TOKENS = 3
FEW_PIECE = 2
# Against a function word: without this, two sentences that share "the … of the …" look alike.
CONTENT_WEIGHT = 4
# Phrases of 3 tokens: unrelated Chinese news of 3,000 characters share 10 % of the pairs of tokens, but 2 % of the triples.
PHRASE = 3
# Up to here a text is short: one reworded token breaks three phrases, which says little. Words alone ordered such pairs better.
SHORT_TOKENS = 8
# Where words and phrases weigh the same, in tokens above SHORT_TOKENS. More favours sentences, less favours documents.
BALANCE_TOKENS = 150

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
    # The words too: "a bc" and "ab c" differ in more than white space.
    if left.visible == right.visible and left.words == right.words:
        return TextScore(1.0, TRIVIAL, None if left.visible else _BOTH_EMPTY_NOTE)
    if not (left.visible and right.visible):
        return TextScore(0.0, TRIVIAL, _EMPTY_NOTE)
    if not (left.words and right.words):
        return _by_characters(left, right)
    return _blended(left, right)


def _blended(left: ReadText, right: ReadText) -> TextScore:
    # The shorter text says how much there is to go by: a headline has no more phrases beside an article than beside another headline.
    size = min(len(left.words), len(right.words))
    few = math.sqrt(len(left.words) * len(right.words)) <= FEW_TOKENS
    piece = FEW_PIECE if few else PIECE
    words = damped_share(word_pieces(left.counts, piece), word_pieces(right.counts, piece))
    if size <= SHORT_TOKENS:
        method, note = (FEW, _FEW_NOTE) if few else (SHORT, _SHORT_NOTE)
        return TextScore(_final(words, left, right), method, note, {"words": words, "words_weight": 1.0, "blend": words})
    phrases = share(_phrases(left), _phrases(right))
    weight = BALANCE_TOKENS / (BALANCE_TOKENS + size - SHORT_TOKENS)
    blend = weight * words + (1.0 - weight) * phrases
    parts = {"words": words, "phrases": phrases, "words_weight": weight, "blend": blend}
    return TextScore(_final(blend, left, right), BLEND, None, parts)


def _phrases(side: ReadText) -> array[int]:
    return array("Q", sorted(side.runs(PHRASE, unique=False)))


def _by_characters(left: ReadText, right: ReadText) -> TextScore:
    found = damped_share(Counter(left.visible), Counter(right.visible))
    return TextScore(_final(found, left, right), CHARACTERS, _CHARACTERS_NOTE, {"characters": found, "blend": found})


def _final(blend: float, left: ReadText, right: ReadText) -> float:
    """The blend on the curve 3x² - 2x³, as if one more character differed.

    The curve pulls the accidental overlap of unrelated texts (about a fifth) towards 0 and a light edit towards 1,
    keeps the order of pairs, and has no constant to tune. The extra character keeps texts below 1 that differ in what is no
    token (punctuation) or in order alone, and makes short texts a little less sure than long ones.
    """
    longest = max(len(left.visible), len(right.visible))
    smoothed = blend * longest / (longest + 1)
    return min(smoothed * smoothed * (3.0 - 2.0 * smoothed), _BELOW_ONE)


def word_pieces(counts: Mapping[str, int], size: int = PIECE) -> dict[str, int]:
    """The character n-grams of every word with its boundaries, weighed; an ideograph is one piece of three characters.

    >>> sorted(word_pieces({"look": 1, "的": 1}).items())
    [(' lo', 4), (' 的 ', 1), ('loo', 4), ('ok ', 4), ('ook', 4)]
    """
    pieces: dict[str, int] = {}
    light = function_words()
    for word, count in counts.items():
        weight = count if word in light else CONTENT_WEIGHT * count
        # A single character stays whole, or " 相" and "相 " would count twice what they say once.
        width = size if len(word) > 1 else len(word) + 2
        bounded = f" {word} "
        for start in range(len(bounded) - width + 1):
            piece = bounded[start : start + width]
            pieces[piece] = pieces.get(piece, 0) + weight
    return pieces


def damped_share(left: Mapping[str, int], right: Mapping[str, int]) -> float:
    """What two weighed bags have in common, where the tenth occurrence counts less than the first: by square roots.

    In the form of a cosine: the common part over the geometric mean of both. Over the arithmetic mean (Dice), a short text beside a long
    one has next to nothing in common, whatever it says. ``fsum`` rounds once, so the result does not depend on the order in which a
    dictionary yields its keys.
    """
    if len(left) > len(right):
        left, right = right, left
    common = math.fsum(math.sqrt(min(weight, right[key])) for key, weight in left.items() if key in right)
    return common / math.sqrt(math.fsum(map(math.sqrt, left.values())) * math.fsum(map(math.sqrt, right.values())))


def share(left: array[int], right: array[int]) -> float:
    """What two bags of hashes, each sorted, have in common, over the geometric mean of their sizes."""
    return _native.count_common(left, right) / math.sqrt(len(left) * len(right))


@functools.cache
def function_words() -> frozenset[str]:
    # The shipped files themselves: a list that a user registers under the same name must not change scores.
    folder = Path(stopwords.__file__).parent
    lists = WordLists("function words")
    return frozenset(fold(word) for name in ("stopwords_en.txt", "stopwords_zh.txt") for word in lists.get(str(folder / name)).words)
