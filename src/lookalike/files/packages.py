"""What Office files have in common: parts in a ZIP file, relations between them, and properties."""

from __future__ import annotations

import posixpath
from functools import partial
from typing import Any, NamedTuple

from lookalike.files import xml
from lookalike.files.collecting import Collected
from lookalike.files.zips import Zip

# Elements of docProps/core.xml and of meta.xml, and what they are called here.
_PROPERTIES = {
    "title": "title",
    "creator": "author",
    "initial-creator": "author",
    "created": "created",
    "creation-date": "created",
    "modified": "modified",
    "subject": "subject",
    "keywords": "keywords",
    "keyword": "keywords",
    "description": "description",
    "language": "language",
}
MAX_PROPERTY = 2000  # characters


class Relation(NamedTuple):
    type: str  # the last part of its address
    target: str  # the name of a part


def relations(package: Zip, part: str) -> dict[str, Relation]:
    """What a part refers to, by id. What lies outside of the package is not followed."""
    folder, name = posixpath.split(part)
    found: dict[str, Relation] = {}

    def relation(attributes: dict[str, str]) -> None:
        target = attributes.get("Target", "")
        if attributes.get("TargetMode") != "External" and target:
            full = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            found[attributes.get("Id", "")] = Relation(attributes.get("Type", "").rpartition("/")[2], full)

    rels = f"{folder}/_rels/{name}.rels".lstrip("/")
    xml.parse(package.stream(rels) if rels in package else [b"<none/>"], {"Relationship": relation}, {}, lambda _: None, rels)
    return found


def read_properties(package: Zip, part: str, out: Collected) -> None:
    """Title, author and dates, from the part that holds them."""
    if part not in package:
        return
    pieces: list[str] = []
    found: dict[str, Any] = {}

    def begin(_: dict[str, str]) -> None:
        pieces.clear()

    def ended(name: str) -> None:
        value = " ".join("".join(pieces).split())[:MAX_PROPERTY]
        if value and name not in found:
            found[name] = value
        pieces.clear()

    ends: dict[str, xml.Ended] = {element: partial(ended, name) for element, name in _PROPERTIES.items()}
    xml.parse(package.stream(part), dict.fromkeys(_PROPERTIES, begin), ends, pieces.append, part)
    out.title = out.title or found.pop("title", None)
    out.meta.update(found)
