"""Writing rows: whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.corpus.files import Source
from lookalike.corpus.formats import parquet
from lookalike.corpus.formats.jsonl_writing import JsonlWriter, json_line
from lookalike.corpus.formats.parquet import ParquetWriter
from lookalike.corpus.rows import rows
from lookalike.corpus.writing import atomic_file, row_writer

ROWS = [{"id": 1, "text": "one", "tags": ["a"]}, {"id": 2, "text": "相似 \x00 😀", "tags": []}]


def write_all(writer: JsonlWriter | ParquetWriter, values: Iterable[dict[str, Any]]) -> None:
    with writer:
        for row in values:
            writer.write(row)


class TestAtomicFile:
    def test_appears_when_it_is_complete(self, tmp_path: Path) -> None:
        target = tmp_path / "a.txt"
        with atomic_file(target) as file:
            file.write(b"new")
            assert not target.exists()
        assert target.read_bytes() == b"new"
        assert os.listdir(tmp_path) == ["a.txt"]

    @pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
    def test_after_an_error_nothing_has_changed(self, tmp_path: Path, error: type[BaseException]) -> None:
        target = tmp_path / "a.txt"
        target.write_bytes(b"old")

        def write() -> None:
            with atomic_file(target) as file:
                file.write(b"new")
                raise error

        with pytest.raises(error):
            write()
        assert target.read_bytes() == b"old"
        assert os.listdir(tmp_path) == ["a.txt"]

    def test_permissions_and_links_stay(self, tmp_path: Path) -> None:
        target = tmp_path / "a.txt"
        target.write_bytes(b"old")
        target.chmod(0o640)
        os.symlink(target, tmp_path / "link")
        with atomic_file(tmp_path / "link") as file:
            file.write(b"new")
        assert (tmp_path / "link").is_symlink()
        assert target.read_bytes() == b"new"
        assert target.stat().st_mode & 0o777 == 0o640

    def test_new_files_follow_the_umask(self, tmp_path: Path) -> None:
        before = os.umask(0o027)
        try:
            with atomic_file(tmp_path / "a.txt"):
                pass
        finally:
            os.umask(before)
        assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o640

    @pytest.mark.parametrize("name", ["missing/a.txt", "", "a\x00b", "folder"])
    def test_where_nothing_can_be_written(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "folder").mkdir()
        with pytest.raises(la.InputError, match=r"cannot be written|not a file"), atomic_file(f"{tmp_path}/{name}"):
            pass

    def test_devices_are_left_alone(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(la.InputError, match="not a file"), atomic_file(tmp_path / "pipe"):
            pass
        assert (tmp_path / "pipe").is_fifo()

    def test_a_long_name(self, tmp_path: Path) -> None:
        with atomic_file(tmp_path / ("x" * 255)) as file:
            file.write(b"a")
        assert len(os.listdir(tmp_path)[0]) == 255


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.parquet"])
class TestWriters:
    def test_rows_come_back(self, tmp_path: Path, name: str) -> None:
        write_all(row_writer(tmp_path / name), ROWS)
        assert [row.values for row in rows(Source.of(tmp_path / name))] == ROWS  # type: ignore[union-attr]

    def test_no_rows(self, tmp_path: Path, name: str) -> None:
        with row_writer(tmp_path / name):
            pass
        assert list(rows(Source.of(tmp_path / name))) == []

    def test_the_same_rows_give_the_same_bytes(self, tmp_path: Path, name: str) -> None:
        written = []
        for folder in ("one", "two"):
            (tmp_path / folder).mkdir()
            write_all(row_writer(tmp_path / folder / name), ROWS * 100)
            written.append((tmp_path / folder / name).read_bytes())
        assert written[0] == written[1]

    def test_an_error_leaves_nothing(self, tmp_path: Path, name: str) -> None:
        def rows_and_an_error() -> Iterator[dict[str, Any]]:
            yield ROWS[0]
            raise KeyError

        with pytest.raises(KeyError):
            write_all(row_writer(tmp_path / name), rows_and_an_error())
        assert os.listdir(tmp_path) == []


class TestJsonLines:
    @given(
        st.dictionaries(st.text(), st.none() | st.text() | st.integers() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False))
    )
    def test_a_line_is_one_line(self, row: dict[str, Any]) -> None:
        line = json_line(row)
        assert line.count(b"\n") == 1
        assert json.loads(line) == row

    def test_what_json_cannot_hold(self) -> None:
        assert json_line({"a": "\ud800x", "b": "相"}) == b'{"a": "\\ud800x", "b": "\\u76f8"}\n'
        assert json.loads(json_line({"a": float("nan"), "b": date(2024, 1, 2), "c": b"\x01"})) == {"a": None, "b": "2024-01-02", "c": "01"}
        assert json_line({"a": "相"}) == '{"a": "相"}\n'.encode()


class TestParquet:
    def test_several_batches(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(parquet, "WRITTEN_ROWS", 10)
        values = [{"id": number, "text": str(number), "late": None if number < 25 else "x"} for number in range(42)]
        write_all(ParquetWriter(tmp_path / "a.parquet"), values)
        assert pq.read_table(tmp_path / "a.parquet").to_pylist() == values
        assert pq.ParquetFile(tmp_path / "a.parquet").num_row_groups == 5

    def test_long_texts_make_smaller_batches(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(parquet, "WRITTEN_CHARACTERS", 1000)
        write_all(ParquetWriter(tmp_path / "a.parquet"), [{"text": "x" * 500}] * 10)
        assert pq.ParquetFile(tmp_path / "a.parquet").num_row_groups == 5

    @pytest.mark.parametrize("later", [{"id": "text"}, {"id": 1, "new": 2}, {"id": 2**70}, {"id": [1]}])
    def test_rows_that_do_not_fit(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later: dict[str, Any]) -> None:
        monkeypatch.setattr(parquet, "WRITTEN_ROWS", 2)
        with pytest.raises(la.InputError, match=r"rows? 3.*give a schema, or write \.jsonl"):
            write_all(ParquetWriter(tmp_path / "a.parquet"), [{"id": 1}, {"id": 2}, later])
        assert os.listdir(tmp_path) == []

    def test_lone_surrogates(self, tmp_path: Path) -> None:
        with pytest.raises(la.InputError, match="do not fit"), ParquetWriter(tmp_path / "a.parquet") as writer:
            writer.write({"text": "\ud800"})

    def test_a_schema(self, tmp_path: Path) -> None:
        schema = pa.schema([("id", pa.int64()), ("meta", pa.string())])
        with ParquetWriter(tmp_path / "a.parquet", schema) as writer:
            writer.write({"id": 1})
        assert pq.read_schema(tmp_path / "a.parquet") == schema
        assert pq.read_table(tmp_path / "a.parquet").to_pylist() == [{"id": 1, "meta": None}]


@pytest.mark.parametrize("name", ["a.txt", "a", "a.parquet.gz", "a.csv", "a.zst"])
def test_names_that_fit_no_writer(tmp_path: Path, name: str) -> None:
    with pytest.raises(la.InputError, match=r"\.jsonl, \.jsonl\.gz"):
        row_writer(tmp_path / name)


def test_jsonl_writer_by_itself(tmp_path: Path) -> None:
    with JsonlWriter(tmp_path / "no-ending") as writer:
        writer.write({"a": 1})
    assert (tmp_path / "no-ending").read_bytes() == b'{"a": 1}\n'
