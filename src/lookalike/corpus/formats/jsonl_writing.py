"""What stays of JSON lines, written: the bytes that they came in where nothing of a line changes."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.corpus.formats.base import Cuts, Kept, RowWriter
from lookalike.corpus.formats.json import encoded, numbered_lines
from lookalike.corpus.row import Problem
from lookalike.corpus.streams import opened_again
from lookalike.corpus.values import plain
from lookalike.io import open_file
from lookalike.system import copy_range

CHUNK = 1 << 22


def write_lines(part: Kept, out: IO[bytes]) -> None:
    last = b"\n"
    for piece in _pieces(part, stretches(part.extents, part.kept)):
        out.write(piece)
        last = piece[-1:]
    if last != b"\n":
        out.write(b"\n")


def copy_lines(part: Kept, out: IO[bytes]) -> None:
    """From file to file, neither packed: the system copies the bytes."""
    if part.source.path is None:
        write_lines(part, out)
        return
    wanted = stretches(part.extents, part.kept).tolist()
    out.flush()
    with open_file(part.source.path) as file:
        for begin, end in wanted:
            while begin < end:
                copied = copy_range(out.fileno(), file.fileno(), begin, end - begin)
                if not copied:
                    raise part.was_changed()
                begin += copied
        if wanted and os.pread(file.fileno(), 1, wanted[-1][1] - 1) != b"\n":
            out.write(b"\n")


def stretches(extents: NDArray[np.int64], kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Where the rows stand that stay, neighbours as one stretch."""
    extents = extents[kept]
    if not len(extents):
        return extents
    first = np.flatnonzero(np.concatenate(([True], extents[1:, 0] != extents[:-1, 1])))
    last = np.concatenate((first[1:], [len(extents)])) - 1
    return np.stack((extents[first, 0], extents[last, 1]), axis=1)


def _pieces(part: Kept, extents: NDArray[np.int64]) -> Iterator[bytes]:
    """The bytes of ascending stretches, in large pieces."""
    begins, ends = extents[:, 0], extents[:, 1]
    with opened_again(part.source) as file:
        at = 0
        while at < (int(ends[-1]) if len(ends) else 0):
            data = file.read(CHUNK)
            if not data:
                raise part.was_changed()
            view, end = memoryview(data), at + len(data)
            low, high = int(ends.searchsorted(at, "right")), int(begins.searchsorted(end, "left"))
            pairs = zip(begins[low:high].tolist(), ends[low:high].tolist(), strict=True)
            yield b"".join(view[max(begin - at, 0) : min(stop, end) - at] for begin, stop in pairs)
            at = end


def write_edited(part: Kept, out: IO[bytes], edits: Cuts) -> None:
    for document, line in _lines(part):
        if document in edits.cuts:
            line = edited_line(line, document, edits)
        out.write(line if line.endswith(b"\n") else line + b"\n")


def edited_line(line: bytes, document: int, edits: Cuts) -> bytes:
    """A row with a shorter text; everything else in it stays as it is."""
    begin, end = list(_native.scan_json_lines(line, [edits.column])["values"])[:2]
    text = json.dumps(edits.edited(document, json.loads(line[begin:end])), ensure_ascii=False)
    return line[:begin] + text.encode("utf-8", "surrogatepass") + line[end:]


def write_annotated(part: Kept, out: IO[bytes], annotation: Callable[[int], dict[str, Any]]) -> None:
    """All rows, each with the columns of the verdict behind its own."""
    for document, line in _lines(part):
        body = line.rstrip()
        added = json.dumps(annotation(document))[1:]
        comma = b"" if body[:-1].rstrip().endswith(b"{") else b", "
        out.write(body[:-1].rstrip() + comma + added.encode() + b"\n")


def _lines(part: Kept) -> Iterator[tuple[int, bytes]]:
    """The rows as they stand in the file, with the numbers of their documents."""
    with opened_again(part.source) as file:
        stream = file if isinstance(file, io.BufferedReader) else io.BufferedReader(file, CHUNK)  # type: ignore[type-var]  # an unpacking stream is raw enough
        at = 0
        for document, (begin, end) in zip(part.documents, part.extents.tolist(), strict=True):
            while at < begin and (passed := len(stream.read(min(begin - at, CHUNK)))):
                at += passed
            line = stream.read(end - begin)
            if len(line) < end - begin:
                raise part.was_changed()
            at = end
            yield document, line


def write_parsed(part: Kept, out: IO[bytes]) -> None:
    """Rows in another encoding than UTF-8: as the bytes they came in, unless something is added or cut."""
    wanted = part.written()
    with opened_again(part.source) as file:
        for line in numbered_lines(file, part.source.name):
            document = None if isinstance(line, Problem) else wanted.pop(line.number, None)
            if isinstance(line, Problem) or document is None:
                continue
            data = line.data.removesuffix(b"\n")
            if part.annotation or (part.edits and document in part.edits.cuts):
                data = encoded(part.changed(document, json.loads(data.decode(part.encoding))), part.encoding)
            out.write(data + b"\n")
    if wanted:
        raise part.was_changed()


class JsonlWriter(RowWriter):
    def write(self, row: Mapping[str, Any]) -> None:
        self.out.write(json_line(row))


def json_line(row: Mapping[str, Any]) -> bytes:
    """One line of UTF-8. Text stays readable; what UTF-8 cannot carry is escaped."""
    try:
        line = json.dumps(row, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        line = json.dumps(plain(row), ensure_ascii=False)
    try:
        return line.encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(json.loads(line)).encode() + b"\n"
