"""What every model's output goes through: checked, of length 1, pooled over the windows of a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lookalike.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def checked(found: Any, count: int, dimensions: int | None, name: str) -> NDArray[np.float32]:
    """A model's answer as a float32 array of ``count`` rows; anything else is an error that names the model."""
    import numpy as np

    try:
        vectors = np.ascontiguousarray(found, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"embedder {name!r} gave a {type(found).__name__} that is not an array of numbers: {error}") from error
    if vectors.ndim != 2 or vectors.shape[0] != count:
        raise InputError(f"embedder {name!r} gave an array of shape {vectors.shape} for {count} texts: it must give one vector per text")
    if dimensions is not None and vectors.shape[1] != dimensions:
        raise InputError(f"embedder {name!r} gave vectors of {vectors.shape[1]} dimensions, and {dimensions} before")
    if not np.isfinite(vectors).all():
        raise InputError(f"embedder {name!r} gave NaN or infinite values: its weights are damaged")
    return vectors


def unit_rows(vectors: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    """Rows of length 1; a row of zeros stays one. Element-wise and by row, so that a row does not depend on the others."""
    import numpy as np

    wide = vectors.astype(np.float64)
    lengths = np.sqrt(np.square(wide).sum(axis=1, keepdims=True))
    found: NDArray[np.float32] = np.divide(wide, lengths, out=np.zeros_like(wide), where=lengths > 0).astype(np.float32)
    return found


def pooled(vectors: NDArray[np.float32], sizes: Sequence[Sequence[int]]) -> NDArray[np.float32]:
    """One row a text, of length 1: the mean of its windows' vectors, each weighing its tokens. ``sizes`` are the tokens by text."""
    import numpy as np

    windows = unit_rows(vectors)
    texts = np.zeros((len(sizes), vectors.shape[1]), dtype=np.float32)
    row = 0
    for number, of_text in enumerate(sizes):
        if len(of_text) == 1:
            texts[number] = windows[row]
        elif of_text:
            weights = np.array(of_text, dtype=np.float64)[:, None]
            mean = (windows[row : row + len(of_text)] * weights).sum(axis=0, keepdims=True) / weights.sum()
            texts[number] = unit_rows(mean)[0]
        row += len(of_text)
    return texts
