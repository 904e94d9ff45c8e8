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
from lookalike.errors import InputError
from lookalike.fingerprints import minhash, simhash
from lookalike.fingerprints.minhash import MinHash
from lookalike.fingerprints.simhash import SimHash
from lookalike.markup.elements import SILENT
from lookalike.markup.page import Page, page, parse_document, table_by_events
from lookalike.pages.views import UNSEEN
from lookalike.recipe import resolve
from lookalike.text.tokenize import native_form

STRUCTURE = "page-structure-1"  # what the recipe of these fingerprints is called
SIZE = 128
# What stands in these is not what a page is about: the way to other pages, controls, and what is repeated on every page.
ASIDE = frozenset({"nav", "header", "footer", "aside", "button", "select", "textarea", "svg", "math", "iframe", "object"})
_UNSEEN = sorted({*UNSEEN, *SILENT, "head"})
_NO_CONTENT = sorted({*ASIDE, *_UNSEEN})
_NAMES = " ".join(_NO_CONTENT), " ".join(_UNSEEN)


@dataclass(frozen=True, slots=True)
class PagePrint:
    """The four fingerprints of a page."""

    structure_simhash: SimHash
    structure_minhash: MinHash
    content_simhash: SimHash
    content_minhash: MinHash

    def similarity(self, other: PagePrint) -> dict[str, float]:
        """How alike the structures and the contents are, estimated by the MinHashes."""
        if not isinstance(other, PagePrint):
            raise InputError(f"cannot compare a PagePrint with a {type(other).__name__}")
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
    hashes, text = outline(given.html)
    offsets = array("q", (0, len(hashes)))
    return PagePrint(
        SimHash(int(_native.simhash_features(hashes, offsets, 64, True, 1)[0]), 64, STRUCTURE),
        MinHash(tuple(_native.minhash_features(hashes, offsets, SIZE, 1)), STRUCTURE),
        *_text_prints(text),
    )


def _text_prints(text: bytes) -> tuple[SimHash, MinHash]:
    """The same as ``simhash(text)`` and ``minhash(text)``, from one pass."""
    recipe = resolve(None)
    options = *native_form(recipe), 64, recipe.weights == "one", SIZE, 1
    bits, values, _ = _native.sketch_texts(text, array("q", (0, len(text))), *options)
    return (
        SimHash(int(bits[0]), 64, simhash.fingerprint_recipe(recipe, 64)),
        MinHash(tuple(values), minhash.fingerprint_recipe(recipe, SIZE)),
    )


def outline(html: str) -> tuple[memoryview[int], bytes]:
    """Hashes of the distinct paths, ascending, and the text outside of navigation and controls in UTF-8.

    A path's hash is mix(the parent's, rotated by 13, xor the hash of the name). As with the tables of pages, the parser writes
    its tree out and the core reads that; where this could mean two trees, the parser's events and its own tree decide.
    """
    document = parse_document(html)
    found = _native.read_outline(document.serialize(), *_NAMES)
    return found or (table_by_events(html).paths(), content_text(html, document).encode())


def content_text(html: str, document: Any) -> str:
    """The text outside of navigation and controls; all that is visible, where that is nothing. Consumes the document.

    A comment within a word divides it here; the views of a ``Page`` do not even see it.
    """
    document.remove(", ".join(_NO_CONTENT))
    found = "\n".join(document.strings)
    if found and not found.isspace():
        return found
    again = parse_document(html)
    again.remove(", ".join(_UNSEEN))
    return "\n".join(again.strings)
