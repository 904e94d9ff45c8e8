"""Maximum matching: the longest word of a list that fits, from the left (``fmm``) or from the right (``bmm``).

Words are looked for in the text as it stands: case, width and form matter. What no word covers becomes a token of one
character, except that a run of ASCII letters and digits is never cut: ``T恤`` is found in ``买T恤`` but not in ``AT恤``.
White space separates. Each position tries only the lengths of the words that start (or end) with its character, so the
time is linear in the text for any list, bounded by ``word_lists.MAX_WORD_LENGTH``.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lookalike.model import Span
from lookalike.text.segment import WHITE_SPACE, Segmenter, check_text
from lookalike.text.word_lists import WordList, WordLists

_ATOM = re.compile(f"[A-Za-z0-9]+|[^{WHITE_SPACE}]")

word_lists = WordLists("word list")


def register_words(name: str, words: Iterable[str]) -> None:
    """Give a word list a name, for ``fmm:NAME`` and ``bmm:NAME``."""
    word_lists.register(name, words)


def is_registered(name: str) -> bool:
    return name in word_lists.names()


def load(scheme: str, argument: str) -> Segmenter:
    return functools.partial(_DIRECTIONS[scheme], _lexicon(word_lists.get(argument)))


def version(scheme: str, argument: str) -> str:
    """Our revision and the digest of the words. The direction is part of the segmenter's name."""
    return f"1-{word_lists.get(argument).digest}"


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words, and the lengths to try at a character: longest first."""

    words: frozenset[str]
    by_first: Mapping[str, Sequence[int]]
    by_last: Mapping[str, Sequence[int]]


@functools.lru_cache(maxsize=32)
def _lexicon(words: WordList) -> Lexicon:
    return Lexicon(words.words, _lengths(words.words, 0), _lengths(words.words, -1))


def _lengths(words: Iterable[str], position: int) -> dict[str, list[int]]:
    lengths: defaultdict[str, set[int]] = defaultdict(set)
    for word in words:
        lengths[word[position]].add(len(word))
    return {character: sorted(found, reverse=True) for character, found in lengths.items()}


def forward(lexicon: Lexicon, text: str) -> list[Span]:
    """Forward maximum matching."""
    atoms = _atoms(text)
    ends = {end for _, end in atoms}
    spans: list[Span] = []
    reached = 0
    for start, end in atoms:
        if start < reached:
            continue
        reached = end
        for length in lexicon.by_first.get(text[start], ()):
            if start + length in ends and text[start : start + length] in lexicon.words:
                reached = start + length
                break
        spans.append((start, reached))
    return spans


def backward(lexicon: Lexicon, text: str) -> list[Span]:
    """Backward maximum matching."""
    atoms = _atoms(text)
    starts = {start for start, _ in atoms}
    spans: list[Span] = []
    reached = len(text)
    for start, end in reversed(atoms):
        if end > reached:
            continue
        reached = start
        for length in lexicon.by_last.get(text[end - 1], ()):
            if end - length in starts and text[end - length : end] in lexicon.words:
                reached = end - length
                break
        spans.append((reached, end))
    spans.reverse()
    return spans


_DIRECTIONS: dict[str, Callable[[Lexicon, str], list[Span]]] = {"fmm": forward, "bmm": backward}


def _atoms(text: str) -> list[Span]:
    return [atom.span() for atom in _ATOM.finditer(check_text(text))]
