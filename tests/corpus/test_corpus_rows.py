"""Rows of every format, good and damaged."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.corpus.files import Source
from lookalike.corpus.rows import Problem, Row, rows, stream_rows

ROWS: list[dict[str, Any]] = [
    {"id": "a", "text": "The cat sat on the mat.", "model": "m1"},
    {"id": "b", "text": "我们对这片土地爱得深沉", "model": "m2"},
    {"id": "c", "text": 'One,\ttwo,\n"three"\r\nfour', "model": ""},
]


def jsonl(values: list[Any]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in values).encode()


def separated(values: list[dict[str, Any]], separator: str) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(values[0]), delimiter=separator)
    writer.writeheader()
    writer.writerows(values)
    return out.getvalue().encode()


def parquet(values: list[dict[str, Any]]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(values), out)
    return out.getvalue()


WRITERS: dict[str, Callable[[list[dict[str, Any]]], bytes]] = {
    "jsonl": jsonl,
    "json": lambda values: json.dumps(values, indent=2).encode(),
    "csv": lambda values: separated(values, ","),
    "tsv": lambda values: separated(values, "\t"),
    "parquet": parquet,
}
PACKERS: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}


def read(path: Path, data: bytes, **options: Any) -> list[Row | Problem]:
    path.write_bytes(data)
    return list(rows(Source.of(path), **options))


def good(found: list[Row | Problem]) -> list[Any]:
    return [row.values for row in found if isinstance(row, Row)]


def kinds(found: list[Row | Problem]) -> list[str]:
    return [problem.kind for problem in found if isinstance(problem, Problem)]


class TestFormats:
    @pytest.mark.parametrize("format", WRITERS)
    @pytest.mark.parametrize("packing", PACKERS)
    def test_every_format_in_every_packing(self, tmp_path: Path, format: str, packing: str) -> None:
        found = read(tmp_path / f"rows.{format}{packing}", PACKERS[packing](WRITERS[format](ROWS)))
        assert good(found) == ROWS
        assert [row.number for row in found if isinstance(row, Row)] == [1, 2, 3]
        assert all(row.place.startswith(f"{tmp_path}/rows.{format}{packing}:") for row in found)

    @pytest.mark.parametrize("packing", [".gz", ".zst"])
    def test_packed_in_several_pieces(self, tmp_path: Path, packing: str) -> None:
        pack = PACKERS[packing]
        data = b"".join([pack(jsonl(ROWS[:1])), pack(b""), pack(jsonl(ROWS[1:]))])
        assert good(read(tmp_path / f"a.jsonl{packing}", data)) == ROWS

    def test_parquet_from_a_pipe(self) -> None:
        class Pipe(io.RawIOBase):
            def __init__(self, data: bytes) -> None:
                self._data = io.BytesIO(data)

            def readable(self) -> bool:
                return True

            def readinto(self, target: Any) -> int:
                return self._data.readinto(target)

        pipe = io.BufferedReader(Pipe(parquet(ROWS)))
        assert good(list(stream_rows(pipe, "pipe", "parquet"))) == ROWS

    def test_columns_of_parquet(self, tmp_path: Path) -> None:
        seen: list[list[str]] = []
        found = read(tmp_path / "a.parquet", parquet(ROWS), columns=["text", "absent"], header=seen.append)
        assert good(found) == [{"text": row["text"]} for row in ROWS]
        assert seen == [["id", "text", "model"]]

    def test_many_batches_of_parquet(self, tmp_path: Path) -> None:
        values = [{"id": number, "text": str(number)} for number in range(1000)]
        found = read(tmp_path / "a.parquet", parquet(values))
        assert good(found) == values
        assert [row.place.rpartition(": ")[2] for row in found] == [f"row {number}" for number in range(1, 1001)]

    def test_standard_input_stays_open(self) -> None:
        stream = io.BytesIO(separated(ROWS, ","))
        assert good(list(stream_rows(stream, "-", "csv"))) == ROWS
        assert not stream.closed

    @given(st.lists(st.dictionaries(st.sampled_from(["a", "b", "c"]), st.none() | st.integers() | st.text(), min_size=1)))
    def test_json_lines_come_back(self, values: list[dict[str, Any]]) -> None:
        assert good(list(stream_rows(io.BytesIO(jsonl_ascii(values)), "x", "jsonl"))) == values
        whole = io.BytesIO(json.dumps(values).encode())
        assert good(list(stream_rows(whole, "x", "json"))) == values


def jsonl_ascii(values: list[Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in values).encode()


class TestJsonFiles:
    @pytest.mark.parametrize(
        ("data", "expected"),
        [
            (b"", []),
            (b"\n \n", []),
            (b"[]", []),
            (b'[{"a": 1},\n {"a": 2}]', [{"a": 1}, {"a": 2}]),
            (b'\xef\xbb\xbf[{"a": 1}]', [{"a": 1}]),
            (b'{"a": 1}', [{"a": 1}]),
            (b'{"a": 1}\n{"a": 2}', [{"a": 1}, {"a": 2}]),
            (b'\n{\n"a": 1\n}\n', [{"a": 1}]),
            (b'["a", "b"]\n["c", "d"]', [["a", "b"], ["c", "d"]]),
            (b'["a", "b"]', [["a", "b"]]),
        ],
    )
    def test_what_they_hold(self, tmp_path: Path, data: bytes, expected: list[Any]) -> None:
        assert good(read(tmp_path / "a.json", data, objects=False)) == expected

    def test_what_is_no_object(self, tmp_path: Path) -> None:
        found = read(tmp_path / "a.jsonl", b'[1]\n{"a": 1}\nnull\n"x"\n7\n')
        assert kinds(found) == ["not an object"] * 4
        assert good(found) == [{"a": 1}]

    def test_a_damaged_object_is_named_line_by_line(self, tmp_path: Path) -> None:
        found = read(tmp_path / "a.json", b'\n{"a": 1\n{"a": 2}\n')
        assert good(found) == [{"a": 2}]
        assert [(problem.kind, problem.place) for problem in found if isinstance(problem, Problem)] == [
            ("invalid JSON", f"{tmp_path}/a.json:2")
        ]

    def test_too_large_to_be_read_in_one_piece(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("lookalike.corpus.formats.json.MAX_ARRAY_BYTES", 100)
        assert kinds(read(tmp_path / "a.json", b'[{"a": 1}' + b" " * 100 + b"]")) == ["file too large"]
        assert good(read(tmp_path / "a.json", b'[{"a": 1}' + b" " * 90 + b"]")) == [{"a": 1}]
        assert len(good(read(tmp_path / "a.json", b'{"a": 1}\n' * 1000))) == 1000


class TestHostileInput:
    @pytest.mark.parametrize(
        ("line", "kind"),
        [
            (b'{"text": "\xff"}', "wrong encoding"),
            (b'{"text": "\xed\xa0\x80"}', "wrong encoding"),
            (b'{"text": "a\x00b"}', "invalid JSON"),
            (b"\x00\x00\x00", "invalid JSON"),
            (b"[" * 100_000, "invalid JSON"),
            (b'{"a":' * 100_000, "invalid JSON"),
            (b'{"id": ' + b"1" * 5000 + b"}", "invalid JSON"),
        ],
    )
    def test_bad_lines(self, tmp_path: Path, line: bytes, kind: str) -> None:
        found = read(tmp_path / "a.jsonl", b'{"a": 1}\n' + line + b'\n{"a": 2}\n')
        assert good(found) == [{"a": 1}, {"a": 2}]
        assert kinds(found) == [kind]

    def test_a_line_of_100_mb_is_read(self, tmp_path: Path) -> None:
        path = tmp_path / "a.jsonl"
        with open(path, "wb") as file:
            file.write(b'{"text": "')
            for _ in range(100):
                file.write(b"x" * (1 << 20))
            file.write(b'"}\n{"text": "y"}\n')
        assert [len(row.values["text"]) for row in rows(Source.of(path)) if isinstance(row, Row)] == [100 << 20, 1]

    @pytest.mark.parametrize("packing", PACKERS)
    @pytest.mark.parametrize("format", ["jsonl", "csv"])
    def test_lines_that_are_too_long(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str, packing: str) -> None:
        monkeypatch.setattr("lookalike.corpus.row.MAX_LINE_BYTES", 1000)
        row = {"jsonl": b'{"a": "1"}\n', "csv": b"1\n"}[format]
        head = b"" if format == "jsonl" else b"a\n"
        for padding in (1000, 3_000_000):
            found = read(tmp_path / f"a.{format}{packing}", PACKERS[packing](head + row + b"x" * padding + b"\n" + row))
            assert good(found) == [{"a": "1"}] * 2
            assert kinds(found) == ["line too long" if format == "jsonl" else "invalid CSV"]
        endless = PACKERS[packing](head + row + b"x" * 5_000_000)
        assert good(read(tmp_path / f"a.{format}{packing}", endless)) == [{"a": "1"}]

    def test_a_quote_that_is_never_closed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("lookalike.corpus.row.MAX_LINE_BYTES", 1000)
        found = read(tmp_path / "a.csv", b'a\n1\n"' + b"xy\n" * 2000)
        assert good(found)[0] == {"a": "1"}
        assert "invalid CSV" in kinds(found)

    @pytest.mark.parametrize("packing", [".gz", ".zst"])
    @pytest.mark.parametrize("format", ["jsonl", "csv"])
    def test_truncated_packed_files(self, tmp_path: Path, format: str, packing: str) -> None:
        values = [{"text": f"words {number} {number * number}"} for number in range(20_000)]
        whole = PACKERS[packing](WRITERS[format](values))
        found = read(tmp_path / f"a.{format}{packing}", whole[: len(whole) // 2])
        assert kinds(found) == ["damaged file"]
        assert good(found) == values[: len(good(found))]
        if packing == ".gz":  # a small file is a single block of Zstandard
            assert len(good(found)) > 0

    @pytest.mark.parametrize("packing", [".gz", ".zst"])
    @pytest.mark.parametrize("format", WRITERS)
    def test_what_is_not_packed_at_all(self, tmp_path: Path, format: str, packing: str) -> None:
        path, data = tmp_path / f"a.{format}{packing}", b"not packed at all"
        if format in ("jsonl", "json"):
            assert kinds(read(path, data)) == ["damaged file"]
        else:  # without its header or its end such a file is no table at all
            with pytest.raises(la.InputError, match=f"a.{format}{packing}"):
                read(path, data)

    def test_a_small_file_that_unpacks_to_much(self, tmp_path: Path) -> None:
        data = zstandard.compress(jsonl([{"a": "x" * (100 << 20)}, {"a": "y"}]))
        assert len(data) < 100_000
        assert [len(values["a"]) for values in good(read(tmp_path / "a.jsonl.zst", data))] == [100 << 20, 1]

    @pytest.mark.parametrize("cut", [0, 3, 50, -50, -5, -1])
    def test_truncated_parquet(self, tmp_path: Path, cut: int) -> None:
        with pytest.raises(la.InputError, match=r"a\.parquet cannot be read as Parquet"):
            read(tmp_path / "a.parquet", parquet(ROWS)[:cut])

    def test_a_damaged_page_of_parquet(self, tmp_path: Path) -> None:
        out = io.BytesIO()
        generator = random.Random(5)
        table = pa.Table.from_pylist([{"text": generator.randbytes(100).hex()} for _ in range(1000)])
        pq.write_table(table, out, row_group_size=500, compression="gzip", use_dictionary=False)
        data = bytearray(out.getvalue())
        middle = len(data) * 6 // 10
        data[middle : middle + 2000] = bytes(2000)
        found = read(tmp_path / "a.parquet", bytes(data))
        assert kinds(found) == ["damaged file"]
        assert good(found) == table.to_pylist()[: len(good(found))]

    def test_rows_of_parquet_that_python_cannot_express(self, tmp_path: Path) -> None:
        invalid = pa.Array.from_buffers(pa.binary(), 3, pa.array([b"a", b"\xff\xfe", b"c"]).buffers()).view(pa.string())
        far = pa.array([0, 1, 2**62], pa.int64()).cast(pa.timestamp("ms"))
        pq.write_table(pa.table({"text": invalid, "time": far}), tmp_path / "a.parquet")
        found = list(rows(Source.of(tmp_path / "a.parquet")))
        assert good(found) == [{"text": "a", "time": datetime(1970, 1, 1)}], found
        assert [(problem.kind, problem.place[-5:]) for problem in found[1:]] == [("unreadable row", "row 2"), ("unreadable row", "row 3")]

    def test_csv_with_broken_bytes_and_nuls(self, tmp_path: Path) -> None:
        found = read(tmp_path / "a.csv", b"a,b\n\xff,1\nx\x00y,2\n\n3\n4,5,6\n")
        assert good(found) == [{"a": "x\x00y", "b": "2"}, {"a": "3"}, {"a": "4", "b": "5"}]
        assert [(problem.kind, problem.place) for problem in found if isinstance(problem, Problem)] == [
            ("wrong encoding", f"{tmp_path}/a.csv:2")
        ]

    def test_lone_surrogates_in_escapes_are_kept_here(self, tmp_path: Path) -> None:
        assert good(read(tmp_path / "a.jsonl", rb'{"text": "\ud800"}')) == [{"text": "\ud800"}]

    def test_empty_files(self, tmp_path: Path) -> None:
        assert read(tmp_path / "a.jsonl", b"") == read(tmp_path / "a.json", b"") == []
        for ending in ("csv", "tsv"):
            with pytest.raises(la.InputError, match="is empty"):
                read(tmp_path / f"a.{ending}", b"")
        assert read(tmp_path / "b.csv", b"a,b\n") == []

    @pytest.mark.parametrize("encoding", ["utf-16", "no-such", "rot13", ""])
    def test_encodings(self, tmp_path: Path, encoding: str) -> None:
        with pytest.raises(la.InputError, match="encoding="):
            read(tmp_path / "a.jsonl", b"{}", encoding=encoding)
        assert good(read(tmp_path / "a.csv", "a\n相似\n".encode("gb18030"), encoding="gb18030")) == [{"a": "相似"}]

    def test_what_holds_no_rows(self, tmp_path: Path) -> None:
        with pytest.raises(la.InputError, match="holds text, not rows"):
            read(tmp_path / "a.txt", b"text")
