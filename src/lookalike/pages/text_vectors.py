"""Vectors of the texts of tags, and how alike they are.

A text has a vector a window. Windows are laid behind one another and the shorter row is filled up with zeros, so that two texts
are compared by their first windows, their second ones … and what only one has counts against them. A model that knows no windows
gives one a text.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from lookalike.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lookalike.embedders.base import Embedder

REMEMBERED = 256 << 20  # bytes of vectors, of all models


@runtime_checkable
class Windowed(Protocol):
    """A model that gives the windows of a text one by one."""

    window: int

    def encode_windows(self, texts: Sequence[str], /) -> list[NDArray[np.float32]]: ...


def identity(model: Embedder) -> str:
    return f"{model.name}@{model.version}"


class _Memory:
    """Pages of one site share most of their tags: what was computed lately is kept."""

    def __init__(self) -> None:
        self._rows: OrderedDict[tuple[str, str], NDArray[np.float32]] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def look_up(self, model: str, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        with self._lock:
            return {text: self._rows[model, text] for text in texts if (model, text) in self._rows}

    def keep(self, model: str, found: dict[str, NDArray[np.float32]]) -> None:
        with self._lock:
            for text, rows in found.items():
                if (model, text) not in self._rows:
                    self._rows[model, text] = rows
                    self._bytes += rows.nbytes + len(text)
            while self._bytes > REMEMBERED:
                (_, text), rows = self._rows.popitem(last=False)
                self._bytes -= rows.nbytes + len(text)


_memory = _Memory()


def text_vectors(texts: Sequence[str], model: Embedder) -> list[NDArray[np.float32]]:
    """One row a window for each text; every text is given to the model once."""
    name = identity(model)
    known = _memory.look_up(name, texts)
    missing = sorted({*texts} - known.keys())
    fresh = dict(zip(missing, _encoded(missing, model), strict=True)) if missing else {}
    _memory.keep(name, fresh)
    return [known[text] if text in known else fresh[text] for text in texts]


def _encoded(texts: list[str], model: Embedder) -> list[NDArray[np.float32]]:
    import numpy as np

    if isinstance(model, Windowed):
        return [rows.copy() for rows in model.encode_windows(texts)]  # copies: a view would keep the whole batch in memory
    rows = np.asarray(model.encode(texts), dtype=np.float32)
    if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
        raise InputError(f"model {model.name!r}: encode() must give one row of finite numbers a text")
    return [row[None].copy() for row in rows]


class Cosines:
    """Cosines of texts given by their number, 0 where they are negative. Equal numbers are equal texts."""

    def __init__(self, vectors: Sequence[NDArray[np.float32]], centre: NDArray[np.float64] | None = None) -> None:
        import numpy as np

        rows = [found.astype(np.float64) for found in vectors]
        if centre is not None:
            rows = [found - centre for found in rows]
        norms = [float(np.sqrt((found * found).sum())) for found in rows]
        self._rows = [found / norm if norm else found for found, norm in zip(rows, norms, strict=True)]
        self._windows = np.array([len(found) for found in rows], dtype=np.int64)

    def of_pair(self, left: int, right: int) -> float:
        if left == right:
            return 1.0
        a, b = self._rows[left], self._rows[right]
        common = min(len(a), len(b))
        return min(1.0, max(0.0, float((a[:common] * b[:common]).sum())))

    def table(self, left: Sequence[int], right: Sequence[int]) -> NDArray[np.float32]:
        """All with all: to choose pairs by; ``of_pair`` does not depend on how many are computed together."""
        import numpy as np

        rows, columns = np.array(left, dtype=np.int64), np.array(right, dtype=np.int64)
        found = np.zeros((len(rows), len(columns)), dtype=np.float32)
        longest = min(int(self._windows[each].max(initial=0)) for each in (rows, columns))
        for window in range(longest):
            here, there = (np.flatnonzero(self._windows[each] > window) for each in (rows, columns))
            a, b = (np.array([self._rows[n][window] for n in each], dtype=np.float32) for each in (rows[here], columns[there]))
            found[np.ix_(here, there)] += a @ b.T
        np.clip(found, 0.0, 1.0, out=found)
        found[rows[:, None] == columns] = 1.0
        return found
