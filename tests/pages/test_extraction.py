"""The text of pages in corpora: HTML files and web archives."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import pytest

import lookalike as la
from lookalike.corpus.formats import warc
from lookalike.markup.extraction import page_text

SENTENCES = "Loose leaf tea steeps best in water just off the boil. Green tea wants less heat, and black tea wants more. " * 6
PAGE = f"""<html><head><title>Tea</title><script>var x = "hidden";</script></head><body><nav><ul><li><a href=/>Home</a><li><a href=/shop>Shop</a>
</ul></nav><article><h1>How to make tea</h1><p>{SENTENCES}</p><p>{SENTENCES}</p></article><footer>Imprint and privacy</footer></body></html>"""
CHINESE = (
    "<html><body><div class=nav><a href=/>首页</a></div><article>"
    + "<p>绿茶和红茶都来自同一种植物，区别在于加工的方法。</p>" * 8
    + "</article></body></html>"
)


def test_main_text_has_the_article_and_all_has_everything() -> None:
    main, everything = page_text(PAGE), page_text(PAGE, "all")
    assert main.count("Loose leaf tea") == 12  # nothing is dropped because it is repeated
    assert "Shop" not in main
    assert "Shop" in everything
    assert "hidden" not in everything
    assert page_text(CHINESE).count("绿茶") == 8


def test_edges() -> None:
    assert page_text("") == ""
    assert page_text("<nav><a href=/>Home</a></nav>") == "Home"  # a page without a main text gives all of it
    with pytest.raises(la.InputError, match="extract="):
        page_text(PAGE, "best")


def test_deep_nesting_keeps_its_text_and_returns() -> None:
    assert "the end" in page_text("<div>" * 100_000 + "<p>the end" + SENTENCES, "all")


def test_monstrous_pages_give_all_of_their_text() -> None:
    frame, deep = "<nav><a href=/>Home</a></nav>", "<div>" * 100_000
    for monster in (f"{frame}{deep}<p>{SENTENCES}", f"{frame}<p>{SENTENCES}" + "<i>x</i>" * 50_000):
        assert page_text(monster).startswith("Home")
        assert la.compare(la.page(monster), la.page(f"{frame}<p>x"), method="content").score < 0.1
    assert not page_text(f"{frame}<p>{SENTENCES}" + "<i>x</i>" * 500).startswith("Home")


def test_a_tag_of_a_hundred_thousand_attributes() -> None:
    many = " ".join(f"a{number}=1" for number in range(100_000))
    assert page_text(f"<title>T</title><nav>Home</nav><p {many}>tea</p><script>no</script>") == "Home\ntea"


def record(kind: str, url: str, block: bytes, content_type: str = "application/http; msgtype=response") -> bytes:
    head = f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nContent-Type: {content_type}\r\n"
    return head.encode() + f"Content-Length: {len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n"


def answer(body: bytes, *headers: str, status: str = "200 OK", content_type: str = "text/html; charset=utf-8") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {content_type}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def chunked(body: bytes) -> bytes:
    return b"".join(f"{len(body[i : i + 50]):x}\r\n".encode() + body[i : i + 50] + b"\r\n" for i in range(0, len(body), 50)) + b"0\r\n\r\n"


RAW = PAGE.encode()
DEFLATED = zlib.compress(RAW)
ARCHIVE = [
    record("warcinfo", "", b"software: none", "application/warc-fields"),
    record("request", "http://e.org/1", b"GET / HTTP/1.1\r\n\r\n"),
    record("response", "http://e.org/plain", answer(RAW)),
    record("response", "http://e.org/gone", answer(RAW, status="404 Not Found")),
    record("response", "http://e.org/image", answer(b"\x89PNG", content_type="image/png")),
    record("response", "http://e.org/chunked", answer(chunked(RAW), "Transfer-Encoding: chunked")),
    record("response", "http://e.org/unchunked", answer(RAW, "Transfer-Encoding: chunked")),
    record("response", "http://e.org/gzip", answer(chunked(gzip.compress(RAW)), "Transfer-Encoding: chunked", "Content-Encoding: gzip")),
    record("response", "http://e.org/deflate", answer(DEFLATED, "Content-Encoding: deflate")),
    record("resource", "<http://e.org/resource>", RAW, "text/html"),
    record("conversion", "http://e.org/text", "绿茶".encode(), "text/plain"),
]
ADDRESSES = [f"http://e.org/{name}" for name in ("plain", "chunked", "unchunked", "gzip", "deflate", "resource", "text")]


@pytest.mark.parametrize("packed", [False, True])
def test_web_archives(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / ("a.warc.gz" if packed else "a.warc")
    path.write_bytes(b"".join(map(gzip.compress if packed else bytes, ARCHIVE)))
    found = list(la.documents(path))
    assert [document.id for document in found] == ADDRESSES
    assert {document.text for document in found[:-1]} == {page_text(PAGE)}
    assert found[-1].text == "绿茶"
    assert found[0].meta == {"date": "2026-01-02T03:04:05Z"}
    assert "Shop" in str(next(iter(la.documents(path, extract="all"))).text)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"not an archive at all\r\n", "unreadable file"),
        (b"WARC/1.0\r\nContent-Length: many\r\n\r\n", "unreadable file"),
        (b"WARC/1.0\r\n" + b"a: b\r\n" * 2_000, "unreadable file"),
        (ARCHIVE[2][:-200], "damaged file"),
        (b"WARC/1.0\r\nWARC-Type: request\r\nContent-Length: 99\r\n\r\nshort", "damaged file"),
        (record("response", "u", answer(RAW, "Content-Encoding: br")), "unreadable page"),
        (record("response", "u", answer(gzip.compress(RAW)[:-20], "Content-Encoding: gzip")), "unreadable page"),
        (record("response", "u", answer(b"\x89PNG\r\n\x1a\n" + bytes(50))), "unreadable page"),
    ],
)
def test_archives_that_are_damaged(tmp_path: Path, data: bytes, kind: str) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(data)
    problems: list[la.Problem] = []
    assert list(la.documents(path, on_problem=problems.append)) == []
    assert [problem.kind for problem in problems] == [kind]


def test_bombs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warc, "MAX_BLOCK", 20_000)
    path = tmp_path / "a.warc"
    bomb = record("response", "u", answer(gzip.compress(bytes(1_000_000)), "Content-Encoding: gzip"))
    path.write_bytes(bomb + record("response", "v", answer(b"x" * 30_000)) + record("response", "w", answer(RAW)))
    problems: list[la.Problem] = []
    assert [document.id for document in la.documents(path, on_problem=problems.append)] == ["w"]
    assert ["unpacks to more" in problems[0].message, "is no page" in problems[1].message] == [True, True]


def test_what_was_not_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(b"<meta charset=nonsense><p>" + SENTENCES.encode())
    problems: list[la.Problem] = []
    assert len(list(la.documents(tmp_path, on_problem=problems.append))) == 1
    assert [(problem.kind, problem.skipped) for problem in problems] == [("page not read as it is", False)]
    assert problems[0].message.startswith("declares the charset 'nonsense'")
