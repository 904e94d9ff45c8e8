"""A stretch of documents on their way through a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.corpus.columns import NamedColumns, unless_default
from lookalike.corpus.joined import Joined
from lookalike.corpus.row import Problem
from lookalike.corpus.values import plain
from lookalike.errors import InputError

MAX_ROW_BYTES = 128 << 20  # a document and its features have to fit into memory several times
Report = Callable[[Problem], object]  # gets what is wrong with the input; raises where that ends the run


class Ids(NamedTuple):
    """Ids as JSON, one after the other; an empty one is made from the file and the row."""

    data: bytes
    offsets: NDArray[np.int64]
    may_repeat: bool = False  # whether an id that comes again is as it should be

    @classmethod
    def of(cls, tokens: list[bytes], may_repeat: bool = False) -> Ids:
        return cls(b"".join(tokens), np.fromiter(accumulate(map(len, tokens), initial=0), np.int64, len(tokens) + 1), may_repeat)


class LineBlock(NamedTuple):
    """A stretch of an unpacked file. Its memory is used for another one after ``let_go``."""

    data: memoryview
    offset: int  # of its first byte in the file
    let_go: Callable[[], object]


@dataclass(slots=True)
class Batch:
    rows: NDArray[np.int64]  # the number of each document's row, from 1
    texts: Joined  # of the documents that have one
    has_text: NDArray[np.bool_] | None = None  # None: all of them
    ids: Ids | None = None  # None: all are made
    id_hashes: NDArray[np.uint64] | None = None  # of them, where somebody made them already
    ranks: NDArray[np.float64] | None = None  # what keep= asks for; larger is kept
    extents: NDArray[np.int64] | None = None  # where each row begins and ends in the unpacked file, two numbers per row
    names: list[str] | None = None  # of the files, where every document is one
    resume_at: tuple[int, int] | None = None  # offset and line behind the batch, where reading can begin there
    lines: LineBlock | None = None  # the rows as they stand in the file, where whoever made the batch has them at hand

    def __len__(self) -> int:
        return len(self.rows)


class SourcePart(NamedTuple):
    """A part of a source, which any thread can make a batch of, while others do the same with other parts."""

    size: int  # in bytes, roughly
    make: Callable[[Report], Batch]


def made_parts(batches: Iterable[Batch]) -> Iterator[SourcePart]:
    """Parts of a source of which only whole batches can be had."""
    for batch in batches:
        yield SourcePart(int(batch.texts.offsets[-1]), partial(_made, batch))


def _made(batch: Batch, report: Report) -> Batch:
    return batch


def join_texts(texts: list[str]) -> Joined:
    return Joined(*map(np.asarray, _native.pack_strings(texts)))


NO_TEXTS = Joined(b"", np.zeros(1, np.int64))


class Columns(NamedTuple):
    """The columns that a run looks at, and what it takes of web pages."""

    text: str = "text"
    id: str = "id"
    rank: str | None = None  # of keep=newest:… or best:…
    rank_kind: str = ""  # "newest" or "best"
    reserved: tuple[str, ...] = ()  # no row may have these: they will be added
    extract: str = "main"  # or "all"
    # The columns of records, of which there are no texts then; empty: all but the id.
    fields: tuple[str, ...] | None = None
    check: Callable[[dict[str, Any]], object] | None = None  # an InputError for what is no record that can be compared

    def check_header(self, names: Sequence[str], name: str) -> None:
        """An ``InputError`` for a table that cannot be used."""
        shown = ", ".join(map(repr, names[:20])) or "none"
        for column in (*(self.fields if self.fields is not None else (self.text,)), self.id, self.rank):
            if column is not None and (count := list(names).count(column)) > 1:
                raise InputError(f"{name}: {count} columns are called {column!r}: rename all but one; the columns here are {shown}")
        if missing := next((name for name in self.fields or () if name not in names), None):
            raise InputError(f"{name}: no column {missing!r}; the columns here are {shown}")
        if self.fields is None and self.text not in names:
            raise InputError(f"{name}: no column {self.text!r}: name the column of the text; the columns here are {shown}")
        if self.rank and self.rank not in names:
            raise InputError(f"{name}: no column {self.rank!r}, which keep asks for; the columns here are {shown}")
        if taken := next((each for each in self.reserved if each in names), None):
            raise InputError(f"{name}: there is a column {taken!r} already, which annotate adds: rename it")

    def present(self, names: Sequence[str]) -> list[str]:
        """Those that a table has."""
        if self.fields is not None and not self.fields:
            return list(names)
        return [name for name in dict.fromkeys((*(self.fields or (self.text,)), self.id, self.rank)) if name and name in names]

    def record(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The record that a row is. Null, NaN, infinity and the empty text are missing values: they are no part of it."""
        names = self.fields or [name for name in values if name != self.id]
        found = {name: plain(values.get(name)) for name in names}
        data = {name: value for name, value in found.items() if value is not None and value != ""}
        if self.check is not None:
            self.check(data)
        return data


def named_columns(columns: Columns) -> NamedColumns:
    """The columns that some row must have. Ids may be missing, but not under a name that the caller chose."""
    return NamedColumns(
        {
            f"text_column={columns.text!r}": columns.text if columns.fields is None else None,
            **{f"columns={name!r}": name for name in columns.fields or ()},
            f"id_column={columns.id!r}": unless_default(columns.id, Columns().id),
            f"keep='{columns.rank_kind}:{columns.rank}'": columns.rank,
        }
    )


def character_counts(texts: Joined) -> NDArray[np.float64]:
    """How many characters each text has."""
    return np.fromiter((len(text) for text in texts.texts()), np.float64, len(texts.offsets) - 1)
