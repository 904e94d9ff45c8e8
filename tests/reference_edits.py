"""What became of a text, the slow and obvious way: what native/edits computes, in Python.

``kept_runs`` says what was kept, ``shared`` what was moved, and ``segments_of`` puts the two together.
"""

from __future__ import annotations

from array import array
from bisect import bisect, bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from heapq import nsmallest
from itertools import accumulate, pairwise
from typing import NamedTuple

from lookalike import _native
from lookalike.comparison import sides
from lookalike.comparison.edits import KINDS, RECOGNISABLE, Segment, similar
from lookalike.comparison.sides import EqualRun, Gap, Stretch, changed, gaps
from lookalike.model import Span

LINE, SENTENCE, SEPARATOR, BEHIND_SEPARATOR, ARTICLE = 2, 1, 4, 8, 16  # as in native/text/token_traits.hpp

SIMILAR_TOKENS = 16  # of a gap: longer texts have many trigrams in common by chance
CONTEXT_TOKENS = 64  # of kept text on either side of a gap: a sentence that is longer is recognisable anyhow


class Side(sides.Side):
    """A text, and where its lines, sentences and clauses begin."""

    def span(self, first: int, last: int) -> Span:
        return self.starts[first], self.ends[last - 1]

    def begins_line(self, token: int) -> bool:
        return self.traits[token] & LINE > 0

    def begins(self, token: int) -> int:
        """2 or more if a line begins with the token, 1 if a sentence does, else 0."""
        return self.traits[token] & (LINE | SENTENCE)

    def separates(self, token: int) -> bool:
        """Whether a token stands between clauses or list items: a mark or a conjunction."""
        return self.traits[token] & SEPARATOR > 0

    def is_article(self, token: int) -> bool:
        return self.traits[token] & ARTICLE > 0

    def is_edge(self, token: int) -> bool:
        """Whether a clause or a list item can begin with a token, or end before it."""
        return self.traits[token] & (LINE | SEPARATOR | BEHIND_SEPARATOR) > 0

    @property
    def beginnings(self) -> list[int]:
        """The tokens that a line or a sentence begins with, and the end of the text."""
        return [token for token in range(len(self) + 1) if self.begins(token)]

    @property
    def edges(self) -> list[int]:
        """The tokens that a clause or a list item can begin with or end before, and the end of the text."""
        return [token for token in range(len(self) + 1) if self.is_edge(token)]


def joined(runs: Iterable[EqualRun]) -> list[EqualRun]:
    """Runs that follow each other without a gap on both sides are one."""
    found: list[EqualRun] = []
    for run in sorted(runs):
        last = found[-1] if found else None
        if last and (last.left_end, last.right_end) == (run.left, run.right):
            found[-1] = EqualRun(last.left, last.right, last.length + run.length)
        else:
            found.append(run)
    return found


# A kept fragment stands if it has more than half as much text as the changes around it.
FRAGMENT_FACTOR = 2
MAX_SLIDE = 64  # tokens; bounds the work on repetitive texts
MAX_REACH = 64  # tokens from a gap to the beginning or the end of the sentence it is in
MAX_BROKEN = 10_000  # runs: with more, bits are not looked for, which would take longer than everything else


def kept_runs(a: Side, b: Side) -> list[EqualRun]:
    """What was kept, in order."""
    aligned = [EqualRun(*run) for run in _native.align_tokens(a.hashes, b.hashes, a.sizes)]
    return _without_bits(_without_fragments(_slid(aligned, a, b), a, b), a, b)


