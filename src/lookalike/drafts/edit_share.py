"""How much of a text was edited: one number from 0 (nothing) to 1 (nothing is left).

Both texts are cut into words, single ideographs and punctuation marks. White space and case do not count; a change of
punctuation does, and so does the width of a mark (``,`` and ``，``). Everything is counted in characters:

    edit share = edited / (edited + stayed)

- A run that stands on both sides in the same order *stayed*.
- What was deleted and what was typed is *edited*; a replaced word counts on both sides.
- A run of three tokens or more that stands elsewhere was moved once: half of it counts as edited, half as stayed.
- A word that became a similar word was not typed anew: changed text is taken in windows of sixteen tokens, and the share
  of letter trigrams that both sides of a window have in common counts as stayed. Words of more than 64 letters have none.

Time and memory are near linear. The constants were chosen on post-edited translations (docs/feedback.md has the numbers);
the correlations there hardly change between windows of 8 and 48 tokens or moves of 2 to 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate
from operator import sub

from lookalike import _native
from lookalike.text.normalize import utf8

METHOD = "edit-share-1"  # raised whenever the number changes for some pair

PIECES = 4  # the native mode: words, single ideographs, punctuation marks
MOVED_TOKENS = 3
MOVED_COST = 0.5
WINDOW_TOKENS = 16
LONGEST_WORD = 64  # letters: a longer one is data, and equals another one or does not

_Stretch = tuple[int, int]  # first token, token after the last


class _Tokens:
    """The tokens of one side, and how many characters come before each."""

    def __init__(self, text: str) -> None:
        self.text = text.lower()
        self.hashes, self.starts, self.ends = _native.token_stream(utf8(self.text), PIECES, False)
        self.before: list[int] = list(accumulate(map(sub, self.ends, self.starts), initial=0))

    def __len__(self) -> int:
        return len(self.hashes)

    def characters(self, first: int, last: int) -> int:
        return self.before[last] - self.before[first]

    def grams(self, stretches: list[_Stretch]) -> Counter[str]:
        """The letter trigrams of each token, with a blank before and after it: as many as the token has letters."""
        found: list[str] = []
        for first, last in stretches:
            for start, end in zip(self.starts[first:last], self.ends[first:last], strict=True):
                if end - start <= LONGEST_WORD:
                    found += _grams(self.text[start:end])
        return Counter(found)


@lru_cache(maxsize=1 << 14)
def _grams(word: str) -> list[str]:
    if len(word) == 1:
        return [word]
    padded = f" {word} "
    return [padded[i : i + 3] for i in range(len(word))]


def edit_share(draft: str, final: str) -> float:
    """The share of the text that was edited; 0 for two texts without words or marks.

    >>> edit_share("The cat sat on the mat.", "The cat sat on the mat.")
    0.0
    >>> round(edit_share("我们对这片土地爱得深沉", "我们对这片大地爱得深沉"), 3)
    0.167
    """
    if draft == final:
        return 0.0
    left, right = _Tokens(draft), _Tokens(final)
    kept = _native.align_tokens(left.hashes, right.hashes)
    moves = _native.moved_tokens(left.hashes, right.hashes, kept, MOVED_TOKENS)
    moved = sum(left.characters(start, start + length) for start, _, length in moves)
    edited = moved * MOVED_COST
    stayed = sum(left.characters(start, start + length) for start, _, length in kept) + moved * (1 - MOVED_COST)
    for old, new in _windows(_gaps(left, right, kept, moves)):
        was = sum([left.characters(*stretch) for stretch in old])
        now = sum([right.characters(*stretch) for stretch in new])
        same = min(was, now) * 2 * _common(left.grams(old), right.grams(new)) / (was + now) if old and new else 0.0
        edited += was + now - 2 * same
        stayed += same
    return edited / (edited + stayed) if edited else 0.0


def _gaps(
    left: _Tokens, right: _Tokens, kept: list[tuple[int, int, int]], moves: list[tuple[int, int, int]]
) -> Iterator[tuple[list[_Stretch], list[_Stretch]]]:
    """What lies between two kept runs, without what was moved."""
    left_moves = sorted((start, start + length) for start, _, length in moves)
    right_moves = sorted((start, start + length) for _, start, length in moves)
    left_at = right_at = left_move = right_move = 0
    for left_start, right_start, length in [*kept, (len(left), len(right), 0)]:
        old, left_move = _unmoved(left_at, left_start, left_moves, left_move)
        new, right_move = _unmoved(right_at, right_start, right_moves, right_move)
        if old or new:
            yield old, new
        left_at, right_at = left_start + length, right_start + length


def _unmoved(first: int, last: int, moves: list[_Stretch], at: int) -> tuple[list[_Stretch], int]:
    """The parts of a gap between its moves, and the first move after it."""
    parts = []
    while at < len(moves) and moves[at][0] < last:
        start, end = moves[at]
        if start > first:
            parts.append((first, start))
        first = end
        at += 1
    if first < last:
        parts.append((first, last))
    return parts, at


def _windows(gaps: Iterator[tuple[list[_Stretch], list[_Stretch]]]) -> Iterator[tuple[list[_Stretch], list[_Stretch]]]:
    """Neighbouring gaps together, as long as they have no more than WINDOW_TOKENS tokens on a side."""
    old: list[_Stretch] = []
    new: list[_Stretch] = []
    olds = news = 0
    for gap_old, gap_new in gaps:
        more_old, more_new = _length(gap_old), _length(gap_new)
        if (olds or news) and max(olds + more_old, news + more_new) > WINDOW_TOKENS:
            yield old, new
            old, new, olds, news = [], [], 0, 0
        old, new, olds, news = old + gap_old, new + gap_new, olds + more_old, news + more_new
    if old or new:
        yield old, new


def _length(stretches: list[_Stretch]) -> int:
    return sum(last - first for first, last in stretches)


def _common(a: Counter[str], b: Counter[str]) -> int:
    """How many items the two have in common, each as often as in both."""
    return sum([min(a[item], b[item]) for item in a.keys() & b.keys()])
