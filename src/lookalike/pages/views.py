"""A page seen from several sides, each as a bag of features: its structure, style, links, forms, text and content.

Two bags are compared by the Dice share of what they have in common, where counts are damped (1, 2–3, 4–7, 8–15 … weigh
1, 2, 3, 4 …): a list of twenty entries is much like one of ten.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from weakref import WeakKeyDictionary

from lookalike import _native
from lookalike.lazy import cached_property
from lookalike.markup.elements import TEXT, Element
from lookalike.markup.extraction import page_text
from lookalike.markup.page import Page
from lookalike.text.normalize import utf8
from lookalike.text.tokenize import NATIVE_MODES

VIEWS = ("structure", "style", "links", "forms", "text", "content")
WORDS_IN_A_ROW = 3
UNSEEN = frozenset({"noscript", "template"})
CONTROLS = frozenset({"form", "input", "select", "textarea", "button"})
_CONTROL_KEYS = ("name", "type", "action", "id")

Bag = Mapping[Hashable, int]
_Place = tuple[int, str, str]  # the path above, the tag before, the tag


class PageViews:
    """The bags of one page, made when they are asked for."""

    def __init__(self, page: Page) -> None:
        # The page keeps its views as long as it lives, and they must not keep the page.
        self._html, self._elements = page.html, page.elements

    @cached_property
    def structure(self) -> Bag:
        """Where tags stand: the names from the root down to each tag, with the name of the tag before it."""
        numbers: dict[tuple[int, str], int] = {}
        paths, before = [0], [""]
        bag: Counter[_Place] = Counter()
        for element in self._elements:
            depth, name = element.depth, element.name
            if name == TEXT:
                continue
            del paths[depth + 1 :], before[depth + 1 :]
            above = paths[depth]
            bag[above, before[depth], name] += 1
            before[depth] = name
            paths.append(numbers.setdefault((above, name), len(numbers) + 1))
            before.append("")
        names = {number: key for key, number in numbers.items()}
        return _named(bag, names)

    @cached_property
    def style(self) -> Bag:
        """How tags look: their names with each class, and with each declaration of their own style."""
        bag: Counter[Hashable] = Counter()
        for element in self._elements:
            own = [*element.attrs.get("class", ()), *_declarations(element)]
            if own:
                bag.update((element.name, look) for look in own)
            elif element.name != TEXT:
                bag[element.name] += 1
        return bag

    @cached_property
    def links(self) -> Bag:
        """Where links lead."""
        return Counter(str(element.attrs["href"]).strip() for element in self._elements if element.name == "a" and "href" in element.attrs)

    @cached_property
    def forms(self) -> Bag:
        """Which forms and controls there are, once each: ten rows with a button each ask for nothing else than one."""
        controls = (element for element in self._elements if element.name in CONTROLS)
        return dict.fromkeys(((each.name, *(str(each.attrs.get(key, "")) for key in _CONTROL_KEYS)) for each in controls), 1)

    @cached_property
    def text(self) -> Bag:
        """What can be read on the page: three words in a row."""
        return _phrases(self.visible_text())

    @cached_property
    def content(self) -> Bag:
        """What the page is about: three words in a row of its main text, without navigation and what else frames it."""
        return _phrases(page_text(self._html))

    def visible_text(self) -> str:
        return "\n".join(self._texts(UNSEEN))

    def _texts(self, outside: frozenset[str]) -> Iterator[str]:
        hidden = None  # the depth of the tag whose text does not count
        for element in self._elements:
            if hidden is not None and element.depth > hidden:
                continue
            hidden = element.depth if element.name in outside or element.name == "head" else None
            if element.name == TEXT and element.string:
                yield element.string


def _named(bag: Counter[_Place], names: dict[int, tuple[int, str]]) -> Bag:
    """The same features with hashes of their paths, which mean the same in every page."""
    hashes = {0: 0}
    for number, (above, name) in sorted(names.items()):  # a parent has the smaller number
        hashes[number] = hash_of(f"{hashes[above]:x}/{name}")
    return {(hashes[above], before, name): count for (above, before, name), count in bag.items()}


def hash_of(text: str) -> int:
    """The 64-bit hash of a string, the same everywhere."""
    data = utf8(text, "text")
    return _native.hash_strings(data, array("q", (0, len(data))), False)[0]


def _declarations(element: Element) -> list[str]:
    style = element.attrs.get("style", "")
    return ["".join(part.split()).lower() for part in style.split(";") if part.strip()] if isinstance(style, str) else []


def _phrases(text: str) -> Bag:
    data = utf8(text, "text")
    offsets = array("q", (0, len(data)))
    return Counter(_native.secret_features(data, offsets, NATIVE_MODES["auto"], True, WORDS_IN_A_ROW, False, 1)[0])


def share(left: Bag, right: Bag) -> float:
    """The Dice share of two bags with damped counts: 1 for equal ones, also for two empty ones."""
    if left == right:
        return 1.0
    if len(left) > len(right):
        left, right = right, left
    common = sum(min(count, right[key]).bit_length() for key, count in left.items() if key in right)
    return 2 * common / (_weight(left) + _weight(right))


def _weight(bag: Bag) -> int:
    return sum(count.bit_length() for count in bag.values())


_known: WeakKeyDictionary[Page, PageViews] = WeakKeyDictionary()


def views_of(page: Page) -> PageViews:
    """The views of a page, kept as long as the page is."""
    found = _known.get(page)
    if found is None:
        found = _known[page] = PageViews(page)
    return found