def _slid(runs: list[EqualRun], a: Side, b: Side) -> list[EqualRun]:
    """The same alignment with every one-sided gap where it reads best.

    Where text was only deleted or only inserted, the gap often can move: ``one. [two. ]three.`` and ``one[. two]. three.`` are
    the same deletion. Best is where a run joins its neighbour, then where the gap begins a line, then a sentence.
    """
    absorbed: list[EqualRun] = []
    for run in reversed(runs):  # backwards first: a stray token that was aligned early joins the run it belongs to
        while absorbed and (whole := _absorbed(run, absorbed[-1], a, b)):
            absorbed.pop()
            run = whole
        absorbed.append(run)
    placed: list[EqualRun] = []
    for run in reversed(absorbed):
        if placed:
            shift = _shift(placed[-1], run, a, b)
            before = placed.pop()
            before, run = before._replace(length=before.length + shift), EqualRun(run.left + shift, run.right + shift, run.length - shift)
            placed += [before] if before.length else []
            if not run.length:
                continue
        placed.append(run)
    return joined(placed)


class _Gap(NamedTuple):
    """Tokens between two runs on one side, where the other side has none."""

    hashes: memoryview
    side: Side
    start: int
    end: int


def _one_sided(first: EqualRun, second: EqualRun, a: Side, b: Side) -> _Gap | None:
    if first.right_end == second.right:
        return _Gap(a.hashes, a, first.left_end, second.left)
    if first.left_end == second.left:
        return _Gap(b.hashes, b, first.right_end, second.right)
    return None


def _absorbed(first: EqualRun, second: EqualRun, a: Side, b: Side) -> EqualRun | None:
    """Both runs as one, if all of the first can stand directly before the second."""
    gap, size = _one_sided(first, second, a, b), first.length
    if gap is None or size > MAX_SLIDE or gap.hashes[gap.end - size : gap.end] != gap.hashes[gap.start - size : gap.start]:
        return None
    return EqualRun(second.left - size, second.right - size, size + second.length)


def _shift(first: EqualRun, second: EqualRun, a: Side, b: Side) -> int:
    """By how many tokens the gap between two runs should slide: to the right if positive, to the left if negative."""
    gap = _one_sided(first, second, a, b)
    if gap is None:
        return 0
    right = left = 0
    while right < min(MAX_SLIDE, second.length) and gap.hashes[gap.start + right] == gap.hashes[gap.end + right]:
        right += 1
    if right == second.length:
        return right
    while left < min(MAX_SLIDE, first.length - 1) and gap.hashes[gap.start - left - 1] == gap.hashes[gap.end - left - 1]:
        left += 1
    if not (left or right):
        return 0
    return max(range(-left, right + 1), key=lambda shift: (gap.side.begins(gap.start + shift), -abs(shift)))


def _without_fragments(runs: list[EqualRun], a: Side, b: Side) -> list[EqualRun]:
    """The kept runs that are more than chance agreement inside a rewritten stretch."""
    edges = [*runs, EqualRun(len(a), len(b), 0), EqualRun(0, 0, 0)]  # the end has index len(runs), the start -1
    before, after = list(range(-1, len(runs))), [*range(1, len(runs) + 1), 0]

    def gap(first: int, second: int) -> int:
        x, y = edges[first], edges[second]
        return max(a.characters(x.left_end, y.left), b.characters(x.right_end, y.right))

    def is_fragment(i: int) -> bool:
        size = a.characters(runs[i].left, runs[i].left_end)
        return FRAGMENT_FACTOR * size <= min(gap(before[i], i), gap(i, after[i]))

    stays = bytearray(b"\1") * len(runs)
    suspects: Iterable[int] = range(len(runs))
    while suspects:
        dropped: list[int] = []
        for i in suspects:
            # Of neighbouring fragments only every second is dropped at a time: dropping one enlarges the gaps of the other.
            if is_fragment(i) and not (dropped and dropped[-1] == before[i]):
                dropped.append(i)
        for i in dropped:
            stays[i] = 0
            after[before[i]], before[after[i]] = after[i], before[i]
        suspects = sorted({k for i in dropped for k in (before[i], after[i]) if 0 <= k < len(runs) and stays[k]})
    return [run for run, stay in zip(runs, stays, strict=True) if stay]


