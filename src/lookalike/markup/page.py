"""A page: its tags and texts in document order, head and body apart.

    page = la.page("<p class='a b'>Hello <b>you</b>")
    [(tag.name, tag.attrs, tag.string) for tag in page.body]

The tree is the one a browser builds (turbohtml follows the WHATWG standard), also of a page that is broken or has neither
head nor body. Comments are nothing, not even a boundary between two texts; scripts and styles are tags without a string.

Limits, each named in ``notes`` where it takes effect: a page has at most ``MAX_CHARACTERS`` (beyond: an error); markup
behind ``MAX_MARKUP`` signs ``<`` is not read, nor is what follows ``MAX_ELEMENTS`` tags and texts; below ``MAX_DEPTH``
levels, as in browsers, tags become neighbours of what they stand in: no text is lost.
"""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from lookalike import _native
from lookalike.checks import check_str
from lookalike.errors import InputError, MissingExtra
from lookalike.io import open_file
from lookalike.lazy import cached_property
from lookalike.markup import elements
from lookalike.markup.decoding import decode_page
from lookalike.markup.elements import Element, PagePart, Tree

MAX_CHARACTERS = 32 << 20
MAX_MARKUP = 1_000_000
MAX_DEPTH = 512  # turbohtml's, and that of Chromium
MAX_ROOTS = 1_000  # every further <html> and <body> adds its attributes to the first, which takes quadratic time
_ROOT = re.compile("<(?:html|body)", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")


class Page:
    """A parsed page. ``head`` and ``body`` hold the tags and texts inside of these, in document order."""

    def __init__(self, html: str, *, name: str = "the page", encoding: str | None = None, notes: tuple[str, ...] = ()) -> None:
        self.name, self.encoding = name, encoding
        self.html, cuts = _within_limits(html, name)
        self._notes = (*notes, *cuts)

    def __repr__(self) -> str:
        return f"Page({self.name!r}, {len(self.html):,} characters)"

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.html, self.name, self.encoding, self._notes)

    @cached_property
    def tree(self) -> Tree:
        return Tree(read_table(self.html))

    @property
    def elements(self) -> list[Element]:
        """Every tag and every text that is not blank, in document order."""
        return self.tree.elements

    @property
    def head(self) -> PagePart:
        return self.tree.head

    @property
    def body(self) -> PagePart:
        return self.tree.body

    @property
    def depth(self) -> int:
        """How deep the tags are nested; ``html`` has depth 0."""
        return self.tree.depth

    @property
    def title(self) -> str:
        """The text of the first ``title`` in the head, with its white space collapsed."""
        return " ".join(self.tree.table.title().split())

    @property
    def reading_notes(self) -> list[str]:
        """Those of the ``notes`` that are known before the page is parsed: of its charset and its size."""
        return list(self._notes)

    @property
    def notes(self) -> list[str]:
        """What a reader should know about how the page was read: limits that took effect, a charset that is none. Parses the page."""
        found = self.reading_notes
        if self.depth >= MAX_DEPTH:
            found.append(f"{self.name}: nested {MAX_DEPTH} levels deep: tags below stand beside one another, their text is kept")
        if self.tree.is_cut:
            found.append(f"{self.name}: only the first {elements.MAX_ELEMENTS:,} tags and texts were read")
        return found


def page(source: str | bytes | Path, *, encoding: str | None = None, name: str | None = None) -> Page:
    """A page from its HTML, from the bytes of it, or from a file.

    >>> page("<title>Tea</title><p>One cup").title
    'Tea'
    """
    if name is not None:
        check_str("name", name)
    _parser()  # a missing one is said here, and not where the page is first looked at
    if isinstance(source, str):
        return Page(source, name=name or "the page", encoding=encoding)
    if isinstance(source, Path):
        name = name or str(source)
        with open_file(source) as file:
            source = file.read(4 * MAX_CHARACTERS + 1)
    if not isinstance(source, bytes):
        raise InputError(f"page: got a {type(source).__name__}; give HTML as str or bytes, or a Path")
    name = name or "the page"
    if len(source) > 4 * MAX_CHARACTERS:
        raise _too_large(name)
    read = decode_page(source, name, encoding)
    return Page(read.text, name=name, encoding=read.encoding, notes=(f"{name}: {read.note}",) if read.note else ())


def parse_document(html: str) -> Any:
    """The tree as turbohtml keeps it: faster than a ``Page`` where only names and text are needed."""
    return _parser().parse(html, positions=False)


def _parser() -> Any:
    try:
        import turbohtml
    except ImportError as error:
        raise MissingExtra.for_extra("reading web pages", "pages") from error
    return turbohtml


def read_table(html: str) -> _native.PageTree:
    """The tags and texts of a page as the native core keeps them.

    The parser writes its tree out and the core reads that, which takes a fraction of the time that an event for every tag
    would; the events decide where the written tree could mean two.
    """
    found = _native.read_markup(parse_document(html).serialize(), elements.MAX_ELEMENTS)
    return table_by_events(html) if found is None else found


def table_by_events(html: str) -> _native.PageTree:
    import turbohtml.saxparse

    sax_parse: Any = turbohtml.saxparse.sax_parse  # any object with the methods of a handler will do
    builder = _native.PageBuilder(elements.MAX_ELEMENTS)
    with suppress(StopIteration):  # too many tags: the table says that it is cut
        sax_parse(html, builder)
    return builder.finish()


def _again(html: str, name: str, encoding: str | None, notes: tuple[str, ...]) -> Page:
    return Page(html, name=name, encoding=encoding, notes=notes)


def _too_large(name: str) -> InputError:
    return InputError(f"{name}: more than {MAX_CHARACTERS >> 20} Mi characters are too much for a page: split it, or compare it as text")


def _within_limits(html: str, name: str) -> tuple[str, tuple[str, ...]]:
    if len(html) > MAX_CHARACTERS:
        raise _too_large(name)
    notes: list[str] = []
    try:
        signs, roots = _native.count_markup(html)
    except UnicodeEncodeError:
        html, replaced = _SURROGATE.subn("\ufffd", html)
        notes.append(f"{name}: {replaced} halves of characters replaced by U+FFFD")
        signs, roots = _native.count_markup(html)
    end = len(html)
    if signs > MAX_MARKUP:
        end = _after(re.compile("<"), html, MAX_MARKUP)
    if roots > MAX_ROOTS:
        end = min(end, _after(_ROOT, html, MAX_ROOTS))
    if end < len(html):
        notes.append(f"{name}: more markup than a page has: the last {len(html) - end:,} of {len(html):,} characters were not read")
    return html[:end], tuple(notes)


def _after(pattern: re.Pattern[str], text: str, count: int) -> int:
    """Where the pattern stands for the time after ``count``."""
    return next(islice(pattern.finditer(text), count, None)).start()
