"""The text of a page from its bytes, as a browser would read it.

A byte order mark decides; then the charset that the page declares, unless the bytes contradict it; then what
``lookalike.io`` finds out. What was not plain is said in the ``note``.
"""

from __future__ import annotations

import codecs
import re

from lookalike.io import TextFile, decode_text

DECLARED_WITHIN = 4096  # bytes from the beginning; browsers look at 1,024, but pages with long comments on top exist
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_META = re.compile(rb"<meta\b[^>]*?\bcharset\s*=\s*[\"']?\s*([\w.:+-]{1,40})", re.IGNORECASE)
_XML = re.compile(rb"^\s*<\?xml\b[^>]*?\bencoding\s*=\s*[\"']([\w.:+-]{1,40})", re.IGNORECASE)
_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Labels that browsers read as a larger encoding, which contains what was meant.
_LARGER = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "gb_2312-80": "gb18030",
    "hz": "gb18030",
    "big5": "big5hkscs",
    "x-x-big5": "big5hkscs",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "x-sjis": "cp932",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "us-ascii": "cp1252",
    "ascii": "cp1252",
    "iso-8859-9": "cp1254",
    "utf-16": "utf-8",  # what declares itself in ASCII is not UTF-16
    "utf-16le": "utf-8",
    "utf-16be": "utf-8",
    "x-user-defined": "cp1252",
}
_NO_CHARSETS = {"unicode_escape", "raw_unicode_escape", "punycode", "idna", "undefined", "utf_7", "mbcs", "oem"}  # Python's own


def decode_page(data: bytes, name: str = "the page", encoding: str | None = None) -> TextFile:
    """The text of a page. ``encoding`` overrules what the page says of itself."""
    if encoding is not None or data.startswith(_MARKS) or b"\0" in data:
        return decode_text(data, name, encoding)
    label = declared_charset(data)
    if label is None:
        return decode_text(data, name)
    codec = _LARGER.get(label, label)
    try:
        text = data.decode("no such charset" if codec.replace("-", "_") in _NO_CHARSETS else codec)
    except (LookupError, TypeError, ValueError) as error:
        read = decode_text(data, name)
        wrong = "its bytes contradict" if isinstance(error, UnicodeDecodeError) else "is not known"
        notes = [f"declares the charset {label!r}, which {wrong}: read as {read.encoding}", *([read.note] if read.note else [])]
        return TextFile(read.text, read.encoding, "; ".join(notes))
    return TextFile(text, codec)


def declared_charset(data: bytes) -> str | None:
    """The charset that a page names in a ``meta`` tag or an XML declaration near its beginning, in small letters."""
    start = data[:DECLARED_WITHIN]
    found = _XML.search(start) or _META.search(_COMMENT.sub(b"", start))
    return found.group(1).decode("ascii", "replace").lower() if found else None
