"""How alike two pieces of source code are, whatever their names, literals, comments and layout.

What is compared are the tokens of ``lookalike.text.code``: the measures, the passages and the edits see these instead of words, and all
places are those of the source. The score is the share of common runs of ``NGRAM`` tokens, where the tenth occurrence of a run counts less
than the first: Σ√min / √(Σ√left · Σ√right), on the curve 3x² - 2x³ that the score of texts has too. benchmarks/source_code.py
measures it.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping

from lookalike import _native
from lookalike.comparison.edits import Edits, edits_of
from lookalike.comparison.passages import Spans, shared_passages
from lookalike.comparison.read_text import ReadText
from lookalike.comparison.sides import Side
from lookalike.comparison.texts import TextPair
from lookalike.errors import InputError
from lookalike.lazy import cached_property
from lookalike.model import Passage
from lookalike.text.code import NGRAM, Code
from lookalike.text.normalize import utf8
from lookalike.text.tokenize import TokenStream, hash_strings, stream_of

SCORE = "code-1"
PASSAGE_TOKENS = 16  # idioms such as a loop over names have fewer
SHORT_TOKENS = 40  # of 200 pairs of unrelated functions with 20 to 40 tokens, one reaches .8 (benchmarks/source_code.py)
_SHORT_NOTE = f"a few lines of code (fewer than {SHORT_TOKENS} tokens): common idioms alone make such pieces alike"
_BELOW_ONE = math.nextafter(1.0, 0.0)


class ReadCode(ReadText):
    """Code as the parts of a comparison read it: normal forms instead of words."""

    def __init__(self, code: Code) -> None:
        self.code = code
        super().__init__(" ".join(token.text for token in code.tokens), code.recipe)

    @cached_property
    def visible(self) -> str:
        return self.text

    @cached_property
    def words(self) -> list[str]:
        return [token.text for token in self.code.tokens]

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(self.words)

    @cached_property
    def tokens(self) -> TokenStream:
        return stream_of(self.code.tokens)

    @cached_property
    def shingles(self) -> memoryview:
        hashes = hash_strings([utf8(word) for word in self.words], self.recipe.hashing)
        return _native.shingle_tokens(hashes, array("q", (0, len(hashes))), self.recipe.ngram, self.recipe.hashing, False)[0]


class CodePair(TextPair):
    """Two pieces of code that are compared."""

    def __init__(self, left: Code, right: Code) -> None:
        if left.language != right.language:
            raise InputError(
                f"{left.name} is {left.language} and {right.name} is {right.language}: code is compared within one language; "
                "name the language of both if one is wrong, or compare them as text"
            )
        self.left, self.right, self.recipe = left.text, right.text, left.recipe
        self.sides = ReadCode(left), ReadCode(right)


class _CodeSide(Side):
    """Code as edits see it."""

    def __init__(self, code: Code) -> None:
        self.text = code.text
        self.hashes, self.starts, self.ends = stream_of(code.tokens)


def code_edits(left: Code, right: Code) -> Edits:
    """What became of the code on the left: a renamed or reformatted line is kept."""
    return edits_of(_CodeSide(left), _CodeSide(right))


def code_passages(pair: CodePair, ignored: tuple[Spans, Spans]) -> list[Passage]:
    """The shared runs of at least so many tokens, or of all tokens where one side has fewer."""
    left, right = (side.tokens for side in pair.sides)
    shortest = min(PASSAGE_TOKENS, len(left.hashes), len(right.hashes))
    found = shared_passages(pair, ignored)
    return [
        passage for passage in found if bisect_left(left.starts, passage.left[1]) - bisect_left(left.starts, passage.left[0]) >= shortest
    ]


def code_score(left: ReadText, right: ReadText) -> tuple[float, str | None]:
    """The score, and what is to be said about it."""
    if left.words == right.words:
        return 1.0, None if left.words else "neither side has code: equal"
    if not left.words or not right.words:
        return 0.0, "one side has no code: nothing in common"
    share = common_runs(Counter(left.runs(NGRAM)), Counter(right.runs(NGRAM)))
    note = _SHORT_NOTE if min(len(left.words), len(right.words)) < SHORT_TOKENS else None
    return min(share * share * (3.0 - 2.0 * share), _BELOW_ONE), note


def common_runs(left: Mapping[int, int], right: Mapping[int, int]) -> float:
    """The share of runs in common, from 0 to 1. ``fsum`` rounds once, so the order of runs does not matter."""
    common = math.fsum(math.sqrt(min(count, right[run])) for run, count in left.items() if run in right)
    return min(common / math.sqrt(math.fsum(map(math.sqrt, left.values())) * math.fsum(map(math.sqrt, right.values()))), 1.0)
