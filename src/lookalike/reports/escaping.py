"""Text that a page or a terminal can show: nothing in it acts, and nothing in it hides."""

from __future__ import annotations

import unicodedata
from functools import cache

# Direction controls can show text in another order than it has; the others cannot be seen at all.
_HIDDEN = [0x00AD, 0x061C, 0x180E, *range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070), 0xFEFF, *range(0xFFF9, 0xFFFC)]
_JOINERS = {0x200C, 0x200D}  # without these, Persian words and emoji fall apart
_CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
_BEYOND = [*range(0xD800, 0xE000), *range(0xFDD0, 0xFDF0), 0xFFFE, 0xFFFF, *range(0xE0000, 0xE0080)]
_SHOWN_AS_THEY_ARE = {0x09, 0x0A, *_JOINERS}


@cache
def _table() -> dict[int, str]:
    import html  # its table of entities takes a moment, and a terminal needs none

    badges = {
        code: f'<span class="code">U+{code:04X}</span>' for code in (*_CONTROLS, *_HIDDEN, *_BEYOND) if code not in _SHOWN_AS_THEY_ARE
    }
    return badges | {ord(char): html.escape(char) for char in "&<>\"'"} | {0x0D: "\n"}


def escaped(text: str) -> str:
    """HTML that shows a text. Control characters, lone surrogates and direction controls appear as their code points."""
    return text.replace("\r\n", "\n").translate(_table())


def attribute(text: str) -> str:
    """A text for the value of an attribute or for a title, where there can be no elements."""
    import html

    return html.escape(printable(text))


def printable(text: str) -> str:
    """Text for a terminal: control characters and lone surrogates are escaped."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode() for char in text)


def columns(text: str) -> int:
    """How many columns of a terminal a text takes: ideographs and other wide characters take two, combining marks none."""
    return sum(0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
