"""Files of word vectors: word2vec (text and binary), fastText ``.vec``, GloVe; also packed with gzip.

Text has a word and its numbers per line; word2vec and fastText begin with a line that says how many words and dimensions there
are, GloVe does not. Binary has that line, then each word, a space, and little-endian float32. What a file holds is told by its
content, not by its name.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import InputError
from lookalike.io import open_file
from lookalike.word_mover.building import Broken, TableBuilder
from lookalike.word_mover.tables import MAX_DIMENSIONS, WordTable

Format = Literal["auto", "text", "binary"]

_GZIP, _FASTTEXT_MODEL = b"\x1f\x8b", b"\xba\x16\x4f\x2f"
_HEADER = re.compile(rb"[ \t]*(\d+)[ \t]+(\d+)[ \t\r]*(?:\n|\Z)")
_CHUNK = 1 << 22
_MAX_LINE = 1 << 21  # bytes: 65,536 numbers of 30 characters
_MAX_WORD = 4096  # bytes
_LINES_TOGETHER = 1024


class Header(NamedTuple):
    words: int
    dimensions: int
    size: int  # of the line itself, in bytes


def read_vectors(path: Path, *, form: Format, limit: int | None, broken: Broken) -> WordTable:
    """The table in a file, or its first ``limit`` words."""
    name = repr(str(path))
    try:
        with open_file(path) as file:
            packed = file.peek(2)[:2] == _GZIP
            return _read(cast(BinaryIO, gzip.open(file)) if packed else file, name, form, limit, broken)
    except (EOFError, gzip.BadGzipFile) as error:
        raise InputError(f"{name}: the gzip file is cut short or damaged ({error}); fetch it again") from error
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from error


def _read(stream: BinaryIO, name: str, form: Format, limit: int | None, broken: Broken) -> WordTable:
    start = _peek(stream)
    if start.startswith(_FASTTEXT_MODEL):
        raise InputError(
            f"{name} is a fastText model, not a table: save its vectors as .vec, or load it and pass the words and vectors as a dict"
        )
    header = _header(start, name)
    if form == "auto":
        form = "text" if header is None or _looks_like_text(start[header.size :], header.dimensions) else "binary"
    stream.seek(0)
    if form == "text":
        return _read_text(stream, name, header, limit, broken)
    if header is None:
        raise InputError(f"{name}, byte 0: a binary file begins with a line of two numbers, words and dimensions; this one does not")
    stream.seek(header.size)
    return _read_binary(stream, name, header, limit, broken)


def _peek(stream: BinaryIO) -> bytes:
    found = b""
    while len(found) < _MAX_LINE + 64 and (more := stream.read(_MAX_LINE + 64 - len(found))):
        found += more
    return found


def _header(start: bytes, name: str) -> Header | None:
    match = _HEADER.match(start[:256])
    if match is None:
        return None
    words, dimensions = int(match[1]), int(match[2])
    if not 1 <= dimensions <= MAX_DIMENSIONS:
        raise InputError(f"{name}, line 1: {dimensions:,} dimensions; 1 to {MAX_DIMENSIONS:,} are possible")
    if not words:
        raise InputError(f"{name}, line 1: the file says that it has no words")
    return Header(words, dimensions, match.end())


def _looks_like_text(rest: bytes, dimensions: int) -> bool:
    """Whether what follows the header begins with a line of a word and numbers."""
    fields = rest.partition(b"\n")[0].split()
    return len(fields) > 1 and _numbers(fields[max(1, len(fields) - dimensions) :][:8]) is not None


def _read_text(stream: BinaryIO, name: str, header: Header | None, limit: int | None, broken: Broken) -> WordTable:
    builder: TableBuilder | None = TableBuilder(name, header.dimensions, broken=broken, limit=limit) if header else None
    entries = 0
    for lines in _line_groups(stream, name, skip=header is not None):
        if builder is None:
            builder = TableBuilder(name, _dimensions_of(lines[0][1], name), broken=broken, limit=limit)
        _add_lines(builder, lines)
        entries += len(lines)
        if builder.full:
            return builder.finish()
    if header is not None and entries != header.words:
        _refuse_count(name, header.words, entries, builder)
    if builder is None:
        raise InputError(f"{name}: the file is empty")
    return builder.finish()


def _refuse_count(name: str, said: int, found: int, builder: TableBuilder | None) -> None:
    if builder is not None:
        builder.refuse(f"line 1: the file says that it has {said:,} words, but has {found:,}; it may be cut short")


def _line_groups(stream: BinaryIO, name: str, *, skip: bool) -> Iterator[list[tuple[int, bytes]]]:
    group: list[tuple[int, bytes]] = []
    number = 0
    while line := stream.readline(_MAX_LINE):
        number += 1
        if len(line) >= _MAX_LINE and not line.endswith(b"\n"):
            raise InputError(f"{name}, line {number}: longer than {_MAX_LINE:,} bytes; this is no text file of word vectors")
        content = line.rstrip(b" \t\r\n")
        if not content or (number == 1 and skip):
            continue
        group.append((number, content))
        if len(group) == _LINES_TOGETHER:
            yield group
            group = []
    if group:
        yield group


def _dimensions_of(line: bytes, name: str) -> int:
    dimensions = line.count(b" ")
    if not 1 <= dimensions <= MAX_DIMENSIONS or _numbers(line.split(b" ")[1:]) is None:
        raise InputError(f"{name}, line 1: neither 'words dimensions' nor a word and its numbers; this is no file of word vectors")
    return dimensions


def _add_lines(builder: TableBuilder, lines: list[tuple[int, bytes]]) -> None:
    entries: list[tuple[int, bytes, bytes]] = []
    for number, line in lines:
        word, values = _cut(line, builder.dimensions)
        if values is None:
            found = len(line.split(b" ")) - 1
            builder.refuse(f"line {number}: {found} numbers where there should be {builder.dimensions}")
        else:
            entries.append((number, word, values))
    if not entries:
        return
    try:  # all at once is three times as fast as line by line
        rows: list[Any] = list(np.loadtxt([values.decode("latin-1") for _, _, values in entries], dtype=np.float32, ndmin=2, comments=None))
    except ValueError:
        rows = [_numbers(values.split(b" ")) for _, _, values in entries]
    for (number, word, _), row in zip(entries, rows, strict=True):
        if builder.full:
            return
        if row is None or len(row) != builder.dimensions:
            builder.refuse(f"line {number}: something that is not a number")
        else:
            builder.add(word, row, f"line {number}")


def _cut(line: bytes, dimensions: int) -> tuple[bytes, bytes | None]:
    """The word and its numbers. Some words hold spaces, so that numbers are counted from the end."""
    spaces = line.count(b" ")
    if spaces == dimensions:
        word, _, values = line.partition(b" ")
        return word, values
    if spaces < dimensions:
        return line, None
    word, *numbers = line.rsplit(b" ", dimensions)
    if _numbers(word.split(b" ")[1:]) is not None:  # not a word with spaces: too many numbers
        return word, None
    return word, b" ".join(numbers)


def _numbers(parts: list[bytes]) -> NDArray[np.float32] | None:
    try:
        return np.array([float(part) for part in parts], dtype=np.float32)
    except ValueError:
        return None


def _read_binary(stream: BinaryIO, name: str, header: Header, limit: int | None, broken: Broken) -> WordTable:
    builder = TableBuilder(name, header.dimensions, broken=broken, limit=limit)
    buffer, at, before = b"", 0, header.size  # what was read, the place in it, and the bytes of the file before it
    size = 4 * header.dimensions
    for number in range(header.words):
        if builder.full:
            break
        while True:
            space = buffer.find(b" ", at, at + _MAX_WORD)
            if space >= 0 and len(buffer) >= space + 1 + size:
                break
            if space < 0 and len(buffer) - at >= _MAX_WORD:
                raise InputError(f"{name}, byte {before + at:,}: no word ends within {_MAX_WORD:,} bytes; the file is damaged")
            more = stream.read(max(_CHUNK, size + _MAX_WORD))
            if not more:
                remedy = f"fetch it again, or give limit={number}" if number else "fetch it again"
                raise InputError(f"{name}, byte {before + at:,}: the file ends inside of word {number + 1:,} of {header.words:,}; {remedy}")
            buffer, at, before = buffer[at:] + more, 0, before + at
        word = buffer[at:space].lstrip(b"\n")
        builder.add(word, np.frombuffer(buffer, dtype="<f4", count=header.dimensions, offset=space + 1), f"byte {before + at:,}")
        at = space + 1 + size
    return builder.finish()
