"""The rows of a file: of a table its rows, of an archive its pages, of any other file the one document that it is.

What is wrong with a row is a ``Problem`` with a place; the rows behind it are read all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

from lookalike.checks import check_str
from lookalike.corpus import formats
from lookalike.corpus.files import Source
from lookalike.corpus.row import Header as Header
from lookalike.corpus.row import Problem as Problem
from lookalike.corpus.row import Row as Row
from lookalike.corpus.row import damaged, unreadable
from lookalike.corpus.streams import damage, opened
from lookalike.errors import InputError

if TYPE_CHECKING:
    from lookalike.corpus.formats.base import RowsWanted


def source_rows(source: Source, wanted: RowsWanted) -> Iterator[Row | Problem]:
    """The rows of a source; the last one may be a problem that says why there are no more."""
    try:
        with opened(source) as file:
            yield from formats.format_named(source.format).rows(file, source.name, wanted)
    except InputError as error:
        yield unreadable(source.name, error)
    except damage() as error:
        yield damaged(source.name, error)


def rows(source: Source, **wanted: Any) -> Iterator[Row | Problem]:
    """The rows of a table. See ``stream_rows``."""
    with opened(source) as file:
        yield from stream_rows(file, source.name, source.format, **wanted)


def stream_rows(
    file: IO[bytes],
    name: str,
    format: str,
    *,
    columns: Sequence[str] | None = None,
    header: Header | None = None,
    encoding: str = "utf-8",
    objects: bool = True,
) -> Iterator[Row | Problem]:
    """The rows of an open table.

    ``columns`` are all that is wanted of a Parquet file, where leaving out the others saves time; ``header`` gets the names
    of the columns of a CSV, TSV or Parquet file before the first row. With ``objects=False`` a JSON line may hold anything.
    """
    from lookalike.corpus.formats.base import RowsWanted

    if formats.shape_of(format) != "table":
        raise InputError(f"{name!r} holds {format}, not rows: choose another format=")
    found = formats.format_named(format)
    if found.has_encoding:
        check_encoding(encoding)
    return found.rows(file, name, RowsWanted(columns=columns, header=header, encoding=encoding, objects=objects))


def check_encoding(encoding: str) -> None:
    """An ``InputError``, unless a line ends with the byte of a line feed in this encoding."""
    check_str("encoding", encoding, "the name of an encoding, such as utf-8")
    try:
        fits = "{}\n".encode(encoding) == b"{}\n"
    except (LookupError, ValueError) as error:  # of a name with a NUL ValueError, otherwise UnicodeError
        raise InputError(f"encoding={encoding!r} is not one that Python knows: try utf-8 or gb18030") from error
    if not fits:
        raise InputError(
            f"encoding={encoding!r}: lines are read in encodings that contain ASCII, such as utf-8 or gb18030: convert the file"
        )


def is_utf8(encoding: str | None) -> bool:
    return encoding is None or encoding.lower().replace("_", "-") in ("utf-8", "utf8")
