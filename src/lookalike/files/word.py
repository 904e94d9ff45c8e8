"""DOCX: one pass over the XML of the document, and of headers, footnotes and comments beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise
from typing import NamedTuple

from lookalike.files import xml
from lookalike.files.collecting import Collected
from lookalike.files.packages import read_properties, relations
from lookalike.files.zips import CHUNK, Zip

# Parts beside the document, in the order in which they are read.
_BESIDE = {"header": "header", "footer": "footer", "footnotes": "footnotes", "endnotes": "endnotes", "comments": "comments"}
# How a run or a paragraph looks: blocks of these alone hold no text, and are two of three elements in what Word writes.
_LOOKS = (
    b"b|bCs|color|contextualSpacing|highlight|i|iCs|ind|jc|keepLines|keepNext|kern|lang|noProof|outlineLvl|pStyle|rFonts|rStyle|shd|snapToGrid"
    b"|spacing|sz|szCs|u|vertAlign|widowControl"
)
_LOOK = re.compile(rb"<w:([rp]Pr)>(?:<w:(?:" + _LOOKS + rb")(?: [^<>]*)?/>)*</w:\1>")
# The end of a run and the beginning of the next, in the same paragraph or after its end: what nearly all of the other elements are.
_ATTRIBUTES = rb'(?: [\w:.-]+="[^"<>]*")*'


class _Joints(NamedTuple):
    """What lies between two runs of text, by the prefix of the names: with these words at the front they are found fast."""

    runs: re.Pattern[bytes]
    paragraphs: re.Pattern[bytes]

    @classmethod
    def of(cls, prefix: bytes) -> _Joints:
        tag = b"<" + prefix + b":%s" + _ATTRIBUTES
        run = tag % b"r" + b">(?:" + tag % b"rPr" + b"/>)?" + tag % b"t" + b">"
        ended = b"</%s:t></%s:r>" % (prefix, prefix)
        return cls(re.compile(ended + run), re.compile(ended + b"</" + prefix + b":p>" + tag % b"p" + b">" + run))


_JOINTS = (_Joints.of(b"w"), _Joints.of(b"a"))  # of Word and of PowerPoint


class WordText:
    """The text of paragraphs and tables. What tracked changes took out is kept apart."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.deleted: list[str] = []
        self.rendered: list[int] = []  # how many pieces there were where a page of Word began, when it was saved last
        self.breaks: list[int] = []  # and where the author began one
        self._in_text = self._in_deleted = False
        self._skipped = self._cells = 0

    def text(self, data: str) -> None:
        if self._in_text:
            self.pieces.append(data)
        elif self._in_deleted:
            self.deleted.append(data)

    def parse(self, package: Zip, part: str) -> None:
        starts = {
            "t": self._text_begins,
            "delText": self._deleted_begins,
            "tab": lambda _: self._put("\t"),
            "br": self._break,
            "cr": lambda _: self._put("\n"),
            "noBreakHyphen": lambda _: self._put("-"),
            "lastRenderedPageBreak": lambda _: self.rendered.append(len(self.pieces)),
            "tc": self._cell_begins,
            "Fallback": self._skip,  # the same content once more, for older programs
            "fld": self._field,
        }
        ends = {
            "t": self._text_ends,
            "delText": self._deleted_ends,
            "p": self._paragraph_ends,
            "tc": self._cell_ends,
            "tr": lambda: self._put("\n"),
            "Fallback": self._skip_ends,
            "fld": self._field_ends,
        }
        xml.parse(self._simplified(package.stream(part)), starts, ends, self.text, part)

    def _simplified(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """The XML without elements that need no parser to be understood: blocks that say nothing but how the text looks, and what lies
        between one run of text and the next. Cutting them out costs a small part of parsing them.

        What lies across two pieces is parsed. From a comment or CDATA on, where it may be text, nothing is cut out.
        """
        is_markup = True
        for piece in _whole_tags(pieces):
            is_markup = is_markup and b"<!" not in piece
            if not is_markup:
                yield piece
                continue
            in_table = self._cells or b":tc" in piece  # paragraphs of a cell share its line: left to the parser
            piece = _LOOK.sub(b"", piece)
            for joints in _JOINTS:
                piece = joints.paragraphs.sub(b"<p/>" if in_table else b"\n", joints.runs.sub(b"", piece))
            yield piece

    def _put(self, text: str) -> None:
        if not self._skipped:
            self.pieces.append(text)

    def _text_begins(self, _: dict[str, str]) -> None:
        self._in_text = not self._skipped

    def _text_ends(self) -> None:
        self._in_text = False

    def _deleted_begins(self, _: dict[str, str]) -> None:
        self._in_deleted = not self._skipped

    def _deleted_ends(self) -> None:
        self._in_deleted = False
        self.deleted.append(" ")

    def _paragraph_ends(self) -> None:
        self._put(" " if self._cells else "\n")

    def _cell_begins(self, _: dict[str, str]) -> None:
        self._cells += 1

    def _cell_ends(self) -> None:
        self._cells -= 1
        self._put("\t")

    def _break(self, attributes: dict[str, str]) -> None:
        if any(name.endswith("type") and value == "page" for name, value in attributes.items()):
            self.breaks.append(len(self.pieces))
        else:
            self._put("\n")

    def _skip(self, _: dict[str, str]) -> None:
        self._skipped += 1

    def _skip_ends(self) -> None:
        self._skipped -= 1

    def _field(self, attributes: dict[str, str]) -> None:
        """The number of a slide is no text."""
        self._fields.append(attributes.get("type", "").startswith("slidenum"))
        self._skipped += self._fields[-1]

    def _field_ends(self) -> None:
        self._skipped -= self._fields.pop() if self._fields else 0

    @property
    def _fields(self) -> list[bool]:
        return self.__dict__.setdefault("fields", [])  # type: ignore[no-any-return]  # of slides alone


def _whole_tags(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Pieces that end between two tags: the beginning of a tag goes to the next one. What is longer than a piece is no tag."""
    kept = b""
    for piece in pieces:
        whole = kept + piece
        cut = whole.rfind(b"<")
        if cut < 0 or cut < whole.rfind(b">") or len(whole) - cut > CHUNK:
            cut = len(whole)
        kept = whole[cut:]
        yield whole[:cut]
    yield kept


def read_docx(package: Zip, out: Collected) -> None:
    read_properties(package, "docProps/core.xml", out)
    main = next((each.target for each in relations(package, "").values() if each.type == "officeDocument"), "word/document.xml")
    body = WordText()
    body.parse(package, main)
    _write_pages(body, out)
    deleted = body.deleted
    beside = sorted({(list(_BESIDE).index(each.type), each.target) for each in relations(package, main).values() if each.type in _BESIDE})
    for number, part in beside:
        if part in package:
            runs = WordText()
            runs.parse(package, part)
            deleted += runs.deleted
            name = list(_BESIDE.values())[number]
            with out.place(name, name):
                out.paragraph("".join(runs.pieces))
    with out.place("deleted", "deleted text"):
        out.paragraph("".join(deleted))


def _write_pages(body: WordText, out: Collected) -> None:
    """Where Word said how the pages fell, or where the author began some, each is a place."""
    marks = body.rendered or body.breaks
    if not marks:
        out.write(_tidy("".join(body.pieces)))
        return
    del body.pieces[len(body.pieces) :]
    for number, (first, last) in enumerate(pairwise(accumulate([0, *_steps(marks, len(body.pieces))])), 1):
        out.budget.page()
        with out.place("page", f"page {number}"):
            out.write(_tidy("".join(body.pieces[first:last])))


def _steps(marks: list[int], total: int) -> list[int]:
    """How many pieces each page has."""
    edges = [0, *marks, total]
    return [after - before for before, after in pairwise(edges)]


def _tidy(text: str) -> str:
    """One line for each row of a table, without the tab behind its last cell."""
    return text.replace(" \t", "\t").replace("\t\n", "\n")
