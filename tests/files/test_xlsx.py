"""XLSX by the kernel and by calamine: whatever the kernel reads, calamine reads the same, and what it does not read is left to calamine."""

from __future__ import annotations

import datetime
import io
import math
import random
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from xml.sax.saxutils import escape

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont

import fuzzed_files
import made_files
from lookalike import _native
from lookalike.files import extracting, sheets
from lookalike.files.limits import Limits
from lookalike.files.model import FileText

SPACE = "http://schemas.openxmlformats.org"
STYLES = (
    f'<styleSheet xmlns="{SPACE}/spreadsheetml/2006/main"><numFmts count="3"><numFmt numFmtId="164" formatCode="yyyy-mm-dd"/>'
    '<numFmt numFmtId="165" formatCode="&quot;¥&quot;#,##0.00;[Red]\\-#,##0.00"/><numFmt numFmtId="166" formatCode="[h]:mm:ss"/></numFmts>'
    '<cellStyleXfs count="1"><xf numFmtId="14"/></cellStyleXfs><cellXfs count="6"><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="165"/>'
    '<xf numFmtId="14"/><xf numFmtId="166"/><xf/></cellXfs><dxfs count="1"><dxf><numFmt numFmtId="0" formatCode="yyyy"/></dxf></dxfs></styleSheet>'
)


def parts(*rows: str, shared: str | None = None, styles: str | None = STYLES, before: str = "", book: str = "") -> dict[str, bytes]:
    """A book with a sheet for each of the given rows."""
    names = range(1, len(rows) + 1)
    listed = "".join(f'<sheet name="表 {n}" sheetId="{n}" r:id="rId{n}"/>' for n in names)
    kind = f"{SPACE}/officeDocument/2006/relationships"
    related = "".join(f'<Relationship Id="rId{n}" Type="{kind}/worksheet" Target="worksheets/sheet{n}.xml"/>' for n in names)
    files = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": f'<Relationships><Relationship Id="rId1" Type="{kind}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{SPACE}" xmlns:r="{SPACE}/r">{book}<sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f"<Relationships>{related}</Relationships>",
    }
    for n, content in enumerate(rows, 1):
        sheet = f'<worksheet xmlns="{SPACE}">{before}<sheetData>{content}</sheetData><pageMargins left="0.7"/></worksheet>'
        files[f"xl/worksheets/sheet{n}.xml"] = f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n{sheet}'
    if shared is not None:
        files["xl/sharedStrings.xml"] = f'<sst xmlns="{SPACE}">{shared}</sst>'
    if styles is not None:
        files["xl/styles.xml"] = styles
    return {name: content.encode("utf-8", "surrogatepass") for name, content in files.items()}


def packed(files: dict[str, bytes]) -> bytes:
    return made_files.zipped(files)


def read(data: bytes) -> FileText:
    return extracting.extract(io.BytesIO(data), "a.xlsx", Limits(), len(data))[0]


@contextmanager
def usual(*, allowed: bool) -> Iterator[list[bool]]:
    """Whether the kernel may read, and for each book whether it did."""
    real, seen = sheets.read_usual_xlsx, []

    def watched(package: Any, out: Any) -> bool:
        seen.append(allowed and real(package, out))
        return seen[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extracting, "read_usual_xlsx", watched)
        yield seen


def by_both(data: bytes) -> bool:
    """Whether the kernel read it; that calamine says the same is checked. What it did not read calamine read."""
    with usual(allowed=True) as seen:
        found = read(data)
    if any(seen):
        with usual(allowed=False):
            assert read(data) == found
    return any(seen)


texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\t\n ,&<>\"'_x合同"), max_size=12)
numbers = st.one_of(
    st.integers(-(10**17), 10**17).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1e6, 1e6).map(lambda value: f"{value:.15g}"),
    st.sampled_from(
        ["0", "-0", "007", "1E5", "1e-7", "+1", ".5", "5.", "1e400", "inf", "nan", "", " 1", "45000.5", "1e16", "123456789012345678"]
    ),
)


def t(text: str, *, kept: bool) -> str:
    space = ' xml:space="preserve"' if kept else ""
    return f"<t{space}>{escape(text).replace('合', '&#21512;').replace('同', '&#x540c;')}</t>"


