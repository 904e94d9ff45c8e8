"""Files of every format, made by the usual libraries, are read: their text, their places, their properties."""

from __future__ import annotations

import base64
import binascii
import io
import quopri
import random
import re
import tarfile
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from email.message import EmailMessage
from pathlib import Path

import docx
import pytest
from odf import opendocument, style, text
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

import lookalike as la
import made_files
from lookalike.files.kinds import kind_of, zip_kind
from lookalike.files.word import WordText

KINDS = ["docx", "pptx", "xlsx", "xls", "odt", "ods", "odp", "epub", "pdf", "rtf", "eml", "html", "txt", "md"]
PLACES = {
    "docx": "page",
    "odt": "page",
    "pdf": "page",
    "pptx": "slide",
    "odp": "slide",
    "epub": "chapter",
    "xlsx": "sheet",
    "xls": "sheet",
    "ods": "sheet",
}


def squeezed(text: str) -> str:
    return "".join(text.split())


def written(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("named", ["合同.{}", "没有后缀"])
def test_every_format(tmp_path: Path, kind: str, named: str) -> None:
    """With its ending, and without one: the contents decide. Markdown alone is known by its name."""
    found = la.read(written(tmp_path, named.format(kind), made_files.made(kind)))
    plain = {"txt": "text", "md": "markdown" if "{" in named else "text"}
    assert (found.kind, found.status) == (plain.get(kind, kind), "ok")
    for line in "\n".join(made_files.PAGES).split("\n"):
        assert squeezed(line) in squeezed(found.text)
    if kind in PLACES:
        for number, page in enumerate(made_files.PAGES, 1):
            at = found.text.index(page.split("。")[0][:6])
            assert found.where((at, at + 5)) == (f"sheet 表{number}" if PLACES[kind] == "sheet" else f"{PLACES[kind]} {number}")
    if kind not in ("xlsx", "xls", "ods", "odp", "txt", "md"):
        assert found.title == made_files.TITLE


def test_what_stands_beside_the_text(tmp_path: Path) -> None:
    found = la.read(written(tmp_path, "a.docx", made_files.made("docx")))
    assert "货物\t数量\n螺丝 screws\t120\n" in found.text
    assert found.where((at := found.text.index("页眉"), at + 2)) == "header"
    assert found.meta["author"] == "王小明"
    slides = la.read(written(tmp_path, "a.pptx", made_files.made("pptx")))
    assert slides.where((at := slides.text.index("备注 2"), at + 2)) == "slide 2 › notes"
    odt = la.read(written(tmp_path, "a.odt", made_files.made("odt")))
    assert odt.where((at := odt.text.index("批注"), at + 2)) == "comments"


def test_tracked_changes_footnotes_and_comments(tmp_path: Path) -> None:
    """As Word writes them: what was deleted stands apart, what was inserted is part of the text, and text boxes come once."""
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    body = (
        "<w:p><w:r><w:t>kept </w:t></w:r><w:ins><w:r><w:t>added</w:t></w:r></w:ins><w:del><w:r><w:delText>taken out</w:delText></w:r></w:del></w:p>"
        "<mc:AlternateContent><mc:Choice><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Choice><mc:Fallback><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Fallback>"
        "</mc:AlternateContent><w:p><w:r><w:instrText>PAGE</w:instrText><w:lastRenderedPageBreak/><w:t>second &amp; last</w:t></w:r></w:p>"
    )
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    parts = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": f'<Relationships><Relationship Id="r1" Type="{kind}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/_rels/document.xml.rels": f'<Relationships><Relationship Id="a" Type="{kind}/footnotes" Target="footnotes.xml"/>'
        f'<Relationship Id="b" Type="{kind}/comments" Target="/word/comments.xml"/>'
        f'<Relationship Id="c" Type="{kind}/header" Target="http://example.com/header.xml" TargetMode="External"/></Relationships>',
        "word/document.xml": f"<w:document {space}><w:body>{body}</w:body></w:document>",
        "word/footnotes.xml": f"<w:footnotes {space}><w:footnote><w:p><w:r><w:t>脚注</w:t></w:r></w:p></w:footnote></w:footnotes>",
        "word/comments.xml": f"<w:comments {space}><w:comment><w:p><w:r><w:t>批注</w:t></w:r></w:p></w:comment></w:comments>",
    }
    found = la.read(written(tmp_path, "a.docx", made_files.zipped({name: text.encode() for name, text in parts.items()})))
    assert found.text == "kept added\nbox\nsecond & last\n脚注\n批注\ntaken out\n"
    assert [place.name for place in found.places] == ["page 1", "page 2", "footnotes", "comments", "deleted text"]


