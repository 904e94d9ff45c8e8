"""Rows of JSON lines that stay, written as the bytes they came in."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

from lookalike import _native
from lookalike.corpus.files import Source
from lookalike.corpus.streams import opened_again
from lookalike.deduping.verdicts import DocumentVerdicts, Edits
from lookalike.errors import InputError
from lookalike.io import open_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CHUNK = 1 << 22


def write_kept_lines(source: Source, out: IO[bytes], reader: int, verdicts: DocumentVerdicts) -> None:
    """The rows of a source that are kept, with what is cut out of their texts."""
    if verdicts.edits:
        _write_edited(source, out, reader, verdicts, verdicts.edits)
        return
    stretches = _joined(verdicts.ledger.extents(reader)[verdicts.kept_of(reader)])
    last = b"\n"
    for piece in _pieces(source, stretches):
        out.write(piece)
        last = piece[-1:]
    if last != b"\n":
        out.write(b"\n")


def copy_kept_lines(source: Source, out: IO[bytes], reader: int, verdicts: DocumentVerdicts) -> None:
    """The same from file to file, neither packed: the system copies the bytes."""
    if source.path is None or verdicts.edits:
        write_kept_lines(source, out, reader, verdicts)
        return
    stretches = _joined(verdicts.ledger.extents(reader)[verdicts.kept_of(reader)]).tolist()
    out.flush()
    with open_file(source.path) as file:
        for begin, end in stretches:
            while begin < end:
                copied = os.sendfile(out.fileno(), file.fileno(), begin, end - begin)
                if not copied:
                    raise InputError(f"{source.name!r} was changed while it was read: run again")
                begin += copied
        if stretches and os.pread(file.fileno(), 1, stretches[-1][1] - 1) != b"\n":
            out.write(b"\n")


def _write_edited(source: Source, out: IO[bytes], reader: int, verdicts: DocumentVerdicts, edits: Edits) -> None:
    for number, line in numbered_lines(source, reader, verdicts):
        if number in edits.cuts:
            begin, end = list(_native.scan_json_lines(line, [edits.column])["values"])[:2]
            text = json.dumps(edits.edited(number, json.loads(line[begin:end])), ensure_ascii=False)
            line = line[:begin] + text.encode("utf-8", "surrogatepass") + line[end:]
        out.write(line if line.endswith(b"\n") else line + b"\n")


def _joined(extents: NDArray[np.int64]) -> NDArray[np.int64]:
    """Neighbouring rows as one stretch."""
    import numpy as np

    if not len(extents):
        return extents
    first = np.flatnonzero(np.concatenate(([True], extents[1:, 0] != extents[:-1, 1])))
    last = np.concatenate((first[1:], [len(extents)])) - 1
    return np.stack((extents[first, 0], extents[last, 1]), axis=1)


def _pieces(source: Source, extents: NDArray[np.int64]) -> Iterator[bytes]:
    """The bytes of ascending stretches, in large pieces."""
    begins, ends = extents[:, 0], extents[:, 1]
    with opened_again(source) as file:
        at = 0
        while at < (int(ends[-1]) if len(ends) else 0):
            data = file.read(CHUNK)
            if not data:
                raise InputError(f"{source.name!r} was changed while it was read: run again")
            view, end = memoryview(data), at + len(data)
            low, high = int(ends.searchsorted(at, "right")), int(begins.searchsorted(end, "left"))
            pairs = zip(begins[low:high].tolist(), ends[low:high].tolist(), strict=True)
            yield b"".join(view[max(begin - at, 0) : min(stop, end) - at] for begin, stop in pairs)
            at = end


def write_annotated_lines(source: Source, out: IO[bytes], reader: int, verdicts: DocumentVerdicts) -> None:
    """All rows of a source, each with the columns of the verdict behind its own."""
    for number, line in numbered_lines(source, reader, verdicts):
        body = line.rstrip()
        added = json.dumps(verdicts.annotation(number))[1:]
        comma = b"" if body[:-1].rstrip().endswith(b"{") else b", "
        out.write(body[:-1].rstrip() + comma + added.encode() + b"\n")


def numbered_lines(source: Source, reader: int, verdicts: DocumentVerdicts) -> Iterator[tuple[int, bytes]]:
    """The rows of a source as they stand in the file, with their numbers."""
    first = verdicts.ledger.span(reader).start
    with opened_again(source) as file:
        stream = file if isinstance(file, io.BufferedReader) else io.BufferedReader(file, CHUNK)  # type: ignore[type-var]  # an unpacking stream is raw enough
        at = 0
        for number, (begin, end) in enumerate(verdicts.ledger.extents(reader).tolist(), first):
            _pass(stream, begin - at)
            line = stream.read(end - begin)
            if len(line) < end - begin:
                raise InputError(f"{source.name!r} was changed while it was read: run again")
            at = end
            yield number, line


def _pass(stream: IO[bytes], count: int) -> None:
    while count > 0:
        passed = len(stream.read(min(count, CHUNK)))
        count = count - passed if passed else 0
