"""Folders as people have them: nothing in them, broken archives, binaries, enormous files. A clear word each, and no traceback."""

from __future__ import annotations

import io
import json
import os
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import lookalike as la
from lookalike.errors import InputError
from lookalike.pairing import columns, inputs

TEXT = " ".join(f"word{n}" for n in range(60))


def test_nothing_to_compare(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no files"):
        la.pairs(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        la.pairs(tmp_path / "missing")
    (tmp_path / "one.txt").write_text(TEXT)
    with pytest.raises(InputError, match="1 document to compare: pairs need at least two"):
        la.pairs(tmp_path)
    with pytest.raises(InputError):
        la.pairs([])
    for wrong in (3, None, [3], "\0", "x" * 5000):
        with pytest.raises(InputError):
            la.pairs(wrong)  # type: ignore[arg-type]


def test_binary_and_broken_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"{TEXT} one")
    (tmp_path / "b.txt").write_text(f"two {TEXT}")
    (tmp_path / "c.bin").write_bytes(bytes(range(256)) * 100)
    (tmp_path / "d.zip").write_bytes(b"PK\x03\x04" + bytes(50))
    (tmp_path / "e.pdf").write_bytes(b"%PDF-1.7\n" + os.urandom(500))
    (tmp_path / "f.txt").write_bytes(b"")
    (tmp_path / "g.txt.gz").write_bytes(b"\x1f\x8b\x08\x00broken")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("inside.txt", TEXT)
    (tmp_path / "h.zip").write_bytes(packed.getvalue()[:-30])
    with tarfile.open(tmp_path / "i.tar", "w") as tar:
        entry = tarfile.TarInfo("../../outside.txt")
        entry.size = 4
        tar.addfile(entry, io.BytesIO(b"evil"))
    problems: list[la.Problem] = []
    report = la.pairs(tmp_path, on_problem=problems.append)
    assert [(Path(pair.left).name, Path(pair.right).name) for pair in report][:1] == [("a.txt", "b.txt")]
    named = {Path(problem.place.split(".zip")[0]).name for problem in problems}
    assert {"c.bin", "d", "e.pdf"} <= named
    assert report.problems == problems


def test_texts_without_words(tmp_path: Path) -> None:
    for name, text in (("a", ""), ("b", "  \n"), ("c", "…!?"), ("d", "\x00\x01 ok"), ("e", "ok")):
        (tmp_path / f"{name}.txt").write_text(text)
    report = la.pairs(tmp_path, on_problem=lambda _: None)
    assert all(pair.score == 1 for pair in report)  # "ok" twice, at most


def test_texts_that_repeat_themselves_end(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a b " * 20_000)
    (tmp_path / "b.txt").write_text("b a " * 20_000)
    (tmp_path / "c.txt").write_text("a " * 40_000)
    assert len(la.pairs(tmp_path, min_surprise=-1e6)) >= 1


def test_a_hundred_megabytes_are_left_out_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "MOST_CHARACTERS", 1000)
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "b.txt").write_text(TEXT)
    (tmp_path / "c.txt").write_text(TEXT * 30)
    problems: list[la.Problem] = []
    report = la.pairs(tmp_path, on_problem=problems.append)
    assert len(report.ids) == 2
    assert [(problem.kind, Path(problem.place).name) for problem in problems] == [("too long", "c.txt")]
    monkeypatch.setattr(columns, "MOST_TOKENS", 50)
    with pytest.raises(InputError, match="more than 50 tokens"):
        la.pairs(tmp_path)


def test_two_rows_of_one_id(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"id": "same", "text": f"{TEXT} {n}"}) + "\n" for n in range(3)))
    report = la.pairs(path)
    assert report.ids == ["same", "same (2)", "same (3)"]
    assert report.total == 3
    report.to_html()


@pytest.mark.skipif(sys.platform == "win32", reason="names of files are text there")
def test_names_that_are_no_text(tmp_path: Path) -> None:
    for name in (b"\xff.txt", b"<b>.txt", "ü\u202e.txt".encode()):
        with open(os.path.join(os.fsencode(tmp_path), name), "w") as file:
            file.write(f"{TEXT} {len(name)}")
    report = la.pairs(tmp_path)
    assert report.total == 3
    page = report.to_html()
    page.encode()
    assert "<b>.txt" not in page
    report.to_csv().encode()
