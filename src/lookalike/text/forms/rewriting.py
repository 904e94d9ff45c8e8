"""A text that was rewritten, and where each part of it stands in the original."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from lookalike import _native
from lookalike.model import Span


class Change(NamedTuple):
    """A stretch of a text, and what stands there instead."""

    start: int
    end: int
    text: str


class Step:
    """Changes of one text, in order and without overlaps: the new text, and the way back."""

    def __init__(self, text: str, changes: Iterable[Change]) -> None:
        pieces: list[str] = []
        self._new_starts: list[int] = []
        self._new_ends: list[int] = []
        self._old_starts: list[int] = []
        self._old_ends: list[int] = []
        at = size = 0
        for start, end, instead in changes:
            pieces += (text[at:start], instead)
            size += start - at
            self._new_starts.append(size)
            size += len(instead)
            self._new_ends.append(size)
            self._old_starts.append(start)
            self._old_ends.append(end)
            at = end
        self.text = "".join([*pieces, text[at:]])

    def __len__(self) -> int:
        return len(self._new_starts)

    def replaced(self, text: str) -> Iterable[tuple[str, str]]:
        """What stood in the old text, and what stands there now."""
        places = zip(self._old_starts, self._old_ends, self._new_starts, self._new_ends, strict=True)
        return ((text[start:end], self.text[first:last]) for start, end, first, last in places)

    def span(self, start: int, end: int) -> Span:
        """Where a stretch of the new text stands in the old one. What was left out before and after it is not part of it."""
        first = self._place(start, bisect_right(self._new_starts, start) - 1)
        last = self._place(end, bisect_left(self._new_starts, end) - 1)
        return first, max(first, last)

    def _place(self, place: int, change: int) -> int:
        """The old place of a new one, by the last change before it. Never descends, so that stretches stay apart."""
        if change < 0:
            return place
        if place >= self._new_ends[change]:
            return place - self._new_ends[change] + self._old_ends[change]
        inside = place - self._new_starts[change]
        size, was = self._new_ends[change] - self._new_starts[change], self._old_ends[change] - self._old_starts[change]
        return self._old_starts[change] + inside * was // size


def code_points(text: str) -> memoryview:
    """The characters as numbers."""
    return memoryview(text.encode(f"utf-32-{sys.byteorder[0]}e", "surrogatepass")).cast("I")


def from_code_points(points: memoryview) -> str:
    return points.tobytes().decode(f"utf-32-{sys.byteorder[0]}e", "surrogatepass")


class Rewritten:
    """A text after some steps. ``forms`` says of those that changed something how often they did."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.forms: Counter[str] = Counter()
        self._steps: list[Step] = []
        self._done: list[tuple[str, str, str | Step]] = []  # the form, the text before, and what was made of it

    def apply(self, form: str, found: str | Step | None) -> None:
        """What a form made of the text: nothing, a text with the same places, or a step."""
        if found is None:
            return
        self._done.append((form, self.text, found))
        if isinstance(found, Step):
            self._steps.append(found)
            self.forms[form] += len(found)
            self.text = found.text
        else:
            self.forms[form] += _native.count_differences(code_points(self.text), code_points(found))
            self.text = found

    def span(self, start: int, end: int) -> Span:
        """Where a stretch of the text stands in the original."""
        for step in reversed(self._steps):
            start, end = step.span(start, end)
        return start, end

    def written(self, form: str) -> dict[str, Counter[str]]:
        """How the text had written what a form made of it: ``{"…": {"...": 2}}``."""
        found: dict[str, Counter[str]] = {}
        for name, before, after in self._done:
            if name == form:
                for old, new in after.replaced(before) if isinstance(after, Step) else zip(before, after, strict=True):
                    if old != new:
                        found.setdefault(new, Counter())[old] += 1
        return found

    @property
    def keeps_places(self) -> bool:
        return not self._steps


def replaced(pattern: re.Pattern[str], text: str, instead: Callable[[re.Match[str]], str | None]) -> Step | None:
    """The text with what a pattern finds replaced; where ``instead`` gives None it stays."""
    changes = [Change(*match.span(), new) for match in pattern.finditer(text) if (new := instead(match)) is not None and new != match[0]]
    return Step(text, changes) if changes else None


def translated(table: dict[int, str], text: str) -> str | None:
    """The text with single characters replaced by single characters, if there are any."""
    found = text.translate(table)
    return found if found != text else None
