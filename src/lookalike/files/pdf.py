"""PDF, by PDFium: the text of each page."""

from __future__ import annotations

import ctypes
import re
from typing import Any

from lookalike.errors import MissingExtra
from lookalike.files.collecting import LOCKED, Collected, Unreadable
from lookalike.files.model import BROKEN, ENCRYPTED, SCANNED

_PROPERTIES = {
    "Author": "author",
    "CreationDate": "created",
    "ModDate": "modified",
    "Subject": "subject",
    "Keywords": "keywords",
    "Producer": "producer",
}
_HYPHEN = re.compile("[\ufffe\x02](?:\r?\n)?")  # what PDFium puts where a word was broken at the end of a line
_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?")
_PASSWORD = 4  # FPDF_ERR_PASSWORD


def read_pdf(data: bytes, out: Collected) -> None:
    try:
        import pypdfium2
    except ImportError as error:
        raise MissingExtra.for_extra("reading PDF", "files") from error
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _PASSWORD or "password" in str(error).lower():
            raise Unreadable(ENCRYPTED, LOCKED) from error
        raise Unreadable(BROKEN, f"PDFium cannot read it ({error})") from error
    try:
        _properties(document, out)
        _pages(pypdfium2, document, out)
    finally:
        document.close()


def _properties(document: Any, out: Collected) -> None:
    found = document.get_metadata_dict(skip_empty=True)
    out.title = found.get("Title")
    for name, called in _PROPERTIES.items():
        if value := found.get(name):
            out.meta[called] = _date(value) if name.endswith("Date") else value[:2000]


def _date(value: str) -> str:
    """``D:20261116120000+08'00'`` as 2026-11-16T12:00:00."""
    found = _DATE.match(value)
    if not found:
        return value[:100]
    year, month, day, *clock = found.groups()
    date = "-".join(filter(None, (year, month, day)))
    return f"{date}T{':'.join(part or '00' for part in clock)}" if day and clock[0] else date


def _pages(pdfium: Any, document: Any, out: Collected) -> None:
    has_images = False
    wrong = 0
    count = len(document)
    for number in range(count):
        out.budget.page()
        page = pdfium.raw.FPDF_LoadPage(document.raw, number)
        try:
            text = _text(pdfium.raw, page) if page else None
            if text is None:
                wrong += 1
                continue
            if not has_images and not text.strip():
                has_images = _has_image(pdfium, document, number)
        finally:
            if page:
                pdfium.raw.FPDF_ClosePage(page)
        with out.place("page", f"page {number + 1}"):
            out.paragraph(_HYPHEN.sub("", text).replace("\r\n", "\n"))
    out.meta["pages"] = count
    if wrong:
        out.notes.append(f"{wrong} of {count} pages are damaged")
    if wrong and wrong == count:
        raise Unreadable(BROKEN, "all of its pages are damaged")
    if not out.length and has_images:
        raise Unreadable(SCANNED, "it has images and no text: it was scanned; recognise its text (OCR) first")


def _text(raw: Any, page: Any) -> str | None:
    """All of the text of a page in one piece. The package's own way asks PDFium twice for what lies inside of the page, which is slower."""
    text_page = raw.FPDFText_LoadPage(page)
    if not text_page:
        return None
    try:
        count = raw.FPDFText_CountChars(text_page)
        if count < 0:
            return None
        units = (ctypes.c_ushort * (2 * count + 1))()  # twice: a character may need two
        written = raw.FPDFText_GetText(text_page, 0, count, units) if count else 1
        return bytes(units)[: 2 * max(written - 1, 0)].decode("utf-16-le", "replace")
    finally:
        raw.FPDFText_ClosePage(text_page)


def _has_image(pdfium: Any, document: Any, number: int) -> bool:
    try:
        page = document[number]
        found = any(True for _ in page.get_objects(filter=[pdfium.raw.FPDF_PAGEOBJ_IMAGE], max_depth=3))
        page.close()
    except pdfium.PdfiumError:
        return False
    return found
