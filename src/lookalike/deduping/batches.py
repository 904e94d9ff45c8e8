"""A stretch of documents on their way through a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from lookalike.corpus.columns import NamedColumns, unless_default
from lookalike.corpus.row import Problem
from lookalike.text.columns import Packed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Report = Callable[[Problem], object]  # gets what is wrong with the input; raises where that ends the run


class Ids(NamedTuple):
    """Ids as JSON, one after the other; an empty one is made from the file and the row."""

    data: bytes
    offsets: NDArray[np.int64]
    may_repeat: bool = False  # whether an id that comes again is as it should be


@dataclass(slots=True)
class Batch:
    rows: NDArray[np.int64]  # the number of each document's row, from 1
    texts: Packed  # of the documents that have one
    has_text: NDArray[np.bool_] | None = None  # None: all of them
    ids: Ids | None = None  # None: all are made
    ranks: NDArray[np.float64] | None = None  # what keep= asks for; larger is kept
    extents: NDArray[np.int64] | None = None  # where each row begins and ends in the unpacked file, two numbers per row
    names: list[str] | None = None  # of the files, where every document is one
    resume_at: tuple[int, int] | None = None  # offset and line behind the batch, where reading can begin there

    def __len__(self) -> int:
        return len(self.rows)


class Columns(NamedTuple):
    """The columns that a run looks at, and what it takes of web pages."""

    text: str = "text"
    id: str = "id"
    rank: str | None = None  # of keep=newest:… or best:…
    rank_kind: str = ""  # "newest" or "best"
    reserved: tuple[str, ...] = ()  # no row may have these: they will be added
    extract: str = "main"  # or "all"


def named_columns(columns: Columns) -> NamedColumns:
    """The columns that some row must have. Ids may be missing, but not under a name that the caller chose."""
    return NamedColumns(
        {
            f"text_column={columns.text!r}": columns.text,
            f"id_column={columns.id!r}": unless_default(columns.id, Columns().id),
            f"keep='{columns.rank_kind}:{columns.rank}'": columns.rank,
        }
    )


def character_counts(texts: Packed) -> NDArray[np.float64]:
    """How many characters each text has."""
    import numpy as np

    return np.fromiter((len(text) for text in texts.texts()), np.float64, len(texts.offsets) - 1)