def word_text(body: str) -> WordText:
    """What is read of a document of Word with this content, with the joints cut out and without."""
    written = f'<w:document xmlns:w="w" xmlns:mc="mc"><w:body>{body}</w:body></w:document>'.encode()

    class OnePart:
        def stream(self, _: str) -> Iterator[bytes]:
            return iter([written])

    word = WordText()
    word.parse(OnePart(), "document.xml")  # type: ignore[arg-type]  # a package of one part
    return word


def alternatives(*texts: str, fallback: str) -> str:
    choices = "".join(f"<mc:Choice><w:r><w:t>{text}</w:t></w:r></mc:Choice>" for text in texts)
    return f"<w:p><mc:AlternateContent>{choices}<mc:Fallback><w:r><w:t>{fallback}</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p>"


@pytest.mark.parametrize(
    ("body", "text", "deleted"),
    [
        # What was moved away stands where it is now; where it was is apart, as what was deleted.
        (
            "<w:p><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom><w:r><w:t>stays</w:t></w:r></w:p>"
            "<w:p><w:moveTo><w:r><w:t>moved</w:t></w:r></w:moveTo></w:p>",
            "stays\nmoved\n",
            "moved",
        ),
        # One of several ways to write the same, the first that has a text.
        (alternatives("new", "newer", fallback="old"), "new\n", ""),
        (alternatives("", " ", fallback="old"), " old\n", ""),
        (alternatives(fallback="old"), "old\n", ""),
        (alternatives(f"a</w:t></w:r>{alternatives('b', fallback='c')}<w:r><w:t>d", fallback="e"), "ab\nd\n", ""),
        (
            "<w:p><w:r><w:t>one</w:t></w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent>"
            "</mc:Choice><mc:Fallback><w:p><w:r><w:br w:type='page'/><w:t>box</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent></w:p>",
            "one\nbox\n\n",
            "",
        ),
        # Signs by their numbers, tabs, and ends of pages: no two words become one.
        (
            '<w:p><w:r><w:t>a</w:t><w:sym w:font="MS Gothic" w:char="2612"/><w:sym w:char="F0FE"/><w:t>b</w:t></w:r></w:p>',
            "a☒\uf0feb\n",
            "",
        ),
        (
            '<w:p><w:r><w:sym w:char="D800"/><w:sym w:char="0"/><w:sym w:char="x"/><w:sym/><w:sym w:char="FFFFFFFFFF"/></w:r></w:p>',
            "\n",
            "",
        ),
        ("<w:p><w:r><w:t>a</w:t><w:ptab/><w:t>b</w:t></w:r></w:p>", "a\tb\n", ""),
        ('<w:p><w:r><w:t>a</w:t><w:br w:type="page"/><w:t>b</w:t></w:r></w:p>', "a\nb\n", ""),
        ('<w:p><w:r><w:br w:type="page"/></w:r></w:p><w:p><w:r><w:t>b</w:t></w:r></w:p>', "\nb\n", ""),
        # How a word is read stands behind it, and what stands across the page is a text.
        (
            "<w:p><w:r><w:t>我的</w:t><w:ruby><w:rt><w:r><w:t>hàn</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢</w:t></w:r></w:rubyBase></w:ruby>"
            "<w:t>和</w:t><w:ruby><w:rubyBase><w:r><w:t>字</w:t></w:r></w:rubyBase></w:ruby></w:r></w:p>",
            "我的漢hàn和字\n",
            "",
        ),
        ('<w:p><w:r><w:t>a</w:t><w:pict><v:shape><v:textpath string="机密"/></v:shape></w:pict></w:r></w:p>', "a\n机密\n", ""),
    ],
)
def test_every_text_of_a_document_stands_once(body: str, text: str, deleted: str) -> None:
    found = word_text(body)
    assert "".join(found.pieces) == text
    assert "".join(found.deleted).strip() == deleted
    assert len(found.breaks) == ("page" in body and "Fallback" not in body)


def test_text_boxes_and_page_numbers_of_opendocument(tmp_path: Path) -> None:
    body = (
        "<o:document-content xmlns:o='o' xmlns:t='t' xmlns:d='d'><t:p>before<d:text-box><t:p>box</t:p></d:text-box>after</t:p>"
        "<t:p>on <t:page-number>&lt;number&gt;</t:page-number></t:p></o:document-content>"
    )
    files = {"mimetype": b"application/vnd.oasis.opendocument.text", "content.xml": body.encode()}
    assert la.read(written(tmp_path, "a.odt", made_files.zipped(files))).text == "before\nbox\nafter\non \n"


