"""Places in a text as line numbers, as editors count them."""

from __future__ import annotations

import re
from bisect import bisect_left

from lookalike.model import Span


class Lines:
    """The lines of a text, counted from 1. ``\\n``, ``\\r\\n`` and a lone ``\\r`` end a line."""

    def __init__(self, text: str) -> None:
        self._ends = [found.end() - 1 for found in re.finditer("\r\n|\r|\n", text)]

    def of(self, span: Span) -> Span:
        """The first and the last line of a span."""
        first = 1 + bisect_left(self._ends, span[0])
        return first, max(first, 1 + bisect_left(self._ends, span[1] - 1))

    @property
    def starts(self) -> list[int]:
        """Where each line begins."""
        return [0, *(end + 1 for end in self._ends)]
