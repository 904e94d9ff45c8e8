"""Vectors of the texts of tags, and how alike they are.

A text has a vector a window. Windows are laid behind one another and the shorter row is filled up with zeros, so that two texts
are compared by their first windows, their second ones … and what only one has counts against them. A model that knows no windows
gives one per text.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Protocol, runtime_checkable
from weakref import WeakKeyDictionary

from lookalike.embedders.vectors import checked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lookalike.embedders.base import Embedder

REMEMBERED = 256 << 20  # bytes of vectors a model


@runtime_checkable
class Windowed(Protocol):
    """A model that gives the windows of a text one by one."""

    window: int

    def window_vectors(self, texts: Sequence[str], /) -> list[NDArray[np.float32]]: ...


class _Memory:
    """What a model computed lately: pages of one site share most of their tags."""

    def __init__(self) -> None:
        self._rows: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def look_up(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        with self._lock:
            return {text: self._rows[text] for text in texts if text in self._rows}

    def keep(self, found: dict[str, NDArray[np.float32]]) -> None:
        with self._lock:
            for text, rows in found.items():
                if text not in self._rows:
                    self._rows[text] = rows
                    self._bytes += rows.nbytes + len(text)
            while self._bytes > REMEMBERED:
                text, rows = self._rows.popitem(last=False)
                self._bytes -= rows.nbytes + len(text)


# By the model itself and not by its name: functions may share one.
_memories: WeakKeyDictionary[Embedder, _Memory] = WeakKeyDictionary()


def text_vectors(texts: Sequence[str], model: Embedder) -> list[NDArray[np.float32]]:
    """One row a window for each text; every text is given to the model once."""
    memory = _memory_of(model)
    known = memory.look_up(texts)
    missing = sorted({*texts} - known.keys())
    if missing:
        fresh = dict(zip(missing, _encoded(missing, model), strict=True))
        memory.keep(fresh)
        known |= fresh
    return [known[text] for text in texts]


def _memory_of(model: Embedder) -> _Memory:
    try:
        return _memories.setdefault(model, _Memory())
    except TypeError:  # a model that cannot be a key
        return _Memory()


def _encoded(texts: list[str], model: Embedder) -> list[NDArray[np.float32]]:
    if isinstance(model, Windowed):
        return [rows.copy() for rows in model.window_vectors(texts)]  # copies: a view would keep the whole batch in memory
    return [row[None].copy() for row in checked(model.encode(texts), len(texts), None, model.name)]


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