@st.composite
def strings(draw: st.DrawFn) -> str:
    """What `si` and `is` hold."""
    plain = t(draw(texts), kept=draw(st.booleans()))
    spoken = '<rPh sb="0" eb="1"><t>よ</t></rPh><phoneticPr fontId="1"/>'
    runs = "".join(f"<r><rPr><b/></rPr>{t(text, kept=draw(st.booleans()))}</r>" for text in draw(st.lists(texts, max_size=3)))
    return draw(st.sampled_from([plain, plain, plain, runs, plain + spoken, runs + spoken, "", "<t/>", plain + runs, runs + plain]))


@st.composite
def cells(draw: st.DrawFn, place: str) -> str:
    style = draw(st.sampled_from(["", "", "", ' s="0"', ' s="1"', ' s="2"', ' s="3"', ' s="4"', ' s="5"', ' s="99"']))
    formula = draw(st.sampled_from(["", "", "<f>A1&amp;B1</f>", '<f t="shared" si="0"/>']))
    kind = draw(st.sampled_from(["n", "", "s", "str", "inlineStr", "b", "e", "none", "d", "odd"]))
    if kind in ("n", ""):
        said = ' t="n"' if kind else ""
        return f'<c r="{place}"{style}{said}>{formula}<v>{draw(numbers)}</v></c>'
    if kind == "s":
        return f'<c r="{place}"{style} t="s"><v>{draw(st.integers(0, 3))}</v></c>'
    if kind == "str":
        return f'<c r="{place}" t="str">{formula}<v>{escape(draw(texts))}</v></c>'
    if kind == "inlineStr":
        return f'<c r="{place}" t="inlineStr"><is>{draw(strings())}</is></c>'
    if kind == "b":
        return f'<c r="{place}" t="b">{formula}<v>{draw(st.integers(0, 1))}</v></c>'
    if kind == "e":
        error = draw(st.sampled_from(["#N/A", "#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!"]))
        return f'<c r="{place}" t="e">{formula}<v>{error}</v></c>'
    if kind == "d":
        return f'<c r="{place}" t="d"><v>2026-11-18T10:00:00</v></c>'
    others = [f'<c r="{place}"{style}/>', f'<c r="{place}">{formula}</c>', f'<c r="{place}"><v>1</v><f>2</f></c>', "<c><v>1</v></c>"]
    return draw(st.sampled_from(others[:2] if kind == "none" else others))


@st.composite
def rows(draw: st.DrawFn) -> str:
    found = ""
    for number in sorted(draw(st.sets(st.integers(1, 12), max_size=5))):
        columns = sorted(draw(st.sets(st.sampled_from("ABCDEZ"), max_size=5)))
        found += f'<row r="{number}" spans="1:9">' + "".join(draw(cells(f"{column}{number}")) for column in columns) + "</row>"
    return found


# Most characters are usual and most cells are: books with nothing unusual must come often.
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(rows(), min_size=1, max_size=3),
    st.lists(strings(), min_size=4, max_size=4),
    st.sampled_from(["", '<workbookPr date1904="1"/>']),
)
def test_any_book(content: list[str], shared: list[str], book: str) -> None:
    listed = "".join(f"<si>{each}</si>" for each in shared)
    by_both(packed(parts(*content, shared=listed, book=book, before='<dimension ref="A1:Z12"/>')))


@pytest.mark.parametrize(
    "row",
    [
        '<c r="B1" t="inlineStr"><is><t>a &amp; b</t></is></c><c r="D1"><v>1.50</v></c>',
        '<c r="A1" s="2"><v>-1234.5</v></c><c r="B1" s="0" t="n"><f>A1*2</f><v>2E3</v></c>',
        '<c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>2</v></c>',
        '<c r="A1" t="b"><v>1</v></c><c r="B1" t="e"><v>#DIV/0!</v></c><c r="C1" t="str"><f>1</f><v>12</v></c><c r="D1" t="str"><v></v></c>',
        '<c r="A1" s="1"/><c r="B1"><v></v></c><c r="C1" t="inlineStr"><is/></c>',
        "",
    ],
)
def test_usual_cells_are_read_by_the_kernel(row: str) -> None:
    shared = '<si><t>one</t></si><si><r><rPr><b/></rPr><t>tw</t></r><r><t xml:space="preserve"> o</t></r></si><si><t xml:space="preserve"> 三 </t></si>'
    shown = f'<row r="1">{row}</row><row r="3"/><row r="4"><c r="B4"><v>7</v></c></row><row r="9"><c r="C9"><v>8</v></c></row>'
    assert by_both(packed(parts(shown, shown, shared=shared, before='<sheetViews><sheetView tabSelected="1"/></sheetViews>')))


