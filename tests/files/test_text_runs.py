"""What lies between runs of text in the XML of Word and PowerPoint, by the kernel and by patterns, which say what is meant."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import made_files
from lookalike import _native
from lookalike.files.limits import Budget, Limits
from lookalike.files.zips import opened

# How a run or a paragraph looks: blocks of these alone hold no text, and are two of three elements in what Word writes.
LOOKS = (
    b"b|bCs|color|contextualSpacing|highlight|i|iCs|ind|jc|keepLines|keepNext|kern|lang|noProof|outlineLvl|pStyle|rFonts|rStyle|shd|snapToGrid"
    b"|spacing|sz|szCs|u|vertAlign|widowControl"
)
LOOK = re.compile(rb"<w:([rp]Pr)>(?:<w:(?:" + LOOKS + rb")(?: [^<>]*)?/>)*</w:\1>")
# The end of a run and the beginning of the next, in the same paragraph or after its end: what nearly all of the other elements are.
ATTRIBUTES = rb'(?: [\w:.-]+="[^"<>]*")*'


class Joints(NamedTuple):
    """What lies between two runs of text, by the prefix of the names: with these words at the front they are found fast."""

    runs: re.Pattern[bytes]
    paragraphs: re.Pattern[bytes]

    @classmethod
    def of(cls, prefix: bytes) -> Joints:
        tag = b"<" + prefix + b":%s" + ATTRIBUTES
        run = tag % b"r" + b">(?:" + tag % b"rPr" + b"/>)?" + tag % b"t" + b">"
        ended = b"</%s:t></%s:r>" % (prefix, prefix)
        return cls(re.compile(ended + run), re.compile(ended + b"</" + prefix + b":p>" + tag % b"p" + b">" + run))


JOINTS = (Joints.of(b"w"), Joints.of(b"a"))  # of Word and of PowerPoint


def reference(piece: bytes, between: bytes) -> bytes:
    piece = LOOK.sub(b"", piece)
    for joints in JOINTS:
        piece = joints.paragraphs.sub(between, joints.runs.sub(b"", piece))
    return piece


PIECES = (
    "</w:t></w:r>", "</w:p>", "<w:p>", '<w:p w:rsidR="00A1">', "<w:r>", '<w:r w:rsidR="1" w:b="2">', "<w:t>", '<w:t xml:space="preserve">', "<w:rPr/>",
    '<w:rPr w:a="1"/>', "<w:rPr>", "</w:rPr>", "<w:pPr>", "</w:pPr>", "<w:b/>", '<w:sz w:val="22"/>', "<w:b />", "<w:tab/>", "<w:i>", "<w:bad/>", "<w:rStyle>",
    "</a:t></a:r>", "</a:p>", "<a:p>", "<a:r>", '<a:rPr lang="en"/>', "<a:t>", "text", "合同", " ", '"', "=", "/>", ">", "<", "<w:", "</w:t>", "</w:r>", 'a="b"',
)  # fmt: skip
RUN = ("</w:t></w:r>", "<w:r>", "<w:rPr>", '<w:sz w:val="2"/>', "</w:rPr>", "<w:t>")
JOINT = ("</w:t></w:r>", "</w:p>", "<w:p>", "<w:pPr>", '<w:spacing w:after="120"/>', "</w:pPr>", "<w:r>", "<w:t>")


@given(
    st.lists(
        st.sampled_from(PIECES).map(lambda piece: (piece,)) | st.sampled_from([RUN, JOINT, ("</a:t></a:r>", "<a:r>", "<a:t>")]), max_size=30
    )
)
def test_any_pieces(parts: list[tuple[str, ...]]) -> None:
    xml = "".join(piece for part in parts for piece in part).encode()
    for between in (b"\n", b"<p/>"):
        assert _native.join_text_runs(xml, between) == reference(xml, between)


@pytest.mark.parametrize(("kind", "part"), [("docx", "word/document.xml"), ("docx", "word/styles.xml"), ("pptx", "ppt/slides/slide1.xml")])
def test_real_files(kind: str, part: str) -> None:
    data = made_files.made(kind)
    xml = opened(data, Budget(Limits(), len(data))).read(part)
    assert xml
    for cut in range(0, len(xml), len(xml) // 50 + 1):
        assert _native.join_text_runs(xml[cut:], b"\n") == reference(xml[cut:], b"\n")


def test_what_is_cut_out() -> None:
    xml = b'<w:r><w:rPr><w:b/></w:rPr><w:t>a</w:t></w:r><w:r w:x="1"><w:rPr><w:sz w:val="2"/></w:rPr><w:t>b</w:t></w:r></w:p><w:p><w:r><w:t>c</w:t></w:r>'
    assert _native.join_text_runs(xml, b"\n") == b"<w:r><w:t>ab\nc</w:t></w:r>"
