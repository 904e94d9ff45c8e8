"""Tags and texts, made from the events of a parser. Nothing here is recursive: a page may be nested as deep as it likes."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

MAX_ELEMENTS = 500_000
TEXT = "#text"
SILENT = frozenset({"script", "style"})  # what they hold is no text
# Attributes that hold a list of words, as BeautifulSoup has them; "*" are those of every tag.
_LISTS: dict[str, frozenset[str]] = {
    "*": frozenset({"class", "accesskey", "dropzone"}),
    "a": frozenset({"rel", "rev"}),
    "link": frozenset({"rel", "rev"}),
    "area": frozenset({"rel"}),
    "td": frozenset({"headers"}),
    "th": frozenset({"headers"}),
    "form": frozenset({"accept-charset"}),
    "object": frozenset({"archive"}),
    "icon": frozenset({"sizes"}),
    "iframe": frozenset({"sandbox"}),
    "output": frozenset({"for"}),
}
_OF_ALL = _LISTS["*"]
_NONE: frozenset[str] = frozenset()

Attributes = dict[str, str | list[str]]


class Element:
    """A tag, or a text (``name`` is ``#text``).

    ``string`` is the text of a text, and of a tag that holds one text and nothing else, or one such tag.
    """

    __slots__ = ("attrs", "depth", "name", "parent", "string")

    def __init__(self, name: str, attrs: Attributes, string: str | None, depth: int, parent: Element | None) -> None:
        self.name, self.attrs, self.string, self.depth, self.parent = name, attrs, string, depth, parent

    @property
    def is_text(self) -> bool:
        return self.name == TEXT

    @property
    def path(self) -> str:
        """The names from the root to here: ``html/body/p/#text``."""
        names = [self.name]
        above = self.parent
        while above is not None:
            names.append(above.name)
            above = above.parent
        return "/".join(reversed(names))

    def __repr__(self) -> str:
        return f"Element({self.path!r}, {self.attrs!r}, {self.string!r})"


class Tree:
    """All elements of a page in document order, and those of its head and body."""

    def __init__(self) -> None:
        self.elements: list[Element] = []
        self.head: list[Element] = []
        self.body: list[Element] = []
        self.depth = 0
        self.is_cut = False

    @classmethod
    def of(cls, html: str, sax_parse: Callable[[str, Any], None]) -> Tree:
        builder = _Builder(cls())
        # Thousands of objects are made and none is in a cycle: looking for cycles meanwhile took more time than the rest.
        collecting = gc.isenabled()
        gc.disable()
        try:
            sax_parse(html, builder)
        except _Full:
            builder.tree.is_cut = True
        finally:
            if collecting:
                gc.enable()
        return builder.finished()


class _Full(Exception):
    pass


class _Builder:
    """Takes the events of the parser. For every open tag it counts the children and keeps the string of the last."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._part: list[Element] = []  # of the head or the body, where the parser is
        self._open: list[Element] = []
        self._children: list[int] = []
        self._last: list[str | None] = []
        self._texts: list[str] = []

    def start_element(self, name: str, attributes: tuple[tuple[str, str | None], ...]) -> None:
        if self._texts:
            self._add_text()
        depth = len(self._open)
        attrs: Attributes = {}
        for key, value in attributes:
            # The parser gives a value of None for an attribute without one.
            attrs[key] = (value or "").split() if key in _OF_ALL or key in _LISTS.get(name, _NONE) else value or ""
        element = Element(name, attrs, None, depth, self._open[-1] if depth else None)
        if depth == 1:
            self._part = self.tree.head if name == "head" else self.tree.body
            self.tree.elements.append(element)
        else:
            self._append(element)
        self._open.append(element)
        self._children.append(0)
        self._last.append(None)
        if depth > self.tree.depth:
            self.tree.depth = depth

    def end_element(self, name: str) -> None:
        if self._texts:
            self._add_text()
        element, last = self._open.pop(), self._last.pop()
        if self._children.pop() == 1:
            element.string = last
        if self._children:
            self._children[-1] += 1
            self._last[-1] = element.string

    def characters(self, data: str) -> None:
        self._texts.append(data)

    def comment(self, data: str) -> None:
        """Nothing: the texts before and after it are one text."""

    def doctype(self, name: str, public_id: str | None, system_id: str | None) -> None:
        """Nothing that is shown."""

    def processing_instruction(self, target: str, data: str) -> None:
        """Nothing that is shown."""

    def finished(self) -> Tree:
        while self._open:  # only where the page was cut
            self.end_element("")
        return self.tree

    def _add_text(self) -> None:
        text = self._texts[0] if len(self._texts) == 1 else "".join(self._texts)
        self._texts.clear()
        if not self._open or self._open[-1].name in SILENT:
            return
        self._children[-1] += 1
        self._last[-1] = text
        if not text.isspace():
            self._append(Element(TEXT, {}, text, len(self._open), self._open[-1]))

    def _append(self, element: Element) -> None:
        elements = self.tree.elements
        if len(elements) >= MAX_ELEMENTS:
            raise _Full
        elements.append(element)
        if element.depth > 1:
            self._part.append(element)
