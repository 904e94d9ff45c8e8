"""Repeated passages and what of them is cut, the slow and obvious way: every window is compared with every window before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from reference import siphash


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


def held(reference: Sequence[object], document: Sequence[object], n: int, by_tokens: bool) -> tuple[int, int]:
    """How many n-grams of a reference a document holds, of how many; or tokens that lie in such n-grams. A shorter reference is one gram."""
    n = min(n, len(reference))
    grams = [tuple(reference[i : i + n]) for i in range(len(reference) - n + 1)]
    there = {tuple(document[i : i + n]) for i in range(len(document) - n + 1)}
    if not by_tokens:
        return sum(gram in there for gram in grams), len(grams)
    return len({i + k for i, gram in enumerate(grams) if gram in there for k in range(n)}), len(reference)


STOPS, WIDE_STOPS, CLOSING, SPACES = ".!?", "。！？｡", "\"')]}»’”」』】）", " \t\n\v\f\r"


def sentences(text: str) -> list[str]:
    """The sentences of a text, which together are the text."""
    found, begin, i = [], 0, 0
    while i < len(text):
        if text[i] == "\n":
            i += 1
        elif text[i] in STOPS + WIDE_STOPS:
            wide = False
            while i < len(text) and text[i] in STOPS + WIDE_STOPS:
                wide |= text[i] in WIDE_STOPS
                i += 1
            while i < len(text) and text[i] in CLOSING:
                i += 1
            if not (wide or i == len(text) or text[i] in SPACES):
                continue
        else:
            i += 1
            continue
        found.append(text[begin:i])
        begin = i
    return [*found, text[begin:]] if begin < len(text) else found


WORD = 2**64 - 1


def mix(x: int) -> int:
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB & WORD
    return x ^ x >> 31


class BloomFilter:
    """Which bits an item has, one by one."""

    def __init__(self, blocks: int, hashes: int, key: Sequence[int]) -> None:
        self.blocks, self.hashes = blocks, hashes
        self.key, self.start = key[:2], siphash(key[2:], (1).to_bytes(8, "little"))  # base/secret.hpp
        self.bits: set[int] = set()

    def add(self, low: int, high: int) -> bool:
        item = siphash(self.key, low.to_bytes(8, "little") + high.to_bytes(8, "little"))
        block = mix(item ^ self.start) * self.blocks >> 64
        places = set()
        for i in range(self.hashes):
            word = mix(item + (i // 7 + 1) * 0x9E3779B97F4A7C15 & WORD)
            places.add(block * 512 + (word >> 9 * (i % 7)) % 512)
        seen = places <= self.bits
        self.bits |= places
        return seen
