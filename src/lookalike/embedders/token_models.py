"""Models that read windows of tokens: cut, batched in fixed shapes, and pooled here, whatever library computes them.

The last bits of a matrix product depend on its shape, and with it on the texts that share a batch. So the shape of a
batch depends on the length of its windows alone: they are padded to the next multiple of ``STEP`` tokens, and rows that are
missing are filled. A text then has one vector, in whatever company and order it is encoded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lookalike.embedders.texts import checked_texts
from lookalike.embedders.threads import each
from lookalike.embedders.tokenizing import ModelTokenizer
from lookalike.embedders.vectors import checked, pooled
from lookalike.embedders.windows import windows_of
from lookalike.errors import InputError

if TYPE_CHECKING:
    Floats: TypeAlias = NDArray[np.float32]
    Integers: TypeAlias = NDArray[np.int64]

# From token numbers and their mask (1: a token, 0: padding), both of one row a window, to a vector a window.
Compute: TypeAlias = "Callable[[Integers, Integers], Floats]"

STEP = 2  # more, and short sentences are mostly padding; 1 would leave more rows to fill
BATCH = 128  # tokens: one short text is not slowed down much by the rows that fill its batch, and a larger one gains little


class WindowBatch(NamedTuple):
    rows: list[int]
    windows: list[list[int]]
    length: int


class TokenEmbedder:
    """An ``Embedder`` of a tokenizer and one or several functions that compute windows, one a device or thread."""

    def __init__(
        self,
        name: str,
        version: str,
        tokenizer: ModelTokenizer,
        compute: Sequence[Compute],
        *,
        window: int,
        batch: int = BATCH,
        prompt: str = "",
    ) -> None:
        self.name, self.version = name, version
        self.window = window - tokenizer.marks
        if self.window < 1:
            raise InputError(f"embedder {name!r}: a window of {window} tokens has no room for text; give more")
        self._tokenizer, self._batch, self._prompt = tokenizer, batch, prompt
        self._workers = len(compute)
        self._free: SimpleQueue[Compute] = SimpleQueue()
        for function in compute:
            self._free.put(function)
        self.dimensions: int = 0
        self.dimensions = self.encode(["a"]).shape[1]  # also tells at once whether the model works

    def encode(self, texts: Sequence[str], /) -> Floats:
        return self.encode_windows(texts)[0]

    def encode_windows(self, texts: Sequence[str], /) -> tuple[Floats, list[int]]:
        """The vectors, and in how many windows each text was read: 0 where the model knows no token of it."""
        windows = [self._windows(text) for text in checked_texts(texts)]
        flat = list(chain.from_iterable(windows))
        vectors = np.zeros((len(flat), self.dimensions), dtype=np.float32)
        for rows, found in each(self._computed, self._batches(flat), self._workers):
            if not self.dimensions:
                vectors = np.zeros((len(flat), found.shape[1]), dtype=np.float32)
            vectors[rows] = found
        sizes = [[len(window) for window in of_text] for of_text in windows]
        return pooled(vectors, sizes), [len(of_text) for of_text in windows]

    def _windows(self, text: str) -> list[Sequence[int]]:
        tokens = self._tokenizer.tokens(text)
        if tokens and self._prompt:
            tokens = self._tokenizer.tokens(self._prompt + text)
        return windows_of(tokens, self.window)

    def _batches(self, windows: Sequence[Sequence[int]]) -> Iterator[WindowBatch]:
        by_length: dict[int, list[int]] = {}
        for row, window in enumerate(windows):
            by_length.setdefault(-(-(len(window) + self._tokenizer.marks) // STEP) * STEP, []).append(row)
        for length, rows in sorted(by_length.items()):
            count = max(1, self._batch // length)
            for at in range(0, len(rows), count):
                some = rows[at : at + count]
                yield WindowBatch(some, [self._tokenizer.marked(windows[row]) for row in some], length)

    def _computed(self, batch: WindowBatch) -> tuple[list[int], Floats]:
        numbers = np.full((max(1, self._batch // batch.length), batch.length), self._tokenizer.padding, dtype=np.int64)
        mask = np.zeros_like(numbers)
        mask[:, 0] = 1  # a row without any token would be divided by zero
        for row, window in enumerate(batch.windows):
            numbers[row, : len(window)] = window
            mask[row, : len(window)] = 1
        compute = self._free.get()
        try:
            found = compute(numbers, mask)
        finally:
            self._free.put(compute)
        return batch.rows, checked(found, len(numbers), self.dimensions or None, self.name)[: len(batch.rows)]
