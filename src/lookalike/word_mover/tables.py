"""Vectors of words: a table that was loaded, or words encoded by a model as they come."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lookalike.corpus.writing import atomic_file
from lookalike.embedders.base import Embedder
from lookalike.errors import InputError

if TYPE_CHECKING:
    Matrix = NDArray[np.float32]

MAX_DIMENSIONS = 65536
MAX_KEPT_WORDS = 100_000  # of a model; 200 MB at 512 dimensions
SAVED_WORDS, SAVED_VECTORS = "words.json", "vectors.npy"


class WordVectors(Protocol):
    """What Word Mover's Distance needs to know of words."""

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def __contains__(self, word: str, /) -> bool: ...

    def vectors(self, words: Sequence[str], /) -> Matrix:
        """A row for each of these words, all of which are known."""
        ...


class WordTable:
    """Words and their vectors: one float32 matrix, in memory or mapped from a file.

    ``skipped`` is how many entries of a file were left out because they were broken.
    """

    def __init__(self, rows: Mapping[str, int], matrix: Matrix, *, name: str, skipped: int = 0) -> None:
        if matrix.ndim != 2 or not 1 <= matrix.shape[1] <= MAX_DIMENSIONS:
            raise InputError(f"{name}: vectors of shape {matrix.shape}; give a row a word, with 1 to {MAX_DIMENSIONS:,} numbers")
        if not rows:
            raise InputError(f"{name}: no words")
        self.name, self.skipped = name, skipped
        self._rows, self._matrix = rows, matrix

    def __repr__(self) -> str:
        return f"<WordTable {self.name}: {len(self):,} words, {self.dimensions} dimensions>"

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, word: str) -> bool:
        return word in self._rows

    @property
    def dimensions(self) -> int:
        return int(self._matrix.shape[1])

    def words(self) -> list[str]:
        return list(self._rows)

    def vectors(self, words: Sequence[str]) -> Matrix:
        """A row for each of these words; one that is not in the table is an error."""
        try:
            rows = [self._rows[word] for word in words]
        except KeyError as error:
            raise InputError(f'{self.name} has no vector for {error.args[0]!r}: check the word, or ask with "in" first') from None
        found = np.asarray(self._matrix[rows], dtype=np.float32)
        if not np.isfinite(found).all():
            row = int(np.nonzero(~np.isfinite(found).all(axis=1))[0][0])
            raise InputError(f"{self.name}: the vector of {words[row]!r} holds numbers that are not finite; remove it")
        return found

    def save(self, folder: str | Path) -> None:
        """Write the table into a folder, from which it is mapped and not read: it opens at once, and processes share it."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        matrix = np.ascontiguousarray(self._matrix, dtype=np.float32)
        with atomic_file(place / SAVED_VECTORS) as file:
            np.save(file, matrix, allow_pickle=False)
        with atomic_file(place / SAVED_WORDS) as file:
            file.write(json.dumps(dict(self._rows), ensure_ascii=False).encode())


def open_saved(folder: Path) -> WordTable:
    """A table that was saved, its matrix mapped."""
    try:
        rows = json.loads((folder / SAVED_WORDS).read_text(encoding="utf-8"))
        matrix = np.load(folder / SAVED_VECTORS, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InputError(f"{str(folder)!r}: not a saved table of word vectors ({error}); save it again") from error
    good = isinstance(rows, dict) and all(type(row) is int and 0 <= row < len(matrix) for row in rows.values())
    if not good or matrix.dtype != np.float32:
        raise InputError(f"{str(folder)!r}: words and vectors do not belong together; save the table again")
    return WordTable(rows, matrix, name=folder.name)


def table_of(mapping: Mapping[str, Any], name: str = "vectors") -> WordTable:
    """A table from words and their vectors in memory."""
    rows: dict[str, int] = {}
    found: list[Any] = []
    for word, vector in mapping.items():
        if not isinstance(word, str):
            raise InputError(f"{name}: {word!r} is not a str; give words and their vectors")
        try:
            row = np.asarray(vector, dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise InputError(f"{name}[{word!r}]: {error}; give a list of numbers") from error
        if row.ndim != 1 or row.shape != (found or [row])[0].shape:
            raise InputError(f"{name}[{word!r}] has shape {row.shape}: all vectors must have one dimension and the same length")
        rows[word] = len(found)
        found.append(row)
    return WordTable(rows, np.stack(found) if found else np.zeros((0, 1), dtype=np.float32), name=name)


class EmbeddedWords:
    """Words encoded one by one by a model that knows every word. What was encoded is kept, up to a limit."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"<EmbeddedWords {self.name}>"

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def __contains__(self, word: str) -> bool:
        return bool(word.strip())

    def vectors(self, words: Sequence[str]) -> Matrix:
        kept = self._kept  # another thread may replace it: this call goes on with the one it filled
        missing = [word for word in dict.fromkeys(words) if word not in kept]
        if missing:
            if len(kept) + len(missing) > MAX_KEPT_WORDS:
                kept = self._kept = {}
                missing = list(dict.fromkeys(words))
            encoded = np.asarray(self._embedder.encode(missing), dtype=np.float32)
            if encoded.shape != (len(missing), self.dimensions):
                raise InputError(
                    f"embedder {self.name!r} gave shape {encoded.shape} for {len(missing)} words of {self.dimensions} dimensions"
                )
            kept.update(zip(missing, encoded, strict=True))
        return np.stack([kept[word] for word in words]) if words else np.zeros((0, self.dimensions), dtype=np.float32)
