"""HTML inside of other files (chapters, mail, members of archives) as plain text: all that can be read, by the standard library alone."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import NamedTuple

from lookalike.markup.decoding import decode_page

_HIDDEN = {"script", "style", "template", "noscript", "svg", "math"}
_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "br", "caption", "dd", "div", "dl", "dt", "figcaption", "figure", "footer", "form",
    "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table", "td", "th", "title",
    "tr", "ul",
})  # fmt: skip
_SPACE = re.compile(r"[ \t\r\f\v\u00a0]*\n\s*")


class MarkupText(NamedTuple):
    text: str
    title: str | None


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.title: list[str] = []
        self._hidden = 0
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HIDDEN:
            self._hidden += 1
        elif tag == "title":
            self._in_title = True
        elif tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self._hidden = max(self._hidden - 1, 0)
        elif tag == "title":
            self._in_title = False
        elif tag in _BLOCKS:
            self.pieces.append("\t" if tag in ("td", "th") else "\n")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif not self._hidden:
            self.pieces.append(re.sub(r"\s+", " ", data))


def markup_text(data: bytes | str) -> MarkupText:
    parser = _Parser()
    parser.feed(data if isinstance(data, str) else decode_page(data, "the page").text)
    parser.close()
    return MarkupText(_SPACE.sub("\n", "".join(parser.pieces)).strip(), "".join(parser.title).strip() or None)
