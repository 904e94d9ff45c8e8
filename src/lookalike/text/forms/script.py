"""Simplified and traditional Chinese, by the tables of OpenCC (scripts/generate_script_table.py)."""

from __future__ import annotations

import itertools
import re
from array import array
from functools import cache
from pathlib import Path
from typing import NamedTuple

from lookalike import _native
from lookalike.text.forms.rewriting import code_points, from_code_points

_CHINESE = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]")
# In Taiwan 著 is written for 着 too, but not in words like these.
_WRITTEN = re.compile("(?<![名显顯卓专專论論编編土原巨译譯昭合所])著(?![名作称稱者述录錄书書])")

LONG_TEXT = 1000  # characters: from here on the core is faster


class _Table(NamedTuple):
    characters: dict[int, str]
    phrases: dict[str, str]
    pattern: re.Pattern[str]

    replaced: array[int]  # the characters once more: what stands for each code point

    def translate(self, text: str) -> str:
        if len(text) < LONG_TEXT:
            return text.translate(self.characters)
        return from_code_points(_native.map_code_points(code_points(text), self.replaced))

    def apply(self, text: str) -> str:
        return self.pattern.sub(lambda match: self.phrases[match[0]], text)


def one_script(text: str) -> str | None:
    """The text with one character for all that stand for each other: for comparing, since it need not be what anybody would write."""
    if not _CHINESE.search(text):
        return None
    table = _tables()[1]
    found = table.apply(table.translate(text))
    return found if found != text else None


def simplified(text: str) -> str:
    """The text in simplified characters, as they are written: for models, which know texts as people write them."""
    if not _CHINESE.search(text):
        return text
    table = _tables()[0]
    edges = [0, *(place for match in table.pattern.finditer(text) for place in match.span()), len(text)]
    pieces = [text[start:end] for start, end in itertools.pairwise(edges)]  # what is no phrase, and a phrase, in turn
    for number, piece in enumerate(pieces):
        pieces[number] = table.phrases[piece] if number % 2 else _WRITTEN.sub("着", table.translate(piece))
    return "".join(pieces)


@cache
def _tables() -> tuple[_Table, _Table]:
    lines = (Path(__file__).parent / "script_table.txt").read_text(encoding="utf-8").splitlines()
    parts = {
        line[1:-1]: dict(zip(lines[at + 1].split(" "), lines[at + 2].split(" "), strict=True))
        for at, line in enumerate(lines)
        if line.startswith("[")
    }
    merged = parts["simplified"] | parts["merged"]
    return _table(parts["simplified"], parts["simplified phrases"]), _table(merged, parts["merged phrases"])


def _table(characters: dict[str, str], phrases: dict[str, str]) -> _Table:
    longest_first = sorted(phrases, key=len, reverse=True)
    table = str.maketrans(characters)
    replaced = array("I", range(max(table) + 1))
    for point, instead in table.items():
        replaced[point] = ord(instead)
    return _Table(table, phrases, re.compile("|".join(longest_first)), replaced)
