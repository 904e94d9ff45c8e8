"""Real files of every format, made by the libraries that people make them with. The same content in each."""

from __future__ import annotations

import bz2
import functools
import gzip
import io
import lzma
import tarfile
import textwrap
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from email.message import EmailMessage
from typing import Any

TITLE = "采购合同 Purchase contract"
PAGES = (
    "第一条 甲方应当在三日内向乙方支付定金，共计人民币三千四百元整。\nThe buyer pays a deposit of CNY 3,400.00 within three days of signing on 2026-10-16.",
    "第二条 逾期付款的，每日按应付金额的万分之五加收违约金。\nThe seller ships the goods from the northern quay as soon as the deposit has arrived.",
    "第三条 本合同一式两份，双方各执一份，自签字之日起生效。\nDisputes are settled by the court at the seat of the seller, after thirty days of talks.",
)


def docx(pages: Sequence[str] = PAGES, *, header: str = "页眉 Confidential") -> bytes:
    import docx as library

    document = library.Document()
    document.core_properties.title, document.core_properties.author = TITLE, "王小明"
    if header:
        document.sections[0].header.paragraphs[0].text = header
    for number, page in enumerate(pages):
        if number:
            document.add_page_break()
        for line in page.split("\n"):
            document.add_paragraph(line)
    table = document.add_table(rows=2, cols=2)
    for place, value in enumerate(("货物", "数量", "螺丝 screws", "120")):
        table.cell(*divmod(place, 2)).text = value
    return _saved(document.save)


def pptx(pages: Sequence[str] = PAGES) -> bytes:
    import pptx as library

    show = library.Presentation()
    show.core_properties.title = TITLE
    for number, page in enumerate(pages, 1):
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = f"第{number}页"
        slide.placeholders[1].text = page
        slide.notes_slide.notes_text_frame.text = f"备注 {number}: speak slowly"
    return _saved(show.save)


def xlsx(pages: Sequence[str] = PAGES) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, page in enumerate(pages, 1):
        sheet = book.create_sheet(f"表{number}")
        for line in page.split("\n"):
            sheet.append([line, number, number + 0.5])
    return _saved(book.save)


def xls(pages: Sequence[str] = PAGES) -> bytes:
    import xlwt

    book = xlwt.Workbook()
    for number, page in enumerate(pages, 1):
        sheet = book.add_sheet(f"表{number}")
        for row, line in enumerate(page.split("\n")):
            sheet.write(row, 0, line)
    return _saved(book.save)


def odt(pages: Sequence[str] = PAGES) -> bytes:
    from odf import dc, office, opendocument, text

    document = opendocument.OpenDocumentText()
    document.meta.addElement(dc.Title(text=TITLE))
    for number, page in enumerate(pages):
        for place, line in enumerate(page.split("\n")):
            paragraph = text.P()
            if number and not place:
                paragraph.addElement(text.SoftPageBreak())
            paragraph.addText(line)
            if not number and not place:
                note = office.Annotation()
                note.addElement(text.P(text="批注 check the amount"))
                paragraph.addElement(note)
            document.text.addElement(paragraph)
    return _saved(document.write)


def ods(pages: Sequence[str] = PAGES) -> bytes:
    from odf import opendocument, table, text

    document = opendocument.OpenDocumentSpreadsheet()
    for number, page in enumerate(pages, 1):
        sheet = table.Table(name=f"表{number}")
        for line in page.split("\n"):
            row = table.TableRow()
            cell = table.TableCell(valuetype="string")
            cell.addElement(text.P(text=line))
            row.addElement(cell)
            sheet.addElement(row)
        document.spreadsheet.addElement(sheet)
    return _saved(document.write)


def odp(pages: Sequence[str] = PAGES) -> bytes:
    from odf import draw, opendocument, style, text

    document = opendocument.OpenDocumentPresentation()
    layout = style.PageLayout(name="layout")
    document.automaticstyles.addElement(layout)
    master = style.MasterPage(name="master", pagelayoutname=layout)
    document.masterstyles.addElement(master)
    for page in pages:
        slide = draw.Page(masterpagename=master)
        frame = draw.Frame(width="20cm", height="5cm")
        box = draw.TextBox()
        for line in page.split("\n"):
            box.addElement(text.P(text=line))
        frame.addElement(box)
        slide.addElement(frame)
        document.presentation.addElement(slide)
    return _saved(document.write)