@pytest.mark.parametrize(
    "row",
    [
        '<c r="A1" s="1"><v>45000</v></c>',  # dates
        '<c r="A1" s="3"><v>45000.25</v></c>',
        '<c r="A1" s="4"><v>1.5</v></c>',
        '<c r="A1" t="d"><v>2026-11-18</v></c>',
        '<c r="A1" s="99"><v>1</v></c>',  # no such style
        "<c><v>1</v></c>",
        '<c r="B1"><v>1</v></c><c r="A1"><v>2</v></c>',
        '<c r="A2"><v>1</v></c>',
        '<c r="A1"><v>1</v><f>2</f></c>',
        '<c r="A1" t="inlineStr"><is><t> a</t></is></c>',
        '<c r="A1" t="inlineStr"><is><t>a_x000D_</t></is></c>',
        '<c r="A1" t="inlineStr"><is><t>a&#10;</t></is></c>',
        '<c r="A1" t="inlineStr"><is><t>&#xD800;</t></is></c>',
        '<c r="A1" t="inlineStr"><is><t>&#x110000;</t></is></c>',
        '<c r="A1" t="inlineStr"><is><t>&#65</t></is></c>',
        '<c r="A1" t="inlineStr"><is><t>&nbsp;</t></is></c>',
        '<c r="A1" t="inlineStr"><is><t><![CDATA[a]]></t></is></c>',
        '<c r="A1" t="inlineStr"><is><t>a\r\nb</t></is></c>',
        '<c r="A1" t="inlineStr"><is><t>a<!-- b --></t></is></c>',
        '<c r="A1" t="s"><v>9</v></c>',  # no such text
        '<c r="A1" t="b"><v>7</v></c>',
        '<c r="A1" t="e"><v>#NEW!</v></c>',
        '<c r="A1" t="odd"><v>1</v></c>',
        '<c r="A1"><v>x</v></c>',
        '<c r="A1"><v>1</v><extLst/></c>',
        '<c r="A1" r="B1"><v>1</v></c>',
        '<c r="AAAA1"><v>1</v></c>',
        '<c r="A1"><v>1</v></x>',
        '<c r="A1"><v>1</v>',
        '<x:c xmlns:x="y" r="A1"><x:v>1</x:v></x:c>',
    ],
)
def test_unusual_cells_are_left_to_calamine(row: str) -> None:
    assert not by_both(
        packed(
            parts(f'<row r="1">{row}</row><row r="2"><c r="A2" t="inlineStr"><is><t>word</t></is></c></row>', shared="<si><t>a</t></si>")
        )
    )