def test_what_stands_beside_slides(tmp_path: Path) -> None:
    """Charts, diagrams, and comments as older and newer programs write them."""
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    data = CategoryChartData()
    data.categories = ["东", "西"]
    data.add_series("系列", (1, 2.5))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 9, 9, data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "图表标题"
    saved = io.BytesIO()
    presentation.save(saved)
    with zipfile.ZipFile(saved) as package:
        files = {name: package.read(name) for name in package.namelist()}
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    parts = {
        "comments/old.xml": ("comments", "<p:cmLst xmlns:p='p'><p:cm><p:text>旧批注</p:text></p:cm><p:cm><p:text>second</p:text></p:cm></p:cmLst>"),
        "diagrams/data1.xml": ("diagramData", "<d:dataModel xmlns:d='d' xmlns:a='a'><d:pt><d:t><a:p><a:r><a:t>步骤</a:t></a:r></a:p></d:t></d:pt></d:dataModel>"),
    }  # fmt: skip
    related = "".join(f'<Relationship Id="x{name[0]}" Type="{kind}/{type_}" Target="../{name}"/>' for name, (type_, _) in parts.items())
    rels = "ppt/slides/_rels/slide1.xml.rels"
    files[rels] = files[rels].replace(b"</Relationships>", f"{related}</Relationships>".encode())
    files |= {f"ppt/{name}": text.encode() for name, (_, text) in parts.items()}
    found = la.read(written(tmp_path, "a.pptx", made_files.zipped(files)))
    assert found.text == "图表标题\n系列\n东\n西\n1\n2.5\n旧批注\nsecond\n步骤\n"
    assert [place.name for place in found.places] == ["slide 1", "chart", "comments", "diagram"]


