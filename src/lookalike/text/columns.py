"""Columns of texts as the native kernels read them: one UTF-8 buffer with offsets.

Arrow string arrays are read where they lie. Lists, Polars and pandas columns are joined a few thousand texts at a time,
so a batch never needs a second copy of the whole column.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from lookalike import _native
from lookalike.corpus.joined import Joined as Joined
from lookalike.errors import InputError
from lookalike.text.normalize import as_str

# Small enough for a piece to stay in the second-level cache on its way to the kernel, large enough for two threads.
TEXTS_AT_A_TIME = 1024
CHARACTERS_AT_A_TIME = 8_000_000
# Texts that are read where they are need no cache: enough for threads to be worth their start, few enough for Ctrl-C to be heard.
HELD_AT_A_TIME = 32_768
HELD_CHARACTERS = 32_000_000


def column_length(texts: object) -> int:
    """How many texts a column has; anything else is an error that says what would do."""
    if isinstance(texts, (str, bytes, dict, set, frozenset)) or not hasattr(texts, "__len__"):
        raise InputError(f"texts is a {type(texts).__name__}: expected a list of str, an Arrow string array, or a Polars or pandas column")
    return len(texts)


def joined(texts: Any) -> Iterator[Joined]:
    """The column in pieces, in order."""

    def join(column: Any, first: int) -> tuple[Joined, int]:
        piece = list(column[first : first + TEXTS_AT_A_TIME])
        try:
            data, offsets = _native.pack_strings(piece, CHARACTERS_AT_A_TIME)  # as many as have so many characters, at least one
        except TypeError:
            _check_texts(piece, first)
            raise
        return Joined(data, offsets), len(offsets) - 1

    return _in_pieces(texts, join)


def in_place(texts: Any) -> Iterator[Any]:
    """The column in pieces, in order, each as the first arguments of a kernel: texts where they are, or a buffer with offsets."""

    def hold(column: Any, first: int) -> tuple[Any, int]:
        here, skipped = (column, first) if isinstance(column, list) else (list(column[first : first + HELD_AT_A_TIME]), 0)
        try:
            held = _native.HeldTexts(here, skipped, HELD_AT_A_TIME, HELD_CHARACTERS)
        except TypeError:
            _check_texts(here[skipped : skipped + HELD_AT_A_TIME], first)
            raise
        return (held,), len(held)

    return _in_pieces(texts, hold)


def _in_pieces(texts: Any, take: Callable[[Any, int], tuple[Any, int]]) -> Iterator[Any]:
    """Arrow's pieces where they lie; of another column what ``take`` makes of the texts from a place on, with how many those were."""
    column = _readable(texts)
    if _library(column) == "pyarrow":
        yield from _arrow_pieces(column)
        return
    first = 0
    while first < len(column):
        piece, count = take(column, first)
        if count == 0:  # somebody else has shortened the list
            return
        yield piece
        first += count


def strings(texts: Any, characters: int) -> Iterator[list[str]]:
    """The column as lists of str of about so many characters, in order: for recipes that are not native."""
    column = _readable(texts)
    if _library(column) == "pyarrow":
        rows = (text for piece in _arrow_pieces(column) for text in piece.texts())
        while piece := list(itertools.islice(rows, TEXTS_AT_A_TIME)):
            yield from _list_pieces(piece, TEXTS_AT_A_TIME, characters)
        return
    for piece in _list_pieces(column, TEXTS_AT_A_TIME, characters):
        yield [as_str(text) for text in piece]


def _library(column: object) -> str:
    return type(column).__module__.partition(".")[0]


def _readable(texts: Any) -> Any:
    """The column as a sequence, or the Arrow array that it is."""
    column_length(texts)
    library = _library(texts)
    if library == "polars":
        texts = texts.to_list()
    elif library == "pandas":
        texts = texts.tolist()
    elif library != "pyarrow" and not isinstance(texts, Sequence) and not hasattr(texts, "__getitem__"):
        raise InputError(f"texts is a {library}.{type(texts).__name__}: expected a list of str")
    return texts


def _check_texts(piece: list[Any], first: int) -> None:
    row = next((i for i, text in enumerate(piece) if not isinstance(text, (str, bytes))), None)
    if row is not None:
        raise InputError(f"row {first + row} is {piece[row]!r:.60}: expected str; drop or fill it first")


def _list_pieces(texts: Sequence[Any], count: int, characters: int) -> Iterator[list[Any]]:
    """Up to ``count`` texts at a time, of up to so many characters if it is more than one text."""
    first = 0
    while first < len(texts):
        piece = list(texts[first : first + count])
        _check_texts(piece, first)
        fitting = sum(size <= characters for size in itertools.accumulate(map(len, piece)))
        piece = piece[: max(1, fitting)]
        yield piece
        first += len(piece)


def _arrow_pieces(column: Any) -> Iterator[Joined]:
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
        yield Joined(np.frombuffer(data, dtype=np.uint8) if data is not None else b"", places)


def token_offsets(lengths: Iterable[int]) -> array[int]:
    """Running sums: where each list of a concatenation begins and ends."""
    offsets, total = array("q", (0,)), 0
    for length in lengths:
        total += length
        offsets.append(total)
    return offsets
