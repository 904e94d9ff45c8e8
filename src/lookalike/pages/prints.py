"""Fingerprints of pages: of their structure and of their content, apart.

Pages of one template have structures that are alike, copies of one page have contents that are alike; both can be searched
among millions like any other SimHash or MinHash. The features of the structure are the distinct paths of tag names from the root
down; those of the content are the phrases of the text outside of navigation and controls: a rule of our own, because a fingerprint
must not change with a library's version.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Any

from lookalike import _native
from lookalike.fingerprints.minhash import MinHash, minhash
from lookalike.fingerprints.simhash import SimHash, simhash
from lookalike.markup.elements import SILENT
from lookalike.markup.page import Page, page, parse_document
from lookalike.pages.views import UNSEEN

STRUCTURE = "page-structure-1"  # what the recipe of these fingerprints is called
SIZE = 128
# What stands in these is not what a page is about: the way to other pages, controls, and what is repeated on every page.
ASIDE = frozenset({"nav", "header", "footer", "aside", "button", "select", "textarea", "svg", "math", "iframe", "object"})
_UNSEEN = ", ".join(sorted({*UNSEEN, *SILENT, "head"}))
_NO_CONTENT = ", ".join(sorted({*ASIDE, *UNSEEN, *SILENT, "head"}))


@dataclass(frozen=True, slots=True)
class PagePrint:
    """The four fingerprints of a page."""

    structure_simhash: SimHash
    structure_minhash: MinHash
    content_simhash: SimHash
    content_minhash: MinHash

    def similarity(self, other: PagePrint) -> dict[str, float]:
        """How alike the structures and the contents are, estimated by the MinHashes."""
        return {
            "structure": self.structure_minhash.similarity(other.structure_minhash),
            "content": self.content_minhash.similarity(other.content_minhash),
        }

    def to_dict(self) -> dict[str, Any]:
        names = ("structure_simhash", "structure_minhash", "content_simhash", "content_minhash")
        return {name: getattr(self, name).to_dict() for name in names}


def page_print(source: Page | str | bytes) -> PagePrint:
    """The fingerprints of a page, or of its HTML: several times faster than making a ``Page`` of it and walking that."""
    given = source if isinstance(source, Page) else page(source)
    document = parse_document(given.html)
    hashes = path_hashes(document)
    offsets = array("q", (0, len(hashes)))
    text = content_text(given.html, document)
    return PagePrint(
        SimHash(int(_native.simhash_features(hashes, offsets, 64, True, 1)[0]), 64, STRUCTURE),
        MinHash(tuple(_native.minhash_features(hashes, offsets, SIZE, 1)), STRUCTURE),
        simhash(text),
        minhash(text, size=SIZE),
    )


def path_hashes(document: Any) -> memoryview[int]:
    """Hashes of the distinct paths, ascending: mix(the parent's, rotated by 13, xor the hash of the name)."""
    tags = list(document.iter_elements())
    return _native.path_hashes(tags, [tag.parent for tag in tags], [tag.tag for tag in tags])


def content_text(html: str, document: Any) -> str:
    """The text outside of navigation and controls; all that is visible, where that is nothing. Consumes the document.

    A comment within a word divides it here; the views of a ``Page`` do not even see it.
    """
    document.remove(_NO_CONTENT)
    found = "\n".join(document.strings)
    if found and not found.isspace():
        return found
    again = parse_document(html)
    again.remove(_UNSEEN)
    return "\n".join(again.strings)
