"""The strings of a page by what they mean, instead of by their characters: ``strings="meaning"``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lookalike.embedders.encoding import encode
from lookalike.embedders.opening import Model, embedder, embedder_id
from lookalike.pages.strings import lexical

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class MeaningOfStrings:
    """The cosine of two strings' vectors; lexical where the model knows nothing of one of them, such as rare signs.

    ``prepare`` encodes many strings at once, which is much faster than one after the other.
    """

    def __init__(self, model: Model = None) -> None:
        self.model = embedder(model)
        self.id = embedder_id(self.model)
        self._vectors: dict[str, NDArray[np.float64] | None] = {}

    def prepare(self, strings: Iterable[str]) -> None:
        import numpy as np

        new = sorted(set(strings) - self._vectors.keys())
        found = encode(new, self.model)
        for text, vector, windows in zip(new, found.vectors.astype(np.float64), found.windows, strict=True):
            self._vectors[text] = vector if windows else None

    def __call__(self, left: str, right: str) -> float:
        self.prepare(text for text in (left, right) if text not in self._vectors)
        a, b = self._vectors[left], self._vectors[right]
        if a is None or b is None:
            return lexical(left, right)
        return float((a * b).sum())  # both have length 1