def _without_bits(runs: list[EqualRun], a: Side, b: Side) -> list[EqualRun]:
    """The runs without bits of lines, sentences and clauses of which less than half was kept, and which stand whole elsewhere."""
    if len(runs) > MAX_BROKEN:
        return runs
    for places_a, places_b in ((a.beginnings, b.beginnings), (a.edges, b.edges)):
        mirrored = [EqualRun(run.right, run.left, run.length) for run in runs]
        ours, theirs = _broken(runs, a, b, places_a), _broken(mirrored, b, a, places_b)
        released = [bit for key, bits in ours.items() if key in theirs for bit in bits]
        released += [EqualRun(left, right, length) for key, bits in theirs.items() if key in ours for right, left, length in bits]
        if released:
            runs = _split(runs, released)
    return runs


def _broken(runs: list[EqualRun], a: Side, b: Side, places: list[int]) -> dict[bytes, list[EqualRun]]:
    """The units around and in gaps of which less than half was kept, by their tokens: the kept bits of them. They begin at ``places``."""
    found: dict[bytes, list[EqualRun]] = {}
    lefts = [run.left for run in runs]
    done = 0
    for first, last, _, _ in gaps(runs, a, b):
        first = max(first, done)
        if first >= last:
            continue  # nothing here, or in the unit of the gap before
        start, end = max(done, first - MAX_REACH), min(len(a), last + MAX_REACH)
        inner, outer = bisect(places, first), bisect_left(places, last)
        edges = [places[inner - 1] if inner and places[inner - 1] >= start else first]
        edges += places[inner:outer]
        edges += [places[outer] if outer < len(places) and places[outer] <= end else last]
        done = edges[-1]
        for unit in pairwise(edges):
            # Only a unit that reaches beyond the gap can have kept bits.
            bits = list(_inside(runs, lefts, *unit)) if unit[0] < first or unit[1] > last else []
            if not bits or 2 * sum(a.characters(bit.left, bit.left_end) for bit in bits) <= a.characters(*unit):
                found.setdefault(a.hashes[unit[0] : unit[1]].tobytes(), []).extend(bits)
    return found


def _inside(runs: list[EqualRun], lefts: list[int], first: int, last: int) -> Iterator[EqualRun]:
    """The parts of runs between two left tokens."""
    at = max(bisect(lefts, first) - 1, 0)
    while at < len(runs) and runs[at].left < last:
        left, end = max(runs[at].left, first), min(runs[at].left_end, last)
        if left < end:
            yield EqualRun(left, runs[at].right + left - runs[at].left, end - left)
        at += 1


def _split(runs: list[EqualRun], released: list[EqualRun]) -> list[EqualRun]:
    """The runs without some parts of them."""
    bits = sorted(set(released))
    kept: list[EqualRun] = []
    at = 0
    for run in runs:
        left = run.left
        while at < len(bits) and bits[at].left < run.left_end:
            if bits[at].left > left:
                kept.append(EqualRun(left, run.right + left - run.left, bits[at].left - left))
            left = max(left, bits[at].left_end)
            at += 1
        if left < run.left_end:
            kept.append(EqualRun(left, run.right + left - run.left, run.left_end - left))
    return kept


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

    kept: list[EqualRun]
    moved: list[EqualRun]
    changes: list[Change]  # inside moved text


