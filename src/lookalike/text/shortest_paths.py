"""N-shortest paths (N-最短路径): of all ways to cut a text into words, those with the fewest words; of these, the most probable one.

A text is a graph: every character (a run of ASCII letters and digits counts as one) is an edge, and so is every word of the dictionary that
fits. Maximum matching takes the longest word in one place and may pay for it in the next. Here, all paths are looked at whose number of
words is among the N smallest. Their words' frequencies decide: the product of the probabilities is the largest. Where that is the
same too, fewer words win, then a longer word further to the left. Without frequencies, N makes no difference: the fewest words win.

``nsp:WORDS`` has N = 3, and ``nsp/8:WORDS`` N = 8. WORDS is a dictionary (``lookalike.text.dictionaries``): registered, a file, ``jieba``.
The time is linear in the text.
"""

from __future__ import annotations

import functools
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lookalike.errors import InputError
from lookalike.model import Span
from lookalike.text import dictionaries
from lookalike.text.segment import WHITE_SPACE, Segmenter, check_text

PATHS = 3
MAX_PATHS = 64
SCALE = 1 << 20  # logarithms are whole numbers, so that sums do not depend on their order
_ATOM = re.compile(f"[A-Za-z0-9]+|[^{WHITE_SPACE}]")

is_registered = dictionaries.is_registered


def load(scheme: str, argument: str) -> Segmenter:
    return functools.partial(shortest_paths, _graph_words(dictionaries.dictionary(argument)), paths=number_of_paths(scheme))


def version(scheme: str, argument: str) -> str:
    """Our revision, N and the digest of the words."""
    return f"1-{number_of_paths(scheme)}-{dictionaries.dictionary(argument).digest}"


def number_of_paths(scheme: str) -> int:
    _, slash, number = scheme.partition("/")
    if not slash:
        return PATHS
    if not (number.isascii() and number.isdigit() and len(number) < 4 and 1 <= int(number) <= MAX_PATHS):
        raise InputError(f"segmenter {scheme!r:.60}: write 'nsp:WORDS', or 'nsp/N:WORDS' with an N from 1 to {MAX_PATHS}")
    return int(number)


@dataclass(frozen=True, slots=True)
class GraphWords:
    """What each word costs (the scaled negative logarithm of its probability), and which lengths to try at a character."""

    costs: Mapping[str, int]
    unknown: int
    lengths: Mapping[str, Sequence[int]]


@functools.lru_cache(maxsize=8)
def _graph_words(words: dictionaries.Dictionary) -> GraphWords:
    # A word without a frequency counts as one that was seen once, and a character that is no word as half of that.
    counts = {word: max(frequency or 1, 1) for word, frequency in words.frequencies.items()}
    total = math.log(sum(counts.values()) + 1)
    costs = {word: round(SCALE * (total - math.log(count))) for word, count in counts.items()}
    lengths: defaultdict[str, set[int]] = defaultdict(set)
    for word in counts:
        lengths[word[0]].add(len(word))
    return GraphWords(costs, round(SCALE * (total + math.log(2))), {first: sorted(found) for first, found in lengths.items()})


def shortest_paths(words: GraphWords, text: str, *, paths: int = PATHS) -> list[Span]:
    """The words of the most probable of the paths with the fewest words."""
    spans: list[Span] = []
    piece: list[Span] = []
    for atom in _ATOM.finditer(check_text(text)):
        if piece and piece[-1][1] != atom.start():
            spans += _cut(words, text, piece, paths)
            piece = []
        piece.append(atom.span())
    return spans + _cut(words, text, piece, paths)


_Best = tuple[int, int]  # what the rest of the text costs, and the atom behind the first word of it


def _cut(words: GraphWords, text: str, atoms: Sequence[Span], paths: int) -> list[Span]:
    """From the end to the beginning: for each atom, the best way to cut the rest, by the number of words it has."""
    ends = {end: number + 1 for number, (_, end) in enumerate(atoms)}
    best: list[dict[int, _Best]] = [{} for _ in atoms]
    best.append({0: (0, len(atoms))})
    for at in range(len(atoms) - 1, -1, -1):
        found: dict[int, _Best] = {}
        for behind, cost in _edges(words, text, atoms[at], ends):  # short words first, so that of equals the longest stays
            for count, (rest, _) in best[behind].items():
                if count + 1 not in found or cost + rest <= found[count + 1][0]:
                    found[count + 1] = cost + rest, behind
        best[at] = {count: found[count] for count in sorted(found)[:paths]}
    if not atoms:
        return []
    count = min(best[0], key=lambda count: (best[0][count][0], count))
    edges = [0]
    while count:
        edges.append(best[edges[-1]][count][1])
        count -= 1
    return [(atoms[first][0], atoms[last - 1][1]) for first, last in pairwise(edges)]


def _edges(words: GraphWords, text: str, atom: Span, ends: Mapping[int, int]) -> list[tuple[int, int]]:
    """The words that begin with an atom: the atom behind each, and its cost."""
    start, end = atom
    single = text[start:end]
    found = {ends[end]: words.costs.get(single, words.unknown)}
    for length in words.lengths.get(text[start], ()):
        behind = ends.get(start + length)
        if behind is not None and (cost := words.costs.get(text[start : start + length])) is not None:
            found[behind] = cost
    return sorted(found.items())