def epub(pages: Sequence[str] = PAGES) -> bytes:
    from ebooklib import epub as library

    book = library.EpubBook()
    book.set_identifier("contract")
    book.set_title(TITLE)
    book.set_language("zh")
    chapters = []
    for number, page in enumerate(pages, 1):
        chapter = library.EpubHtml(title=f"第{number}章", file_name=f"chapter{number}.xhtml")
        chapter.content = "".join(f"<p>{line}</p>" for line in page.split("\n"))
        book.add_item(chapter)
        chapters.append(chapter)
    book.toc = chapters
    book.add_item(library.EpubNcx())
    book.spine = chapters
    out = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library.write_epub(out, book)
    return out.getvalue()


def pdf(pages: Sequence[str] = PAGES, *, password: str | None = None, image: bool = False, packed: bool = True) -> bytes:
    """The font is one that every reader of PDF has for Chinese; it is not part of the file."""
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfgen.canvas import Canvas

    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    out = io.BytesIO()
    encrypt = None if password is None else StandardEncryption(password, canPrint=0)
    canvas = Canvas(out, encrypt=encrypt, pageCompression=int(packed), invariant=1)
    canvas.setTitle(TITLE)
    for page in pages:
        if image:
            from PIL import Image
            from reportlab.lib.utils import ImageReader

            canvas.drawImage(ImageReader(Image.new("RGB", (200, 200), (200, 30, 30))), 50, 500)
        else:
            canvas.setFont("STSong-Light", 10)
            for number, line in enumerate(_wrapped(page)):
                canvas.drawString(50, 780 - 14 * number, line)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def _wrapped(page: str) -> Iterator[str]:
    """Lines as they fit on paper."""
    for line in page.split("\n"):
        yield from textwrap.wrap(line, 90) or [""]


def rtf(pages: Sequence[str] = PAGES) -> bytes:
    def escaped(text: str) -> str:
        units = text.encode("utf-16-le")
        numbers = [int.from_bytes(units[at : at + 2], "little", signed=True) for at in range(0, len(units), 2)]
        return "".join("\\par\n" if n == 10 else chr(n) if 32 <= n < 127 and chr(n) not in "\\{}" else f"\\u{n}?" for n in numbers)

    body = "\\page\n".join(escaped(page) + "\\par\n" for page in pages)
    return (f"{{\\rtf1\\ansi\\ansicpg936{{\\info{{\\title {escaped(TITLE)}}}}}\n{body}}}").encode("ascii")


def eml(pages: Sequence[str] = PAGES, attachments: dict[str, bytes] | None = None) -> bytes:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = TITLE, "王小明 <wang@example.com>", "buyer@example.com"
    message["Date"], message["Message-ID"] = "Mon, 16 Nov 2026 10:00:00 +0800", "<1@example.com>"
    message.set_content("\n".join(pages))
    message.add_alternative("".join(f"<p>{line}</p>" for page in pages for line in page.split("\n")), subtype="html")
    for name, data in (attachments or {}).items():
        message.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    return message.as_bytes()


def html(pages: Sequence[str] = PAGES) -> bytes:
    body = "".join(f"<p>{line}</p>" for page in pages for line in page.split("\n"))
    return f"<!doctype html><html><head><meta charset=utf-8><title>{TITLE}</title></head><body><article>{body}</article></body></html>".encode()


def txt(pages: Sequence[str] = PAGES) -> bytes:
    return "\n".join(pages).encode("gb18030")


def md(pages: Sequence[str] = PAGES) -> bytes:
    return f"# {TITLE}\n\n{chr(10).join(pages)}\n".encode()


def zipped(files: dict[str, bytes], *, packed: bool = True) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def tarred(files: dict[str, bytes], mode: str = "w") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]  # a mode by name
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zstandard(data: bytes) -> bytes:
    import zstandard as library

    return library.compress(data)


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, mtime=0),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard,
}
MAKERS: dict[str, Callable[..., bytes]] = {
    "docx": docx, "pptx": pptx, "xlsx": xlsx, "xls": xls, "odt": odt, "ods": ods, "odp": odp, "epub": epub, "pdf": pdf, "rtf": rtf,
    "eml": eml, "html": html, "txt": txt, "md": md,
}  # fmt: skip


@functools.cache
def made(kind: str) -> bytes:
    """A file of a kind, made once."""
    if kind in MAKERS:
        return MAKERS[kind]()
    if kind == "zip":
        return zipped({"合同/contract.docx": made("docx"), "notes.txt": made("txt")})
    if kind == "tar":
        return tarred({"合同/contract.docx": made("docx"), "notes.txt": made("txt")})
    if kind.startswith("tar."):
        return PACKED[kind.removeprefix("tar.")](made("tar"))
    return PACKED[kind](made("txt"))


def _saved(save: Callable[[Any], object]) -> bytes:
    out = io.BytesIO()
    save(out)
    return out.getvalue()
