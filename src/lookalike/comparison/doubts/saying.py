"""A text as doubts read it, and how differences are said."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from lookalike.model import Span
from lookalike.text.blending import TextWords

SHOWN = 4


class Doubt(NamedTuple):
    """What to say of two texts; a grave one is reason enough not to call short texts alike."""

    note: str
    is_grave: bool = True


class Said(TextWords):
    """A text as it is compared. ``place`` says where a stretch of it stands in ``original``: notes show what somebody wrote."""

    def __init__(self, text: str, original: str, place: Callable[[int, int], Span]) -> None:
        super().__init__(text)
        self._original, self._place = original, place

    def written(self, start: int, end: int) -> str:
        first, last = self._place(start, end)
        return self._original[first:last]

    def written_words(self, first: int, last: int) -> str:
        """The words with these numbers, from the first to the last."""
        return " ".join(self.written(self.tokens.starts[first], self.tokens.ends[last]).split())

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
