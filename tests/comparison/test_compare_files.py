"""Files are read as what they are, and the library and the command give the same answer."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from lookalike.cli import main
from lookalike.corpus.contents import contents, readable
from lookalike.io import NotText

INVOICE = "发票号码 20261116。甲方应当在三日内向乙方付款，共计人民币三千四百元整，逾期按日加收万分之五的违约金。\n" * 3
ARTICLE = (
    "<article><p>The ferry leaves the northern quay at seven, and comes back in the evening with the post and the bread.</p></article>"
)
HTML = f"<html><head><title>Ferry</title></head><body><nav><a href='/'>Home</a> <a href='/x'>All islands</a></nav>{ARTICLE}</body></html>"
BINARY = b"%PDF-1.7\n" + bytes(range(256)) * 40


def command(capfd: pytest.CaptureFixture[str], *arguments: object) -> Any:
    capfd.readouterr()
    with pytest.raises(SystemExit) as stop:
        main([*map(str, arguments), "--json"])
    out, err = capfd.readouterr()
    return json.loads(out) if stop.value.code != 2 else err, stop.value.code


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    made = {
        "utf8.txt": INVOICE.encode(),
        "gb18030.txt": INVOICE.encode("gb18030"),
        "utf16.txt": INVOICE.encode("utf-16"),
        "packed.txt.gz": gzip.compress(INVOICE.encode()),
        "page.html": HTML.encode(),
        "other.HTM": HTML.replace("seven", "nine").encode(),
        "a.pdf": BINARY,
        "b.pdf": BINARY + b"one more",
        "record.json": b'{"a": 1}',
    }
    for name, data in made.items():
        (tmp_path / name).write_bytes(data)
    return {name: tmp_path / name for name in made}


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        ("utf8.txt", "gb18030.txt", "text"),
        ("utf8.txt", "utf16.txt", "text"),
        ("utf8.txt", "packed.txt.gz", "text"),
        ("page.html", "other.HTM", "page"),
        ("a.pdf", "b.pdf", "file"),
        ("page.html", "utf8.txt", "text"),
    ],
)
def test_library_and_command_agree(files: dict[str, Path], left: str, right: str, kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    found = la.compare(files[left], files[right])
    printed, code = command(capfd, "compare", files[left], files[right])
    assert found.kind == printed["kind"] == kind
    assert {**found.to_dict(), "notes": None, "inputs": None} == {**printed, "notes": None, "inputs": None}
    assert code == (0 if found.alike else 1)


def test_one_text_in_three_encodings_is_one_text(files: dict[str, Path]) -> None:
    for name in ("gb18030.txt", "utf16.txt", "packed.txt.gz"):
        found = la.compare(files["utf8.txt"], files[name])
        assert (found.score, found.kind, found.left) == (1.0, "text", INVOICE)
    assert any("gb18030" in note for note in la.compare(files["utf8.txt"], files["gb18030.txt"]).notes)


def test_a_path_beside_a_text_or_a_page(files: dict[str, Path]) -> None:
    assert la.compare(files["gb18030.txt"], INVOICE).score == 1.0
    assert la.compare(la.page(HTML), files["page.html"]).kind == "page"
    text = la.page_text(la.page(HTML))
    found = la.compare(text, files["page.html"])
    assert (found.score, found.kind) == (1.0, "text")
    assert found.notes[-1] == f"{files['page.html']}: a web page beside a text is compared by its main text"


def test_kind_overrules_what_a_file_is(files: dict[str, Path], capfd: pytest.CaptureFixture[str]) -> None:
    source = la.compare(files["page.html"], files["other.HTM"], kind="text")
    assert source.left == HTML
    assert la.compare(files["utf8.txt"], files["gb18030.txt"], kind="file").kind == "file"
    assert la.compare(files["record.json"], files["record.json"], kind="record").score == 1.0
    assert la.compare(files["record.json"], {"a": 1}).kind == "record"
    assert command(capfd, "compare", files["page.html"], files["other.HTM"], "--as", "text")[0]["score"] == source.score
    with pytest.raises(la.InputError, match="kind='bytes': choose one of text, page, file, record"):
        la.compare(files["utf8.txt"], files["utf8.txt"], kind="bytes")
    with pytest.raises(la.InputError, match="kind and encoding say how files are read"):
        la.compare("a", "b", kind="text")


def test_an_encoding_can_be_named(tmp_path: Path) -> None:
    text = "Съешь ещё этих мягких французских булок, да выпей чаю. " * 4
    (tmp_path / "a").write_bytes(text.encode("koi8-r"))
    with pytest.raises(la.InputError, match=r"was not recognised: name it, or compare bytes with kind='file'"):
        la.compare(tmp_path / "a", text)
    assert la.compare(tmp_path / "a", text, encoding="koi8-r").score == 1.0


def test_bytes_beside_a_text_are_refused_with_what_fits(files: dict[str, Path], capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(
        la.InputError, match=r"a\.pdf' has no text to compare \(pdf, broken.* is a text: give two texts, or compare bytes with kind='file'"
    ):
        la.compare(files["a.pdf"], files["utf8.txt"])
    message, code = command(capfd, "compare", files["utf8.txt"], files["a.pdf"])
    assert (code, "--as file" in message, "kind=" in message) == (2, True, False)


def test_verbs_without_bytes_do_not_offer_them(files: dict[str, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    message, code = command(capfd, "idf", files["a.pdf"], "--out", tmp_path / "idf")
    assert (code, "has no text to compare (pdf, broken" in message, "--as" in message) == (2, True, False)


def test_pages_of_a_store_are_found_by_their_files(files: dict[str, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "store"
    assert command(capfd, "add", store, files["page.html"], files["gb18030.txt"])[1] == 0
    with la.open(store) as index:
        for name in ("page.html", "gb18030.txt"):
            kept = str(files[name])
            assert [(match.id, match.score) for match in index.search(files[name])] == [(kept, 1.0)]
            assert [match["id"] for match in command(capfd, "search", store, files[name])[0]] == [kept]
        assert [match.id for match in index.search(files["gb18030.txt"].read_bytes())] == [str(files["gb18030.txt"])]
        assert [match.id for match in index.search(files["page.html"], by="structure")] == [str(files["page.html"])]
        with pytest.raises(la.InputError, match=r"has no text to compare .* by='fuzzy'"):
            index.search(files["a.pdf"])
    assert command(capfd, "search", store, files["page.html"], "--as", "text") == ([], 0)


def test_fingerprints_of_a_page_are_those_of_its_text(files: dict[str, Path], capfd: pytest.CaptureFixture[str]) -> None:
    text = la.page_text(la.page(HTML))
    found = la.fingerprint(files["page.html"], "simhash,sha256")
    assert found["simhash"] == la.simhash(text)
    assert found["sha256"] == la.digest(files["page.html"])
    assert found.read is not None
    assert found.read.note == "a web page: kinds of text are of its main text"
    assert la.fingerprint(files["page.html"], "simhash", extract=None)["simhash"] == la.simhash(HTML)
    printed = command(capfd, "fingerprint", files["page.html"], "--kind", "simhash")[0]
    assert printed["fingerprints"]["simhash"] == found["simhash"].to_dict()
    printed = command(capfd, "fingerprint", files["page.html"], "--kind", "simhash", "--as", "file")[0]
    assert printed["fingerprints"]["simhash"] == la.simhash(HTML).to_dict()
    with pytest.raises(la.InputError, match="extract='source'"):
        la.fingerprint(files["page.html"], extract="source")


def test_files_as_drafts_and_templates(files: dict[str, Path]) -> None:
    rows = la.feedback([(files["gb18030.txt"], files["utf8.txt"])]).rows
    assert [row.edit_share for row in rows] == [0.0]
    problems = la.feedback([(files["a.pdf"], "text"), ("text", "text")]).problems
    assert [problem.kind for problem in problems] == ["unreadable file"]
    ignored = la.compare(f"{INVOICE} one", f"{INVOICE} two", ignore=[files["gb18030.txt"]])
    assert ignored.to_dict() == la.compare(f"{INVOICE} one", f"{INVOICE} two", ignore=[INVOICE]).to_dict()
    with pytest.raises(la.InputError, match="give a list of texts or files"):
        la.compare("a", "b", ignore=files["utf8.txt"])  # type: ignore[arg-type]  # what is tested


def test_an_idf_table_of_pages_is_one_of_their_text(files: dict[str, Path]) -> None:
    assert (
        la.learn_idf([files["page.html"]], tokenizer="words").values
        == la.learn_idf([la.page_text(la.page(HTML))], tokenizer="words").values
    )


def test_contents(files: dict[str, Path], tmp_path: Path) -> None:
    assert {name: contents(path).kind for name, path in files.items()} == {
        name: "file" if name.endswith("pdf") else "page" if "htm" in name.lower() else "text" for name in files
    }
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(INVOICE.encode())[:-20])
    with pytest.raises(la.InputError, match="cannot be unpacked"):
        readable(tmp_path / "cut.txt.gz")
    with pytest.raises(NotText) as raised:
        readable(files["a.pdf"])
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


def test_options_for_texts_are_refused_for_pages(files: dict[str, Path], capfd: pytest.CaptureFixture[str]) -> None:
    for option in (["--ignore", files["utf8.txt"]], ["--measure", "cosine"]):
        message, code = command(capfd, "compare", files["page.html"], files["other.HTM"], *option)
        assert (code, "A and B are web pages" in message, "--as text" in message) == (2, True, True)