def shared(a: Side, b: Side, kept: list[EqualRun]) -> Shared:
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

    def __init__(self, a: Side, b: Side, kept: list[EqualRun]) -> None:
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
                self._move(self._with_separators(EqualRun(clause.first, found.pop().first, clause.last - clause.first)))

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
                    self._move(EqualRun(i, k, 1))

    def find_separators(self) -> None:
        places: dict[int, deque[tuple[int, bool]]] = defaultdict(deque)
        for token, touches in self._separators(self.b, self.right_gaps, self.left_of):
            places[self.b.hashes[token]].append((token, touches))
        for token, touches in self._separators(self.a, self.left_gaps, self.right_of) if places else ():
            found = places.get(self.a.hashes[token])
            if found and (touches or found[0][1]):
                self._move(EqualRun(token, found.popleft()[0], 1))

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

    def _native_runs(self, shortest: int) -> list[EqualRun]:
        known = [(run.left, run.right, run.length) for run in (*self.kept, *self._runs())]
        return [EqualRun(*run) for run in _native.moved_tokens(self.a.hashes, self.b.hashes, known, shortest)]

    def _runs(self) -> Iterator[EqualRun]:
        """What was moved so far, from left to right."""
        for first, last in self.left_gaps:
            at = first
            while at < last:
                there, end = self.right_of[at], at + 1
                while there >= 0 and end < last and self.right_of[end] == there + end - at:
                    end += 1
                if there >= 0:
                    yield EqualRun(at, there, end - at)
                at = end

    def _move(self, run: EqualRun) -> None:
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
            run = EqualRun(left[0] + start, right[0] + there, length)
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

    def _with_separators(self, run: EqualRun) -> EqualRun:
        """The run and the marks behind it that both sides have."""
        length = run.length
        while (
            run.left + length < len(self.a)
            and run.right + length < len(self.b)
            and self.right_of[run.left + length] == self.left_of[run.right + length] == _FREE
            and self.a.hashes[run.left + length] == self.b.hashes[run.right + length]
            and self.a.separates(run.left + length)
            and self.b.separates(run.right + length)
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

    def _trimmed(self, run: EqualRun) -> EqualRun:
        """The run without a word or three at its ends that belong to the next clause or item."""
        reach = min(PHRASE_TOKENS, run.length)
        start = next((token for token in range(run.left, run.left + reach) if self.a.is_edge(token)), run.left)
        end = next((token for token in range(run.left_end, run.left_end - reach, -1) if self.a.is_edge(token)), run.left_end)
        return EqualRun(start, run.right + start - run.left, end - start) if start < end else run


def _pairs(side: Side, first: int, last: int) -> Iterable[tuple[int, int]]:
    """The pairs of neighbouring tokens, each once and in order of place: hashes differ between processes, and so would a set's order."""
    return dict.fromkeys(pairwise(side.hashes[first:last].tolist()))


def _in_place(kept: list[EqualRun], moved: list[EqualRun]) -> tuple[list[EqualRun], list[EqualRun]]:
    """A run that stands between the same kept runs on both sides was not moved, unless it crosses a longer one there."""
    lefts, rights = [run.left for run in kept], [run.right for run in kept]
    stays: dict[int, list[EqualRun]] = {}  # what stays, by gap, in order
    elsewhere: list[EqualRun] = []
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


_Placed = tuple[int, int, Segment]


def _segments(a: Side, b: Side, found: Shared) -> tuple[list[_Placed], list[_Placed]]:
    left = list(_moved(a, b, found))
    right = list(_moved(b, a, _mirrored(found)))
    for run in found.kept:
        spans = a.span(run.left, run.left_end), b.span(run.right, run.right_end)
        left.append((run.left, run.left_end, Segment("kept", *spans)))
        right.append((run.right, run.right_end, Segment("kept", spans[1], spans[0])))
    runs = (((run.left, run.left_end), (run.right, run.right_end)) for run in found.moved)
    between = list(changed(found.kept, [*runs, *((change[:2], change[2:]) for change in found.changes)], a, b))
    for gap, reworded in zip(between, _reworded(a, b, found.kept, between), strict=True):
        _label(a, b, gap, reworded, left, right)
    return sorted(left), sorted(right)


def _mirrored(found: Shared) -> Shared:
    moved = [EqualRun(run.right, run.left, run.length) for run in found.moved]
    return Shared([], moved, [Change(right, right_end, left, left_end) for left, left_end, right, right_end in found.changes])


def _moved(side: Side, other: Side, found: Shared) -> Iterator[_Placed]:
    for run in found.moved:
        spans = side.span(run.left, run.left_end), other.span(run.right, run.right_end)
        yield run.left, run.left_end, Segment("moved", *spans)
    for left, left_end, right, right_end in found.changes:
        yield left, left_end, Segment("reworded", side.span(left, left_end), other.span(right, right_end))


def _label(a: Side, b: Side, gap: Gap, reworded: bool, left: list[_Placed], right: list[_Placed]) -> None:
    if reworded and gap.left and gap.right:
        left_whole, right_whole = a.span(gap.left[0][0], gap.left[-1][1]), b.span(gap.right[0][0], gap.right[-1][1])
        left.extend((first, last, Segment("reworded", a.span(first, last), right_whole)) for first, last in gap.left)
        right.extend((first, last, Segment("reworded", b.span(first, last), left_whole)) for first, last in gap.right)
        return
    left.extend((first, last, Segment("deleted", a.span(first, last), None)) for first, last in gap.left)
    right.extend((first, last, Segment("inserted", b.span(first, last), None)) for first, last in gap.right)


def _reworded(a: Side, b: Side, kept: list[EqualRun], between: list[Gap]) -> Iterator[bool]:
    """For each gap, whether the sentence it stands in is still recognisable.

    A sentence, here, is what lies between two kept tokens with which lines or sentences begin.
    """
    sentence: list[Gap] = []
    same = 0
    for number, gap in enumerate(between):
        sentence.append(gap)
        head, tail = _context(a, kept[number]) if number < len(kept) else (0, 0)
        same += head
        if tail is not None:
            yield from [_is_recognisable(a, b, sentence, same)] * len(sentence)
            sentence, same = [], tail


def _is_recognisable(a: Side, b: Side, sentence: list[Gap], same: int) -> bool:
    was = sum([a.characters(*stretch) for gap in sentence for stretch in gap.left])
    now = sum([b.characters(*stretch) for gap in sentence for stretch in gap.right])
    least = RECOGNISABLE * (same + max(was, now))
    return same >= least or same + sum(_similar_gap(a, b, gap) for gap in sentence) >= least


def _context(a: Side, run: EqualRun) -> tuple[int, int | None]:
    """The characters of a kept run that belong to the sentence before it, and those of the sentence behind it.

    None if it all belongs to one sentence.
    """
    reach = min(run.length, CONTEXT_TOKENS)
    # The first and the last token of the run, within reach of its ends, that begins a line or a sentence; the text's end begins one.
    end = a.beginnings[bisect_left(a.beginnings, run.left)]
    start = a.beginnings[bisect(a.beginnings, run.left_end) - 1]
    if end > run.left_end and reach == run.length:
        return a.characters(run.left, run.left_end), None
    return a.characters(run.left, min(end, run.left + reach)), a.characters(max(start, run.left_end - reach), run.left_end)


def _similar_gap(a: Side, b: Side, gap: Gap) -> float:
    """How many characters of a gap became similar words."""
    left, right = ([token for stretch in stretches for token in range(*stretch)] for stretches in (gap.left, gap.right))
    return similar(a, b, left, right) if 0 < len(left) <= SIMILAR_TOKENS and 0 < len(right) <= SIMILAR_TOKENS else 0.0


class Expected(NamedTuple):
    """What the kernel must say."""

    left: list[Segment]
    right: list[Segment]
    left_characters: list[int]  # of each kind
    right_characters: list[int]


def segments_of(left: str, right: str) -> Expected:
    a, b = Side(left), Side(right)
    sides_found = _segments(a, b, shared(a, b, kept_runs(a, b)))
    counts = []
    for side, placed in zip((a, b), sides_found, strict=True):
        count = dict.fromkeys(KINDS, 0)
        for first, last, segment in placed:
            count[segment.kind] += side.characters(first, last)
        counts.append(list(count.values()))
    found = [[segment for _, _, segment in placed] for placed in sides_found]
    return Expected(found[0], found[1], counts[0], counts[1])
