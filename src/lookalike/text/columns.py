"""Columns of texts as the native kernels read them: one UTF-8 buffer with offsets.

Arrow string arrays are read where they lie. Lists, Polars and pandas columns are packed a few thousand texts at a time,
so a batch never needs a second copy of the whole column.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from lookalike import _native
from lookalike.errors import InputError
from lookalike.text.normalize import as_str

# Small enough for a piece to stay in the second-level cache on its way to the kernel, large enough for two threads.
TEXTS_AT_A_TIME = 1024
CHARACTERS_AT_A_TIME = 8_000_000


class Packed(NamedTuple):
    data: Any  # a buffer of UTF-8 bytes
    offsets: Any  # a buffer of int64, one more than texts

    def texts(self) -> Iterator[str]:
        """The texts one by one, for recipes that are not native."""
        view = memoryview(self.data)
        for first, last in itertools.pairwise(self.offsets):
            yield as_str(bytes(view[first:last]))


def column_length(texts: object) -> int:
    """How many texts a column has; anything else is an error that says what would do."""
    if isinstance(texts, (str, bytes, dict, set, frozenset)) or not hasattr(texts, "__len__"):
        raise InputError(f"texts is a {type(texts).__name__}: expected a list of str, an Arrow string array, or a Polars or pandas column")
    return len(texts)


def packed(texts: Any) -> Iterator[Packed]:
    """The column in pieces, in order."""
    column_length(texts)
    library = type(texts).__module__.partition(".")[0]
    if library == "polars":
        texts = texts.to_list()
    elif library == "pandas":
        texts = texts.tolist()
    elif library == "pyarrow":
        yield from _arrow_pieces(texts)
        return
    if not isinstance(texts, Sequence) and not hasattr(texts, "__getitem__"):
        raise InputError(f"texts is a {library}.{type(texts).__name__}: expected a list of str")
    yield from _list_pieces(texts)


def _list_pieces(texts: Sequence[str]) -> Iterator[Packed]:
    first = 0
    while first < len(texts):
        piece = list(texts[first : first + TEXTS_AT_A_TIME])
        try:
            sizes = itertools.accumulate(map(len, piece))
            fitting = sum(size <= CHARACTERS_AT_A_TIME for size in sizes)
            piece = piece[: max(1, fitting)]
            yield Packed(*_native.pack_strings(piece))
        except TypeError:
            row = next(i for i, text in enumerate(piece) if not isinstance(text, (str, bytes)))
            raise InputError(f"row {first + row} is {piece[row]!r:.60}: expected str; drop or fill it first") from None
        first += len(piece)


def _arrow_pieces(column: Any) -> Iterator[Packed]:
    import numpy as np

    for piece in getattr(column, "chunks", [column]):
        kind = str(piece.type)
        if kind not in ("string", "large_string", "binary", "large_binary"):
            raise InputError(f"the Arrow array holds {kind}: cast it to string first")
        if piece.null_count:
            row = piece.is_null().to_pylist().index(True)
            raise InputError(f"row {row} of the Arrow array is null: drop or fill nulls first")
        if len(piece) == 0:
            continue
        _, offsets, data = piece.buffers()
        width = np.int64 if kind.startswith("large") else np.int32
        places = np.frombuffer(offsets, dtype=width)[piece.offset : piece.offset + len(piece) + 1].astype(np.int64)
        yield Packed(np.frombuffer(data, dtype=np.uint8) if data is not None else b"", places)


def token_offsets(lengths: Iterable[int]) -> array[int]:
    """Running sums: where each list of a concatenation begins and ends."""
    offsets, total = array("q", (0,)), 0
    for length in lengths:
        total += length
        offsets.append(total)
    return offsets
