"""All tokens of all things in one row of columns, so that everything that follows works on whole arrays.

Behind the tokens of each part stands one more, which is equal to no other: no run crosses the end of a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import InputError
from lookalike.model import Span
from lookalike.pairing.leaving_out import left_out
from lookalike.pairing.things import Thing, ThingPart
from lookalike.recipe import Recipe
from lookalike.text.code import code_recipe
from lookalike.text.tokenize import TokenStream, secret_strings, stream

RECIPE = Recipe(normalize="fold+invisible+script")  # as ``compare`` reads texts: what nobody sees does not count, nor does the script
MOST_TOKENS = 1 << 26  # about 130 bytes each
COUNTED, IGNORED, LEFT_OUT, COMMON, COPY = range(5)  # what became of a token; COPY: it is found through an equal thing

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(slots=True)
class TokenColumns:
    """The tokens of things, one after the other. ``words`` are numbers: equal tokens have equal ones."""

    words: Numbers
    starts: NDArray[np.uint32]  # in the text of the part
    ends: NDArray[np.uint32]
    parts: Numbers  # where each part begins, and where the last one ends; a part's last token is the one that equals no other
    part_of: Numbers  # the first part of each thing, and the number of all parts
    state: NDArray[np.uint8]  # COUNTED, or why a token is not
    vocabulary: int  # numbers of words are below; those from here on are of one token each

    @property
    def thing_starts(self) -> Numbers:
        """Where the tokens of each thing begin, and where the last ones end."""
        return self.parts[self.part_of]

    def things(self) -> Numbers:
        """The thing of each token."""
        return np.repeat(np.arange(len(self.part_of) - 1), np.diff(self.thing_starts))

    def sums(self, chosen: Flags) -> Numbers:
        """How many tokens of each thing are chosen."""
        before = np.concatenate([[0], np.cumsum(chosen)])
        return np.asarray(before[self.thing_starts[1:]] - before[self.thing_starts[:-1]])

    def drop(self, chosen: Flags, state: int) -> None:
        """These tokens do not count any more: they become equal to no other."""
        at = np.flatnonzero(chosen & (self.state == COUNTED))
        self.words[at] = self.vocabulary + at
        self.state[at] = state

    def without_last(self, things: int) -> TokenColumns:
        """The first things alone."""
        parts = int(self.part_of[things])
        size = int(self.parts[parts])
        return TokenColumns(
            self.words[:size],
            self.starts[:size],
            self.ends[:size],
            self.parts[: parts + 1],
            self.part_of[: things + 1],
            self.state[:size],
            self.vocabulary,
        )

    def part_at(self, token: int) -> int:
        """The part that a token is of."""
        return int(np.searchsorted(self.parts, token, side="right")) - 1

    def spans(self, thing: int, state: int) -> Iterator[tuple[int, Span]]:
        """The stretches of a thing that have a state: number of the part within the thing, and where in its text."""
        first = int(self.part_of[thing])
        for part in range(first, int(self.part_of[thing + 1])):
            start, end = int(self.parts[part]), int(self.parts[part + 1]) - 1
            chosen = np.concatenate([[False], self.state[start:end] == state, [False]])
            edges = np.flatnonzero(chosen[1:] != chosen[:-1]) + start
            for begin, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
                yield part - first, (int(self.starts[begin]), int(self.ends[stop - 1]))


def read_columns(
    things: Sequence[Thing], parts_left_out: Iterable[str] = (), progress: Callable[[int], object] | None = None
) -> TokenColumns:
    """The tokens of all things, where quotations and the like are left out already."""
    names = tuple(parts_left_out)
    hashes: list[NDArray[np.uint64]] = []
    starts: list[NDArray[np.uint32]] = []
    ends: list[NDArray[np.uint32]] = []
    outside: list[Flags] = []
    lengths, counts = [0], [0]
    total = 0
    for thing in things:
        for part in thing.parts:
            tokens = part_tokens(part)
            begin = np.frombuffer(tokens.starts, dtype=np.uint32)
            hashes.append(np.append(salted(tokens, part.language), np.uint64(0)))
            starts.append(np.append(begin, np.uint32(0)))
            ends.append(np.append(np.frombuffer(tokens.ends, dtype=np.uint32), np.uint32(0)))
            outside.append(_inside(begin, left_out(part.text, names) if names else []))
            lengths.append(len(begin) + 1)
            total += len(begin)
            if total > MOST_TOKENS:
                raise InputError(
                    f"more than {MOST_TOKENS:,} tokens: pairs are for folders and classes; for a corpus use 'lookalike dedupe'"
                )
        counts.append(len(thing.parts))
        if progress:
            progress(len(counts) - 1)
    return _numbered(hashes, starts, ends, outside, np.cumsum(lengths), np.cumsum(counts))


def part_tokens(part: ThingPart) -> TokenStream:
    """The tokens of a text, or of code in its language, which names, literals and layout do not change."""
    return stream(part.text, RECIPE if part.language is None else code_recipe(part.language))


def salted(tokens: TokenStream, language: str | None) -> NDArray[np.uint64]:
    """Hashes of tokens that differ between languages: a bracket of C is none of Python."""
    found = np.frombuffer(tokens.hashes, dtype=np.uint64)
    return found if language is None else found ^ np.frombuffer(secret_strings([f"language {language}"]), dtype=np.uint64)[0]


def _inside(starts: NDArray[np.uint32], spans: list[Span]) -> Flags:
    """Which tokens begin inside of spans, which are in order of their starts; and one more for the end of the part."""
    inside = np.zeros(len(starts) + 1, dtype=np.bool_)
    for start, end in spans:
        first, last = np.searchsorted(starts, [start, end])
        inside[first:last] = True
    return inside


def _numbered(
    hashes: list[NDArray[np.uint64]],
    starts: list[NDArray[np.uint32]],
    ends: list[NDArray[np.uint32]],
    outside: list[Flags],
    parts: Numbers,
    part_of: Numbers,
) -> TokenColumns:
    every = np.concatenate([np.zeros(0, np.uint64), *hashes])
    found, words = np.unique(every, return_inverse=True)
    last = parts[1:] - 1
    words = words.astype(np.int64)
    words[last] = len(found) + last
    state = np.full(len(every), COUNTED, dtype=np.uint8)
    state[last] = LEFT_OUT
    columns = TokenColumns(
        words,
        np.concatenate([np.zeros(0, np.uint32), *starts]),
        np.concatenate([np.zeros(0, np.uint32), *ends]),
        parts,
        part_of,
        state,
        len(found),
    )
    columns.drop(np.concatenate([np.zeros(0, np.bool_), *outside]), LEFT_OUT)
    return columns
