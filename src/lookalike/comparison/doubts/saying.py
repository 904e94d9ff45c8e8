"""A text as doubts read it, and how differences are said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from lookalike.lazy import cached_property
from lookalike.model import Span
from lookalike.text.blending import TextWords

SHOWN = 4


class Doubt(NamedTuple):
    """What to say of two texts; a grave one is reason enough not to call short texts alike."""

    note: str
    is_grave: bool = True


class Said:
    """A text as it is compared. ``place`` says where a stretch of it stands in ``original``: notes show what somebody wrote."""

    def __init__(self, read: TextWords, original: str, place: Callable[[int, int], Span]) -> None:
        self._read, self._original, self._place = read, original, place

    @property
    def text(self) -> str:
        return self._read.text

    @property
    def words(self) -> list[str]:
        return self._read.words

    @property
    def counts(self) -> Counter[str]:
        return self._read.counts

    @property
    def size(self) -> int:
        return self._read.size

    def written(self, start: int, end: int) -> str:
        first, last = self._place(start, end)
        return self._original[first:last]

    def written_words(self, first: int, last: int) -> str:
        """The words with these numbers, from the first to the last."""
        return " ".join(self.written(self._read.tokens.starts[first], self._read.tokens.ends[last]).split())

    @cached_property
    def places(self) -> dict[str, int]:
        """The number of each word that stands here once."""
        return {word: number for number, word in enumerate(self.words) if self.counts[word] == 1}


def one_sided(said: str, left: list[str], right: list[str]) -> Doubt | None:
    """What only one text has; None if there is nothing."""
    if not (left or right):
        return None
    if len(left) == len(right) == 1:
        return Doubt(f"{said}: {left[0]}, {right[0]}")
    parts = [f"{side} {listed(values)}" for side, values in (("left", left), ("right", right)) if values]
    return Doubt(f"{said}: {'; '.join(parts)}")


def listed(values: list[str]) -> str:
    return ", ".join(values[:SHOWN]) + (f" and {len(values) - SHOWN} more" if len(values) > SHOWN else "")
