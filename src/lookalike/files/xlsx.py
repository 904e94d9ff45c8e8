"""XLSX as spreadsheet programs write it, by a kernel that knows what they write. Other ways are left to calamine, see ``sheets``."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from functools import partial

from lookalike import _native
from lookalike.files import xml
from lookalike.files.collecting import Unreadable
from lookalike.files.zips import DAMAGE, Zip

MAX_PART = 64 << 20  # bytes of a part, unpacked, and of the texts of all sheets: both are in memory
_BOOK, _SHARED, _STYLES = "xl/workbook.xml", "xl/sharedStrings.xml", "xl/styles.xml"
_RELATIONS, _BOOK_RELATIONS = "_rels/.rels", "xl/_rels/workbook.xml.rels"
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
_WHERE = {"officeDocument": _BOOK, "sharedStrings": _SHARED, "styles": _STYLES}  # where these parts are in nearly all books
_SHEET = re.compile(r"(?:/xl/)?(worksheets/[\w.-]+\.xml)", re.ASCII)
_STATES = ("visible", "hidden", "veryHidden")
_DATES = {str(number) for number in (*range(14, 23), 45, 46, 47)}  # the numbers of the formats that every program knows
_COLOUR = re.compile(r"\[(?:black|blue|cyan|green|magenta|red|white|yellow|color ?\d+)\]", re.IGNORECASE)
_MAYBE_DATE = re.compile(r"[dmhys&']|a[^;]*[p/]", re.IGNORECASE)


class _Unusual(Exception):
    """The book is written in a way that is not read here."""


def sheet_texts(package: Zip, most_cells: int, checked: Callable[[], None]) -> list[tuple[str, str]] | None:
    """The names of the sheets and their texts, a line for each row; None where another reader is needed. ``checked`` is called for each."""
    try:
        return _Book(package).texts(most_cells, checked)
    except (_Unusual, Unreadable, *DAMAGE):
        return None


class _Book:
    def __init__(self, package: Zip) -> None:
        self._package = package
        if not package.is_unambiguous:
            raise _Unusual
        self._targets: dict[str, str] = {}  # the sheets to which the book refers
        self._related: set[str] = set()
        self._parse(_RELATIONS, "Relationships", {"Relationship": partial(self._relation, "/")})
        if _BOOK not in self._related:
            raise _Unusual
        self._targets.clear()
        self._parse(_BOOK_RELATIONS, "Relationships", {"Relationship": partial(self._relation, "/xl/")})

    def texts(self, most_cells: int, checked: Callable[[], None]) -> list[tuple[str, str]]:
        shared = _native.SharedTexts()
        if _SHARED in self._package and not shared.read(self._read(_SHARED)):
            raise _Unusual
        plain = self._plain_styles() if _STYLES in self._package else b""
        found: list[tuple[str, str]] = []
        room = MAX_PART
        for name, part in self._sheets().items():
            checked()
            text = _native.sheet_text(self._read(part), shared, plain, most_cells, room)
            if text is None or (room := room - len(text)) < 0:
                raise _Unusual
            found.append((name, text))
        return found

    def _read(self, part: str) -> bytes:
        """What is unpacked here has been counted: it is never more than the part says of itself."""
        info = self._package.infos.get(part)
        if info is None or info.file_size > MAX_PART:
            raise _Unusual
        return self._package.whole(info)

    def _parse(self, part: str, root: str, starts: dict[str, xml.Started], ends: dict[str, xml.Ended] | None = None) -> None:
        """``root`` is the element that holds all others, and is found nowhere else."""
        data = self._read(part)
        if _ODD.search(data) or not (head := _HEAD.match(data)) or head[1] != root.encode():
            raise _Unusual
        roots: list[dict[str, str]] = []
        xml.parse([data], starts | {root: roots.append}, ends or {}, lambda _: None, part)
        if len(roots) > 1:
            raise _Unusual

    def _relation(self, folder: str, attributes: dict[str, str]) -> None:
        target, kind = attributes.get("Target", ""), attributes.get("Type", "").rpartition("/")[2]
        if kind in _WHERE:
            if attributes["Type"] != _RELATION + kind or posixpath.join(folder, target) != f"/{_WHERE[kind]}":
                raise _Unusual
            self._related.add(_WHERE[kind])
        self._targets[attributes.get("Id", "")] = target if attributes.get("Type") == _RELATION + "worksheet" else ""

    def _sheets(self) -> dict[str, str]:
        """The parts of the sheets by their names, in their order."""
        found: dict[str, str] = {}

        def sheet(attributes: dict[str, str]) -> None:
            name, target = attributes.get("name"), _SHEET.fullmatch(self._targets.get(attributes.get("r:id", ""), ""))
            if not name or name in found or ">" in name or target is None or attributes.get("state", "visible") not in _STATES:
                raise _Unusual
            found[name] = f"xl/{target[1]}"

        self._parse(_BOOK, "workbook", {"sheet": sheet})
        if not found or len(set(found.values())) < len(found):
            raise _Unusual  # a part that is named many times is not read as often
        return found

    def _plain_styles(self) -> bytes:
        """For each style whether it surely shows numbers as numbers, and not as dates."""
        formats: dict[str, str] = {}
        inside: list[str] = []
        plain = bytearray()

        def number_format(attributes: dict[str, str]) -> None:
            if inside == ["numFmts"] and attributes.get("formatCode"):
                formats[attributes.get("numFmtId", "")] = attributes["formatCode"]

        def style(attributes: dict[str, str]) -> None:
            if inside == ["cellXfs"]:
                number = attributes.get("numFmtId", "0")
                plain.append(not _MAYBE_DATE.search(_COLOUR.sub("", formats[number])) if number in formats else number not in _DATES)

        def enter(name: str, _: dict[str, str]) -> None:
            if inside:
                raise _Unusual
            inside.append(name)

        blocks = ("numFmts", "cellXfs")
        starts: dict[str, xml.Started] = {name: partial(enter, name) for name in blocks}
        ends: dict[str, xml.Ended] = dict.fromkeys(blocks, lambda: inside.clear())
        self._parse(_STYLES, "styleSheet", starts | {"numFmt": number_format, "xf": style}, ends)
        return bytes(plain)


_HEAD = re.compile(  # up to the name of the outermost element
    rb"(?:\xef\xbb\xbf)?(?:<\?xml version=[\"']1\.0[\"'](?: encoding=[\"'](?i:utf-8)[\"'])?(?: standalone=[\"']\w+[\"'])? ?\?>)?"
    rb"\s*<([A-Za-z]+)[\s>]"
)
# Comments and CDATA; and white space, also by number, that parsers of attributes change.
_ODD = re.compile(rb"<!|&#(?!\d{3,7};)|<[^>]*[\t\r\n]")
