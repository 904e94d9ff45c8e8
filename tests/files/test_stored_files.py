"""Files as documents of a store: texts with their pages, and files without text, whose bytes can be searched."""

from __future__ import annotations

import gzip
import io
import random
import tarfile
from pathlib import Path

import pytest

import lookalike as la
import made_files

NOISE = random.Random(7).randbytes(20_000)


def stored(index: la.Index) -> None:
    index.add("noise", NOISE)
    index.add("like noise", NOISE[:19_000])
    index.add([("contract", made_files.made("pdf")), ("text", "a text of its own, about nothing that the others are about")])


@pytest.mark.parametrize("kinds", [None, "minhash,winnowing,tlsh", "simhash"])
def test_bytes_are_documents(tmp_path: Path, kinds: str | None) -> None:
    with la.open(tmp_path / "s", kinds=kinds) as index:
        stored(index)
        assert len(index) == 4
        assert index.get("noise").text is None
        assert index.get("noise").meta["bytes"] == len(NOISE)
        assert index.get("contract").meta["kind"] == "pdf"
        assert index.get("contract").meta["sha256"] == la.digest(made_files.made("pdf"), "sha256").value
        if kinds != "simhash":
            assert [match.id for match in index.search(NOISE, by="fuzzy", threshold=0.8)] == ["noise", "like noise"]
            assert [match.id for match in index.search("\n".join(made_files.PAGES))] == ["contract"]
            assert [cluster.kept for cluster in index.clusters()] == []
        assert index.check().ok
        index.export(tmp_path / "out.jsonl")
        index.compact()
    with la.open(tmp_path / "copy", kinds=kinds) as copy:
        assert copy.load(tmp_path / "out.jsonl") == 4
        assert copy.get("noise").text is None
        if kinds != "simhash":
            assert [match.id for match in copy.search(NOISE, by="fuzzy", threshold=0.8)] == ["noise", "like noise"]


def test_bytes_without_an_id_are_explained() -> None:
    with la.open("memory://") as index, pytest.raises(la.InputError, match=r"bytes have no name: give them an id, as in add\('id', data\)"):
        index.add(b"data")  # type: ignore[arg-type]


def test_paths_are_documents(tmp_path: Path) -> None:
    files = {
        "a.docx": made_files.made("docx"),
        "b.bin": NOISE,
        "c.txt.gz": gzip.compress("压缩的文本，里面有几个字".encode()),
        "d.zip": made_files.made("zip"),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    with la.open("memory://") as index:
        assert index.add(tmp_path).added == 5
        ids = {str(id_).removeprefix(f"{tmp_path}/") for id_ in index.ids()}
        assert ids == {"a.docx", "b.bin", "c.txt.gz", "d.zip/合同/contract.docx", "d.zip/notes.txt"}
        index.add("named", tmp_path / "a.docx", {"mine": 1})
        assert index.get("named").meta["mine"] == 1
        index.add([("tuple", tmp_path / "b.bin"), (7, tmp_path / "c.txt.gz")])
        assert index.get("tuple").text is None
        assert index.get(7).text == "压缩的文本，里面有几个字"
        found = index.search(tmp_path / "a.docx")
        assert found[0].score == 1.0
        assert {match.id for match in found} >= {"named", f"{tmp_path}/a.docx", f"{tmp_path}/d.zip/合同/contract.docx"}
        assert index.search(la.read(tmp_path / "a.docx"))[0].score == 1.0
        with pytest.raises(la.InputError, match="does not exist"):
            index.add("id", tmp_path / "nothing")


def test_documents_without_text_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(NOISE)
    problems: list[la.Problem] = []
    assert list(la.documents(tmp_path, on_problem=problems.append)) == []
    assert problems[0].skipped
    found = list(la.documents(tmp_path, binary=True, on_problem=problems.append))
    assert [(document.text, document.meta["status"]) for document in found] == [(None, "binary")]
    assert not problems[-1].skipped


def test_deduped_documents(tmp_path: Path) -> None:
    for name, kind in (("a.docx", "docx"), ("b.pdf", "pdf"), ("c.txt", "txt")):
        (tmp_path / name).write_bytes(made_files.made(kind))
    (tmp_path / "d.txt").write_text("another text, which is like none of the others in any way at all")
    report = la.dedupe(tmp_path, threshold=0.7)
    assert (report.documents, len(report.kept)) == (4, 2)


def test_packed_files_that_are_damaged_or_not_packed_are_kept(tmp_path: Path) -> None:
    text = " ".join(random.Random(5).choices(made_files.PAGES[0].split(), k=5000)).encode()
    page = b"<html><body>" + random.Random(6).randbytes(300_000).hex().encode()
    whole = {
        "cut.txt.gz": gzip.compress(text)[:-20],
        "begun.txt.gz": gzip.compress(text)[:30],
        "cut.html.gz": gzip.compress(page)[:-20],
        "cut.tar.gz": made_files.tarred({"a.txt": text}, "w:gz")[:-20],
        "cut.txt.zst": made_files.zstandard(text)[:-20],
    }
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, data in {**whole, "plain.txt.gz": text, "plain.txt.zst": text}.items():
        (folder / name).write_bytes(data)
    with la.open("memory://") as index:
        index.add(folder)
        for name, data in whole.items():
            kept = index.get(str(folder / name))
            assert (kept.text, kept.meta["status"], kept.meta["sha256"]) == (None, "broken", la.digest(data, "sha256").value)
            index.add(f"own {name}", folder / name)
            assert index.get(f"own {name}").text is None
            with pytest.raises(la.InputError, match=r"cannot be unpacked.*by='fuzzy'"):
                index.search(folder / name)
        for name in ("plain.txt.gz", "plain.txt.zst"):
            assert index.get(str(folder / name)).text == text.decode()
            assert index.search(folder / name)[0].score == 1


def test_an_archive_with_links_is_no_file_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        inside = tarfile.TarInfo("a.txt")
        inside.size = 30
        archive.addfile(inside, io.BytesIO(b"some words " * 3))
    problems: list[la.Problem] = []
    (document,) = la.documents(path, binary=True, on_problem=problems.append)
    assert document.id == f"{path}/a.txt"
    assert [(each.kind, each.skipped, each.message) for each in problems] == [("not all was read", False, "link: a link, not followed")]
