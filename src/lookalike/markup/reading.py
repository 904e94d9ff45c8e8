"""A page as a server sent it: the charset of its header counts before the one that the page declares."""

from __future__ import annotations

import codecs
import re

from lookalike.markup.decoding import decode_page
from lookalike.markup.page import MAX_CHARACTERS, Page, page

_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LABEL = re.compile(r"[\w.:+-]{1,40}", re.ASCII)


def served_page(data: bytes, charset: str | None, name: str, encoding: str | None = None) -> Page:
    """The page in the bytes of an answer; ``encoding`` overrules everything.

    A byte order mark wins, as in browsers. A charset that nobody knows, or that the bytes contradict, is noted and not used.
    """
    wide = data.startswith(_MARKS) or b"\0" in data
    if encoding is not None or charset is None or wide or not _LABEL.fullmatch(charset) or len(data) > 4 * MAX_CHARACTERS:
        return page(data, encoding=encoding, name=name)
    # The decoder knows what labels mean and what to do about wrong ones: what the server says is put where it looks first.
    said = f'<meta charset="{charset}">'
    read = decode_page(said.encode() + data, name)
    return Page(read.text[len(said) :], name=name, encoding=read.encoding, notes=(f"{name}: {read.note}",) if read.note else ())
