"""Old Office files are file systems of sectors, each of which names the next. What is checked here before a library follows them: that no
chain leads back to where it was. The library of spreadsheets would follow it until the memory is full."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from lookalike.files.collecting import Unreadable
from lookalike.files.model import BROKEN

_HEADER = 512
_IN_HEADER = 109  # places of the table that the header itself names
_COUNTS = (44, 64, 72)  # where the header counts its sectors of tables
_REAL = 0xFFFFFFFA  # sector numbers below are sectors; the others say that a chain ends, or that a sector is free


def check_chains(data: bytes) -> None:
    """Refuses a file in which sectors follow each other in a circle."""
    if len(data) < _HEADER:
        raise Unreadable(BROKEN, "it is shorter than its header")
    shift = struct.unpack_from("<H", data, 30)[0]
    if shift not in (9, 12):
        raise Unreadable(BROKEN, "its header names no size of sectors")
    size = 1 << shift
    sectors = len(data) // size
    if any(struct.unpack_from("<I", data, place)[0] > sectors for place in _COUNTS):
        raise Unreadable(BROKEN, "its header counts more sectors than there are")
    table: list[int] = []
    for sector in _table_sectors(data, size):
        table += _numbers(data, sector, size)
    if _has_circle(table):
        raise Unreadable(BROKEN, "its sectors follow each other in a circle")
    small: list[int] = []
    sector = struct.unpack_from("<I", data, 60)[0]
    while sector < min(_REAL, len(table)):  # ends: the chain has no circle
        small += _numbers(data, sector, size)
        sector = table[sector]
    if _has_circle(small):
        raise Unreadable(BROKEN, "its small sectors follow each other in a circle")


def check_directory(data: bytes) -> None:
    """Refuses a file that ends before the list of what is in it."""
    shift, first = 0, 0
    if len(data) >= _HEADER:
        shift, first = struct.unpack_from("<H", data, 30)[0], struct.unpack_from("<I", data, 48)[0]
    if shift not in (9, 12) or (first + 1) << shift >= len(data):
        raise Unreadable(BROKEN, "it ends before the list of what is in it")


def _table_sectors(data: bytes, size: int) -> list[int]:
    """Where the table of all chains is: named by the header, and by a chain of sectors of its own in large files."""
    found = list(struct.unpack_from(f"<{_IN_HEADER}I", data, 76))
    following = struct.unpack_from("<I", data, 68)[0]
    seen: set[int] = set()
    while following < _REAL:
        if following in seen:
            raise Unreadable(BROKEN, "its tables follow each other in a circle")
        seen.add(following)
        named = _numbers(data, following, size)
        if not named:
            break
        *more, following = named
        found += more
    return [sector for sector in found if sector < _REAL]


def _numbers(data: bytes, sector: int, size: int) -> Sequence[int]:
    """What a sector holds; nothing of one that lies beyond the end."""
    piece = data[(sector + 1) * size : (sector + 2) * size]
    return struct.unpack(f"<{len(piece) // 4}I", piece[: len(piece) // 4 * 4])


def _has_circle(following: Sequence[int]) -> bool:
    """Whether a chain comes back to a sector that it has been at."""
    walk = [0] * len(following)  # the number of the walk that was there first
    for start in range(len(following)):
        at = start
        while at < len(following) and not walk[at]:
            walk[at] = start + 1
            at = following[at]
        if at < len(following) and walk[at] == start + 1:
            return True
    return False
