"""HTML files and web archives as corpora."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import lookalike as la
from lookalike.corpus.formats.warc import captures, records

ARTICLE = "The ferry crosses the harbour every morning at eight and comes back in the evening, whatever the weather is like. " * 3
OTHER = "A market is held in the old town on Saturdays, where farmers sell what they have grown during the week. " * 3
NAV = (
    "<nav><ul>" + "".join(f"<li><a href=/{n}>A long way to some other page number {n} of this site</a>" for n in range(20)) + "</ul></nav>"
)


def html(text: str, nav: str = "") -> str:
    return f"<html><head><title>t</title></head><body>{nav}<main><article><h1>News</h1><p>{text}</p></article></main></body></html>"


def record(
    kind: str, url: str, block: bytes, *, type_: str = "application/http; msgtype=response", id_: str = "", more: Sequence[str] = ()
) -> bytes:
    lines = ["WARC/1.0", f"WARC-Type: {kind}", f"WARC-Target-URI: {url}", "WARC-Date: 2026-01-02T03:04:05Z", f"Content-Type: {type_}"]
    lines += [f"WARC-Record-ID: <urn:{id_ or kind + url}>", *more, f"Content-Length: {len(block)}"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def response(url: str, page: str, id_: str = "", charset: str = "utf-8") -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset={charset}\r\n\r\n"
    return record("response", url, head.encode() + page.encode(charset), id_=id_)


def request(url: str, of: str) -> bytes:
    return record(
        "request", url, b"GET / HTTP/1.1\r\n\r\n", type_="application/http; msgtype=request", more=[f"WARC-Concurrent-To: <urn:{of}>"]
    )


INFO = record("warcinfo", "", b"software: a test\r\n", type_="application/warc-fields")
RECORDS = [
    INFO,
    request("http://a/1", "one"),  # before its response, as some programs write it
    response("http://a/1", html(ARTICLE), "one"),
    response("http://b/1", html(ARTICLE.replace("eight", "nine", 1), NAV), "two"),
    request("http://b/1", "two"),
    response("http://c/1", html(OTHER), "three"),
    record("metadata", "http://b/1", b"fetchTimeMs: 1", type_="application/warc-fields", more=["WARC-Refers-To: <urn:two>"]),
    response("http://a/1", html(ARTICLE), "again"),
    record("response", "http://a/image", b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG", id_="image"),
]
KEPT = [RECORDS[n] for n in (0, 1, 2, 5, 8)]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "crawl.warc"
    path.write_bytes(b"".join(RECORDS))
    return path


class TestArchives:
    def test_the_kept_records_stay_as_they_are(self, archive: Path, tmp_path: Path) -> None:
        report = la.dedupe(archive, out=tmp_path / "clean.warc", removed=tmp_path / "removed.jsonl")
        assert (tmp_path / "clean.warc").read_bytes() == b"".join(KEPT)
        assert (report.to_dict()["documents"], report.to_dict()["removed"]) == (4, 2)
        rows = [json.loads(line) for line in (tmp_path / "removed.jsonl").read_text().splitlines()]
        assert [(row["id"], row["kept_id"], row["row"]) for row in rows] == [
            ("http://b/1", "http://a/1", 4),
            ("http://a/1", "http://a/1", 8),
        ]
        assert 0.8 <= rows[0]["similarity"] < rows[1]["similarity"] == 1
        assert la.dedupe(tmp_path / "clean.warc").to_dict()["removed"] == 0

    def test_packed_ones_have_a_member_for_each_record(self, tmp_path: Path) -> None:
        path = tmp_path / "crawl.warc.gz"
        path.write_bytes(b"".join(map(gzip.compress, RECORDS)))
        la.dedupe(path, out=tmp_path / "clean.warc.gz")
        data = (tmp_path / "clean.warc.gz").read_bytes()
        assert gzip.decompress(data) == b"".join(KEPT)
        assert data.count(b"\x1f\x8b\x08\x00\x00\x00\x00\x00") == len(KEPT)
        la.dedupe(path, out=tmp_path / "plain.warc")
        assert (tmp_path / "plain.warc").read_bytes() == b"".join(KEPT)

    def test_several_into_one_or_into_a_folder(self, archive: Path, tmp_path: Path) -> None:
        second = tmp_path / "second.warc"
        second.write_bytes(INFO + response("http://d/", html(OTHER), "four") + response("http://e/", html("Short and new, " * 30), "five"))
        la.dedupe([archive, second], out=tmp_path / "all.warc")
        urls = [capture.url for capture in captures(io.BytesIO((tmp_path / "all.warc").read_bytes()), "x") if capture.is_html]
        assert urls == ["http://a/1", "http://c/1", "http://e/"]
        la.dedupe([archive, second], out=tmp_path / "folder")
        assert (tmp_path / "folder" / "crawl.warc").read_bytes() == b"".join(KEPT)
        assert [each.id for each in records(io.BytesIO((tmp_path / "folder" / "second.warc").read_bytes()), "x")][1:] == ["<urn:five>"]

    def test_texts_of_archives_and_charsets(self, tmp_path: Path) -> None:
        chinese = "渡轮每天早上八点横渡港口，晚上返回，不论天气如何。市场每逢周六在老城举行。" * 3
        path = tmp_path / "c.warc"
        path.write_bytes(
            response("http://a/", html(chinese), "a", "gb18030")
            + record("conversion", "http://b/", chinese.encode(), type_="text/plain", id_="b")
            + response("http://c/", html(chinese), "c")
        )
        assert la.dedupe(path, threshold=0.9).to_dict()["removed"] >= 1
        assert la.dedupe(path, method="exact", out=tmp_path / "o.warc").to_dict()["removed"] == 1

    def test_resuming(self, archive: Path, tmp_path: Path) -> None:
        la.dedupe(archive, out=tmp_path / "clean.warc", resume=True)
        assert (tmp_path / "clean.warc").read_bytes() == b"".join(KEPT)

    def test_a_plan(self, archive: Path) -> None:
        assert la.plan(archive).documents == 4
        assert la.plan(archive, sample=1).documents >= 1

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b"", "no rows"),
            (b"not an archive\n", "not a web archive"),
            (b"\x89PNG\r\n\x1a\n\0\0", "not a web archive"),
            (RECORDS[2][:-60], "damaged"),
        ],
        ids=["empty", "text", "binary", "cut"],
    )
    def test_what_is_no_archive(self, tmp_path: Path, data: bytes, message: str) -> None:
        path = tmp_path / "bad.warc"
        path.write_bytes(data)
        with pytest.raises(la.InputError, match=message):
            la.dedupe(path, out=tmp_path / "out.warc")
        assert not (tmp_path / "out.warc").exists()

    def test_a_page_that_cannot_be_read_stays_and_is_counted(self, tmp_path: Path) -> None:
        broken = record("response", "http://x/", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: br\r\n\r\nxx")
        path = tmp_path / "a.warc"
        path.write_bytes(broken + response("http://a/", html(ARTICLE), "a"))
        with pytest.raises(la.InputError, match="'br' is not known"):
            la.dedupe(path)
        report = la.dedupe(path, out=tmp_path / "o.warc", on_error="skip")
        assert report.to_dict()["skipped"] == 1
        assert (tmp_path / "o.warc").read_bytes() == path.read_bytes()

    def test_what_does_not_go_together(self, archive: Path, tmp_path: Path) -> None:
        for options, message in (
            ({"annotate": True, "out": tmp_path / "o.warc"}, "texts and pages have none"),
            ({"level": "line"}, "cannot be cut"),
            ({"keep": "newest:date"}, "have no columns"),
            ({"out": tmp_path / "o.jsonl"}, "another format"),
            ({"extract": "some"}, "extract='some'"),
        ):
            with pytest.raises(la.InputError, match=message):
                la.dedupe(archive, **options)  # type: ignore[arg-type]


class TestHtmlFolders:
    def test_the_main_text_is_compared(self, tmp_path: Path) -> None:
        folder = tmp_path / "pages"
        folder.mkdir()
        (folder / "a.html").write_text(html(ARTICLE))
        (folder / "b.html").write_text(html(ARTICLE, NAV))
        assert la.dedupe(folder, out=tmp_path / "main").to_dict()["removed"] == 1
        assert [path.name for path in (tmp_path / "main").iterdir()] == ["a.html"]
        assert la.dedupe(folder, extract="all").to_dict()["removed"] == 0

    def test_charsets_of_pages(self, tmp_path: Path) -> None:
        text = "渡轮每天早上八点横渡港口，晚上返回，不论天气如何。" * 4
        (tmp_path / "a.html").write_bytes(f'<meta charset="gb2312"><p>{text}'.encode("gb18030"))
        (tmp_path / "b.html").write_bytes(f"<p>{text}".encode())
        (tmp_path / "c.html").write_bytes(f'<meta charset="no-such"><p>{text}'.encode())
        assert la.dedupe([tmp_path / f"{name}.html" for name in "abc"]).to_dict()["removed"] == 2

    def test_a_binary_file_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "a.html").write_bytes(b"%PDF-1.7 \0\0")
        with pytest.raises(la.InputError, match=r"a\.html: unreadable file.*binary"):
            la.dedupe(tmp_path / "a.html")
