"""Text that stands elsewhere in the other text: phrases, sentences with a few changed words, clauses and list items.

What was kept leaves gaps on both sides. Moved are, in this order:

- phrases: runs of at least four tokens and ten characters;
- sentences and lines that have at least half of their text in common with one on the other side. What was replaced inside was
  reworded;
- clauses and list items that stand whole on both sides, however short they are, and those that are whole on one side and all that
  was changed on the other;
- runs of three tokens or more that are a whole clause or item on one side;
- a few words that are all that was changed at their place, and all that was changed at another place nearby, in any order;
- the marks, conjunctions and articles next to moved text, if both sides have them.

Chance agreement of other fragments is no move. Every step looks up hashes and bounds the places it tries: the time stays near linear.
"""

from __future__ import annotations

from array import array
from bisect import bisect
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from heapq import nsmallest
from itertools import accumulate, pairwise
from typing import NamedTuple

from lookalike import _native
from lookalike.comparison.sides import Run, Side, Stretch, gaps, joined

PHRASE_TOKENS = 4
PHRASE_CHARACTERS = 10
CLAUSE_TOKENS = 3
CLAUSE_CHARACTERS = 6
SENTENCE_TOKENS = 5
SENTENCE_COMMON = 0.5  # of the characters of the longer side
IN_PLACE_COMMON = 0.4  # where a sentence stands in the same gap on both sides: its bits were taken for chance beside larger changes
SENTENCE_VOTES = 0.2  # of the pairs of neighbouring tokens: fewer cannot make up half of the characters but by chance
MAX_PLACES = 8  # of a pair of tokens: a more frequent one says nothing
MAX_SENTENCE = 2_000  # tokens: longer lines are tables or data
NEARBY_TOKENS = 16  # kept ones between words that changed places
MAX_SWAPPED = 8  # tokens

_FREE, _KEPT = -1, -2


class Change(NamedTuple):
    """Tokens of the left text inside a moved stretch, and those of the right text that replaced them."""

    left: int
    left_end: int
    right: int
    right_end: int


class _Clause(NamedTuple):
    first: int
    last: int
    whole: bool  # all of it, from mark to mark


class Shared(NamedTuple):
    """What two texts share: no token is in two of these."""

    kept: list[Run]
    moved: list[Run]
    changes: list[Change]  # inside moved text


def shared(a: Side, b: Side, kept: list[Run]) -> Shared:
    """What was moved, given what was kept. Runs that turn out to stand in their place join the kept ones."""
    moves = _Moves(a, b, kept)
    if not moves.left_gaps or not moves.right_gaps:
        return Shared(kept, [], [])
    moves.find_phrases()
    moves.find_sentences()
    moves.find_whole_clauses()
    moves.find_clauses()
    moves.find_swaps()
    moves.find_separators()
    return moves.result()


