"""What a language model reads of a tag.

``own``: the tag as it is written, with its attributes, and its string if it holds one text and nothing else:
``<p class="big red">Green tea</p>``, ``<div id="menu">``. A text is itself. Every word of the page is read once or twice,
whatever it stands in.

``whole``: the tag with everything inside, as ``str(tag)`` of BeautifulSoup has it. A word is read once for every tag that it
stands in: on ordinary pages ten times as often.

White space is collapsed, as a browser does. Scripts, styles and comments are left out, as everywhere in a ``Page``.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import accumulate

from lookalike.errors import InputError
from lookalike.markup.elements import Element

MARKUPS = ("own", "whole")
MAX_WHOLE = 32 << 20  # characters of all texts of a part of a page
_VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"])


def tag_texts(elements: Sequence[Element], markup: str = "own") -> list[str]:
    """One text an element. ``elements`` are those of a head or a body, in document order."""
    return [_own(element) for element in elements] if markup == "own" else _whole(elements)


def _own(element: Element) -> str:
    if element.string is None:
        return _opening(element)
    return _collapsed(element.string) if element.is_text else _opening(element) + _escaped(element.string) + f"</{element.name}>"


def _whole(elements: Sequence[Element]) -> list[str]:
    pieces: list[str] = []
    starts, ends = [0] * len(elements), [0] * len(elements)
    opened: list[int] = []

    def close(down_to: int) -> None:
        while opened and elements[opened[-1]].depth >= down_to:
            place = opened.pop()
            if elements[place].name not in _VOID and not elements[place].is_text:
                pieces.append(f"</{elements[place].name}>")
            ends[place] = len(pieces)

    for place, element in enumerate(elements):
        close(element.depth)
        starts[place] = len(pieces)
        pieces.append(_escaped(element.string or "") if element.is_text else _opening(element))
        opened.append(place)
    close(0)
    characters = [0, *accumulate(map(len, pieces))]
    if sum(characters[end] - characters[start] for start, end in zip(starts, ends, strict=True)) > MAX_WHOLE:
        raise InputError(f"markup='whole': more than {MAX_WHOLE >> 20} Mi characters, the tags are nested deeply: choose markup='own'")
    return ["".join(pieces[start:end]) for start, end in zip(starts, ends, strict=True)]


def _opening(element: Element) -> str:
    values = ((key, value if isinstance(value, str) else " ".join(value)) for key, value in element.attrs.items())
    return "".join([f"<{element.name}", *(f' {key}="{escape(value)}"' for key, value in values), ">"])


def _escaped(text: str) -> str:
    return escape(_collapsed(text), quote=False)


def _collapsed(text: str) -> str:
    return " ".join(text.split())
