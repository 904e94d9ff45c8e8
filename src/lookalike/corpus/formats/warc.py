"""Web archives (WARC 1.0 and 1.1): every page is a document, called by its address; what stays is an archive again.

Taken are HTML pages that a server answered with (``response``, status 200), that were saved as they are (``resource``), and
texts made of pages (``conversion``, as in WET files). Everything else is passed over without being read.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from lookalike.corpus.files import Source
from lookalike.corpus.formats.base import Format, Kept, RowsWanted
from lookalike.corpus.row import Problem, Row
from lookalike.corpus.streams import opened_again, packed
from lookalike.errors import InputError
from lookalike.io import decode_text
from lookalike.markup.bodies import unpacked
from lookalike.markup.extraction import page_text
from lookalike.markup.reading import served_page

MAX_LINE = 1 << 16
MAX_HEADERS = 1_000
MAX_BLOCK = 128 << 20  # bytes of a record; a page of a quarter of it is refused anyway
_HTML = ("text/html", "application/xhtml+xml")
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([\w.:+-]{1,40})", re.IGNORECASE | re.ASCII)
_AT_ONCE = 1 << 20


class WebArchive(Format):
    named_by = "its address"
    plural = "web archives"
    ids_may_repeat = True  # a crawl may have a page several times: that is what it is deduped for

    def rows(self, file: IO[bytes], name: str, wanted: RowsWanted) -> Iterator[Row | Problem]:
        for capture in captures(file, name):
            place = f"{name}:{capture.number}"
            try:
                yield _row(capture, place, wanted)
            except InputError as error:
                yield Problem("unreadable page", place, str(error))

    def write(self, parts: Sequence[Kept], file: IO[bytes], packing: str | None) -> None:
        for part in parts:
            for record in _kept_records(part):
                out = packed(file, packing)  # a member of its own, as readers of archives expect
                record.write(out)
                out.close()

    def write_kept(self, part: Kept, out: IO[bytes]) -> None:
        self.write([part], out, None)


WARC = WebArchive()


def _row(capture: Capture, place: str, wanted: RowsWanted) -> Row:
    if capture.data is None:
        raise InputError(str(capture.problem))
    found = served_page(capture.data, capture.charset, place, wanted.encoding) if capture.is_html else None
    text = page_text(found, wanted.extract) if found else decode_text(capture.data, place, wanted.encoding).text
    date = {"date": capture.date} if capture.date else {}
    return Row(place, capture.number, date | {wanted.id: capture.url, wanted.text: text}, found)


def _kept_records(part: Kept) -> Iterator[ArchiveRecord]:
    """The records as they are, without the pages that were removed and without what belongs to these."""
    gone = {row for row, stays in zip(part.rows.tolist(), part.kept.tolist(), strict=True) if not stays}
    ids, whole = _surveyed(part.source, gone)
    with opened_again(part.source) as archive:
        for record in itertools.islice(records(archive, part.source.name), whole):
            if record.number not in gone and not record.belongs_to & ids:
                yield record


def _surveyed(source: Source, gone: set[int]) -> tuple[set[str], int]:
    """The ids of some records, and how many records come before damage: of one that is cut off nothing is written."""
    ids: set[str] = set()
    whole = 0
    try:
        with opened_again(source) as archive:
            for record in records(archive, source.name):
                record.pass_over()
                whole = record.number
                ids |= {record.id} if record.number in gone else set()
    except (InputError, EOFError):
        pass  # reported by the first reading, which took as many
    return ids - {""}, whole


@dataclass(slots=True)
class ArchiveRecord:
    """A record of an archive, where reading has come to. Its block is read, or passed over when the next one is asked for."""

    number: int  # from 1
    headers: Mapping[str, str]  # names in small letters
    head: bytes  # the same as it stands there, with the blank line behind it
    size: int  # of the block
    file: IO[bytes]
    name: str  # of the archive
    unread: int = 0

    def read(self, most: int) -> bytes:
        """The next bytes of the block."""
        data = self.file.read(min(most, self.unread))
        if not data and self.unread:
            raise EOFError(f"{self.name}: the archive ends within record {self.number}")
        self.unread -= len(data)
        return data

    def block(self) -> bytes:
        pieces = []
        while self.unread:
            pieces.append(self.read(self.unread))
        return b"".join(pieces)

    def pass_over(self) -> None:
        while self.unread:
            self.read(_AT_ONCE)

    def write(self, out: Any) -> None:
        """The whole record as it is."""
        out.write(self.head)
        while self.unread:
            out.write(self.read(_AT_ONCE))
        out.write(b"\r\n\r\n")

    @property
    def id(self) -> str:
        return self.headers.get("warc-record-id", "")

    @property
    def belongs_to(self) -> set[str]:
        """The ids of the records that this one says something about: the request of a response, a copy of a page."""
        return {self.headers[key] for key in ("warc-concurrent-to", "warc-refers-to") if key in self.headers}


@dataclass(frozen=True, slots=True)
class Capture:
    """A page or a text of an archive. ``data`` is None where it could not be used, and ``problem`` says why."""

    number: int  # of the record, from 1
    url: str
    date: str
    is_html: bool
    data: bytes | None
    problem: str | None = None
    charset: str | None = None  # as the server named it


def records(file: IO[bytes], name: str) -> Iterator[ArchiveRecord]:
    """The records of an archive that is open and unpacked; an ``InputError`` where it is none."""
    number = 0
    while (version := _version(file)) is not None:
        number += 1
        if not version.startswith(b"WARC/1."):
            found = f"record {number} begins with {version[:20]!r}, not with WARC/1."
            raise InputError(f"{name}: {found}: this is not a web archive, or it is damaged")
        headers, lines = _headers(file, name)
        size = _size(headers, name, number)
        record = ArchiveRecord(number, headers, version + b"\r\n" + lines, size, file, name, size)
        yield record
        record.pass_over()


def captures(file: IO[bytes], name: str) -> Iterator[Capture]:
    """The pages and texts of an archive."""
    for record in records(file, name):
        kind = record.headers.get("warc-type", "")
        if kind not in ("response", "resource", "conversion"):
            continue
        if record.size > MAX_BLOCK:
            yield _capture(record.number, record.headers, None, f"a record of {record.size:,} bytes is no page")
        elif found := _page(record.number, record.headers, kind, record.block()):
            yield found


def _version(file: IO[bytes]) -> bytes | None:
    """The first line of the next record: blank lines end the one before."""
    for _ in range(MAX_HEADERS):
        line = file.readline(MAX_LINE)
        if not line:
            return None
        if line.strip():
            return line.strip()
    return b"blank lines"


def _headers(file: IO[bytes], name: str) -> tuple[dict[str, str], bytes]:
    headers: dict[str, str] = {}
    lines: list[bytes] = []
    for _ in range(MAX_HEADERS):
        line = file.readline(MAX_LINE)
        if not line:
            raise EOFError(f"{name}: the archive ends within the header of a record")
        lines.append(line)
        if not line.strip():
            return headers, b"".join(lines)
        key, _, value = line.partition(b":")
        headers[key.decode("latin-1").strip().lower()] = value.decode("utf-8", "replace").strip()
    raise InputError(f"{name}: a record has more than {MAX_HEADERS} header lines: this is not a web archive, or it is damaged")


def _size(headers: Mapping[str, str], name: str, number: int) -> int:
    given = headers.get("content-length", "")
    if not (given.isascii() and given.isdigit() and len(given) < 19):
        raise InputError(f"{name}: record {number} has the length {given!r}: this is not a web archive, or it is damaged")
    return int(given)


def _capture(
    number: int,
    headers: Mapping[str, str],
    data: bytes | None,
    problem: str | None = None,
    *,
    is_html: bool = True,
    charset: str | None = None,
) -> Capture:
    url = headers.get("warc-target-uri", "").strip("<>")
    return Capture(number, url, headers.get("warc-date", ""), is_html, data, problem, charset)


def _page(number: int, headers: Mapping[str, str], kind: str, block: bytes) -> Capture | None:
    if kind == "conversion":
        return _capture(number, headers, block, is_html=False) if _is(headers, ("text/plain",)) else None
    if kind == "resource":
        return _capture(number, headers, block, charset=_charset(headers)) if _is(headers, _HTML) else None
    top, _, body = block.partition(b"\r\n\r\n")
    status, *lines = top.split(b"\r\n")
    if not status.startswith(b"HTTP/") or status.split()[1:2] != [b"200"]:
        return None
    answer = {key.strip().lower(): value.strip() for key, _, value in (line.decode("latin-1").partition(":") for line in lines)}
    if not _is(answer, _HTML):
        return None
    try:
        if "chunked" in answer.get("transfer-encoding", "").lower():
            body = _dechunked(body)
        data = unpacked(body, answer.get("content-encoding", ""), MAX_BLOCK)
    except ValueError as error:
        return _capture(number, headers, None, f"its body cannot be unpacked: {error}")
    return _capture(number, headers, data, charset=_charset(answer))


def _charset(headers: Mapping[str, str]) -> str | None:
    found = _CHARSET.search(headers.get("content-type", ""))
    return found[1].lower() if found else None


def _is(headers: Mapping[str, str], types: tuple[str, ...]) -> bool:
    return headers.get("content-type", "").partition(";")[0].strip().lower() in types


def _dechunked(body: bytes) -> bytes:
    """The data of a chunked body. Archives that were unpacked while saving keep the header: they are given back as they are."""
    pieces: list[bytes] = []
    at = 0
    while True:
        end = body.find(b"\r\n", at)
        size = body[at:end].partition(b";")[0].strip() if end >= 0 else b""
        if not size or len(size) > 16 or size.translate(None, b"0123456789abcdefABCDEF"):
            return b"".join(pieces) if pieces else body
        length = int(size, 16)
        if not length:
            return b"".join(pieces)
        pieces.append(body[end + 2 : end + 2 + length])
        at = end + 2 + length + 2
