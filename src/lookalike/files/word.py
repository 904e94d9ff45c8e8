"""DOCX: one pass over the XML of the document, and of headers, footnotes and comments beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise

from lookalike import _native
from lookalike.files import xml
from lookalike.files.collecting import Collected
from lookalike.files.packages import read_properties, relations
from lookalike.files.zips import CHUNK, Zip

# Parts beside the document, in the order in which they are read.
_BESIDE = {
    "header": "header",
    "footer": "footer",
    "footnotes": "footnotes",
    "endnotes": "endnotes",
    "comments": "comments",
    "chart": "chart",
    "diagramData": "diagram",
}


class WordText:
    """The text of paragraphs and tables. What tracked changes took out, or moved away, is kept apart."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.deleted: list[str] = []
        self.rendered: list[int] = []  # how many pieces there were where a page of Word began, when it was saved last
        self.breaks: list[int] = []  # and where the author began one
        self._in_text = self._in_deleted = False
        self._cells = self._moved = 0
        self._said = 0  # texts so far, whether they stay or not
        self._alternatives: list[int] = []  # how many there were where the same content began to be written in several ways
        self._left_out: list[bool] = []  # of the elements that may be left out, those that one is in
        self._skipped = 0  # how many of them are
        self._reading = self._base = 0  # pieces before how a word is read, and before the word

    def text(self, data: str) -> None:
        if self._in_text or self._in_deleted:
            self._write(data)

    def parse(self, package: Zip, part: str) -> None:
        starts = {
            "t": self._text_begins,
            "text": self._text_begins,  # of comments of PowerPoint
            "v": self._text_begins,  # of charts
            "delText": self._deleted_begins,
            "moveFrom": self._moved_begins,
            "sym": self._symbol,
            "tab": lambda _: self._put("\t"),
            "ptab": lambda _: self._put("\t"),
            "br": self._break,
            "cr": lambda _: self._put("\n"),
            "noBreakHyphen": lambda _: self._put("-"),
            "lastRenderedPageBreak": lambda _: self._page_begins(self.rendered),
            "tc": self._cell_begins,
            "txbxContent": lambda _: self._new_line(),
            "AlternateContent": lambda _: self._alternatives.append(self._said),
            "Choice": self._alternative_begins,
            "Fallback": self._alternative_begins,
            "fld": self._field_begins,
            "ruby": self._ruby_begins,
            "rubyBase": self._base_begins,
            "textpath": self._drawn,
        }
        ends = {
            "t": self._text_ends,
            "text": self._text_ends,
            "v": self._value_ends,
            "cm": lambda: self._put("\n"),
            "delText": self._deleted_ends,
            "moveFrom": self._moved_ends,
            "p": self._paragraph_ends,
            "tc": self._cell_ends,
            "tr": lambda: self._put("\n"),
            "AlternateContent": self._alternatives_end,
            "Choice": self._leave,
            "Fallback": self._leave,
            "fld": self._leave,
            "ruby": self._ruby_ends,
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
            yield _native.join_text_runs(piece, b"<p/>" if in_table else b"\n")

    def _write(self, text: str) -> None:
        self._said += not text.isspace()
        (self.deleted if self._in_deleted or self._moved else self.pieces).append(text)

    def _put(self, text: str) -> None:
        if not self._skipped:
            self.pieces.append(text)

    def _new_line(self) -> None:
        """What follows is no part of the word before it."""
        if self.pieces and not self.pieces[-1][-1:].isspace():
            self._put(" " if self._cells else "\n")

    def _text_begins(self, _: dict[str, str]) -> None:
        self._in_text = not self._skipped

    def _text_ends(self) -> None:
        self._in_text = False

    def _deleted_begins(self, _: dict[str, str]) -> None:
        self._in_deleted = not self._skipped

    def _deleted_ends(self) -> None:
        self._in_deleted = False
        self.deleted.append(" ")

    def _value_ends(self) -> None:
        self._text_ends()
        self._put("\n")

    def _moved_begins(self, _: dict[str, str]) -> None:
        self._moved += 1

    def _moved_ends(self) -> None:
        self._moved -= 1
        self.deleted.append(" ")

    def _symbol(self, attributes: dict[str, str]) -> None:
        """A character by its number, in a font of symbols mostly."""
        number = next((value for name, value in attributes.items() if name.endswith("char")), "")
        try:
            symbol = chr(int(number, 16))
        except (ValueError, OverflowError):
            return
        if not self._skipped and (symbol.isprintable() or "\ue000" <= symbol <= "\uf8ff"):
            self._write(symbol)

    def _paragraph_ends(self) -> None:
        self._put(" " if self._cells else "\n")

    def _cell_begins(self, _: dict[str, str]) -> None:
        self._cells += 1

    def _cell_ends(self) -> None:
        self._cells -= 1
        self._put("\t")

    def _break(self, attributes: dict[str, str]) -> None:
        if any(name.endswith("type") and value == "page" for name, value in attributes.items()):
            self._new_line()
            self._page_begins(self.breaks)
        else:
            self._put("\n")

    def _page_begins(self, marks: list[int]) -> None:
        if not self._skipped:
            marks.append(len(self.pieces))

    def _alternatives_end(self) -> None:
        self._alternatives.pop()

    def _alternative_begins(self, _: dict[str, str]) -> None:
        """Of the ways in which the same content is written for newer and for older programs, the first that has a text."""
        self._enter(left_out=bool(self._alternatives) and self._said > self._alternatives[-1])

    def _field_begins(self, attributes: dict[str, str]) -> None:
        """The number of a slide is no text."""
        self._enter(left_out=attributes.get("type", "").startswith("slidenum"))

    def _ruby_begins(self, _: dict[str, str]) -> None:
        self._reading = self._base = len(self.pieces)

    def _base_begins(self, _: dict[str, str]) -> None:
        self._base = len(self.pieces)

    def _ruby_ends(self) -> None:
        """How a word is read stands before it in the file, and behind it in the text, as in all other formats."""
        self.pieces[self._reading :] = self.pieces[self._base :] + self.pieces[self._reading : self._base]
        self._reading = self._base = len(self.pieces)

    def _drawn(self, attributes: dict[str, str]) -> None:
        """A text that is drawn: what stands across the page, such as "Confidential"."""
        if (text := attributes.get("string")) and not self._skipped:
            self._new_line()
            self._write(text)

    def _enter(self, *, left_out: bool) -> None:
        self._left_out.append(left_out)
        self._skipped += left_out

    def _leave(self) -> None:
        self._skipped -= self._left_out.pop()


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
