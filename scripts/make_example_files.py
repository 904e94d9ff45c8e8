"""Writes examples/files: small real documents for the documentation. The same bytes every time.

python scripts/make_example_files.py
"""

from __future__ import annotations

import io
import textwrap
import zipfile
from email.message import EmailMessage
from pathlib import Path

from reportlab.pdfgen.canvas import Canvas

FOLDER = Path(__file__).parent.parent / "examples" / "files"
PAGES = (
    "The buyer pays a deposit of CNY 3,400.00 within three days after both sides have signed, on 2026-10-16 at the latest.",
    "The seller ships the goods from the northern quay as soon as the deposit has arrived, and sends the papers by post.",
    "Disputes are settled by the court at the seat of the seller, after both sides have talked for thirty days. Contract No. HT-2026-001.",
)
MINUTES = (
    "Minutes of the meeting. The council voted to rebuild the old market hall beside the river before the end of {} winter."
    " The costs are shared by the town and the province. The mayor will report to the council every month until the hall is open again."
    " The ferry to the islands keeps its winter timetable, and the school gets a new roof in the summer holidays."
    " The next meeting is on the first Tuesday of December, in the library, because the town hall is being painted.\n"
)
SPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
FIXED = (2026, 10, 16, 0, 0, 0)


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, FIXED), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def docx() -> bytes:
    new_page = '<w:p><w:r><w:br w:type="page"/></w:r></w:p>'
    body = new_page.join(f"<w:p><w:r><w:t>{page}</w:t></w:r></w:p>" for page in PAGES)
    content = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    return zipped({
        "[Content_Types].xml": (
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels"'
            ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/word/document.xml" ContentType="{content}"/></Types>'
        ).encode(),
        "_rels/.rels": (
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            f'<Relationship Id="r1" Type="{TYPES}/officeDocument" Target="word/document.xml"/></Relationships>'
        ).encode(),
        "word/document.xml": f"<w:document {SPACE}><w:body>{body}</w:body></w:document>".encode(),
    })  # fmt: skip


def pdf() -> bytes:
    out = io.BytesIO()
    canvas = Canvas(out, invariant=1)
    canvas.setTitle("Contract")
    for page in PAGES:
        for number, line in enumerate(textwrap.wrap(page, 80)):
            canvas.drawString(50, 780 - 20 * number, line)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def mail() -> bytes:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = "Photos", "a@example.com", "b@example.com"
    message["Message-ID"] = "<1@example.com>"
    message.set_content("Here are the photos of the island.\n")
    message.add_attachment(zipped({"photos/readme.docx": docx()}), maintype="application", subtype="zip", filename="photos.zip")
    message.set_boundary("example")
    return message.as_bytes()


def main() -> None:
    (FOLDER / "archive").mkdir(parents=True, exist_ok=True)
    files = {"contract.docx": docx(), "archive/contract.pdf": pdf(), "minutes v1.txt": MINUTES.format("this").encode()}
    files |= {"minutes v2.txt": MINUTES.format("next").encode()}
    for name, data in files.items():
        (FOLDER / name).write_bytes(data)
    (FOLDER.parent / "outgoing.eml").write_bytes(mail())


if __name__ == "__main__":
    main()
