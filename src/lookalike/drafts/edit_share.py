"""How much of a text was edited: one number from 0 (nothing) to 1 (nothing is left).

Both texts are cut into words, single ideographs and punctuation marks. White space and case do not count; a change of
punctuation does, and so does the width of a mark (``,`` and ``，``). Everything is counted in characters:

    edit share = edited / (edited + stayed)

- A run that stands on both sides in the same order *stayed*.
- What was deleted and what was typed is *edited*; a replaced word counts on both sides.
- A run of three tokens or more that stands elsewhere was moved once: half of it counts as edited, half as stayed.
- A word that became a similar word was not typed anew: the share of letter trigrams that both sides of a changed place have in
  common counts as stayed. Words of more than 64 letters have none.
- A word or two that went from one changed place to another one nearby were moved too. That is seldom done by cut and paste:
  three quarters count as edited. Nearby are the changed places of a window of sixteen tokens; what they have in common is
  counted in trigrams as well.
- However alike the words are, a window with a change has at least one edited character. So 0 stands for equal tokens alone.

Time and memory are near linear. The constants were chosen on post-edited translations (docs/feedback.md has the numbers);
the correlations there hardly change between windows of 8 and 48 tokens or moves of 2 to 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from lookalike import _native
from lookalike.checks import check_str
from lookalike.comparison.likeness import in_common, trigrams
from lookalike.comparison.sides import EqualRun, Gap, Pieces, Stretch, changed

METHOD = "edit-share-2"  # raised whenever the number changes for some pair

MOVED_TOKENS = 3
MOVED_COST = 0.5
NEARBY_COST = 0.75  # half of it loses HTER, all of it loses the judgements of people
WINDOW_TOKENS = 16
LEAST_EDITED = 1.0  # characters of a window


class _Tokens(Pieces):
    def __init__(self, text: str) -> None:
        super().__init__(text.lower(), folded=False)

    def grams(self, stretches: list[Stretch]) -> Counter[str]:
        return trigrams(
            self.text[start:end]
            for first, last in stretches
            for start, end in zip(self.starts[first:last], self.ends[first:last], strict=True)
        )


def edit_share(draft: str, final: str) -> float:
    """The share of the text that was edited; 0 for two texts without words or marks.

    >>> edit_share("The cat sat on the mat.", "The cat sat on the mat.")
    0.0
    >>> round(edit_share("我们对这片土地爱得深沉", "我们对这片大地爱得深沉"), 3)
    0.167
    """
    check_str("draft", draft)
    check_str("final", final)
    if draft == final:
        return 0.0
    left, right = _Tokens(draft), _Tokens(final)
    aligned = _native.align_tokens(left.hashes, right.hashes, left.sizes)
    kept = [EqualRun(*run) for run in aligned]
    moves = [EqualRun(*run) for run in _native.moved_tokens(left.hashes, right.hashes, aligned, MOVED_TOKENS)]
    moved = sum(left.characters(run.left, run.left_end) for run in moves)
    edited = moved * MOVED_COST
    stayed = sum(left.characters(run.left, run.left_end) for run in kept) + moved * (1 - MOVED_COST)
    places = (((run.left, run.left_end), (run.right, run.right_end)) for run in moves)
    for window in _windows(gap for gap in changed(kept, places, left, right) if any(gap)):
        window_edited, window_stayed = _compared(left, right, window)
        edited += window_edited
        stayed += window_stayed
    return edited / (edited + stayed) if edited else 0.0


def _compared(left: _Tokens, right: _Tokens, window: list[Gap]) -> tuple[float, float]:
    """How many characters of a window were edited, and how many stayed."""
    was = sum([left.characters(*stretch) for old, _ in window for stretch in old])
    now = sum([right.characters(*stretch) for _, new in window for stretch in new])
    if not was or not now:
        return was + now, 0.0
    olds, news = [left.grams(old) for old, _ in window], [right.grams(new) for _, new in window]
    in_place = sum(map(in_common, olds, news))
    anywhere = in_common(_together(olds), _together(news)) if len(window) > 1 else in_place
    characters = 2 * min(was, now) / (was + now)  # for each trigram in common
    same, moved = in_place * characters, (anywhere - in_place) * characters
    edited = was + now - 2 * (same + moved) + moved * NEARBY_COST
    return max(edited, LEAST_EDITED), same + moved * (1 - NEARBY_COST)


def _windows(gaps: Iterator[Gap]) -> Iterator[list[Gap]]:
    """Neighbouring gaps together, as long as they have no more than WINDOW_TOKENS tokens on a side."""
    window: list[Gap] = []
    olds = news = 0
    for old, new in gaps:
        more_old, more_new = _length(old), _length(new)
        if window and max(olds + more_old, news + more_new) > WINDOW_TOKENS:
            yield window
            window, olds, news = [], 0, 0
        window.append(Gap(old, new))
        olds, news = olds + more_old, news + more_new
    if window:
        yield window


def _length(stretches: list[Stretch]) -> int:
    return sum(last - first for first, last in stretches)


def _together(grams: list[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for each in grams:
        total.update(each)
    return total
