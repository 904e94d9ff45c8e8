"""EPUB: the chapters in the order of the book."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote

from lookalike.files import xml
from lookalike.files.collecting import Collected, Unreadable
from lookalike.files.markup_text import markup_text
from lookalike.files.model import BROKEN
from lookalike.files.packages import read_properties
from lookalike.files.zips import Zip

CONTAINER = "META-INF/container.xml"
_CHAPTERS = ("application/xhtml+xml", "text/html")


def read_epub(package: Zip, out: Collected) -> None:
    roots: list[str] = []
    xml.parse(
        package.stream(CONTAINER), {"rootfile": lambda given: roots.append(given.get("full-path", ""))}, {}, lambda _: None, CONTAINER
    )
    if not roots or roots[0] not in package:
        raise Unreadable(BROKEN, "it does not say where its contents are")
    read_properties(package, roots[0], out)
    files: dict[str, str] = {}
    order: list[str] = []

    def item(given: dict[str, str]) -> None:
        if given.get("media-type") in _CHAPTERS:
            files[given.get("id", "")] = posixpath.normpath(posixpath.join(posixpath.dirname(roots[0]), unquote(given.get("href", ""))))

    starts = {"item": item, "itemref": lambda given: order.append(given.get("idref", ""))}
    xml.parse(package.stream(roots[0]), starts, {}, lambda _: None, roots[0])
    parts = [files[each] for each in dict.fromkeys(order) if files.get(each, "") in package]
    for number, part in enumerate(parts, 1):
        out.budget.page()
        with out.place("chapter", f"chapter {number}"):
            out.paragraph(markup_text(package.read(part)).text)
