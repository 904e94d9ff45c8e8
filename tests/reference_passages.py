"""Repeated passages and what of them is cut, the slow and obvious way: every window is compared with every window before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Passage(NamedTuple):
    """``length`` units of a document from ``first`` on, and the same units of the document that stays."""

    document: int
    first: int
    length: int
    source: int
    source_first: int


def repeated(documents: Sequence[Sequence[object]], length: int, within: bool, order: Sequence[int] | None = None) -> list[Passage]:
    """Windows in order. One is cut if an equal one stands before it of which nothing was cut; in the same document it must end before."""
    cut: set[tuple[int, int]] = set()
    before: list[tuple[int, int]] = []  # all windows so far
    found: list[Passage] = []

    def whole(document: int, first: int) -> bool:
        return not any((document, first + i) in cut for i in range(length))

    for document in order if order is not None else range(len(documents)):
        units = documents[document]
        windows = range(len(units) - length + 1)
        follows: tuple[int, int] | None = None  # the copy of the window before
        for first in windows:
            copies = [
                (other, place)
                for other, place in [*before, *((document, place) for place in range(first - length + 1) if within)]
                if documents[other][place : place + length] == units[first : first + length] and whole(other, place)
            ]
            if not copies:
                follows = None
                continue
            cut |= {(document, first + i) for i in range(length)}
            if follows in copies:  # the copy goes on
                source = follows
                found[-1] = found[-1]._replace(length=found[-1].length + 1)
            else:
                source = copies[0]
                found.append(Passage(document, first, length, *source))
            follows = (source[0], source[1] + 1)
        before += [(document, place) for place in windows]
    return found


def cut_units(passages: Sequence[Passage]) -> set[tuple[int, int]]:
    return {(each.document, each.first + i) for each in passages for i in range(each.length)}
