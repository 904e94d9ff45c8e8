"""Reading pages: the tree of a browser, strings and attributes as BeautifulSoup has them, limits that are stated."""

from __future__ import annotations

import gc
import pickle
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag
from bs4.element import PreformattedString
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.markup import elements as element_limits
from lookalike.markup import page as page_limits

ARTICLE = """<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>Tea</title><link rel="stylesheet icon" href=a.css>
<style>p { color: red }</style></head><body class="wide  dark" id=top><!-- note --><nav><a href="/" rel="home me">Home</a> | <a href=x>X</a></nav>
<article><h1>Tea &amp; cake</h1><p>Loose <b>leaf</b><!-- c --> tea</p><ul><li>one<li>two <i>three</i></ul>
<table><tr><td headers="a b">1<td>2</table><script>var a = "<p>no text</p>";</script><textarea>a <b> c</textarea>
<form accept-charset="utf-8 gbk"><input name=q disabled><select><option selected>1<option>2</select></form></article>
<svg viewBox="0 0 1 1"><path d="M0"/></svg></body></html>"""
PAGES = {
    "article": ARTICLE,
    "no head, no body": "<p>Hello <b>you</b><p class='a b'>second",
    "text alone": "just text",
    "misnested": "<p><b>bold <i>both</b> italic</i></p><a>1<a>2</a>",
    "table text": "<table>out<tr><td>in</table>",
    "chinese": "<title>茶</title><p>绿茶和<b>红茶</b>，都是茶。",
    "attributes": "<div hidden data-x='' CLASS='' title='a &quot;b&quot;'><a href='?a=1&b=2'>x</a></div>",
    "empty": "",
    "unclosed": "<div><span>a<div>b<p>c<div",
    "nested only child": "<div><p><b>deep</b></p></div>",
    "frames": "<frameset cols=1><frame src=a></frameset>",
}
Row = tuple[str, dict[str, Any], str | None]


def soup(html: str) -> list[Row]:
    """Tags and texts as BeautifulSoup has them, without comments and without what scripts and styles hold."""
    tree = BeautifulSoup(html, "html5lib")
    for unseen in tree.find_all(string=lambda text: isinstance(text, PreformattedString)):
        unseen.extract()
    for silent in tree.find_all(["script", "style"]):
        silent.clear()
    tree.smooth()
    rows: list[Row] = []
    for node in tree.descendants:
        if isinstance(node, Tag):
            attributes = {key: list(value) if isinstance(value, list) else str(value) for key, value in node.attrs.items()}
            rows.append((node.name, attributes, None if node.string is None else str(node.string)))
        elif str(node).strip():
            rows.append(("#text", {}, str(node)))
    return rows


def ours(html: str) -> list[Row]:
    return [(element.name, dict(element.attrs), element.string) for element in la.page(html).elements]


@pytest.mark.parametrize("html", PAGES.values(), ids=PAGES)
def test_tags_attributes_and_strings_are_those_of_beautifulsoup(html: str) -> None:
    assert ours(html) == soup(html)


WORDS = st.text("ab 茶<&", max_size=5).map(lambda text: text.replace("<", "&lt;"))
TREES = st.recursive(
    WORDS,
    lambda inner: st.builds(
        lambda name, value, children: f"<{name} class='{value}'>{''.join(children)}</{name}>",
        st.sampled_from(["div", "span", "p", "b", "i", "ul", "li", "section", "h1"]),
        st.sampled_from(["", "x", "x y"]),
        st.lists(inner, max_size=4),
    ),
    max_leaves=12,
)


@given(TREES)
def test_made_up_pages_too(html: str) -> None:
    assert ours(html) == soup(html)


def test_head_and_body_are_apart_even_where_they_are_not_written() -> None:
    page = la.page("<title>T</title><p>one")
    assert [element.name for element in page.head] == ["title", "#text"]
    assert [element.path for element in page.body] == ["html/body/p", "html/body/p/#text"]
    assert [element.depth for element in page.body] == [2, 3]
    assert page.title == "T"


