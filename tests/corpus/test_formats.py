"""The table of formats: what is in it is read, deduped and written everywhere, a format from outside too."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

import lookalike as la
from lookalike.corpus import formats
from lookalike.corpus.files import Source, expand
from lookalike.corpus.formats.base import Format, Kept, RowsWanted
from lookalike.corpus.row import Problem, Row
from lookalike.corpus.rows import rows
from lookalike.corpus.streams import opened_again


class Pairs(Format):
    """A toy: every line is a row, "id = text"."""

    def rows(self, file: IO[bytes], name: str, wanted: RowsWanted) -> Iterator[Row | Problem]:
        for number, line in enumerate(file, 1):
            key, found, text = line.decode(wanted.encoding or "utf-8").rstrip("\n").partition(" = ")
            values = {wanted.id: key, wanted.text: text, "length": len(text)}
            yield Row(f"{name}:{number}", number, values) if found else Problem("no pair", f"{name}:{number}", "there is no ' = '")

    def write_kept(self, part: Kept, out: IO[bytes]) -> None:
        wanted = part.written()
        with opened_again(part.source) as file:
            out.write(b"".join(line for number, line in enumerate(file, 1) if number in wanted))


PAIRS = Pairs()


@pytest.fixture
def pairs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(formats, "_LISTED", dict(formats._LISTED))
    formats.register("pairs", (".pairs",), f"{__name__}:PAIRS")
    yield
    formats.format_named.cache_clear()


LINES = b"a = one two three\nb = four\nbroken\nc = ONE two three!\n"


@pytest.mark.usefixtures("pairs")
class TestAFormatFromOutside:
    def test_documents(self, tmp_path: Path) -> None:
        (tmp_path / "in.pairs").write_bytes(LINES)
        (tmp_path / "README.md").write_text("about them")
        problems: list[la.Problem] = []
        found = list(la.documents(tmp_path, on_problem=problems.append))
        assert [(each.id, each.text, each.meta) for each in found] == [
            ("a", "one two three", {"length": 13}),
            ("b", "four", {"length": 4}),
            ("c", "ONE two three!", {"length": 14}),
        ]
        assert [problem.kind for problem in problems] == ["not data", "no pair"]

    @pytest.mark.parametrize("packing", ["", ".gz"])
    def test_dedupe(self, tmp_path: Path, packing: str) -> None:
        pack = gzip.compress if packing else bytes
        (tmp_path / f"in.pairs{packing}").write_bytes(pack(LINES))
        out = tmp_path / f"out.pairs{packing}"
        report = la.dedupe(tmp_path / f"in.pairs{packing}", out=out, removed=tmp_path / "removed.jsonl", on_error="skip")
        kept = out.read_bytes()
        assert (gzip.decompress(kept) if packing else kept) == b"a = one two three\nb = four\n"
        assert report.problem_counts == {"no pair": 1}
        assert json.loads((tmp_path / "removed.jsonl").read_text())["kept_id"] == "a"

    def test_with_other_formats_in_a_folder(self, tmp_path: Path) -> None:
        source = tmp_path / "in"
        source.mkdir()
        (source / "a.pairs").write_bytes(b"a = one two three\n")
        (source / "b.jsonl").write_text('{"text": "One two three"}\n{"text": "five"}\n')
        la.dedupe(source, out=tmp_path / "out/")
        assert (tmp_path / "out/a.pairs").read_bytes() == b"a = one two three\n"
        assert (tmp_path / "out/b.jsonl").read_text() == '{"text": "five"}\n'

    def test_feedback_and_a_plan_read_it(self, tmp_path: Path) -> None:
        (tmp_path / "in.pairs").write_bytes(LINES.replace(b"broken\n", b""))
        assert la.plan(tmp_path / "in.pairs").documents == 3
        found = la.feedback(tmp_path / "in.pairs", draft_column="text", final_column="text")
        assert (found.pairs, found.summary.pairs) == (3, 3)

    def test_its_name_can_be_chosen(self, tmp_path: Path) -> None:
        (tmp_path / "in.txt").write_bytes(b"a = one\n")
        assert [each.id for each in la.documents(tmp_path / "in.txt", format="pairs")] == ["a"]
        with pytest.raises(la.InputError, match=r"choose one of jsonl, json, csv, tsv, parquet, text, html, warc, pairs"):
            list(la.documents(tmp_path / "in.txt", format="peers"))


def test_every_format_is_there() -> None:
    for name in formats.names():
        assert isinstance(formats.format_named(name), Format)
        assert formats.shape_of(name) in ("table", "archive", "document")


def test_endings_are_those_of_one_format() -> None:
    endings = [ending for listed in formats._LISTED.values() for ending in listed.endings]
    assert len(set(endings)) == len(endings)
    assert all(Source.of(f"a{ending}.gz").format == Source.of(f"a{ending.upper()}").format for ending in endings)
    assert Source.of("a.md").format == "text"


ROWS = [
    b'{"id": 1, "text": "a", "x": [1, {"y": null}]}',
    b'{"text": "\\u00e9\\ud83d\\ude00\\n", "z": 1e5}',
    b'{"text": "first", "text": "last", "a": NaN}',
    b'{"te\\u0078t": "escaped name"}',
    b"  ",
    b"\x0b",
    b'{"text": "\\ud800 half"}',
    b'{"other": 1}',
    b'{"text": null, "n": -0}',
    b'{"text": 7}',
    b"[1]",
    b"7",
    b'{"text": "a"} {"text": "b"}',
    b'{"text": "a"}, {"text": "b"}',
    b'{"text": "\xff"}',
    b'{"text": "a"',
    '{"id": "相似", "text": "相似度", "k": "v"}\r'.encode(),
]
# Valid for the scan, and too much for Python.
TOO_MUCH = [b'{"text": "a", "n": ' + b"1" * 5000 + b"}", b'{"text": "deep", "n": ' + b"[" * 1000 + b"]" * 1000 + b"}"]


@pytest.mark.parametrize("more", [[], *([each] for each in TOO_MUCH)], ids=["", "digits", "levels"])
@pytest.mark.parametrize("left_out", range(len(ROWS) + 1))
def test_json_lines_are_what_python_reads(tmp_path: Path, left_out: int, more: list[bytes]) -> None:
    """Rows that were scanned natively, and parsed a block at a time, against a line at a time with another encoding's reader."""
    lines = [line for number, line in enumerate(ROWS) if number != left_out]
    lines[3:3] = more
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))
    source = Source.of(tmp_path / "a.jsonl")
    native = list(rows(source, objects=False))
    slow = list(rows(source, objects=False, encoding="U8"))  # UTF-8 by a name that only Python knows
    assert repr(native) == repr(slow).replace("not U8", "not utf-8")  # NaN is not equal to itself
    assert [list(row.values) for row in native if isinstance(row, Row) and isinstance(row.values, dict)] == [
        list(row.values) for row in slow if isinstance(row, Row) and isinstance(row.values, dict)
    ]


def test_what_comes_through_a_pipe_is_read_as_it_comes() -> None:
    import os
    from threading import Event, Thread

    readable, writable = os.pipe()
    read = Event()

    def write() -> None:
        os.write(writable, b'{"text": "one"}\n')
        read.wait(20)
        os.close(writable)

    writer = Thread(target=write)
    writer.start()
    with open(readable, "rb") as file:
        found = formats.format_named("jsonl").rows(file, "pipe", RowsWanted())
        first = next(found)
        read.set()  # only now is the pipe closed
        assert isinstance(first, Row)
        assert list(found) == []
    writer.join()


def test_a_packed_text_that_is_cut_stays_packed(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    for name in ("a.txt.gz", "b.txt.gz"):
        (source / name).write_bytes(gzip.compress(f"{name} begins so.\n\nThe same paragraph in both.\n".encode()))
    la.dedupe(source, out=tmp_path / "out/", level="paragraph")
    assert gzip.decompress((tmp_path / "out/b.txt.gz").read_bytes()) == b"b.txt.gz begins so."
    assert [each.format for each in expand(tmp_path / "out")] == ["text", "text"]