@pytest.mark.parametrize(
    ("part", "old", "new"),
    [
        ("xl/workbook.xml", b'r:id="rId1"', b'r:id="rId7"'),
        ("xl/workbook.xml", b"<workbook ", b"<!DOCTYPE a [<!ENTITY b 'c'>]><workbook "),
        ("xl/workbook.xml", b'sheetId="1"', b'sheetId="1" state="gone"'),
        ("xl/workbook.xml", b'name="', b'name="a\n'),
        ("xl/workbook.xml", b'name="', b'name="a&#10;'),
        ("xl/workbook.xml", b"</workbook>", b""),
        ("_rels/.rels", b"xl/workbook.xml", b"xl/workbook2.xml"),
        ("_rels/.rels", b"officeDocument/", b"another/"),
        ("xl/_rels/workbook.xml.rels", b"worksheets/", b"../xl/worksheets/"),
        ("xl/_rels/workbook.xml.rels", b"worksheets/", b"chartsheets/"),
        ("xl/_rels/workbook.xml.rels", b'/worksheet"', b'/chartsheet"'),
        ("xl/worksheets/sheet1.xml", b"</sheetData>", b""),
        ("xl/worksheets/sheet1.xml", b"</worksheet>", b""),
        ("xl/worksheets/sheet1.xml", b"<pageMargins left", b"<pageMargins left='1' left"),
        ("xl/worksheets/sheet1.xml", b"<worksheet ", b"<worksheet <"),
        ("xl/worksheets/sheet1.xml", b"<sheetData>", b'<dimension ref="nowhere"/><sheetData>'),
        ("xl/worksheets/sheet1.xml", b"word", b"w\xffrd"),
        ("xl/worksheets/sheet1.xml", b"UTF-8", b"GB18030"),
        ("xl/sharedStrings.xml", b"</sst>", b""),
        ("xl/sharedStrings.xml", b"<t>a", b"<t>&b;"),
        ("xl/styles.xml", b"</styleSheet>", b""),
        ("xl/styles.xml", b"</numFmts>", b"</numFmt>"),
        # An element that calamine looks for, and does not find or finds elsewhere.
        ("_rels/.rels", b"Relationships", b"Relations"),
        ("_rels/.rels", b"<Relationship ", b"<Relationships/><Relationship "),
        ("xl/_rels/workbook.xml.rels", b"<Relationship ", b"<Relationships/><Relationship "),
        ("xl/workbook.xml", b"workbook", b"book"),
        ("xl/workbook.xml", b"<sheets>", b"<workbook/><sheets>"),
        ("xl/styles.xml", b"styleSheet", b"styles"),
        ("xl/worksheets/sheet1.xml", b"<pageMargins", b'<mergeCells><mergeCell ref="A1:B"/></mergeCells><pageMargins'),
        ("xl/worksheets/sheet1.xml", b"<pageMargins", b"<x:mergeCell/><pageMargins"),
        ("xl/worksheets/sheet1.xml", b"<sheetData>", b'<mergeCells><mergeCell ref="7"/></mergeCells><sheetData>'),
        ("xl/worksheets/sheet1.xml", b"<sheetData>", b"<x:sheetData/><sheetData>"),
        ("xl/worksheets/sheet1.xml", b"<sheetData>", b"<cols><x:sheetData/></cols><sheetData>"),
        ("xl/sharedStrings.xml", b"</si>", b"<rPh><rPh/><t>b</t></rPh></si>"),
        ("xl/sharedStrings.xml", b"</si>", b"<phoneticPr><t>b</t></phoneticPr></si>"),
        ("xl/sharedStrings.xml", b"<t>a</t>", b"<r><rPr><x:t>b</x:t></rPr><t>a</t></r>"),
    ],
)
def test_unusual_parts_are_left_to_calamine(part: str, old: bytes, new: bytes) -> None:
    files = parts('<row r="1"><c r="A1" t="inlineStr"><is><t>word</t></is></c></row>', shared="<si><t>a</t></si>")
    assert by_both(packed(files))
    changed = files[part].replace(old, new)
    assert changed != files[part]
    assert not by_both(packed(files | {part: changed}))


def test_merged_cells_are_read_by_the_kernel() -> None:
    files = parts('<row r="1"><c r="A1"><v>1</v></c></row>')
    name = "xl/worksheets/sheet1.xml"
    merged = b'<mergeCells count="2"><mergeCell ref="A1:C3"/><mergeCell ref="D4:E5"/></mergeCells><pageMargins'
    assert by_both(packed(files | {name: files[name].replace(b"<pageMargins", merged)}))


def test_two_sheets_of_one_part_are_left_to_calamine() -> None:
    files = parts(*2 * ['<row r="1"><c r="A1"><v>1</v></c></row>'])
    assert by_both(packed(files))
    name = "xl/_rels/workbook.xml.rels"
    assert not by_both(packed(files | {name: files[name].replace(b"sheet2.xml", b"sheet1.xml")}))


def test_two_members_of_one_name_are_left_to_calamine() -> None:
    files = parts('<row r="1"><c r="A1"><v>1</v></c></row>')
    assert not by_both(packed(files | {"XL/workbook.xml": files["xl/workbook.xml"]}))


def test_books_of_openpyxl() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["合同编号", "HT-2026-001", 3400, 0.1, True, False, None, -5, 1e20])
    sheet.append([])
    sheet.append([None, None, "=SUM(C1:C1)", "a\nb", " kept ", "#N/A", "<&>"])
    hidden = book.create_sheet("hidden & more")
    hidden.sheet_state = "hidden"
    hidden["C5"] = "last"
    hidden["B9"] = CellRichText("plain ", TextBlock(InlineFont(b=True), "bold"), " end")
    book.create_sheet("empty")
    saved = io.BytesIO()
    book.save(saved)
    assert by_both(saved.getvalue())
    sheet["A1"] = datetime.datetime(2026, 11, 18, 10, 30)
    sheet["A2"] = datetime.time(10, 30)
    for epoch in (datetime.datetime(1899, 12, 30), datetime.datetime(1904, 1, 1)):
        book.epoch = epoch
        saved = io.BytesIO()
        book.save(saved)
        assert not by_both(saved.getvalue())


