"""The rows of JSON lines, and of files called .json."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Iterator, Mapping
from typing import IO, NamedTuple

from lookalike.corpus import row
from lookalike.corpus.row import Problem, Row, damaged
from lookalike.corpus.streams import damage

MAX_ARRAY_BYTES = 64 << 20  # an array is parsed whole
_MARK = b"\xef\xbb\xbf"


class Line(NamedTuple):
    place: str
    number: int
    data: bytes


def line_rows(file: IO[bytes], name: str, encoding: str) -> Iterator[Row | Problem]:
    """A row a line."""
    return (_parsed(line, encoding) for line in numbered_lines(file, name))


def array_rows(file: IO[bytes], name: str, encoding: str) -> Iterator[Row | Problem]:
    """An array of objects, one object over several lines, or JSON lines after all: .json files come as all of them."""
    lines = numbered_lines(file, name)
    first = next(lines, None)
    if first is None:
        return
    if isinstance(first, Problem) or not _goes_on(first, encoding):
        yield from (_parsed(line, encoding) for line in itertools.chain([first], lines))
        return
    try:
        data = first.data + file.read(max(MAX_ARRAY_BYTES - len(first.data), 0) + 1)
    except damage() as error:
        yield damaged(name, error)
        return
    if len(data) > MAX_ARRAY_BYTES:
        yield Problem("file too large", name, f"more than {MAX_ARRAY_BYTES:,} bytes of JSON in one piece: convert it to JSON lines")
        return
    whole = _parsed(Line(name, 1, data), encoding)
    values = whole.values if isinstance(whole, Row) else None
    if isinstance(values, Mapping):
        yield Row(name, 1, values)
    elif isinstance(values, list) and all(isinstance(value, Mapping) for value in values):
        yield from (Row(f"{name}: item {number}", number, value) for number, value in enumerate(values, 1))
    else:
        yield from line_rows(io.BytesIO(b"\n" * (first.number - 1) + data), name, encoding)


def _goes_on(first: Line, encoding: str) -> bool:
    """Whether the first line is not a row of its own: it opens an array, or an object that it does not close."""
    begins = first.data.lstrip()[:1]
    return begins == b"[" or (begins == b"{" and isinstance(_parsed(first, encoding), Problem))


def numbered_lines(file: IO[bytes], name: str) -> Iterator[Line | Problem]:
    """The lines that hold something."""
    for number in itertools.count(1):
        place = f"{name}:{number}"
        try:
            line = file.readline(row.MAX_LINE_BYTES)
            if len(line) == row.MAX_LINE_BYTES and not line.endswith(b"\n"):
                _skip_line(file)
                yield Problem("line too long", place, f"the line has more than {row.MAX_LINE_BYTES:,} bytes")
                continue
        except damage() as error:
            yield damaged(place, error)
            return
        if not line:
            return
        line = line.removeprefix(_MARK) if number == 1 else line
        if line.strip():
            yield Line(place, number, line)


def _skip_line(file: IO[bytes]) -> None:
    while True:
        line = file.readline(1 << 20)
        if not line or line.endswith(b"\n"):
            return


def _parsed(line: Line | Problem, encoding: str) -> Row | Problem:
    if isinstance(line, Problem):
        return line
    try:
        return Row(line.place, line.number, json.loads(line.data.decode(encoding)))
    except UnicodeDecodeError as error:
        return Problem("wrong encoding", line.place, f"byte {error.start} of the line is not {encoding}; name the encoding")
    except (ValueError, RecursionError) as error:
        return Problem("invalid JSON", line.place, f"{error}"[:200])
