"""How much of their words and phrases two texts have in common: the lexical part of the score and of ``hybrid``.

Two shares are blended: of *word pieces* (the three-character parts of each word, where function words count a quarter) and of *phrases*
(three tokens in a row). The longer the shorter text, the more the phrases decide, since unrelated long texts share most of their
vocabulary but few of their phrases. ``docs/score.md`` has the formula, what it was calibrated on, and its limits.
"""

from __future__ import annotations

import functools
import math
from array import array
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from lookalike import _native
from lookalike.lazy import cached_property
from lookalike.recipe import DEFAULT, Recipe
from lookalike.text import stopwords
from lookalike.text.normalize import fold
from lookalike.text.tokenize import TokenStream, stream, token_counts, token_texts
from lookalike.text.word_lists import WordLists

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


class TextWords:
    """A text and its tokens: as words, and by a recipe as hashes with places. Each thing is made once, on first use."""

    def __init__(self, text: str, recipe: Recipe = DEFAULT) -> None:
        self.text, self.recipe = text, recipe

    @cached_property
    def visible(self) -> str:
        """The normal form without white space."""
        return "".join(fold(self.text).split())

    @cached_property
    def words(self) -> list[str]:
        return token_texts(self.text)

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each word occurs."""
        return token_counts(self.text)

    @cached_property
    def size(self) -> int:
        """How many words there are."""
        return self.counts.total()

    @cached_property
    def tokens(self) -> TokenStream:
        return stream(self.text, self.recipe)

    def runs(self, size: int) -> memoryview:
        """The runs of so many tokens as secret hashes, in order of place."""
        return _native.shingle_tokens(self.tokens.hashes, array("q", (0, len(self.tokens.hashes))), size, 0, False)[0]

    @cached_property
    def phrases(self) -> memoryview:
        """The phrases as hashes, ascending, each as often as it occurs."""
        return _native.sort_hashes(self.runs(PHRASE))

    def equals(self, other: TextWords) -> bool:
        """Whether two texts are the same but for case, width, compatibility forms and white space."""
        # The words too: "a bc" and "ab c" differ in more than white space.
        return self.visible == other.visible and self.words == other.words


class Blend(NamedTuple):
    """The shares of common words and phrases, and both together; short texts have no share of phrases."""

    value: float
    words: float
    phrases: float | None
    words_weight: float
    few: bool


def blended(left: TextWords, right: TextWords) -> Blend:
    """Of two texts with words."""
    # The shorter text says how much there is to go by: a headline has no more phrases beside an article than beside another headline.
    size = min(left.size, right.size)
    few = math.sqrt(left.size * right.size) <= FEW_TOKENS
    piece = FEW_PIECE if few else PIECE
    words = damped_share(word_pieces(left.counts, piece), word_pieces(right.counts, piece))
    if size <= SHORT_TOKENS:
        return Blend(words, words, None, 1.0, few)
    phrases = share(left.phrases, right.phrases)
    weight = BALANCE_TOKENS / (BALANCE_TOKENS + size - SHORT_TOKENS)
    return Blend(weight * words + (1.0 - weight) * phrases, words, phrases, weight, few)


def smoothed(blend: float, left: TextWords, right: TextWords) -> float:
    """As if one more character differed: keeps texts below 1 that differ in what is no token (punctuation) or in order alone, and makes
    short texts a little less sure than long ones."""
    longest = max(len(left.visible), len(right.visible))
    return blend * longest / (longest + 1)


def lexical_share(left: TextWords, right: TextWords) -> float:
    """What two texts have in common, from 0 to 1; texts without words are like each other only."""
    if left.equals(right):
        return 1.0
    if not (left.size and right.size):
        return 1.0 if not left.size and not right.size else 0.0
    return smoothed(blended(left, right).value, left, right)


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


def share(left: memoryview, right: memoryview) -> float:
    """What two bags of hashes, each sorted, have in common, over the geometric mean of their sizes."""
    return _native.count_common(left, right) / math.sqrt(len(left) * len(right))


@functools.cache
def function_words() -> frozenset[str]:
    # The shipped files themselves: a list that a user registers under the same name must not change scores.
    folder = Path(stopwords.__file__).parent
    lists = WordLists("function words")
    return frozenset(fold(word) for name in ("stopwords_en.txt", "stopwords_zh.txt") for word in lists.get(str(folder / name)).words)
