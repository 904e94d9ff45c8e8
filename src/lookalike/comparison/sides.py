"""The two texts of a comparison as tokens: their spans, and where lines, sentences and clauses begin."""

from __future__ import annotations

import re
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from operator import sub
from typing import NamedTuple

from lookalike import _native
from lookalike.lazy import cached_property
from lookalike.text.normalize import utf8
from lookalike.text.tokenize import NATIVE_MODES

PIECES = NATIVE_MODES["symbols"]  # words, single ideographs, punctuation marks
SENTENCE_ENDS = frozenset(".!?…。．！？；;")
# What stands between clauses and between the items of a list. Between two letters or digits, as in 1,000 or near-duplicate, a
# mark is part of a word.
SEPARATORS = SENTENCE_ENDS | frozenset(",:-*|/，、：—–•·")
CONJUNCTIONS = ("and", "or", "和", "与", "及", "或")
ARTICLES = ("a", "an", "the")  # an item is the same with and without one
_MARKS = re.compile(
    rf"[\n{re.escape(''.join(sorted(SEPARATORS)))}]|\b(?:{'|'.join((*ARTICLES, *CONJUNCTIONS[:2]))})\b|[{''.join(CONJUNCTIONS[2:])}]",
    re.IGNORECASE,
)
_SENTENCE, _LINE, _SEPARATOR, _BEHIND_SEPARATOR, _ARTICLE = 1, 2, 4, 8, 16  # as in native/text/token_traits.hpp


class EqualRun(NamedTuple):
    """Equal tokens on both sides: the first on each side, and how many."""

    left: int
    right: int
    length: int

    @property
    def left_end(self) -> int:
        return self.left + self.length

    @property
    def right_end(self) -> int:
        return self.right + self.length


class Pieces:
    """The words, ideographs and marks of one text: their spans, and how many characters come before each."""

    def __init__(self, text: str, *, folded: bool) -> None:
        self.text = text
        self.hashes, self.starts, self.ends = _native.token_stream(utf8(text), PIECES, folded)

    @cached_property
    def sizes(self) -> array[int]:
        return array("I", map(sub, self.ends.tolist(), self.starts.tolist()))

    @cached_property
    def before(self) -> list[int]:
        return list(accumulate(self.sizes, initial=0))

    def __len__(self) -> int:
        return len(self.hashes)

    def characters(self, first: int, last: int) -> int:
        return self.before[last] - self.before[first]


class Side(Pieces):
    """A text, and where its lines, sentences and clauses begin."""

    def __init__(self, text: str) -> None:
        super().__init__(text, folded=True)

    @property
    def columns(self) -> tuple[memoryview, memoryview, memoryview, bytearray]:
        """The tokens as the kernel takes them."""
        return self.hashes, self.starts, self.ends, self.traits

    def word(self, token: int) -> str:
        return self.text[self.starts[token] : self.ends[token]]

    @cached_property
    def traits(self) -> bytearray:
        """What each token is and begins, and one more for the end of the text."""
        found, doubtful = _native.token_traits(utf8(self.text), self.starts, self.ends)
        traits = bytearray(found)
        for token in doubtful:
            self._read_mark(token, traits)
        traits[0] |= _LINE
        traits[len(self)] |= _LINE
        return traits

    def _read_mark(self, token: int, traits: bytearray) -> None:
        """What a mark or a word is beside a character that is not ASCII: whether that is a letter, Python knows."""
        found = _MARKS.match(self.text, self.starts[token])
        if found is None or found.end() != self.ends[token]:
            return
        if found[0].lower() in ARTICLES:
            traits[token] |= _ARTICLE
        elif not self._is_inside_a_word(token):
            traits[token] |= _SEPARATOR
            traits[token + 1] |= _BEHIND_SEPARATOR | (_SENTENCE if found[0] in SENTENCE_ENDS else 0)

    def _is_inside_a_word(self, token: int) -> bool:
        start, end = self.starts[token], self.ends[token]
        if self.text[start] > "\x7f" or not 0 < start <= end < len(self.text):
            return False
        return self.text[start - 1].isalnum() and self.text[end].isalnum()


def gaps(runs: Sequence[EqualRun], a: Pieces, b: Pieces) -> list[tuple[int, int, int, int]]:
    """What lies before, between and after runs in order: first token and token after the last, on the left and on the right."""
    starts = [(0, 0), *((run.left_end, run.right_end) for run in runs)]
    ends = [*((run.left, run.right) for run in runs), (len(a), len(b))]
    return [(left, left_end, right, right_end) for (left, right), (left_end, right_end) in zip(starts, ends, strict=True)]


Stretch = tuple[int, int]  # first token, token after the last


class Gap(NamedTuple):
    """What lies between two kept runs on both sides, without what was moved."""

    left: list[Stretch]
    right: list[Stretch]


def changed(kept: Sequence[EqualRun], moved: Iterable[tuple[Stretch, Stretch]], a: Pieces, b: Pieces) -> Iterator[Gap]:
    """What moves leave of the gaps before, between and after kept runs; in some nothing is left."""
    pairs = list(moved)
    lefts, rights = (deque(sorted(pair[side] for pair in pairs)) for side in (0, 1))
    for left, left_end, right, right_end in gaps(kept, a, b):
        yield Gap(list(_without(left, left_end, lefts)), list(_without(right, right_end, rights)))


def _without(first: int, last: int, moves: deque[Stretch]) -> Iterator[Stretch]:
    while moves and moves[0][0] < last:
        start, end = moves.popleft()
        if start > first:
            yield first, start
        first = end
    if first < last:
        yield first, last
