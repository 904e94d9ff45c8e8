"""A stream in blocks of whole lines."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from mmap import mmap
from typing import IO, NamedTuple

from lookalike import _native
from lookalike.corpus.row import Problem, damaged
from lookalike.corpus.streams import damage
from lookalike.system import large_memory

BLOCK = 2 << 20  # bytes: few enough that a block is still in a cache when it is sketched, and enough that the steps between cost little
LINE_END = ord("\n")
_MARK = b"\xef\xbb\xbf"


Buffer = bytearray | mmap


class Buffers:
    """Memory for blocks, which is used again when a block was let go. Any thread may take and give."""

    def __init__(self) -> None:
        self._free: deque[Buffer] = deque(maxlen=64)

    def take(self, size: int) -> Buffer:
        while self._free:
            with suppress(IndexError):  # another thread was quicker
                if len(found := self._free.pop()) >= size:
                    return found
        return large_memory(size)

    def give(self, block: Block) -> None:
        buffer = block.data.obj
        if isinstance(buffer, Buffer) and len(buffer) <= 4 * BLOCK:  # one that held a very long line is better given back
            self._free.append(buffer)


class Block(NamedTuple):
    data: memoryview  # valid until the next block is asked for, unless there are buffers
    offset: int  # of its first byte in the unpacked file
    line: int  # the number of its first line, from 1


def line_blocks(
    file: IO[bytes], name: str, most: int, start: tuple[int, int] = (0, 1), size: int | None = None, buffers: Buffers | None = None
) -> Iterator[Block | Problem]:
    """The blocks of a file, from an offset and the number of its line on.

    In place of a line of much more than ``most`` bytes there is a problem; so there is for everything behind damaged data. With
    ``buffers`` each block has memory of its own, which whoever gets the block gives back.
    """
    size = min(size or BLOCK, most)
    buffer = buffers.take(2 * size) if buffers else bytearray(2 * size)
    held = 0  # so many bytes at its beginning are a line whose end was not found yet
    offset, line = start  # of the first byte in the buffer
    skipping = False
    try:
        _skip(file, offset)
        while True:
            if len(buffer) < held + size:
                buffer = _longer(buffer, held)
            count = _read_into(file, memoryview(buffer)[held : held + size])
            end = held + count
            first, cut = 0, buffer.rfind(b"\n", held, end) + 1 if count else end
            if skipping and (cut or not count):
                yield too_long(f"{name}:{line}", most)
                first, line, skipping = buffer.find(b"\n", 0, end) + 1, line + 1, False
            elif offset == 0 and buffer[: len(_MARK)] == _MARK:
                first = len(_MARK)
            if cut > first:
                yield Block(memoryview(buffer)[first:cut], offset + first, line)
                line += _native.count_line_ends(memoryview(buffer)[first:cut])
            if not count:
                return
            if not cut and (skipping or end > most):
                skipping, cut = True, end
            if cut > first and buffers:
                rest = memoryview(buffer)[cut:end]
                buffer = buffers.take(max(2 * size, len(rest) + size))
                buffer[: len(rest)] = rest
            elif cut:  # otherwise it is where it should be: moving a long line for every block of it takes for ever
                buffer[: end - cut] = buffer[cut:end]
            offset, held = offset + cut, end - cut
    except damage() as error:
        yield damaged(f"{name}:{line}", error)


def _longer(buffer: Buffer, held: int) -> bytearray:
    """Twice the room, with what is held at its beginning."""
    return bytearray(memoryview(buffer)[:held]) + bytes(2 * len(buffer) - held)


def too_long(place: str, most: int) -> Problem:
    return Problem("line too long", place, f"the line has more than {most:,} bytes")


def _read_into(file: IO[bytes], view: memoryview) -> int:
    """Fills as much as can be had. What comes before damage is handed on, and the damage raised by the next call.

    Whole lines that came through a pipe are handed on as they come: whoever writes there may take a break.
    """
    count = 0
    while count < len(view) and not (count and view[count - 1] == LINE_END):
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
