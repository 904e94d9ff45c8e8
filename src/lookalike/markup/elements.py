"""Tags and texts. They are made from the tables that the native core keeps, and only where somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import overload

from lookalike import _native
from lookalike.lazy import cached_property, uncollected

MAX_ELEMENTS = 500_000
TEXT = "#text"
SILENT = frozenset({"script", "style"})  # what they hold is no text

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

    def __init__(self, table: _native.PageTree) -> None:
        self.table = table
        self.head = PagePart(self, table.head)
        self.body = PagePart(self, table.body)

    @property
    def depth(self) -> int:
        return self.table.depth

    @property
    def is_cut(self) -> bool:
        return self.table.is_cut

    @cached_property
    def elements(self) -> list[Element]:
        # Thousands of objects are made and none is in a cycle: looking for cycles meanwhile took more time than the rest.
        with uncollected():
            made: list[Element] = []
            for name, attrs, string, depth, parent in self.table.rows():
                made.append(Element(name, attrs, string, depth, made[parent] if parent >= 0 else None))
            return made


class PagePart(Sequence[Element]):
    """The elements of a head or a body, made when the first of them is asked for; their number is known before."""

    def __init__(self, tree: Tree, places: Callable[[], memoryview[int]]) -> None:
        self._tree = tree
        self._places = places()

    @cached_property
    def _elements(self) -> list[Element]:
        every = self._tree.elements
        return [every[place] for place in self._places]

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Element]:
        return iter(self._elements)

    @overload
    def __getitem__(self, place: int) -> Element: ...
    @overload
    def __getitem__(self, place: slice) -> list[Element]: ...
    def __getitem__(self, place: int | slice) -> Element | list[Element]:
        return self._elements[place]
