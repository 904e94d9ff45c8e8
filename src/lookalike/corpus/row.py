"""What reading a table gives: rows, and problems with a place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from lookalike.markup.page import Page

NOT_DATA = "not data"  # the kind of problem that a README beside tables is
UNREADABLE = "unreadable file"
MAX_LINE_BYTES = 256 << 20


class Problem(NamedTuple):
    """Something that is wrong with the input, and where. ``skipped``: what it is about was left out."""

    kind: str
    place: str
    message: str
    skipped: bool = True

    def to_dict(self) -> dict[str, Any]:
        return self._asdict()


class Row(NamedTuple):
    """One row, or document, as it was read."""

    place: str  # for people: file and line
    number: int  # from 1: the line of JSON lines, otherwise the row; 0: the file is the document
    values: Any  # a mapping from column to value; with objects=False whatever a JSON line holds
    page: Page | None = None  # that the text is from


Header = Callable[[Sequence[str]], object]
"""Gets the names of the columns before the first row, and may refuse them."""


def damaged(place: str, error: Exception) -> Problem:
    return Problem("damaged file", place, f"the data end here, or are damaged ({str(error)[:200]}); the rest could not be read")


def unreadable(name: str, error: Exception) -> Problem:
    return Problem(UNREADABLE, name, str(error).removeprefix(f"{name}: "))
