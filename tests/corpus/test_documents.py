"""Documents of a corpus: ids, texts, meta, and what cannot be used."""

from __future__ import annotations

import gzip
import io
import json
import random
import subprocess
import sys
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

import lookalike as la
import made_files
from lookalike.corpus.values import plain
from lookalike.files.extracting import extract


def read(inputs: Any, **options: Any) -> tuple[list[la.Document], list[la.Problem]]:
    problems: list[la.Problem] = []
    return list(la.documents(inputs, on_problem=problems.append, **options)), problems


def made_files_text() -> str:
    return extract(io.BytesIO(made_files.made("docx")), "a.docx", la.Limits(), 1 << 20)[0].text


def read_lines(tmp_path: Path, *lines: Any, **options: Any) -> tuple[list[la.Document], list[la.Problem]]:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines))
    return read(path, **options)


def write_table(path: Path, values: list[dict[str, Any]]) -> None:
    if ".parquet" in path.name:
        out = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(values), out, row_group_size=len(values), use_dictionary=False)
        data = out.getvalue()
    elif ".jsonl" in path.name:
        data = "".join(json.dumps(row) + "\n" for row in values).encode()
    else:
        separator = "," if ".csv" in path.name else "\t"
        data = "".join(separator.join(row) + "\n" for row in [list(values[0]), *(row.values() for row in values)]).encode()
    pack = {".gz": lambda data: gzip.compress(data, 1), ".zst": zstandard.compress}.get(path.suffix, bytes)
    path.write_bytes(pack(data))


class TestTables:
    def test_ids_texts_and_meta(self, tmp_path: Path) -> None:
        found, problems = read_lines(
            tmp_path,
            {"id": "x", "text": "one", "url": "u", "tags": ["a", {"b": None}]},
            {"id": 7, "text": "two"},
            {"text": "three"},
            {"id": None, "text": ""},
            {"id": "", "text": "five"},
        )
        name = f"{tmp_path}/a.jsonl"
        assert found == [
            la.Document("x", "one", {"url": "u", "tags": ["a", {"b": None}]}),
            la.Document(7, "two"),
            la.Document(f"{name}:3", "three"),
            la.Document(f"{name}:4", ""),
            la.Document(f"{name}:5", "five"),
        ]
        assert problems == []

    def test_other_columns(self, tmp_path: Path) -> None:
        found, _ = read_lines(tmp_path, {"key": 1, "body": "b", "text": "t", "id": "i"}, text_column="body", id_column="key")
        assert found == [la.Document(1, "b", {"text": "t", "id": "i"})]

    def test_every_format_gives_the_same_documents(self, tmp_path: Path) -> None:
        values = [{"id": "a", "text": "one", "n": "1"}, {"id": "b", "text": "相似", "n": "2"}]
        (tmp_path / "1.jsonl").write_text("".join(json.dumps(row) + "\n" for row in values))
        (tmp_path / "2.json").write_text(json.dumps(values))
        (tmp_path / "3.csv").write_text("id,text,n\na,one,1\nb,相似,2\n")
        (tmp_path / "4.tsv").write_text("id\ttext\tn\na\tone\t1\nb\t相似\t2\n")
        pq.write_table(pa.Table.from_pylist(values), tmp_path / "5.parquet")
        found, problems = read(tmp_path)
        assert found == [la.Document("a", "one", {"n": "1"}), la.Document("b", "相似", {"n": "2"})] * 5
        assert problems == []

    @pytest.mark.parametrize(
        ("value", "kind"),
        [
            ({"id": 1}, "no text"),
            ({"id": 1, "text": None}, "no text"),
            ({}, "no text"),
            ({"id": 1, "text": 7}, "text is not text"),
            ({"id": 1, "text": ["a"]}, "text is not text"),
            ({"id": 1.5, "text": "a"}, "unusable id"),
            ({"id": True, "text": "a"}, "unusable id"),
            ({"id": [1], "text": "a"}, "unusable id"),
            ({"id": {"a": 1}, "text": "a"}, "unusable id"),
            ({"id": 2**63, "text": "a"}, "unusable id"),
            ({"id": -(2**63) - 1, "text": "a"}, "unusable id"),
            ({"id": "\ud800", "text": "a"}, "unusable id"),
            ({"id": "a\0b", "text": "a"}, "unusable id"),
            ({"id": "相" * 683, "text": "a"}, "unusable id"),
            ("text", "not an object"),
            (b"{", "invalid JSON"),
            (b'{"text": "\xff"}', "wrong encoding"),
            (b'{"text": "a", "x": ' + b"[" * 800 + b"]" * 800 + b"}", "unusable columns"),
        ],
    )
    def test_rows_that_cannot_be_used(self, tmp_path: Path, value: Any, kind: str) -> None:
        ok = {"id": 2**63 - 1, "text": "ok"}
        found, problems = read_lines(tmp_path, ok, value, ok)
        assert found == [la.Document(2**63 - 1, "ok")] * 2
        assert [(problem.kind, problem.place, problem.skipped) for problem in problems] == [(kind, f"{tmp_path}/a.jsonl:2", True)]

    def test_lone_surrogates_are_replaced_and_named(self, tmp_path: Path) -> None:
        found, problems = read_lines(tmp_path, rb'{"id": 1, "text": "a\ud800b\udfff\ud83d\ude00\u0000"}')
        assert found == [la.Document(1, "a\ufffdb\ufffd😀\x00")]
        assert [(problem.kind, problem.skipped) for problem in problems] == [("lone surrogate", False)]
        assert "2 halves" in problems[0].message

    def test_a_table_without_the_column_is_named_and_the_others_are_read(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("x,y\n1,2\n")
        (tmp_path / "b.csv").write_text("text\nt\n")
        (tmp_path / "c.csv").write_text("")
        (tmp_path / "d.parquet").write_bytes(b"PAR1 not really")
        pq.write_table(pa.table({"x": [1]}), tmp_path / "e.parquet")
        found, problems = read(tmp_path)
        assert found == [la.Document(f"{tmp_path}/b.csv:1", "t")]
        assert [(problem.kind, Path(problem.place).name) for problem in problems] == [
            ("unreadable file", name) for name in ("a.csv", "c.csv", "d.parquet", "e.parquet")
        ]
        assert "the columns here are 'x', 'y'" in problems[0].message

    def test_columns_of_parquet_become_json(self, tmp_path: Path) -> None:
        values = {
            "text": "t",
            "id": 5,
            "when": datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC),
            "day": date(2024, 1, 2),
            "at": time(1, 2, 3),
            "took": timedelta(minutes=2),
            "price": Decimal("1.10"),
            "raw": b"\x00\xff",
            "nan": float("nan"),
            "list": [1.5, float("inf")],
            "struct": {"a": date(2024, 1, 2)},
        }
        pq.write_table(pa.Table.from_pylist([values]), tmp_path / "a.parquet")
        ((document,), problems) = read(tmp_path)
        assert problems == []
        assert (document.id, document.text) == (5, "t")
        assert document.meta == {
            "when": "2024-01-02T03:04:05+00:00",
            "day": "2024-01-02",
            "at": "01:02:03",
            "took": 120.0,
            "price": "1.10",
            "raw": "00ff",
            "nan": None,
            "list": [1.5, None],
            "struct": {"a": "2024-01-02"},
        }
        json.dumps(document.meta, allow_nan=False)

    def test_plain_values_stay(self) -> None:
        value = {"a": [1, True, None, "x", 1.5, {"b": (1, 2)}], 3: "key"}
        assert plain(value) == {"a": [1, True, None, "x", 1.5, {"b": [1, 2]}], "3": "key"}