def test_members_of_one_name_are_all_read(tmp_path: Path) -> None:
    """What an archive holds twice, or under names that differ in what leads out of it, is not hidden by the last."""
    path = tmp_path / "a.zip"
    names = ["a.txt", "a.txt", "../a.txt", "b/a.txt", "a (2).txt", "a.txt"]
    with zipfile.ZipFile(path, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, name in enumerate(names):
            archive.writestr(name, f"text {number}")
    found = la.read(path)
    shown = ["a.txt", "a (2).txt", "a (3).txt", "b/a.txt", "a (2) (2).txt", "a (4).txt"]
    assert [place.name for place in found.places] == shown
    assert found.text == "".join(f"text {number}\n" for number in range(6))
    assert [(member.name, member.text) for member in la.read_members(path)] == [
        (name, f"text {number}") for number, name in enumerate(shown)
    ]


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz", "tar.bz2", "tar.xz", "tar.zst"])
def test_archives_are_folders(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path, f"a.{kind}", made_files.made(kind))
    found = la.read(path)
    assert found.status == "ok"
    assert found.where((at := found.text.index("第二条"), at + 3)) == "合同/contract.docx › page 2"
    members = la.read_members(path)
    assert [(member.name, member.kind) for member in members] == [("合同/contract.docx", "docx"), ("notes.txt", "text")]
    assert members[0].data == made_files.made("docx")


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
def test_packed_texts_are_texts(tmp_path: Path, kind: str) -> None:
    found = la.read(written(tmp_path, f"a.txt.{kind}", made_files.made(kind)))
    assert (found.kind, found.text, found.encoding) == ("text", "\n".join(made_files.PAGES), "gb18030")


def test_how_a_document_looks_is_no_text_and_hides_none(tmp_path: Path) -> None:
    """Blocks of formatting are cut out of the XML before it is parsed: whole ones, wherever pieces end, and none that is text or holds more."""
    look = '<w:rPr><w:rFonts w:ascii="Arial"/><w:b/><w:sz w:val="22"/></w:rPr>'
    change = '<w:rPr><w:b/><w:rPrChange w:id="1"><w:rPr><w:i/></w:rPr></w:rPrChange></w:rPr>'
    runs = [
        f'<w:p><w:pPr><w:jc w:val="center"/></w:pPr><w:r>{look if number % 3 else change}<w:t>line {number}</w:t></w:r></w:p>'
        for number in range(3000)
    ]
    lines = [f"line {number}" for number in range(3000)]
    comment = "<w:p><w:r><w:t><!-- a -->before <![CDATA[<w:rPr><w:b/></w:rPr>]]> after</w:t></w:r></w:p>"
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    body = f"<w:document {space}><w:body>{''.join(runs)}{comment}{look}</w:body></w:document>".encode()
    path = written(tmp_path, "a.docx", made_files.zipped({"[Content_Types].xml": b"<Types/>", "word/document.xml": body}))
    found = la.read(path)
    assert found.status == "ok"
    assert found.text.split("\n")[:-1] == [*lines, "before <w:rPr><w:b/></w:rPr> after"]


def test_mail_is_read_in_all_of_its_forms(tmp_path: Path) -> None:
    """Programs show the page and not the plain text: what only the page says, or has attached, is in the mail as well; the rest is read once."""
    message = EmailMessage()
    message["Subject"], message["From"], message["Message-ID"] = "周报", "a@example.com", "<2@example.com>"
    message.set_content("Dear all, the ferry leaves the northern quay at seven,\nand comes back in the evening.")
    page = "<p>Dear all, the ferry leaves the northern quay at seven, and comes back in the evening.</p><p>机密：合同金额为三千四百元</p>"
    message.add_alternative(page, subtype="html")
    message.get_payload()[1].add_related(made_files.docx(["attached to the page"]), "application", "x", filename="附件.docx")
    found = la.read(written(tmp_path, "a.eml", message.as_bytes()))
    assert found.text.count("northern quay") == 1
    assert "机密：合同金额为三千四百元" in found.text
    at = found.text.index("attached to the page")
    assert found.where((at, at + 8)).startswith("附件.docx")


def test_mail_with_an_archive_with_a_document(tmp_path: Path) -> None:
    inner = made_files.zipped({"深/secret.pdf": made_files.made("pdf")})
    path = written(tmp_path, "a.eml", made_files.eml(["see the attachment"], {"合同.zip": inner, "broken.docx": b"PK\x03\x04 nothing"}))
    found = la.read(path)
    assert found.where((at := found.text.index("第三条"), at + 3)) == "合同.zip › 深/secret.pdf › page 3"
    assert found.meta["to"] == "buyer@example.com"
    assert any(note.startswith("broken.docx: ") for note in found.notes)


def attached(kind: str, encoding: str, body: bytes, name: str = "inner") -> bytes:
    """Mail with one attachment, as it is written and not as a library would write it."""
    return (
        b"From: a@example.com\r\nSubject: outer\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=QQ\r\n\r\n"
        b"--QQ\r\nContent-Type: text/plain\r\n\r\nhello\r\n"
        + f"--QQ\r\nContent-Type: {kind}\r\nContent-Transfer-Encoding: {encoding}\r\n".encode()
        + f'Content-Disposition: attachment; filename="{name}"\r\n\r\n'.encode()
        + body
        + b"\r\n--QQ--\r\n"
    )


@pytest.mark.parametrize("kind", ["message/rfc822", "message/global"])
@pytest.mark.parametrize("encoding", ["7bit", "base64", "quoted-printable", "BASE64 ", '"base64"'])
def test_mail_in_mail_however_it_is_packed(tmp_path: Path, kind: str, encoding: str) -> None:
    inner = made_files.eml(["the inner text = 1"], {"合同.zip": made_files.zipped({"a.pdf": made_files.made("pdf")})})
    pack = base64.encodebytes if "64" in encoding else quopri.encodestring if "q" in encoding else bytes
    found = la.read(written(tmp_path, "a.eml", attached(kind, encoding, pack(inner))))
    assert found.where((at := found.text.index("第三条"), at + 3)) == "forwarded mail › 合同.zip › a.pdf › page 3"
    assert "the inner text = 1" in found.text
    assert found.notes == ()


@pytest.mark.parametrize("encoding", ["base64", "BASE64 ", '"base64"', "base64 (as usual)"])
def test_attachments_however_their_encoding_is_written(tmp_path: Path, encoding: str) -> None:
    mail = attached("application/octet-stream", encoding, base64.encodebytes(made_files.made("docx")), "a.docx")
    assert "第三条" in la.read(written(tmp_path, "a.eml", mail)).text


@pytest.mark.parametrize(
    "before", [b"\xef\xbb\xbf", b"\r\n\n", b"From a@example.com Mon Jan  1 00:00:00 2024\r\n", b"\n>From a@example.com\n"]
)
@pytest.mark.parametrize("name", ["a.eml", "a.txt", "a"])
def test_mail_behind_what_programs_write_before_it(tmp_path: Path, before: bytes, name: str) -> None:
    mail = attached("application/octet-stream", "base64", base64.encodebytes(made_files.made("docx")), "a.docx")
    found = la.read(written(tmp_path, name, before + mail))
    assert (found.kind, found.title) == ("eml", "outer")
    assert "第三条" in found.text


def test_a_document_as_the_text_of_a_mail(tmp_path: Path) -> None:
    header = b"Subject: x\nMIME-Version: 1.0\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\n"
    assert "第三条" in la.read(written(tmp_path, "a.eml", header + base64.encodebytes(made_files.made("docx")))).text
    assert (
        la.read(written(tmp_path, "a.eml", header + base64.encodebytes(b"Files begin with %PDF-1.4"))).text
        == "x\nFiles begin with %PDF-1.4\n"
    )


def test_mail_that_is_cut_off_says_so(tmp_path: Path) -> None:
    mail = made_files.eml(["a text"], {"a.txt": b"what is attached " * 100})
    assert la.read(written(tmp_path, "a.eml", mail)).notes == ()
    cut = la.read(written(tmp_path, "a.eml", mail[:-300]))
    assert (cut.status, cut.notes) == ("ok", ("a part of the mail has no end: the mail may be cut off",))
    assert "what is attached" in cut.text


def test_headers_in_the_bytes_of_another_system(tmp_path: Path) -> None:
    """Chinese programs write GBK into headers, and say nothing about it."""
    name = "关于合同.docx".encode("gb18030")
    mail = attached("application/octet-stream", "base64", base64.encodebytes(made_files.made("docx")), "NAME.docx")
    mail = mail.replace(b"NAME.docx", name).replace(b"Subject: outer", "Subject: 关于合同\r\n 的通知".encode("gb18030"))
    found = la.read(written(tmp_path, "a.eml", mail))
    assert found.title == "关于合同 的通知"
    assert found.where((at := found.text.index("第三条"), at + 3)) == "关于合同.docx › page 3"


@pytest.mark.parametrize("charset", ["", "; charset=utf-8", "; charset=us-ascii", "; charset=none"])
@pytest.mark.parametrize("kind", ["text/plain", "text/html"])
def test_a_text_of_mail_in_an_encoding_that_is_not_said(tmp_path: Path, kind: str, charset: str) -> None:
    said = "正文没有说编码，这是国标码的一封信。"
    body = f"<html><head><meta charset=gbk></head><body>{said}</body></html>" if kind == "text/html" else said
    mail = f"Subject: x\nMIME-Version: 1.0\nContent-Type: {kind}{charset}\n\n".encode() + body.encode("gbk")
    assert la.read(written(tmp_path, "a.eml", mail)).text == f"x\n{said}\n"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_mail_of_a_mailbox(tmp_path: Path, end: str) -> None:
    mails = [made_files.eml([f"text {number}"], {"合同.pdf": made_files.made("pdf")}).replace(b"\r\n", b"\n") for number in range(3)]
    box = b"".join(b"From a@example.com Mon Oct  5 10:00:00 2026\n" + mail.rstrip() + b"\n\n" for mail in mails)
    found = la.read(written(tmp_path, "a.mbox", box.replace(b"\n", end.encode())))
    assert [place.name for place in found.places if place.kind == "mail"] == ["mail 1", "mail 2", "mail 3"]
    assert found.where((at := found.text.rindex("第三条"), at + 3)) == "mail 3 › 合同.pdf › page 3"
    one = la.read(written(tmp_path, "b.mbox", box.split(b"\n\nFrom ")[0]))
    assert one.title is not None
    assert "mail" not in {place.kind for place in one.places}


def test_files_in_the_text_of_a_mail(tmp_path: Path) -> None:
    """As they were sent before there were attachments: uuencoded."""
    data = made_files.made("docx")
    lines = [binascii.b2a_uu(data[at : at + 45]).decode() for at in range(0, len(data), 45)]
    body = f"see below\nbegin 644 合同.docx\n{''.join(lines)}`\nend\nas agreed\nbegin 644 nothing\nof the kind\nend\n"
    for packed in (body, body.replace("\n", "\r\n")):
        head = "Subject: x\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n"
        found = la.read(written(tmp_path, "a.eml", (head + packed).encode()))
        assert found.where((at := found.text.index("第三条"), at + 3)) == "合同.docx › page 3"
        assert "M4$L" not in found.text
        assert "as agreed\nbegin 644 nothing\nof the kind\nend" in found.text


def test_old_office_files_that_are_cut_off_are_broken(tmp_path: Path) -> None:
    book = made_files.made("xls")
    for share in (0.05, 0.2, 0.5, 0.8, 0.95):
        assert la.read(written(tmp_path, "a.xls", book[: int(len(book) * share)])).status == "broken"


def test_names_of_members_in_old_encodings(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        info = zipfile.ZipInfo("placeholder")
        archive.writestr(info, "text")
    data = out.getvalue().replace(b"placeholder", "合同文件x".encode("gb18030") + b"yz")
    assert [each.name for each in la.read_members(written(tmp_path, "a.zip", data))] == ["合同文件xyz"]


def test_names_in_a_tar_in_old_encodings(tmp_path: Path) -> None:
    """A name that is no Unicode stops neither a scan nor adding."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT, encoding="latin-1") as archive:
        for raw in ("合同/终稿.txt".encode("gb18030"), b"bad\xff\xfe.txt"):
            info = tarfile.TarInfo(raw.decode("latin-1"))
            info.size = 4
            archive.addfile(info, io.BytesIO(b"text"))
    (tmp_path / "in").mkdir()
    path = written(tmp_path / "in", "a.tar", out.getvalue())
    assert [member.name for member in la.read_members(path)] == ["合同/终稿.txt", "bad\ufffd\ufffd.txt"]
    assert la.scan(tmp_path / "in").files == 2
    with la.open("memory://") as index:
        assert index.add(path).added == 2


def test_halves_of_characters(tmp_path: Path) -> None:
    """Pairs are characters; halves that are alone cannot be stored."""
    path = written(tmp_path, "a.rtf", rb"{\rtf1\ansi{\info{\title \u-10179? x}}pair \u-10179?\u-8704? lone \u-10179?}")
    found = la.read(path)
    assert (found.text, found.title) == ("pair \U0001f600 lone \ufffd", "\ufffd x")
    with la.open("memory://") as index:
        assert index.add(path).added == 1


def test_a_title_of_rtf_that_is_written_twice(tmp_path: Path) -> None:
    """As LibreOffice writes one that its code page does not have."""
    title = rb"{\upr{\title \'3f\'3f 2026}{\*\ud{\title \u21512\'3f\u21516\'3f 2026}}}"
    assert la.read(written(tmp_path, "a.rtf", rb"{\rtf1\ansi{\info" + title + rb"}text}")).title == "合同 2026"


def test_headers_of_opendocument(tmp_path: Path) -> None:
    """Those of left and first pages too; the number of a page is no text."""
    document = opendocument.OpenDocumentText()
    layout, header, left, footer = style.PageLayout(name="a"), style.Header(), style.HeaderLeft(), style.FooterLeft()
    line = text.P()
    for part in ("Page", text.S(c=1), text.PageNumber(), text.Tab(), "right"):
        line.addText(part) if isinstance(part, str) else line.addElement(part)
    for where, paragraphs in ((header, [text.P(text="机密"), line]), (left, [text.P(text="左页眉")]), (footer, [text.P(text="首页")])):
        for paragraph in paragraphs:
            where.addElement(paragraph)
    master = style.MasterPage(name="Standard", pagelayoutname=layout)
    document.automaticstyles.addElement(layout)
    document.masterstyles.addElement(master)
    for each in (header, left, footer):
        master.addElement(each)
    document.text.addElement(text.P(text="the text"))
    document.save(tmp_path / "a.odt")
    found = la.read(tmp_path / "a.odt")
    assert found.text == "the text\n机密\nPage\tright\n左页眉\n首页\n"
    assert [place.name for place in found.places] == ["header", "footer"]


def test_statuses(tmp_path: Path) -> None:
    locked = la.read(written(tmp_path, "a.pdf", made_files.pdf(password="x")))
    assert (locked.status, locked.notes) == ("encrypted", ("it is encrypted: save a copy of it without the password",))
    assert la.read(written(tmp_path, "b.pdf", made_files.pdf(image=True))).status == "scanned"
    assert la.read(written(tmp_path, "c.pdf", b"%PDF-1.7 nothing else")).status == "broken"
    assert la.read(written(tmp_path, "d.docx", made_files.made("docx")[:3000])).status == "broken"
    assert la.read(written(tmp_path, "e.png", b"\x89PNG\r\n\x1a\n" + bytes(90))).kind == "png"
    assert la.read(written(tmp_path, "e.bin", bytes(range(256)) * 9)).status == "binary"
    assert la.read(written(tmp_path, "f.txt", b"")).status == "empty"
    old = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
    assert la.read(written(tmp_path, "g.doc", old + "WordDocument".encode("utf-16-le"))).status == "unsupported"
    assert la.read(written(tmp_path, "h.docx", old + "EncryptedPackage".encode("utf-16-le"))).status == "encrypted"
    with pytest.raises(la.InputError, match="does not exist"):
        la.read(tmp_path / "nothing.pdf")
    with pytest.raises(la.InputError, match="is a directory"):
        la.read(tmp_path)
    with pytest.raises(la.InputError, match="limits"):
        la.read(tmp_path / "f.txt", limits=5)  # type: ignore[arg-type]


def test_kinds_by_contents() -> None:
    assert kind_of(b"Received: by x\r\nFrom: a@b\r\n\r\nhello", "mail") == "eml"
    assert kind_of(b"From: a\nSubject: b\n\nhello", "post.txt") == "text"
    for name in ("post.txt", "post.md", "post.html", "post.py", "post"):  # with attachments, or packed: its text is not what one reads
        assert kind_of(b"Subject: b\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\nhello", name) == "eml"
        assert kind_of(b"MIME-Version: 1.0\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\naGVsbG8=", name) == "eml"
    assert kind_of(b"From: a\nMIME-Version: 1.0\nContent-Type: text/plain\n\nhello", "post.txt") == "text"
    assert kind_of(b"<!-- x --><!DOCTYPE html><p>", "page") == "html"
    assert kind_of(b"<html>", "page.txt") == "text"
    assert zip_kind({"[Content_Types].xml", "xl/workbook.xml"}, b"") == "xlsx"
    assert zip_kind({"a.txt"}, b"") == "zip"


def test_many_at_once_in_their_order(tmp_path: Path) -> None:
    paths = [written(tmp_path, f"{number}.docx", made_files.docx([f"number {number}"])) for number in range(6)]
    paths.insert(3, tmp_path / "missing.docx")
    found = list(la.read_many(paths, workers=2))
    assert [each.name for each in found] == [str(path) for path in paths]
    assert [each.status for each in found] == ["ok"] * 3 + ["broken"] + ["ok"] * 3
    assert "number 5" in found[-1].text


class TestCompare:
    def test_a_document_and_its_pdf(self, tmp_path: Path) -> None:
        left = written(tmp_path, "a.docx", made_files.docx(header=""))
        right = written(tmp_path, "a.pdf", made_files.made("pdf"))
        found = la.compare(left, right)
        assert found.alike
        assert found.kind == "text"
        whole = found.to_dict()["passages"][-1]
        assert (whole["left_place"], whole["right_place"]) == ("page 1–3", "page 1–3")

    def test_where_a_page_was_taken_from(self, tmp_path: Path) -> None:
        left = written(tmp_path, "a.docx", made_files.docx(header=""))
        right = written(tmp_path, "a.pdf", made_files.pdf(["something else on the first page", made_files.PAGES[2]]))
        found = la.compare(left, right)
        shared = found.to_dict()["passages"]
        assert {(each["left_place"], each["right_place"]) for each in shared} == {("page 3", "page 2")}
        assert "left page 3" in found.to_html()

    def test_as_bytes(self, tmp_path: Path) -> None:
        paths = [written(tmp_path, f"{name}.pdf", made_files.made("pdf")) for name in "ab"]
        assert la.compare(*paths, kind="file").kind == "file"
        assert la.compare(paths[0], "\n".join(made_files.PAGES)).score > 0.9

    def test_without_text(self, tmp_path: Path) -> None:
        scanned = la.read(written(tmp_path, "b.pdf", made_files.pdf(image=True)))
        with pytest.raises(la.InputError, match=r"no text to compare \(pdf, scanned"):
            la.compare(scanned, "text")


def test_a_document_of_the_library_is_read_as_the_library_reads_it(tmp_path: Path) -> None:
    """python-docx as an oracle: every paragraph, in its order."""
    path = written(tmp_path, "a.docx", made_files.made("docx"))
    paragraphs = [paragraph.text.strip() for paragraph in docx.Document(str(path)).paragraphs if paragraph.text.strip()]
    lines = [line.strip() for line in la.read(path).text.split("\n") if line.strip()]
    assert [line for line in lines if line in paragraphs] == paragraphs


def _word_xml(chance: random.Random) -> bytes:
    """Paragraphs, tables, runs with and without attributes, breaks, deleted text, and what older programs see."""
    attributes = ("", ' w:rsidR="00AB12CD"', ' w:rsidR="1" w:rsidP="2"')

    def run() -> str:
        look = chance.choice(("", "<w:rPr><w:b/></w:rPr>", "<w:rPr/>", '<w:rPr w:x="1"/>'))
        text = chance.choice(("word", "合同", "a &lt;b&gt;", " ", "</w:t></w:r><w:r><w:t>", "<!-- note -->", "<![CDATA[<w:p>]]>"))
        if text.startswith("<![") and chance.random() < 0.9:
            text = "x"  # rarely: from there on nothing is cut out
        inside = chance.choice((f'<w:t xml:space="preserve">{text}</w:t>', f"<w:t>{text}</w:t>", "<w:t/>", "<w:tab/>", "<w:br/>"))
        written = f"<w:r{chance.choice(attributes)}>{look}{inside}</w:r>"
        wrapped = (
            "%s",
            "%s",
            "%s",
            "<w:ins>%s</w:ins>",
            "<mc:Fallback>%s</mc:Fallback>",
            "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>%s",
        )
        return chance.choice(wrapped) % written

    def paragraph() -> str:
        return f"<w:p{chance.choice(attributes)}>{''.join(run() for _ in range(chance.randrange(4)))}</w:p>"

    def table() -> str:
        cells = "".join(f"<w:tc>{''.join(paragraph() for _ in range(chance.randint(1, 3)))}</w:tc>" for _ in range(3))
        return f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>"

    body = "".join(table() if chance.random() < 0.1 else paragraph() for _ in range(chance.randrange(60)))
    return f'<w:document xmlns:w="w" xmlns:mc="mc"><w:body>{body}</w:body></w:document>'.encode()


@pytest.mark.parametrize("seed", range(60))
def test_what_is_cut_out_before_parsing_changes_nothing(seed: int) -> None:
    """The joints between runs of text are cut out, wherever the pieces of a file end, inside and outside of tables."""
    chance = random.Random(seed)
    written = _word_xml(chance)
    size = chance.choice((7, 64, 500, len(written)))

    class Piecewise:
        def stream(self, _: str) -> Iterator[bytes]:
            return (written[at : at + size] for at in range(0, len(written), size))

    class Plainly(WordText):
        def _simplified(self, pieces: Iterable[bytes]) -> Iterable[bytes]:
            return pieces

    fast, plain = WordText(), Plainly()
    for each in (fast, plain):
        each.parse(Piecewise(), "document.xml")  # type: ignore[arg-type]  # a package of one part
    assert "".join(fast.pieces) == "".join(plain.pieces)
    assert fast.deleted == plain.deleted


def test_paragraphs_reach_the_parser_as_one_text() -> None:
    text = "<w:p><w:r><w:t>line</w:t></w:r></w:p>" * 100
    word = WordText()
    assert b"".join(word._simplified([text.encode()])).count(b"<") == 6


def test_a_sheet_that_is_named_many_times_is_read_once(tmp_path: Path) -> None:
    """A small file that names one large sheet fifty times took fifty times as long, and gave its text fifty times."""
    with zipfile.ZipFile(io.BytesIO(made_files.made("xlsx"))) as archive:
        files = {info.filename: archive.read(info) for info in archive.infolist()}
    sheet = re.search(rb"<sheet [^>]*/>", files["xl/workbook.xml"])
    assert sheet is not None
    files["xl/workbook.xml"] = files["xl/workbook.xml"].replace(sheet[0], 50 * sheet[0])
    found = la.read(written(tmp_path, "a.xlsx", made_files.zipped(files)))
    assert found.meta["sheets"] == 3
    assert found.text == la.read(written(tmp_path, "b.xlsx", made_files.made("xlsx"))).text


@pytest.mark.parametrize(("kind", "part"), [("xlsx", "docProps/core.xml"), ("ods", "meta.xml")])
def test_spreadsheets_have_a_title(tmp_path: Path, kind: str, part: str) -> None:
    with zipfile.ZipFile(io.BytesIO(made_files.made(kind))) as archive:
        files = {info.filename: archive.read(info) for info in archive.infolist()}
    space = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
    files[part] = f"<properties {space}><dc:title>{made_files.TITLE}</dc:title><dc:creator>王小明</dc:creator></properties>".encode()
    found = la.read(written(tmp_path, f"a.{kind}", made_files.zipped(files)))
    assert (found.status, found.title, found.meta["author"]) == ("ok", made_files.TITLE, "王小明")
