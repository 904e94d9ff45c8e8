"""A table of word vectors that grows while a file is read; what is broken in the file is named with its place."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import InputError
from lookalike.word_mover.tables import WordTable

Broken = Literal["error", "skip"]
_FIRST_ROWS = 4096


class TableBuilder:
    """Never larger than what was read: nothing is reserved because a header says so."""

    def __init__(self, name: str, dimensions: int, *, broken: Broken, limit: int | None) -> None:
        self.name, self.dimensions, self.limit = name, dimensions, limit
        self.skipped = 0
        self._broken = broken
        self._rows: dict[str, int] = {}
        self._matrix: NDArray[np.float32] = np.empty((_FIRST_ROWS, dimensions), dtype=np.float32)

    @property
    def full(self) -> bool:
        return self.limit is not None and len(self._rows) >= self.limit

    def add(self, word: bytes, vector: Any, place: str) -> None:
        """One entry; ``vector`` may hold anything of the right length, ``place`` is where it stands in the file."""
        try:
            text = word.decode("utf-8")
        except UnicodeDecodeError as error:
            self.refuse(f"{place}: the word {word[:40]!r} is not UTF-8 ({error.reason})")
            return
        if not text.strip():
            self.refuse(f"{place}: an entry without a word")
            return
        if text in self._rows:
            self.refuse(f"{place}: the word {text[:40]!r} is there already, at row {self._rows[text] + 1:,} of the table")
            return
        if not np.isfinite(vector).all():
            self.refuse(f"{place}: the vector of {text[:40]!r} holds numbers that are not finite")
            return
        row = len(self._rows)
        if row == len(self._matrix):
            self._matrix.resize((2 * row, self.dimensions), refcheck=False)
        self._matrix[row] = vector
        self._rows[text] = row

    def refuse(self, message: str) -> None:
        """An entry that cannot be taken: an error, or one more that was skipped."""
        if self._broken == "error":
            raise InputError(f"{self.name}, {message}; repair the file, or leave such entries out with broken='skip'")
        self.skipped += 1

    def finish(self) -> WordTable:
        self._matrix.resize((len(self._rows), self.dimensions), refcheck=False)
        return WordTable(self._rows, self._matrix, name=self.name, skipped=self.skipped)
