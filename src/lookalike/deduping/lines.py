"""A stream in blocks of whole lines."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import IO, NamedTuple

from lookalike import _native
from lookalike.corpus.row import Problem, damaged
from lookalike.corpus.streams import damage
from lookalike.deduping.batches import Report

BLOCK = 1 << 20  # bytes: a block and what is made of it stay in the second-level cache
MAX_ROW_BYTES = 128 << 20  # a document and its features have to fit into memory several times
_MARK = b"\xef\xbb\xbf"


class Block(NamedTuple):
    data: memoryview  # valid until the next block is asked for
    offset: int  # of its first byte in the unpacked file
    line: int  # the number of its first line, from 1


def line_blocks(file: IO[bytes], name: str, report: Report, start: tuple[int, int] = (0, 1)) -> Iterator[Block]:
    """The blocks of a file, from an offset and the number of its line on.

    A line that is too long is reported and left out; so is everything behind damaged data.
    """
    buffer, held = bytearray(2 * BLOCK), 0  # the first `held` bytes are a line whose end was not found yet
    offset, line = start  # of the first byte in the buffer
    too_long = False
    try:
        _skip(file, offset)
        while True:
            if len(buffer) < held + BLOCK:
                buffer = buffer + bytes(len(buffer))
            count = _read_into(file, memoryview(buffer)[held : held + BLOCK])
            end = held + count
            first, cut = 0, buffer.rfind(b"\n", held, end) + 1 if count else end
            if too_long and (cut or not count):
                report(Problem("line too long", f"{name}:{line}", f"the line has more than {MAX_ROW_BYTES:,} bytes"))
                first, line, too_long = buffer.find(b"\n", 0, end) + 1, line + 1, False
            elif offset == 0 and buffer.startswith(_MARK):
                first = len(_MARK)
            if cut > first:
                yield Block(memoryview(buffer)[first:cut], offset + first, line)
                line += _native.count_line_ends(memoryview(buffer)[first:cut])
            if not count:
                return
            if not cut and (too_long or end > MAX_ROW_BYTES):
                too_long, cut = True, end
            buffer[: end - cut] = buffer[cut:end]
            offset, held = offset + cut, end - cut
    except damage() as error:
        report(damaged(f"{name}:{line}", error))


def _read_into(file: IO[bytes], view: memoryview) -> int:
    """Fills as much as can be had. What comes before damage is handed on, and the damage raised by the next call."""
    count = 0
    while count < len(view):
        try:
            read = file.readinto1(view[count:])  # type: ignore[attr-defined]  # every stream of ours has it
        except damage():
            if not count:
                raise
            break
        if not read:
            break
        count += read
    return count


def _skip(file: IO[bytes], offset: int) -> None:
    """Goes on where an earlier reading ended. Packed data have to be unpacked up to there."""
    if offset and file.seekable() and isinstance(file, io.BufferedReader):
        file.seek(offset)
        return
    while offset > 0:
        passed = len(file.read(min(offset, BLOCK)))
        offset = offset - passed if passed else 0
