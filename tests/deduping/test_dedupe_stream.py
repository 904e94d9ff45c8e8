"""Streams: exact copies go as they come, in constant memory, and everything else is as it was."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from dedupe_corpora import read_jsonl, write_jsonl
from lookalike.deduping.levels import units
from lookalike.deduping.streams.sizes import Sizes, sizes

LOOKALIKE = [sys.executable, "-c", "from lookalike.cli import main; main()"]


def streamed(monkeypatch: pytest.MonkeyPatch, data: bytes, **options: Any) -> bytes:
    """What comes out of standard output for what goes into standard input."""
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(data))))  # type: ignore[arg-type]
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=out))
    la.dedupe_stream("-", out="-", capacity=1000, **options)
    return out.getvalue()


def test_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        b'{"text": "One, two", "n": 1 }\n',
        b'{"n":2,"text":"three"}\n',
        b'{"text": "ONE two."}\n',
        b'{"text": null}\n',
        b'{"text":"three"}',
    ]
    assert streamed(monkeypatch, b"".join(lines)) == lines[0] + lines[1] + lines[3]
    assert streamed(monkeypatch, b"".join(lines), method="bytes") == lines[0] + lines[1] + lines[2] + lines[3]


def test_as_dedupe_does_it(tmp_path: Path) -> None:
    rows = [{"id": i, "text": f"a {i % 7}\nb {i % 5}\n\nc {i % 3}\n---\n\n---"} for i in range(50)]
    path = write_jsonl(tmp_path / "in.jsonl", rows)
    for level in ("document", "paragraph", "line"):
        report = la.dedupe_stream(path, out=tmp_path / "stream.jsonl", level=level, capacity=1000)
        full = la.dedupe(path, out=tmp_path / "full.jsonl", level=level, method="exact")
        assert (tmp_path / "stream.jsonl").read_bytes() == (tmp_path / "full.jsonl").read_bytes()
        found = full.to_dict()
        assert (report.documents, report.kept, report.removed) == (50, found["kept"], found["removed"])


texts = st.lists(st.sampled_from(["a", "B", "b!", " ", "\n", "\n\n", "---", "é", "相似"]), max_size=30).map("".join)


@given(texts, st.sampled_from(["line", "paragraph"]), st.sampled_from(["exact", "bytes"]))
@settings(max_examples=100, deadline=None)
def test_plain_text(text: str, level: str, method: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        found = streamed(patch, text.encode(), format="text", level=level, method=method).decode()
    seen, kept = set[object](), ""
    for start, end in units(text, level):
        unit = text[start:end]
        key: object = unit.rstrip("\n ") if method == "bytes" else tuple(token.text for token in la.tokenize(unit))
        if method == "bytes" and level == "line":
            key = unit.removesuffix("\n")
        wordlike = any(character.isalnum() for character in unit)
        if not (wordlike and key in seen):
            kept += unit
        seen.add(key)
    if method == "exact" or level == "line":
        assert found == kept


def test_a_paragraph_that_goes_over_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    long = "".join(f"line {i}\n" for i in range(200_000))
    assert streamed(monkeypatch, f"{long}\n{long}\nend\n".encode(), format="text", level="paragraph").decode() == f"{long}\nend\n"


def test_packed_files(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl.gz").write_bytes(gzip.compress(b'{"text":"a"}\n{"text":"A"}\n'))
    la.dedupe_stream(tmp_path / "in.jsonl.gz", out=tmp_path / "out.jsonl.gz", capacity=10)
    assert gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()) == b'{"text":"a"}\n'


def test_several_inputs_are_one_stream(tmp_path: Path) -> None:
    one = write_jsonl(tmp_path / "1.jsonl", [{"text": "a"}])
    two = write_jsonl(tmp_path / "2.jsonl", [{"text": "A"}, {"text": "b"}])
    la.dedupe_stream([one, two], out=tmp_path / "out.jsonl", capacity=10)
    assert read_jsonl(tmp_path / "out.jsonl") == [{"text": "a"}, {"text": "b"}]


def test_the_report(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "in.jsonl", [{"text": f"number {i % 30}"} for i in range(100)])
    report = la.dedupe_stream(path, out=tmp_path / "out.jsonl", bloom=1e-4, capacity=30)
    found = report.to_dict()
    assert (found["documents"], found["kept"], found["removed"], found["unit"]) == (100, 30, 70, "documents")
    assert found["false_positive_rate"]["stated"] == 1e-4
    assert found["false_positive_rate"]["now"] <= 1e-4
    assert found["names_originals"] is False
    assert report.headline() == "100 documents: 30 kept, 70 removed (70.0%)"
    json.dumps(found)


def test_more_than_the_capacity_is_told(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "in.jsonl", [{"text": f"number {i}"} for i in range(2000)])
    report = la.dedupe_stream(path, out=tmp_path / "out.jsonl", bloom=0.001, capacity=100)
    assert report.rate > 0.001
    done = subprocess.run(
        [*LOOKALIKE, "dedupe", str(path), "--bloom", "0.001", "--capacity", "100", "--out", str(tmp_path / "out.jsonl")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "more than --capacity 100" in done.stderr


@pytest.mark.parametrize(("rate", "bits"), [(0.01, 12), (1e-6, 40), (1e-9, 85), (1e-15, 330)])
def test_sizes(rate: float, bits: int) -> None:
    made = sizes(rate, 1_000_000)
    assert made.rate(1_000_000) <= rate
    assert 8 * made.nbytes / 1_000_000 <= bits
    assert Sizes(1, 1).rate(0) == 0


def test_broken_rows(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'{"text":"a"}\n{"text":\n{"text":"b"}\n')
    with pytest.raises(la.InputError, match=r"in.jsonl:2: invalid JSON"):
        la.dedupe_stream(path, out=tmp_path / "out.jsonl", capacity=10)
    assert not (tmp_path / "out.jsonl").exists()
    report = la.dedupe_stream(path, out=tmp_path / "out.jsonl", capacity=10, on_error="skip")
    assert (report.documents, report.skipped) == (2, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bloom": 0}, "bloom"),
        ({"bloom": 1}, "bloom"),
        ({"bloom": True}, "bloom"),
        ({"bloom": float("nan")}, "bloom"),
        ({"capacity": 0}, "capacity"),
        ({"level": "substring"}, "level"),
        ({"method": "minhash"}, "method"),
        ({"text_column": "body"}, "body"),
        ({"format": "csv"}, "JSON lines or plain text"),
        ({"format": "text"}, "one document"),
        ({"out": "FOLDER"}, "is a folder"),
        ({"out": "SAME"}, "in.jsonl"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "in.jsonl", [{"text": "a"}])
    out = {"FOLDER": tmp_path, "SAME": path}.get(options.pop("out", ""), tmp_path / "out.jsonl")
    with pytest.raises(la.InputError, match=message):
        la.dedupe_stream(path, out=out, **options)


def test_text_that_is_not_utf8(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(la.InputError, match="convert it first"):
        streamed(monkeypatch, b"caf\xe9\n", format="text", level="line")


def test_the_command_line(tmp_path: Path) -> None:
    def run(*arguments: str, data: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*LOOKALIKE, "dedupe", *arguments], input=data, capture_output=True, text=True, check=False, cwd=tmp_path)

    done = run("-", "--format", "text", "--level", "line", "--bloom", "1e-6", "--capacity", "100", "--out", "-", data="b\na\nB!\nc\n")
    assert (done.returncode, done.stdout) == (0, "b\na\nc\n")
    assert "1 document, 4 lines: 3 kept, 1 removed" in done.stderr
    done = run("-", "--bloom", "1e-6", "--capacity", "10", "--out", "out.jsonl", data='{"text": "a"}\n{"text": "a"}\n')
    assert "cannot name the original" in done.stdout
    for options in (
        ["--removed", "r.jsonl"],
        ["--annotate"],
        ["--keep", "longest"],
        ["--against", "x"],
        ["--memory", "1G"],
        ["--threshold", "0.5"],
    ):
        done = run("-", "--bloom", "1e-6", "--out", "-", *options, data="")
        assert (done.returncode, done.stdout) == (2, "")
        assert f"{options[0]} does not go together with --bloom" in done.stderr
    assert "name --out" in run("-", "--bloom", "1e-6", data="").stderr
    assert "--capacity belongs to --bloom" in run("-", "--capacity", "5", "--out", "-", data="").stderr
    assert "nothing would be written" in run("in.jsonl", data="").stderr
