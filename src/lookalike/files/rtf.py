"""RTF, by striprtf."""

from __future__ import annotations

import re
from collections.abc import Callable

from lookalike.errors import MissingExtra
from lookalike.files.collecting import Collected, Unreadable
from lookalike.files.model import BROKEN

_CODEPAGE = re.compile(rb"\\ansicpg(\d{1,5})")
# Programs write titles beyond the old code page twice; the first time with question marks.
_UNICODE_TITLE = re.compile(r"\{\\\*\\ud\s*\{\\title ([^{}]{1,2000})\}")
_TITLE = re.compile(r"\{\\title ([^{}]{1,500})\}")


def read_rtf(data: bytes, out: Collected) -> None:
    try:
        from striprtf.striprtf import rtf_to_text as untyped
    except ImportError as error:
        raise MissingExtra.for_extra("reading RTF", "files") from error
    rtf_to_text: Callable[..., str] = untyped
    page = _CODEPAGE.search(data[:4096])
    codec = f"cp{page.group(1).decode()}" if page else "cp1252"
    source = data.decode("latin-1")  # RTF is ASCII; other bytes are escaped
    try:
        b"".decode(codec)
    except LookupError:
        codec = "cp1252"
    try:
        text = rtf_to_text(source, encoding=codec, errors="replace")
    except (ValueError, LookupError, IndexError, OverflowError, TypeError, AttributeError) as error:
        raise Unreadable(BROKEN, f"it is no whole RTF ({str(error)[:200]})") from error
    if found := _UNICODE_TITLE.search(source[:65536]) or _TITLE.search(source[:65536]):
        out.title = rtf_to_text("{\\rtf1 " + found.group(1) + "}", encoding=codec, errors="replace").strip()
    out.write(text)
