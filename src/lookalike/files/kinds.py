"""What a file is, by its contents. The ending of its name decides only where the contents leave it open."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import IO

from lookalike.io import MAGIC

HEAD = 1 << 13  # bytes that are enough to tell

# Kinds that hold a text of their own, and need more than decoding.
DOCUMENTS = ("pdf", "docx", "pptx", "odt", "odp", "epub", "xlsx", "xlsb", "xls", "ods", "rtf", "eml")
ARCHIVES = ("zip", "tar", "gz", "bz2", "xz", "zst")
OTHER_ARCHIVES = ("rar", "7z")  # not read either
OLD_OFFICE = {"doc": ".docx", "ppt": ".pptx", "msg": ".eml"}  # not read: what to save them as
_OTHERS = (".docm", ".dotx", ".pptm", ".ppsx", ".xlsm", ".xltx", ".ott", ".tgz", ".tbz2", ".txz", ".tzst")
ENDINGS = (*(f".{kind}" for kind in (*DOCUMENTS, *ARCHIVES, *OLD_OFFICE)), *_OTHERS)

_BEGINNINGS = (*((offset, magic, kind) for offset, magic, _, kind in MAGIC if kind), (0, b"{\\rtf", "rtf"))
OLE = next(magic for _, magic, _, kind in MAGIC if kind == "ole")  # what old Office files begin with
_BZIP2 = re.compile(rb"BZh[1-9](?:1AY&SY|\x17\x72\x45\x38\x50\x90)")
_HTML = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,2000}?-->\s*)*<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE | re.DOTALL
)
_HEADER = re.compile(rb"([A-Za-z][A-Za-z0-9-]{0,60}):[^\n]*\n(?:[ \t][^\n]*\n)*")
# What programs write before the first header: a mark of the encoding, empty lines, the line between the mails of a mailbox.
BEFORE_MAIL = re.compile(rb"(?:\xef\xbb\xbf)?[\r\n]*(?:>?From [^\n]*\n)?")
_MAIL = {b"from", b"to", b"subject", b"date", b"message-id", b"received", b"mime-version", b"return-path", b"content-type"}
_SURELY_MAIL = {b"message-id", b"received", b"mime-version", b"return-path"}
# Mail that is more than its text: attachments are in it, or what it says is packed. Whatever the name says, it is read as mail.
_PACKED_MAIL = re.compile(rb"^content-type:[ \t]*multipart/|^content-transfer-encoding:[ \t]*base64", re.IGNORECASE | re.MULTILINE)
_PAGES = (".html", ".htm", ".xhtml")
_MARKDOWN = (".md", ".markdown", ".mdown")
_PLAIN = frozenset({
    ".txt", ".text", ".log", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".xml", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".rst", ".tex",
    ".svg", ".warc",
})  # fmt: skip
_CODE = frozenset({
    ".py", ".pyi", ".js", ".mjs", ".ts", ".tsx", ".jsx", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".java", ".kt", ".go", ".rs", ".rb",
    ".php", ".pl", ".sh", ".sql", ".swift", ".scala", ".m", ".r", ".lua", ".css", ".vue", ".ps1", ".bat",
})  # fmt: skip
# Streams of old Office files, in the encoding of their directory.
_STREAMS = {
    "EncryptedPackage": "encrypted",
    "WordDocument": "doc",
    "Workbook": "xls",
    "PowerPoint Document": "ppt",
    "__properties_version1.0": "msg",
    "Book": "xls",
}


def kind_of(head: bytes, name: str) -> str:
    """From the first bytes: one of the kinds above, ``ole`` and ``zip`` (both need a second look), ``html``, or a kind of plain text."""
    for offset, magic, kind in _BEGINNINGS:
        if head.startswith(magic, offset):
            return kind
    if _BZIP2.match(head):
        return "bz2"
    if b"%PDF-" in head[:1024]:  # some programs put a line before it
        return "pdf"
    names = _header_names(head)
    if {b"mime-version", b"content-type"} <= names and _PACKED_MAIL.search(head):
        return "eml"
    ending = PurePath(name).suffix.lower()
    if ending in _PAGES:
        return "html"
    if ending == ".eml" and names & _MAIL:
        return "eml"
    if ending in _MARKDOWN:
        return "markdown"
    if ending in _CODE:
        return "code"
    if ending not in _PLAIN:
        if _HTML.match(head):
            return "html"
        if b"from" in names and names & _SURELY_MAIL:
            return "eml"
    return "text"


def _header_names(head: bytes) -> set[bytes]:
    found: set[bytes] = set()
    head = head.replace(b"\r\n", b"\n")
    before = BEFORE_MAIL.match(head)
    at = before.end() if before else 0
    while match := _HEADER.match(head, at):
        found.add(match.group(1).lower())
        at = match.end()
    return found


def ole_kind(data: bytes) -> str:
    """Which program an old Office file is from, or ``encrypted``."""
    for name, kind in _STREAMS.items():
        if name.encode("utf-16-le") in data:
            return kind
    return "ole"


def zip_kind(names: set[str], mimetype: bytes) -> str:
    """What a ZIP file is, by its members and by the member ``mimetype``, which some formats begin with."""
    declared = mimetype.decode("ascii", "replace").strip()
    for ending, kind in (
        ("epub+zip", "epub"),
        ("opendocument.text", "odt"),
        ("opendocument.text-template", "odt"),
        ("opendocument.presentation", "odp"),
        ("opendocument.spreadsheet", "ods"),
    ):
        if declared.endswith(ending):
            return kind
    if "[Content_Types].xml" in names:
        for part, kind in (("word/", "docx"), ("ppt/", "pptx"), ("xl/workbook.bin", "xlsb"), ("xl/", "xlsx")):
            if any(name.startswith(part) for name in names):
                return kind
    if "META-INF/container.xml" in names and any(name.endswith(".opf") for name in names):
        return "epub"
    return "zip"


def binary_kind(head: bytes) -> str:
    """The name of a binary format that is known, such as ``png``; ``binary`` otherwise."""
    try:
        import filetype
    except ImportError:
        return "binary"
    found = filetype.guess_extension(head)
    return str(found) if found else "binary"


def head_of(file: IO[bytes]) -> bytes:
    """The first bytes of a file that can be read again from its beginning."""
    head = file.read(HEAD)
    file.seek(0)
    return head
