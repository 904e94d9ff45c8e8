"""Rows of a block that stay go to the file as the bytes they came in."""

from __future__ import annotations

import errno
import os
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike import _native


def written(block: bytes, offset: int, extents: list[tuple[int, int]], kept: list[bool]) -> tuple[bytes, int]:
    with tempfile.TemporaryFile() as file:
        places = np.array(extents, np.int64).reshape(-1)
        count = _native.write_kept_rows(file.fileno(), block, offset, places, np.array(kept, np.uint8))
        file.seek(0)
        return file.read(), count


@given(st.lists(st.tuples(st.binary(max_size=20), st.booleans()), max_size=40), st.integers(0, 2**40), st.booleans())
def test_what_stays_is_joined(rows: list[tuple[bytes, bool]], offset: int, last_has_end: bool) -> None:
    lines = [row.replace(b"\n", b" ") + b"\n" for row, _ in rows]
    if lines and not last_has_end:
        lines[-1] = lines[-1][:-1] + b"x"
    ends = np.cumsum([0, *map(len, lines)]) + offset
    extents = list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))
    kept = [stays for _, stays in rows]
    expected = b"".join(line for line, stays in zip(lines, kept, strict=True) if stays)
    if expected and not expected.endswith(b"\n"):
        expected += b"\n"
    assert written(b"".join(lines), offset, extents, kept) == (expected, len(expected))


def test_more_pieces_than_the_system_takes_at_a_time() -> None:
    block = b"ab\n" * 5001
    extents = [(3 * i, 3 * i + 3) for i in range(5001)]
    assert written(block, 0, extents, [i % 2 == 0 for i in range(5001)]) == (b"ab\n" * 2501, 3 * 2501)


def test_a_reader_that_takes_little_at_a_time_gets_all() -> None:
    read, write = os.pipe()
    block = b"".join(b"%07d\n" % i for i in range(50_000))
    found: list[bytes] = []

    def reader() -> None:
        while data := os.read(read, 1000):
            found.append(data)

    thread = threading.Thread(target=reader)
    thread.start()
    extents = np.arange(50_000, dtype=np.int64).repeat(2) * 8
    extents[1::2] += 8
    kept = np.ones(50_000, np.uint8)
    kept[::3] = 0
    count = _native.write_kept_rows(write, block, 0, extents, kept)
    os.close(write)
    thread.join()
    os.close(read)
    assert b"".join(found) == b"".join(b"%07d\n" % i for i in range(50_000) if i % 3)
    assert count == len(b"".join(found))


def test_what_the_system_has_against_it_is_said() -> None:
    extents, kept = np.array([0, 2], np.int64), np.ones(1, np.uint8)
    with pytest.raises(OSError, match="Bad file descriptor") as caught:
        _native.write_kept_rows(-1, b"x\n", 0, extents, kept)
    assert caught.value.errno == errno.EBADF
    if Path("/dev/full").exists():
        with open("/dev/full", "wb") as full, pytest.raises(OSError, match="No space left") as caught:
            _native.write_kept_rows(full.fileno(), b"x\n", 0, extents, kept)
        assert caught.value.errno == errno.ENOSPC


@pytest.mark.parametrize("places", [(-1, 1), (1, 0), (0, 3), (2**62, 2**62 + 1), (-(2**63), 2**63 - 1)])
def test_places_outside_of_the_block_are_refused(places: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="places in the block"):
        written(b"x\n", 0, [places], [True])
    assert written(b"x\n", 0, [places], [False]) == (b"", 0)  # nobody looks at them
    with pytest.raises(ValueError, match="begin and end for each row"):
        _native.write_kept_rows(0, b"x\n", 0, np.zeros(3, np.int64), np.ones(1, np.uint8))
