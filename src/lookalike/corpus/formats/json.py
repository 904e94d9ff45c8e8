"""JSON in one piece: an array of objects, or one object; and lines of JSON as Python parses them."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Iterator, Mapping
from typing import IO, Any, NamedTuple

from lookalike.corpus import row
from lookalike.corpus.formats.base import Format, Kept, RowsWanted
from lookalike.corpus.formats.lines import too_long
from lookalike.corpus.row import Problem, Row, damaged
from lookalike.corpus.rows import rows as rows_of
from lookalike.corpus.streams import damage

MAX_ARRAY_BYTES = 64 << 20  # an array is parsed whole
_MARK = b"\xef\xbb\xbf"


class Line(NamedTuple):
    place: str
    number: int
    data: bytes


class Json(Format):
    several_as_one = False

    def rows(self, file: IO[bytes], name: str, wanted: RowsWanted) -> Iterator[Row | Problem]:
        found = _rows(file, name, wanted.encoding or "utf-8")
        return map(_object, found) if wanted.objects else found

    def write_kept(self, part: Kept, out: IO[bytes]) -> None:
        """The rows that stay as an array of objects."""
        wanted = part.written()
        between = b"[\n"
        for found in rows_of(part.source, encoding=part.encoding):
            if isinstance(found, Row) and found.number in wanted:
                values = part.changed(wanted[found.number], dict(found.values))
                out.write(between + json.dumps(values, ensure_ascii=False).encode("utf-8", "surrogatepass"))
                between = b",\n"
        out.write(b"\n]\n" if between == b",\n" else b"[]\n")


JSON = Json()


def _rows(file: IO[bytes], name: str, encoding: str) -> Iterator[Row | Problem]:
    """An array of objects, one object over several lines, or JSON lines after all: .json files come as all of them."""
    lines = numbered_lines(file, name)
    first = next(lines, None)
    if first is None:
        return
    if isinstance(first, Problem) or not _goes_on(first, encoding):
        yield from (parsed(line, encoding) for line in itertools.chain([first], lines))
        return
    try:
        data = first.data + file.read(max(MAX_ARRAY_BYTES - len(first.data), 0) + 1)
    except damage() as error:
        yield damaged(name, error)
        return
    if len(data) > MAX_ARRAY_BYTES:
        yield Problem("file too large", name, f"more than {MAX_ARRAY_BYTES:,} bytes of JSON in one piece: convert it to JSON lines")
        return
    whole = parsed(Line(name, 1, data), encoding)
    values = whole.values if isinstance(whole, Row) else None
    if isinstance(values, Mapping):
        yield Row(name, 1, values)
    elif isinstance(values, list) and all(isinstance(value, Mapping) for value in values):
        yield from (Row(f"{name}: item {number}", number, value) for number, value in enumerate(values, 1))
    else:
        again = numbered_lines(io.BytesIO(b"\n" * (first.number - 1) + data), name)
        yield from (parsed(line, encoding) for line in again)


def _goes_on(first: Line, encoding: str) -> bool:
    """Whether the first line is not a row of its own: it opens an array, or an object that it does not close."""
    begins = first.data.lstrip()[:1]
    return begins == b"[" or (begins == b"{" and isinstance(parsed(first, encoding), Problem))


def numbered_lines(file: IO[bytes], name: str) -> Iterator[Line | Problem]:
    """The lines that hold something."""
    for number in itertools.count(1):
        place = f"{name}:{number}"
        try:
            line = file.readline(row.MAX_LINE_BYTES)
            if len(line) == row.MAX_LINE_BYTES and not line.endswith(b"\n"):
                _skip_line(file)
                yield too_long(place, row.MAX_LINE_BYTES)
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


def parsed(line: Line | Problem, encoding: str, only_objects: bool = False) -> Row | Problem:
    if isinstance(line, Problem):
        return line
    try:
        found = Row(line.place, line.number, json.loads(line.data.decode(encoding)))
        return _object(found) if only_objects else found
    except UnicodeDecodeError as error:
        return Problem("wrong encoding", line.place, f"byte {error.start} of the line is not {encoding}; name the encoding")
    except (ValueError, RecursionError) as error:
        return Problem("invalid JSON", line.place, f"{error}"[:200])


def encoded(values: dict[str, Any], encoding: str) -> bytes:
    """An object on a line; what the encoding lacks is written as an escape."""
    try:
        return json.dumps(values, ensure_ascii=False).encode(encoding)
    except UnicodeEncodeError:
        return json.dumps(values).encode(encoding)


def _object(row: Row | Problem) -> Row | Problem:
    """A row that is an object, or the problem that it is none."""
    if isinstance(row, Problem) or isinstance(row.values, Mapping):
        return row
    return Problem("not an object", row.place, f"of type {type(row.values).__name__}: expected an object, such as {{…}}")
