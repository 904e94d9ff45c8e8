"""ODT and ODP: one pass over content.xml; headers and footers come from styles.xml."""

from __future__ import annotations

from functools import partial

from lookalike.files import xml
from lookalike.files.collecting import Collected
from lookalike.files.packages import read_properties
from lookalike.files.zips import Zip

_MAX_SPACES = 1000  # that one element may stand for
# Text of its own, which is put behind the rest: what it is in, and what it is called.
_APART = {"annotation": "comments", "note-body": "footnotes", "tracked-changes": "deleted text"}
_INSIDE = ("p", "h")


class _Content:
    def __init__(self, apart: dict[str, str]) -> None:
        self.pieces: list[str] = []
        self._apart = apart
        self.apart: dict[str, list[str]] = {name: [] for name in apart.values()}
        self.breaks: list[tuple[str, int]] = []  # pages and slides, and how many pieces there were
        self._open = self._cells = 0
        self._within: list[list[str]] = [self.pieces]
        self._lines: list[int] = []  # paragraphs that were open where text apart began

    def parse(self, package: Zip, part: str) -> None:
        starts: dict[str, xml.Started] = {
            "tab": lambda _: self._put("\t"),
            "line-break": lambda _: self._put("\n"),
            "s": self._spaces,
            "soft-page-break": lambda _: self.breaks.append(("page", len(self.pieces))),
            "page": lambda _: self.breaks.append(("slide", len(self.pieces))),
            "table-cell": self._cell_begins,
        }
        ends: dict[str, xml.Ended] = {"table-cell": self._cell_ends, "table-row": lambda: self._put("\n")}
        starts["page-number"], ends["page-number"] = partial(self._leave, []), self._return  # no text
        for name in _INSIDE:
            starts[name], ends[name] = self._begin, self._end
        for name, called in self._apart.items():
            starts[name] = partial(self._leave, self.apart[called])
            ends[name] = self._return
        xml.parse(package.stream(part), starts, ends, self._text, part)

    def _put(self, text: str) -> None:
        self._within[-1].append(text)

    def _text(self, data: str) -> None:
        if self._open:
            self._within[-1].append(data)

    def _begin(self, _: dict[str, str]) -> None:
        if self._open and (pieces := self._within[-1]) and not pieces[-1][-1:].isspace():
            self._put(" " if self._cells else "\n")  # of a text box in a paragraph: no part of the word before it
        self._open += 1

    def _end(self) -> None:
        self._open -= 1
        self._put(" " if self._cells else "\n")

    def _spaces(self, attributes: dict[str, str]) -> None:
        count = next((value for name, value in attributes.items() if name.endswith(":c")), "1")
        self._put(" " * min(int(count) if count.isascii() and count.isdigit() and len(count) < 9 else 1, _MAX_SPACES))

    def _cell_begins(self, _: dict[str, str]) -> None:
        self._cells += 1

    def _cell_ends(self) -> None:
        self._cells -= 1
        self._put("\t")

    def _leave(self, target: list[str], _: dict[str, str]) -> None:
        self._within.append(target)
        self._lines.append(self._open)
        self._open = 0

    def _return(self) -> None:
        if self._lines:
            self._within.pop()
            self._open = self._lines.pop()


def read_opendocument(package: Zip, out: Collected) -> None:
    read_properties(package, "meta.xml", out)
    content = _Content(_APART)
    content.parse(package, "content.xml")
    _write(content, out)
    for name, pieces in content.apart.items():
        with out.place(name.split()[0], name):
            out.paragraph("".join(pieces))
    if "styles.xml" in package:
        _read_headers(package, out)


def _write(content: _Content, out: Collected) -> None:
    slides = [at for kind, at in content.breaks if kind == "slide"]
    pages = [at for kind, at in content.breaks if kind == "page"]
    kind, marks = ("slide", slides) if slides else ("page", [0, *pages] if pages else [])
    if not marks:
        out.write(_tidy(content.pieces))
        return
    out.write(_tidy(content.pieces[: marks[0]]))
    for number, (first, last) in enumerate(zip(marks, [*marks[1:], len(content.pieces)], strict=True), 1):
        out.budget.page()
        with out.place(kind, f"{kind} {number}"):
            out.write(_tidy(content.pieces[first:last]))


def _tidy(pieces: list[str]) -> str:
    return "".join(pieces).replace(" \t", "\t").replace("\t\n", "\n")


def _read_headers(package: Zip, out: Collected) -> None:
    styles = _Content({f"{name}{which}": name for name in ("header", "footer") for which in ("", "-left", "-first")})
    styles.parse(package, "styles.xml")
    for name, pieces in styles.apart.items():
        with out.place(name, name):
            out.paragraph(_tidy(pieces))
