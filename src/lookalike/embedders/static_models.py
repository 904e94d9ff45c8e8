"""Static models (model2vec): a vector a token, and the mean of a text's tokens. Computed here, with neither torch nor model2vec."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.embedders.texts import checked_texts
from lookalike.embedders.tokenizing import tokenizer_of_file
from lookalike.embedders.vectors import checked, unit_rows
from lookalike.errors import InputError, MissingExtra

TABLES = ("embeddings", "embedding.weight")


class StaticEmbedder:
    """An ``Embedder``. A text of any length is one mean: there are no windows. Unknown tokens do not count."""

    def __init__(self, name: str, version: str, weights: Path, tokenizer: Path) -> None:
        self.name, self.version = name, version
        self._tokenizer = tokenizer_of_file(tokenizer, f"embedder {name!r}")
        found = _tensors(weights, name)
        table = next((found[key] for key in TABLES if key in found), None)
        if table is None or table.ndim != 2:
            raise InputError(f"embedder {name!r}: {weights.name} holds {', '.join(found)} and no table {' or '.join(TABLES)}")
        self._table = checked(table, len(table), None, name)
        self._weights, self._mapping = found.get("weights"), found.get("mapping")
        self.dimensions: int = self._table.shape[1]
        self._known = min(len(part) for part in (self._mapping, self._weights, self._table) if part is not None)

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        return self.encode_windows(texts)[0]

    def encode_windows(self, texts: Sequence[str], /) -> tuple[NDArray[np.float32], list[int]]:
        """The vectors, and 1 for each text, or 0 where the model knows no token of it."""
        asked = checked_texts(texts)
        vectors = np.zeros((len(asked), self.dimensions), dtype=np.float32)
        windows = [0] * len(asked)
        for row, text in enumerate(asked):
            tokens = [number for number in self._tokenizer.tokens(text) if number != self._tokenizer.unknown]
            if tokens:
                vectors[row] = self._mean(tokens)
                windows[row] = 1
        return unit_rows(vectors), windows

    def _mean(self, tokens: list[int]) -> NDArray[np.float32]:
        if max(tokens) >= self._known:
            raise InputError(f"embedder {self.name!r}: the tokenizer knows token {max(tokens)}, and the weights {self._known} tokens")
        numbers, counts = np.unique(tokens, return_counts=True)  # a long text repeats itself
        factors = counts.astype(np.float64)
        if self._weights is not None:
            factors *= self._weights[numbers]
        rows = self._table[numbers if self._mapping is None else self._mapping[numbers]]
        found: NDArray[np.float32] = ((rows * factors[:, None]).sum(axis=0) / len(tokens)).astype(np.float32)
        return found


def _tensors(path: Path, name: str) -> dict[str, Any]:
    try:
        from safetensors.numpy import load_file
    except ImportError as error:
        raise MissingExtra.for_extra(f"embedder {name!r}", "models") from error
    try:
        tensors: dict[str, Any] = load_file(path)
    except Exception as error:
        raise InputError(f"embedder {name!r}: {path.name} could not be read: {error}") from error
    return tensors
