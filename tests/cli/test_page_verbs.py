"""What the verbs do with web pages: files, archives, addresses; and what they say to bad input."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from lookalike.testing import made_pages
from terminal import shown_on_a_terminal
from web_server import WebServer, answer, redirect

Run = Callable[..., Any]
PAGES = made_pages(24)
ARTICLE = "The ferry crosses the harbour every morning at eight and comes back in the evening, whatever the weather is like. " * 3
HTML = f"<html><head><title>Ferry</title></head><body><nav><a href=/>home</a></nav><article><p>{ARTICLE}</p></article></body></html>"


@pytest.fixture
def site() -> Iterator[WebServer]:
    pages = {
        "/": answer(HTML.encode(), "Content-Type: text/html; charset=utf-8"),
        "/moved": redirect("/"),
        "/empty": answer(b"", "Content-Type: text/html"),
        "/pdf": answer(b"%PDF-1.7 \0\0\0", "Content-Type: application/pdf"),
    }
    with WebServer(pages) as server:
        yield server


@pytest.fixture
def crawl(tmp_path: Path, run: Run) -> Path:
    """A store of pages."""
    folder = tmp_path / "crawl"
    folder.mkdir()
    for id_, html in PAGES:
        (folder / f"{id_}.html").write_text(html)
    (folder / "note.txt").write_text("a text among the pages")
    store = tmp_path / "store"
    assert run("add", store, folder, "--quiet").returncode == 0
    return store


def bad_files(folder: Path) -> dict[str, Path]:
    made = {"empty": b"", "blank": b" \n", "pdf": b"%PDF-1.7 \0\0\0\1", "random": bytes(range(256)) * 8}
    for name, data in made.items():
        (folder / f"{name}.html").write_bytes(data)
    return {name: folder / f"{name}.html" for name in made} | {"missing": folder / "missing.html", "folder": folder}


class TestFetching:
    def test_compare(self, run: Run, site: WebServer, tmp_path: Path) -> None:
        (tmp_path / "a.html").write_text(HTML)
        done = run("compare", tmp_path / "a.html", site.url("/moved"), "--as", "page", "--fetch", "--allow-private", "--json")
        assert done.returncode == 0
        assert json.loads(done.stdout)["score"] == 1
        assert f"redirected to {site.url('/')}" in done.stderr

    def test_fingerprint(self, run: Run, site: WebServer, tmp_path: Path) -> None:
        (tmp_path / "a.html").write_text(HTML)
        for options in (["--as", "page"], ["--extract", "main", "--kind", "simhash"]):
            found = [
                json.loads(run("fingerprint", thing, *options, "--fetch", "--allow-private", "--json").stdout)["fingerprints"]
                for thing in (site.url(), tmp_path / "a.html")
            ]
            assert found[0] == found[1]

    def test_add_and_search(self, run: Run, site: WebServer, tmp_path: Path) -> None:
        store = tmp_path / "s"
        (tmp_path / "b.txt").write_text("a text beside it")
        options = ("--fetch", "--allow-private", "--json")
        done = run("add", store, tmp_path / "b.txt", site.url(), site.url("/moved"), site.url("/none"), site.url("/pdf"), *options)
        assert json.loads(done.stdout) == {"documents": 3, "added": 3, "updated": 0, "skipped": 2}
        assert "404 Not Found" in done.stderr
        assert "binary file" in done.stderr
        assert json.loads(run("get", store, site.url("/moved"), "--json").stdout)["meta"] == {"url": site.url()}
        for more in ([], ["--by", "structure"], ["--as", "page", "--by", "passages"]):
            found = json.loads(run("search", store, site.url(), *(more or ["--as", "page"]), *options).stdout)
            assert [match["id"] for match in found] == [site.url(), site.url("/moved")]

    @pytest.mark.parametrize("arguments", [
        ("compare", "URL", "URL", "--as", "page"), ("compare", "URL", "URL"), ("fingerprint", "URL", "--as", "page"), ("fingerprint", "URL"),
        ("search", "STORE", "URL", "--as", "page"), ("search", "STORE", "URL", "--by", "structure"), ("search", "STORE", "URL"),
        ("add", "STORE", "URL"),
    ], ids=["compare", "compare-text", "fingerprint", "fingerprint-text", "search", "search-structure", "search-text", "add"])  # fmt: skip
    def test_only_with_fetch(self, run: Run, site: WebServer, crawl: Path, arguments: tuple[str, ...]) -> None:
        done = run(*({"URL": site.url(), "STORE": crawl}.get(part, part) for part in arguments))
        assert (done.returncode, done.stdout) == (2, "")
        assert "--fetch" in done.stderr
        assert site.requests == []

    def test_private_addresses_only_when_allowed(self, run: Run, site: WebServer) -> None:
        done = run("fingerprint", site.url(), "--as", "page", "--fetch")
        assert done.returncode == la.FetchError.exit_code == 7
        assert "--allow-private" in done.stderr
        assert site.requests == []

    def test_what_cannot_be_fetched(self, run: Run, site: WebServer) -> None:
        for url, code, message in (
            ("ftp://pages.example/", 2, "only http"),
            (site.url("/empty"), 2, "empty"),
            (site.url("/pdf"), 2, "binary"),
            (site.url("/none"), 7, "404"),
        ):
            done = run("fingerprint", url, "--as", "page", "--fetch", "--allow-private")
            assert (done.returncode, message in done.stderr) == (code, True), done.stderr


class TestFingerprint:
    def test_pages(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "a.html").write_text(HTML)
        line = json.loads(run("fingerprint", "--as", "page", tmp_path / "a.html", "--json").stdout)
        made = la.page_print(HTML)
        assert line == {
            "input": str(tmp_path / "a.html"),
            "encoding": "utf-8",
            "fingerprints": {name.replace("_", "-"): value for name, value in made.to_dict().items()},
        }
        one = json.loads(run("fingerprint", "--as", "page", "-", "--kind", "content-simhash", "--json", stdin=HTML.encode()).stdout)
        assert one["fingerprints"] == {"content-simhash": made.content_simhash.to_dict()}
        assert "structure-simhash" in run("fingerprint", "--as", "page", tmp_path / "a.html").stdout

    def test_extracted_text(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "a.html").write_text(HTML)
        for extract in ("main", "all"):
            line = json.loads(run("fingerprint", "--extract", extract, tmp_path / "a.html", "--kind", "simhash", "--json").stdout)
            assert line["fingerprints"]["simhash"] == la.simhash(la.page_text(HTML, extract)).to_dict()

    def test_bad_input(self, run: Run, tmp_path: Path) -> None:
        for name, path in bad_files(tmp_path).items():
            for options in (["--as", "page"], ["--extract", "main"]):
                done = run("fingerprint", path, *options)
                assert (done.returncode, done.stdout) == (2, ""), name
                assert str(path) in done.stderr, name

    def test_options_that_do_not_fit(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "a.html").write_text(HTML)
        for options in (["--as", "page", "--kind", "tlsh"], ["--as", "page", "--recipe", "words"], ["--as", "page", "--extract", "all"],
                        ["--as", "page", "--text", "x"], ["--extract", "main", "--text", "x"], ["--as", "page", "--encoding", "no-such"]):  # fmt: skip
            done = run("fingerprint", tmp_path / "a.html", *options)
            assert done.returncode == 2, options

    def test_a_bogus_charset_is_noted(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "a.html").write_text(f'<meta charset="no-such">{HTML}')
        done = run("fingerprint", "--as", "page", tmp_path / "a.html", "--json")
        assert done.returncode == 0
        assert "'no-such', which is not known" in done.stderr


class TestSearch:
    def test_by_structure_and_by_content(self, run: Run, crawl: Path, tmp_path: Path) -> None:
        own = str(tmp_path / "crawl" / f"{PAGES[0][0]}.html")
        alike = json.loads(run("search", crawl, own, "--by", "structure", "--limit", 50, "--json").stdout)
        assert 1 < len(alike) < len(PAGES)
        assert {match["score"] for match in alike if match["id"] == own} == {1.0}
        content = json.loads(run("search", crawl, own, "--as", "page", "--json").stdout)
        assert [match["id"] for match in content] == [own]
        shown = run("search", crawl, own, "--by", "structure").stdout
        assert "page-" in shown

    def test_a_binary_file_is_told_what_fits(self, run: Run, crawl: Path, tmp_path: Path) -> None:
        (tmp_path / "a.bin").write_bytes(b"%PDF-1.7 \0\0")
        done = run("search", crawl, tmp_path / "a.bin")
        assert done.returncode == 2
        assert "--by fuzzy" in done.stderr
        assert "--as file" not in done.stderr
        assert "--as file" in run("compare", tmp_path / "a.bin", tmp_path / "a.bin", "--as", "text").stderr

    def test_bad_input(self, run: Run, crawl: Path, tmp_path: Path) -> None:
        for name, path in bad_files(tmp_path).items():
            for options in (["--as", "page"], ["--by", "structure"]):
                done = run("search", crawl, path, *options)
                assert (done.returncode, done.stdout) == (2, ""), name
                assert str(path) in done.stderr, name

    def test_options_that_do_not_fit(self, run: Run, crawl: Path, tmp_path: Path) -> None:
        page = tmp_path / "crawl" / "page-0.html"
        for arguments in (
            [page, "--by", "structure", "--as", "text"], [page, "--by", "structure", "--extract", "all"], [page, "--by", "fuzzy", "--as", "page"],
            ["--text", "x", "--as", "page"], ["--text", "x", "--by", "structure"], ["--simhash", "0x1", "--as", "page"],
        ):  # fmt: skip
            assert run("search", crawl, *arguments).returncode == 2, arguments

    def test_a_store_without_structures(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "a.html").write_text(HTML)
        assert run("add", tmp_path / "s", tmp_path / "a.html", "--kinds", "minhash").returncode == 0
        done = run("search", tmp_path / "s", tmp_path / "a.html", "--by", "structure")
        assert done.returncode == 2
        assert "no structure fingerprints" in done.stderr


class TestClusters:
    def test_templates(self, run: Run, crawl: Path) -> None:
        found = json.loads(run("clusters", crawl, "--by", "structure", "--threshold", 0.5, "--json").stdout)
        sizes = [1 + len(cluster["removed"]) for cluster in found]
        assert sizes == sorted(sizes, reverse=True)
        assert 20 < sum(sizes) <= len(PAGES)
        with la.open(crawl, read_only=True) as index:
            made = [cluster.to_dict() for cluster in index.clusters("structure", threshold=0.5)]
        assert sorted(found, key=str) == sorted(made, key=str)
        table = run("clusters", crawl, "--by", "structure", "--threshold", 0.5, "--limit", 1)
        assert table.stdout.startswith(f"{len(found)} clusters of {sum(sizes)} documents\n")
        assert f"the largest 1 of {len(found)} clusters" in table.stderr
        assert len(json.loads(run("clusters", crawl, "--by", "structure", "--limit", 1, "--json").stdout)) == 1

    def test_texts(self, run: Run, tmp_path: Path) -> None:
        rows = [{"id": n, "text": text} for n, text in enumerate([ARTICLE, "another text", ARTICLE])]
        (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
        run("add", tmp_path / "s", tmp_path / "a.jsonl")
        for options in ([], ["--by", "simhash"], ["--by", "simhash", "--k", 0], ["--threshold", 1]):
            scale = "equal bits" if "simhash" in options else "jaccard"
            wanted = [{"kept": 0, "scale": scale, "removed": [{"id": 2, "similarity": 1.0}]}]
            assert json.loads(run("clusters", tmp_path / "s", *options, "--json").stdout) == wanted
        assert run("clusters", tmp_path / "s", "--by", "structure").stdout == "no two documents look alike\n"
        assert run("clusters", tmp_path / "s", "--by", "structure", "--json").stdout == "[]\n"

    def test_on_a_terminal(self, crawl: Path) -> None:
        arguments = ["clusters", str(crawl), "--by", "structure", "--threshold", "0.5"]
        shown = shown_on_a_terminal(f"from lookalike.cli import main; main({arguments!r})")
        assert "4 clusters of 24 documents" in shown
        assert "\x1b[" in shown  # a table with colours

    def test_bad_input(self, run: Run, crawl: Path, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        for arguments, code in (
            ([crawl, "--by", "simhash", "--threshold", 0.5], 2), ([crawl, "--k", 3], 2), ([crawl, "--threshold", 2], 2), ([crawl, "--threshold", "x"], 2),
            ([crawl, "--limit", 0], 2), ([crawl, "--by", "content"], 2), ([crawl, "--by", "simhash", "--k", -1], 2), ([tmp_path / "none"], 3),
            ([tmp_path / "empty"], 3), ([crawl, "--collection", "other"], 3), ([tmp_path / "crawl"], 3),
        ):  # fmt: skip
            done = run("clusters", *arguments)
            assert (done.returncode, done.stdout) == (code, ""), arguments


class TestDedupe:
    def test_extract(self, run: Run, tmp_path: Path) -> None:
        nav = "<nav>" + "".join(f"<a href=/{n}>A long way to page {n} of this site</a>" for n in range(30)) + "</nav>"
        (tmp_path / "in").mkdir()
        (tmp_path / "in" / "a.html").write_text(HTML)
        (tmp_path / "in" / "b.html").write_text(HTML.replace("<article>", f"{nav}<article>"))
        for extract, removed in (("main", 1), ("all", 0)):
            done = run("dedupe", tmp_path / "in", "--out", tmp_path / extract, "--extract", extract, "--json")
            assert json.loads(done.stdout)["removed"] == removed
        assert json.loads(run("plan", tmp_path / "in", "--extract", "all", "--json").stdout)["documents"] == 2

    def test_bad_archives(self, run: Run, tmp_path: Path) -> None:
        for name, data in (("empty", b""), ("binary", bytes(range(256))), ("cut", b"WARC/1.0\r\nContent-Length: 9\r\n\r\nx")):
            (tmp_path / f"{name}.warc").write_bytes(data)
            done = run("dedupe", tmp_path / f"{name}.warc", "--out", tmp_path / f"{name}.out.warc")
            assert (done.returncode, done.stdout) == (2, ""), name
            assert f"{name}.warc" in done.stderr


def test_check_and_compact_count_documents(crawl: Path) -> None:
    told: list[int] = []
    with la.open(crawl) as index:
        for start in range(0, 9000, 3000):
            index.add((n, f"document number {n}") for n in range(start, start + 3000))
            index.close()
            index = la.open(crawl)
        index.compact(progress=told.append)
        assert told == sorted(told)
        assert told[-1] == len(index) == 9025
        told.clear()
        index.check(progress=told.append)
        assert told == sorted(told)
        assert told[-1] == 9025
        index.close()