@pytest.mark.parametrize("collecting", [True, False])
def test_the_garbage_collector_is_left_as_it_was(collecting: bool) -> None:
    (gc.enable if collecting else gc.disable)()
    try:
        assert la.page("<p>x").elements
        assert gc.isenabled() == collecting
    finally:
        gc.enable()


def test_comments_are_nothing() -> None:
    assert ours("<p>a<!-- x -->b</p><!-- y -->") == ours("<p>ab</p>")


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("<meta charset=gb2312><p>茶叶".encode("gb18030"), "gb18030"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=big5"><p>茶葉'.encode("big5"), "big5hkscs"),
        ("<meta charset='Shift_JIS'><p>お茶".encode("cp932"), "cp932"),
        ("<meta charset=latin1><p>thé €".encode("cp1252"), "cp1252"),
        ('<?xml version="1.0" encoding="euc-kr"?><p>녹차'.encode("cp949"), "cp949"),
        (b"\xef\xbb\xbf<meta charset=gbk><p>" + "茶".encode(), "utf-8-sig"),
        ("<p>茶".encode("utf-16"), "utf-16-le"),
        ("<!-- <meta charset=big5> --><p>茶".encode(), "utf-8"),
    ],
)
def test_charsets(data: bytes, encoding: str) -> None:
    page = la.page(data)
    assert page.encoding == encoding
    assert "\ufffd" not in str(page.body[-1].string)
    assert not page.notes


@pytest.mark.parametrize(("label", "reason"), [("no-such-thing", "is not known"), ("idna", "is not known"), ("gbk", "contradict")])
def test_a_charset_that_is_none_is_said(label: str, reason: str) -> None:
    data = f"<meta charset={label}><p>".encode() + "thé à la menthe ≠".encode()
    page = la.page(data, name="x.html")
    if label == "gbk":
        page = la.page(b"<meta charset=gbk><p>caf\xc3\xa9 \xff\xff", name="x.html")
    assert reason in page.notes[0]
    assert page.notes[0].startswith("x.html: declares the charset")
    assert page.reading_notes == page.notes


def test_nested_tags_lose_no_text() -> None:
    page = la.page("<div>" * 100_000 + "deep")
    assert len(page.elements) == 100_004
    assert page.depth == page_limits.MAX_DEPTH
    assert page.elements[-1].string == "deep"
    assert "nested 512 levels deep" in page.notes[0]
    assert page.elements[-1].path.count("/") == page_limits.MAX_DEPTH
    assert not la.page("<div>" * 300 + "x").notes


def test_limits_are_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    many = la.page("".join(f"<body a{number}=1>" for number in range(1_500)) + "<p>x")
    assert "were not read" in many.reading_notes[0]
    assert "tree" not in vars(many)
    assert "were not read" in many.notes[0]
    monkeypatch.setattr(element_limits, "MAX_ELEMENTS", 50)
    cut = la.page("<p>x" * 100)
    assert len(cut.elements) == 50
    assert "only the first" in cut.notes[0]
    assert not cut.reading_notes
    monkeypatch.setattr(page_limits, "MAX_MARKUP", 10)
    short = la.page("<p>x" * 100)
    assert len(short.html) == 40
    assert "the last 360 of 400 characters were not read" in short.notes[0]


def test_bad_input() -> None:
    with pytest.raises(la.InputError, match="too much for a page"):
        la.page("x" * (page_limits.MAX_CHARACTERS + 1))
    with pytest.raises(la.InputError, match="PNG"):
        la.page(b"\x89PNG\r\n\x1a\n" + bytes(64))
    with pytest.raises(la.InputError, match="got a int"):
        la.page(3)  # type: ignore[arg-type]
    assert [element.name for element in la.page(b"").elements] == ["html", "head", "body"]
    assert "halves of characters" in la.page("<p>\ud800").notes[0]


def test_files_and_copies(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_bytes(ARTICLE.encode())
    page = la.page(path)
    assert page.name == str(path)
    assert ours(ARTICLE) == [(element.name, element.attrs, element.string) for element in page.elements]
    again = pickle.loads(pickle.dumps(page))
    assert again.html == page.html
    assert repr(again).startswith("Page(")
    assert repr(page.body[0]).startswith("Element('html/body/nav'")