class _Moves:
    """Where each token stands in the other text, as far as is known."""

    def __init__(self, a: Side, b: Side, kept: list[Run]) -> None:
        self.a, self.b, self.kept = a, b, kept
        self._lefts, self._rights = [run.left for run in kept], [run.right for run in kept]
        self.right_of = array("q", [_FREE]) * len(a)
        self.left_of = array("q", [_FREE]) * len(b)
        for run in kept:
            self.right_of[run.left : run.left_end] = array("q", [_KEPT]) * run.length
            self.left_of[run.right : run.right_end] = array("q", [_KEPT]) * run.length
        around = gaps(kept, a, b)
        self.left_gaps = [(left, left_end) for left, left_end, _, _ in around if left < left_end]
        self.right_gaps = [(right, right_end) for _, _, right, right_end in around if right < right_end]
        self._changes: list[tuple[Change, int]] = []  # each with a left token of the moved stretch it is in

    def find_phrases(self) -> None:
        for run in self._native_runs(PHRASE_TOKENS):
            if self.a.characters(run.left, run.left_end) >= PHRASE_CHARACTERS:
                self._move(self._trimmed(run))

    def find_sentences(self) -> None:
        lefts, rights = list(self._sentences(self.a, self.left_gaps, self.right_of)), []
        if lefts:
            rights = list(self._sentences(self.b, self.right_gaps, self.left_of))
        pairs = sorted(self._similar(lefts, rights), key=lambda pair: (-pair[0], pair[1:3]))
        taken: tuple[set[Stretch], set[Stretch]] = set(), set()
        for _, left, right, runs in pairs:
            if left not in taken[0] and right not in taken[1]:
                taken[0].add(left)
                taken[1].add(right)
                self._move_sentence(left, right, runs)

    def find_whole_clauses(self) -> None:
        places: dict[bytes, list[_Clause]] = defaultdict(list)
        for clause in self._clauses(self.b, self.right_gaps, self.left_of):
            places[self.b.hashes[clause.first : clause.last].tobytes()].append(clause)
        for found in places.values():
            found.reverse()  # the first one is the last, and is taken off the end
        for clause in self._clauses(self.a, self.left_gaps, self.right_of) if places else ():
            found = places.get(self.a.hashes[clause.first : clause.last].tobytes(), [])
            if found and (clause.whole or found[-1].whole):
                self._move(self._with_separators(Run(clause.first, found.pop().first, clause.last - clause.first)))

    def find_clauses(self) -> None:
        for run in self._native_runs(CLAUSE_TOKENS):
            whole = any(
                side.is_edge(first) and side.is_edge(last)
                for side, first, last in ((self.a, run.left, run.left_end), (self.b, run.right, run.right_end))
            )
            if whole and self.a.characters(run.left, run.left_end) >= CLAUSE_CHARACTERS:
                self._move(run)

    def find_swaps(self) -> None:
        kept_before = [0, *accumulate(run.length for run in self.kept)]
        places: dict[tuple[int, ...], list[tuple[int, int]]] = defaultdict(list)
        for first, last in self._few_words(self.b, self.right_gaps, self.left_of):
            places[tuple(sorted(self.b.hashes[first:last]))].append((kept_before[bisect(self._rights, first)], first))
        for first, last in self._few_words(self.a, self.left_gaps, self.right_of) if places else ():
            at = kept_before[bisect(self._lefts, first)]
            found = places.get(tuple(sorted(self.a.hashes[first:last])), [])
            near = bisect(found, (at - NEARBY_TOKENS, -1))
            if near < len(found) and found[near][0] <= at + NEARBY_TOKENS:
                there = found.pop(near)[1]
                left, right = ([*range(start, start + last - first)] for start in (first, there))
                for i, k in zip(sorted(left, key=self.a.hashes.__getitem__), sorted(right, key=self.b.hashes.__getitem__), strict=True):
                    self._move(Run(i, k, 1))

    def find_separators(self) -> None:
        places: dict[int, deque[tuple[int, bool]]] = defaultdict(deque)
        for token, touches in self._separators(self.b, self.right_gaps, self.left_of):
            places[self.b.hashes[token]].append((token, touches))
        for token, touches in self._separators(self.a, self.left_gaps, self.right_of) if places else ():
            found = places.get(self.a.hashes[token])
            if found and (touches or found[0][1]):
                self._move(Run(token, found.popleft()[0], 1))

    def result(self) -> Shared:
        kept, moved = _in_place(self.kept, list(self._runs()))
        firsts = [run.left for run in moved]
        changes = []
        for change, token in self._changes:
            at = bisect(firsts, token) - 1
            is_moved = at >= 0 and token < moved[at].left_end
            if is_moved and self._is_free(change):
                changes.append(change)
        return Shared(kept, moved, changes)

    def _native_runs(self, shortest: int) -> list[Run]:
        known = [(run.left, run.right, run.length) for run in (*self.kept, *self._runs())]
        return [Run(*run) for run in _native.moved_tokens(self.a.hashes, self.b.hashes, known, shortest)]

    def _runs(self) -> Iterator[Run]:
        """What was moved so far, from left to right."""
        for first, last in self.left_gaps:
            at = first
            while at < last:
                there, end = self.right_of[at], at + 1
                while there >= 0 and end < last and self.right_of[end] == there + end - at:
                    end += 1
                if there >= 0:
                    yield Run(at, there, end - at)
                at = end

    def _move(self, run: Run) -> None:
        for i in range(run.length):
            self.right_of[run.left + i] = run.right + i
            self.left_of[run.right + i] = run.left + i

    def _is_free(self, change: Change) -> bool:
        return all(there == _FREE for there in self.right_of[change.left : change.left_end]) and all(
            there == _FREE for there in self.left_of[change.right : change.right_end]
        )

    def _free(self, around: list[Stretch], places: array[int]) -> Iterator[Stretch]:
        """The stretches of a side that are neither kept nor moved."""
        for first, last in around:
            at = first
            while at < last:
                end = at
                while end < last and places[end] == _FREE:
                    end += 1
                if end > at:
                    yield at, end
                at = end + 1

    def _sentences(self, side: Side, around: list[Stretch], places: array[int]) -> Iterator[Stretch]:
        """Sentences and lines, or what was not kept of them, of which not everything was moved as it is."""
        for first, last in around:
            start = first
            for end in range(first + 1, last + 1):
                if end < last and not side.begins(end):
                    continue
                if SENTENCE_TOKENS <= end - start <= MAX_SENTENCE and _FREE in places[start:end]:
                    yield start, end
                start = end

    def _similar(self, lefts: list[Stretch], rights: list[Stretch]) -> Iterator[tuple[int, Stretch, Stretch, list[tuple[int, int, int]]]]:
        """Pairs of sentences with enough in common: how many characters, the two, and the runs they share, counted from their starts."""
        places: dict[tuple[int, int], list[int]] = {}
        for number, (first, last) in enumerate(rights):
            for pair in _pairs(self.b, first, last):
                found = places.setdefault(pair, [])
                if len(found) < MAX_PLACES:
                    found.append(number)
        for left in lefts:
            votes = Counter(number for pair in _pairs(self.a, *left) for number in places.get(pair, ()))
            # Among equals the first: the order of the votes is that of hashes, which are others in every process.
            for number, count in nsmallest(2, votes.items(), key=lambda vote: (-vote[1], vote[0])):
                if count < SENTENCE_VOTES * (left[1] - left[0]):
                    break
                right = rights[number]
                runs = _native.align_tokens(
                    self.a.hashes[slice(*left)], self.b.hashes[slice(*right)], memoryview(self.a.sizes)[slice(*left)]
                )
                common = sum(self.a.characters(left[0] + run[0], left[0] + run[0] + run[2]) for run in runs)
                if common >= max(self._least_common(left, right), self._moved(self.a, left, self.right_of)):
                    yield common, left, right, runs

    def _least_common(self, left: Stretch, right: Stretch) -> float:
        in_one_gap = bisect(self._lefts, left[0]) == bisect(self._rights, right[0])
        share = IN_PLACE_COMMON if in_one_gap else SENTENCE_COMMON
        return share * max(self.a.characters(*left), self.b.characters(*right))

    def _moved(self, side: Side, stretch: Stretch, places: array[int]) -> int:
        return sum(side.sizes[token] for token in range(*stretch) if places[token] >= 0)

    def _move_sentence(self, left: Stretch, right: Stretch, runs: list[tuple[int, int, int]]) -> None:
        for token in range(*left):
            if self.right_of[token] >= 0:
                self.left_of[self.right_of[token]] = _FREE
            self.right_of[token] = _FREE
        for token in range(*right):
            if self.left_of[token] >= 0:
                self.right_of[self.left_of[token]] = _FREE
            self.left_of[token] = _FREE
        at = left[0], right[0]
        for start, there, length in [*runs, (left[1] - left[0], right[1] - right[0], 0)]:
            run = Run(left[0] + start, right[0] + there, length)
            if at[0] < run.left and at[1] < run.right:
                self._changes.append((Change(at[0], run.left, at[1], run.right), left[0] + runs[0][0]))
            self._move(run)
            at = run.left_end, run.right_end

    def _clauses(self, side: Side, around: list[Stretch], places: array[int]) -> Iterator[_Clause]:
        """Clauses and list items, or what is free of them, without the marks around them and the article before them."""
        for start, end in self._free(around, places):
            first = start
            for token in range(start, end + 1):
                separates = token < end and side.separates(token)
                if token < end and not separates and (token == start or not side.begins_line(token)):
                    continue
                begin = first
                while begin < token and side.is_article(begin):
                    begin += 1
                if begin < token:
                    bare = first
                    while bare > 0 and side.is_article(bare - 1):
                        bare -= 1
                    yield _Clause(begin, token, side.is_edge(bare) and side.is_edge(token))
                first = token + separates

    def _few_words(self, side: Side, around: list[Stretch], places: array[int]) -> Iterator[Stretch]:
        for first, last in self._free(around, places):
            if last - first <= MAX_SWAPPED and not self._only_separators(side, first, last):
                yield first, last

    def _with_separators(self, run: Run) -> Run:
        """The run and the marks behind it that both sides have."""
        length = run.length
        while (
            run.left + length < len(self.a)
            and run.right + length < len(self.b)
            and self.right_of[run.left + length] == self.left_of[run.right + length] == _FREE
            and self.a.hashes[run.left + length] == self.b.hashes[run.right + length]
            and self.a.separates(run.left + length)
        ):
            length += 1
        return run._replace(length=length)

    def _only_separators(self, side: Side, first: int, last: int) -> bool:
        return all(side.separates(token) or side.is_article(token) for token in range(first, last))

    def _separators(self, side: Side, around: list[Stretch], places: array[int]) -> Iterator[tuple[int, bool]]:
        """Marks, conjunctions and articles that are all that was changed at their place, and whether they are next to moved text."""
        for first, last in self._free(around, places):
            if self._only_separators(side, first, last):
                touches = (first > 0 and places[first - 1] >= 0) or (last < len(side) and places[last] >= 0)
                yield from ((token, touches) for token in range(first, last))

    def _trimmed(self, run: Run) -> Run:
        """The run without a word or three at its ends that belong to the next clause or item."""
        reach = min(PHRASE_TOKENS, run.length)
        start = next((token for token in range(run.left, run.left + reach) if self.a.is_edge(token)), run.left)
        end = next((token for token in range(run.left_end, run.left_end - reach, -1) if self.a.is_edge(token)), run.left_end)
        return Run(start, run.right + start - run.left, end - start) if start < end else run


def _pairs(side: Side, first: int, last: int) -> Iterable[tuple[int, int]]:
    """The pairs of neighbouring tokens, each once and in order of place: hashes differ between processes, and so would a set's order."""
    return dict.fromkeys(pairwise(side.hashes[first:last].tolist()))


def _in_place(kept: list[Run], moved: list[Run]) -> tuple[list[Run], list[Run]]:
    """A run that stands between the same kept runs on both sides was not moved, unless it crosses a longer one there."""
    lefts, rights = [run.left for run in kept], [run.right for run in kept]
    stays: dict[int, list[Run]] = {}  # what stays, by gap, in order
    elsewhere: list[Run] = []
    for run in sorted(moved, key=lambda run: (-run.length, run)):
        gap = bisect(lefts, run.left)
        here = stays.setdefault(gap, [])
        at = bisect(here, run)
        follows = at == 0 or here[at - 1].right_end <= run.right
        precedes = at == len(here) or run.right_end <= here[at].right
        if gap == bisect(rights, run.right) and follows and precedes:
            here.insert(at, run)
        else:
            elsewhere.append(run)
    return joined([*kept, *(run for here in stays.values() for run in here)]), sorted(elsewhere)