def test_a_text_in_many_cells_is_bounded() -> None:
    """One long text that many cells name must not be written more often than memory allows."""
    shared = _native.SharedTexts()
    assert shared.read(f"<sst><si><t>{'a' * 1000}</t></si></sst>".encode())
    sheet = "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(1, 101))
    xml = f"<worksheet><sheetData>{sheet}</sheetData></worksheet>".encode()
    assert len(_native.sheet_text(xml, shared, b"", 100, 100_000) or "") == 100 * 1001 - 1
    assert _native.sheet_text(xml, shared, b"", 100, 99_999) is None
    assert _native.sheet_text(xml, shared, b"", 99, 100_000) is None


def test_cells_in_far_corners_of_rows_are_bounded() -> None:
    sheet = "".join(f'<row r="{n}"><c r="A{n}"><v>1</v></c><c r="XFD{n}"><v>1</v></c></row>' for n in range(1, 101))
    xml = f"<worksheet><sheetData>{sheet}</sheetData></worksheet>".encode()
    assert _native.sheet_text(xml, _native.SharedTexts(), b"", 10**9, 1 << 20) is None
    assert len(_native.sheet_text(xml, _native.SharedTexts(), b"", 10**9, 1 << 30) or "") == 100 * (16383 + 2) + 99


@given(numbers | st.floats(allow_nan=False).map(repr) | st.text("0123456789.eE+-", max_size=12))
def test_numbers_are_shown_as_python_shows_them(written: str) -> None:
    shown = _native.shown_number(written.encode())
    if shown is not None:
        assert shown == sheets._shown(float(written))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_all_finite_numbers_are_shown(value: float) -> None:
    assert _native.shown_number(repr(value).encode()) == sheets._shown(value)
    assert _native.shown_number(f"{value:.17g}".encode()) == sheets._shown(value)


@pytest.mark.parametrize("written", ["", "-", "1.", ".1", "1e", "+1", " 1", "1 ", "0x10", "inf", "nan", "1e999", "1_000", "--1"])
def test_what_is_no_plain_number(written: str) -> None:
    assert _native.shown_number(written.encode()) is None
    assert written in ("1e999", "inf", "nan", "0x10", "-", "", "1e", "--1") or math.isfinite(float(written))


def mutants(seed: int, count: int) -> Iterator[bytes]:
    chance = random.Random(seed)
    shared = '<si><t>one</t></si><si><r><t>tw</t></r><r><t xml:space="preserve"> o</t></r></si>'
    row = '<c r="A{n}" t="s"><v>1</v></c><c r="B{n}" s="2"><v>1.5</v></c><c r="C{n}" t="inlineStr"><is><t>三 &amp;</t></is></c><c r="D{n}" t="b"><v>1</v></c>'
    sheet = "".join(f'<row r="{n}">{row.format(n=n)}</row>' for n in range(1, 6))
    bases = [packed(parts(sheet, sheet, shared=shared, before='<dimension ref="A1:D5"/>')), made_files.made("xlsx")]
    for _ in range(count):
        data = chance.choice(bases)
        for _ in range(chance.randint(1, 3)):
            data = fuzzed_files.mutated(data, chance)
        if zipfile.is_zipfile(io.BytesIO(data)):
            yield data


def test_mutated_books_are_read_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheets, "MAX_CELLS", 100_000)  # calamine needs memory for each
    monkeypatch.setattr(extracting, "read_sheets", lambda data, out: None)  # this process has no limit for it
    seen = 0
    for data in mutants(7, 400):
        with usual(allowed=True) as is_read:
            found = read(data)
        if any(is_read):
            seen += 1
            monkeypatch.setattr(extracting, "read_sheets", sheets.read_sheets)
            with usual(allowed=False):
                assert read(data) == found
            monkeypatch.setattr(extracting, "read_sheets", lambda data, out: None)
    assert 20 < seen < 380