class TestTexts:
    def test_a_file_is_a_document(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("one", encoding="utf-8")
        (tmp_path / "b").mkdir()
        (tmp_path / "b" / "c.md").write_bytes("我们对这片土地爱得深沉".encode("gb18030"))
        (tmp_path / "d.html").write_text("<p>page</p>")
        (tmp_path / "e.txt").write_bytes(b"")
        found, problems = read([tmp_path])
        paths = [tmp_path / name for name in ("a.txt", "b/c.md", "d.html", "e.txt")]
        assert [(document.id, document.path) for document in found] == [(str(path), path) for path in paths]
        assert [document.text for document in found] == ["one", "我们对这片土地爱得深沉", "page", ""]
        assert problems == []

    def test_the_id_is_the_path_as_given(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "a.txt").write_text("one")
        assert [document.id for document in read("./a.txt")[0]] == ["a.txt"]
        assert [document.id for document in read(".")[0]] == ["a.txt"]

    def test_packed_texts_have_no_bytes_of_their_own(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"one"))
        (tmp_path / "b.txt.zst").write_bytes(zstandard.compress(b"two"))
        (tmp_path / "c.txt.gz").write_bytes(gzip.compress(b"three" * 1000)[:-20])
        (tmp_path / "d.txt.zst").write_bytes(zstandard.compress(b"four" * 1000)[:-4])
        found, problems = read(tmp_path)
        assert [(document.text, document.path) for document in found] == [("one", None), ("two", None)]
        assert [(problem.kind, Path(problem.place).name) for problem in problems] == [
            ("damaged file", "c.txt.gz"),
            ("damaged file", "d.txt.zst"),
        ]

    @pytest.mark.parametrize("data", [b"%PDF-1.7 ...", b"\x7fELF" + bytes(100), bytes(range(256)) * 4])
    def test_binary_files_are_named(self, tmp_path: Path, data: bytes) -> None:
        (tmp_path / "a.bin").write_bytes(data)
        (tmp_path / "b.txt").write_text("text")
        found, problems = read(tmp_path)
        assert [document.text for document in found] == ["text"]
        assert [(problem.kind, problem.place) for problem in problems] == [("unreadable file", f"{tmp_path}/a.bin")]

    @pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json", "a.parquet", "a.warc", "a.html", "a.csv.gz", "a.txt.zst"])
    def test_documents_with_the_names_of_other_things(self, tmp_path: Path, name: str) -> None:
        """What is in a file decides, not its name, and nothing else is kept out by it."""
        (tmp_path / name).write_bytes(made_files.made("docx"))
        (tmp_path / "b.md").write_text("text")
        found, problems = read(tmp_path)
        assert ([document.id for document in found], problems) == ([f"{tmp_path}/{name}", f"{tmp_path}/b.md"], [])
        assert found[0].text == la.read(tmp_path / name).text == made_files_text()
        assert la.compare(tmp_path / name, found[0].text).score == 1
        (tmp_path / name).write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4)
        found, problems = read(tmp_path, binary=True)
        assert [document.text for document in found] == [None, "text"]
        assert [problem.kind for problem in problems] == ["no text"]

    def test_the_encoding_given(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_bytes("相似".encode("utf-16"))
        assert read(tmp_path, encoding="utf-16")[0][0].text == "相似"
        (tmp_path / "b.csv").write_text("text\nx\n")
        with pytest.raises(la.InputError, match="encoding='utf-16'"):
            la.documents(tmp_path, encoding="utf-16")
        found, problems = read(tmp_path / "a.txt", encoding="ascii")
        assert (found, [problem.kind for problem in problems]) == ([], ["unreadable file"])

    def test_a_table_taken_as_text(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("text\nx\n")
        assert read(tmp_path, format="text")[0] == [la.Document(f"{tmp_path}/a.csv", "text\nx\n", {}, tmp_path / "a.csv")]

    def test_web_archives_that_are_cut_off_are_said(self, tmp_path: Path) -> None:
        (tmp_path / "a.warc.gz").write_bytes(gzip.compress(b"WARC/1.0\r\n"))
        assert [problem.kind for problem in read(tmp_path)[1]] == ["damaged file"]


class TestCalling:
    def test_without_a_listener_the_first_problem_is_an_error(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        path.write_text('{"text": "a"}\n{"text": "\\ud800"}\n{"text": 7}\n{"text": "b"}\n')
        found = la.documents(path)
        assert [next(found).text, next(found).text] == ["a", "\ufffd"]
        with pytest.raises(la.InputError, match=r"a\.jsonl:3: text is not text"):
            next(found)

    @pytest.mark.parametrize("packed", [False, True])
    def test_standard_input(self, monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
        class Stdin:
            buffer = io.BytesIO(b'{"text": "a", "id": 1}\n{"text": "b"}\n')

        monkeypatch.setattr(sys, "stdin", Stdin)
        found, _ = read("-", format="text" if packed else None)
        if packed:
            assert [(document.id, document.path) for document in found] == [("-", None)]
        else:
            assert found == [la.Document(1, "a"), la.Document("-:2", "b")]

    def test_nothing_is_read_before_it_is_asked_for(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        path.write_text('{"text": "a", "id": 1}\n' * 3)
        found = la.documents([path, path.parent])
        assert next(found).id == 1
        path.unlink()
        assert len(list(found)) == 2  # the file was open

    @pytest.mark.parametrize(
        "options", [{"text_column": ""}, {"id_column": None}, {"text_column": "id"}, {"format": "xml"}, {"text_column": 7}], ids=str
    )
    def test_wrong_arguments(self, tmp_path: Path, options: dict[str, Any]) -> None:
        (tmp_path / "a.txt").write_text("a")
        with pytest.raises(la.InputError):
            la.documents(tmp_path, **options)

    @pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".jsonl.zst", ".csv", ".tsv.zst", ".parquet", ".parquet.gz"])
    def test_memory_does_not_grow_with_the_file(self, tmp_path: Path, ending: str) -> None:
        generator = random.Random(3)
        values = [{"id": str(number), "text": generator.randbytes(500).hex()} for number in range(60_000)]
        write_table(tmp_path / f"a{ending}", values)
        code = (
            "import re, sys, numpy, pyarrow.parquet, zstandard, lookalike as la\n"
            "def most(): return int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])\n"  # ru_maxrss is inherited
            "before = most()\n"
            "count = sum(1 for _ in la.documents(sys.argv[1]))\n"
            "print(count, most() - before)"
        )
        done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, capture_output=True, text=True)
        count, grown = map(int, done.stdout.split())
        assert count == 60_000
        assert grown < 52 << 10, grown  # KiB; the texts have 60 MB, and Arrow takes about 40 for itself

    def test_documents_are_values(self) -> None:
        one = la.Document("a", "text", {"n": 1})
        assert one == la.Document("a", "text", {"n": 1})
        with pytest.raises(AttributeError):
            one.text = "other"  # type: ignore[misc]
