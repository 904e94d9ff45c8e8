"""Every kind of input, good and bad, through the public function."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

import lookalike as la

ROWS: list[dict[str, Any]] = [
    {"id": "a", "draft": "The cat sat on the mat.", "final": "The cat sat on the mat.", "model": "m1", "time": "2024-01-02"},
    {"id": "b", "draft": "我们对这片土地爱得深沉", "final": "我们对这片大地爱得深沉", "model": "m2", "time": "2024-01-03T10:00:00+08:00"},
    {"id": "c", "draft": 'One, two,\n"three"', "final": "Nothing like it at all", "model": "m1", "time": None},
]


def expected() -> dict[str, Any]:
    return without_places(la.feedback(ROWS))


def without_places(report: la.FeedbackReport) -> dict[str, Any]:
    found = report.to_dict(rows=True)
    for row in [*found["rows"], *found["most_edited"]]:
        del row["place"]
    return found


def write_jsonl(path: Path, rows: list[Any] = ROWS) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def write_csv(path: Path, encoding: str = "utf-8") -> Path:
    with open(path, "w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, list(ROWS[0]))
        writer.writeheader()
        writer.writerows(ROWS)
    return path


class TestFormats:
    def test_json_lines(self, tmp_path: Path) -> None:
        path = write_jsonl(tmp_path / "pairs.jsonl")
        assert without_places(la.feedback(path)) == without_places(la.feedback(str(path))) == expected()
        assert [row.place for row in la.feedback(path).rows] == [f"{path}:{i}" for i in (1, 2, 3)]

    def test_byte_order_mark_and_blank_lines(self, tmp_path: Path) -> None:
        path = tmp_path / "pairs.jsonl"
        path.write_bytes(b"\xef\xbb\xbf" + b"\r\n\n".join(json.dumps(row).encode() for row in ROWS))
        assert without_places(la.feedback(path)) == expected()

    def test_gzip(self, tmp_path: Path) -> None:
        path = tmp_path / "pairs.jsonl.gz"
        path.write_bytes(gzip.compress(write_jsonl(tmp_path / "plain.jsonl").read_bytes()))
        assert without_places(la.feedback(path)) == expected()

    def test_zstandard(self, tmp_path: Path) -> None:
        zstandard = pytest.importorskip("zstandard")
        path = tmp_path / "pairs.jsonl.zst"
        path.write_bytes(zstandard.compress(write_jsonl(tmp_path / "plain.jsonl").read_bytes()))
        assert without_places(la.feedback(path)) == expected()
        whole = path.read_bytes()
        path.write_bytes(whole + zstandard.compress(b"") + whole)
        assert la.feedback(path).pairs == 6
        for damaged in (whole[:-5], whole[:40] + b"damage", whole + whole[:9], b"no such format"):
            path.write_bytes(damaged)
            assert la.feedback(path).problem_counts["damaged file"] == 1

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030"])
    def test_csv(self, tmp_path: Path, encoding: str) -> None:
        path = write_csv(tmp_path / "pairs.csv", encoding)
        found = la.feedback(path, encoding="gb18030" if encoding == "gb18030" else "utf-8")
        assert without_places(found) == expected()
        assert [row.place for row in found.rows] == [f"{path}:{line}" for line in (2, 3, 4)]

    def test_long_cells_of_csv(self, tmp_path: Path) -> None:
        path = tmp_path / "pairs.csv"
        limit = csv.field_size_limit()
        path.write_text(f"draft,final\n{'word ' * 50_000},{'word ' * 50_000}\n", encoding="utf-8")
        assert la.feedback(path).rows[0].verdict == "used as is"
        assert csv.field_size_limit() == limit

    def test_parquet(self, tmp_path: Path) -> None:
        pa = pytest.importorskip("pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        path = tmp_path / "pairs.parquet"
        pq.write_table(pa.Table.from_pylist([{**row, "unused": 1} for row in ROWS]), path)
        found = la.feedback(path)
        assert without_places(found) == expected()
        assert found.rows[1].place == f"{path}: row 2"
        with open(path, "rb") as file:
            assert without_places(la.feedback(file, format="parquet")) == expected()

    def test_data_frames(self) -> None:
        pa, pd, pl = (pytest.importorskip(name) for name in ("pyarrow", "pandas", "polars"))
        table = pa.Table.from_pylist(ROWS)
        frames = [table, table.to_batches()[0], table.to_reader(), pd.DataFrame(ROWS), pl.DataFrame(ROWS)]
        for frame in frames:
            assert without_places(la.feedback(frame)) == expected(), type(frame)

    def test_columns_of_dates(self) -> None:
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame({"draft": ["a b"] * 3, "final": ["a b"] * 3, "time": pd.to_datetime(["2024-01-02", None, "2024-01-04"])})
        assert [row.time for row in la.feedback(frame).rows] == [date(2024, 1, 2), None, date(2024, 1, 4)]
        rows = [{"draft": "a", "final": "a", "time": value} for value in (date(2024, 5, 6), datetime(2024, 5, 7, 23, 59))]
        assert [row.time for row in la.feedback(rows).rows] == [date(2024, 5, 6), date(2024, 5, 7)]

    def test_tuples_and_generators(self) -> None:
        found = la.feedback((row["draft"], row["final"]) for row in ROWS)
        assert [row.edit_share for row in found.rows] == [row.edit_share for row in la.feedback(ROWS).rows]
        assert [row.id for row in found.rows] == ["1", "2", "3"]

    def test_open_files(self, tmp_path: Path) -> None:
        data = write_jsonl(tmp_path / "pairs.jsonl").read_bytes()
        assert without_places(la.feedback(io.BytesIO(data))) == expected()
        stream = io.BytesIO(write_csv(tmp_path / "pairs.csv").read_bytes())
        assert without_places(la.feedback(stream, format="csv")) == expected()
        assert not stream.closed

    def test_other_column_names(self) -> None:
        rows = [{"AI": "a b c", "human": "a b c", "key": 7, "when": "2024-02-03", "model": "m"}]
        (row,) = la.feedback(rows, draft_column="AI", final_column="human", id_column="key", time_column="when").rows
        assert (row.id, row.verdict, row.time) == ("7", "used as is", date(2024, 2, 3))

    def test_a_missing_library_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("pyarrow", "pyarrow.parquet", "zstandard", "compression"):
            monkeypatch.setitem(sys.modules, name, None)
        for ending, extra in ((".parquet", "parquet"), (".jsonl.zst", "zstd")):
            path = tmp_path / f"pairs{ending}"
            path.write_bytes(b"")
            with pytest.raises(la.MissingExtra, match=rf"lookalike\[{extra}\]"):
                la.feedback(path)


GOOD = {"draft": "some words", "final": "some words"}
BAD: list[tuple[Any, str]] = [
    ({"final": "x"}, "missing draft"),
    ({"draft": "x"}, "missing final"),
    ({}, "missing draft"),
    ({"draft": None, "final": "x"}, "null draft"),
    ({"draft": "x", "final": None}, "null final"),
    ({"draft": float("nan"), "final": "x"}, "null draft"),
    ({"draft": "", "final": "x"}, "empty draft"),
    ({"draft": "", "final": ""}, "empty draft"),
    ({"draft": " \n\u200b\u00ad", "final": "x"}, "empty draft"),
    ({"draft": 7, "final": "x"}, "draft is not text"),
    ({"draft": "x", "final": ["x"]}, "final is not text"),
    ({"draft": b"x", "final": "x"}, "draft is not text"),
    ({"draft": "x" * 1001, "final": "x"}, "draft too large"),
    ({"draft": "x", "final": "相" * 334}, "final too large"),
    ("text", "not a pair"),
    (None, "not a pair"),
    (42, "not a pair"),
    (("a", "b", "c"), "not a pair"),
]


class TestBadPairs:
    @pytest.mark.parametrize(("value", "kind"), BAD)
    def test_is_named_and_the_rest_is_judged(self, value: Any, kind: str) -> None:
        found = la.feedback([GOOD, value, GOOD], max_side_bytes=1000)
        assert (found.pairs, found.skipped) == (2, 1)
        assert found.problem_counts == {kind: 1}
        assert [(problem.kind, problem.place, problem.skipped) for problem in found.problems] == [(kind, "item 2", True)]

    def test_an_empty_final_was_discarded(self) -> None:
        for final in ("", "  \n", "\u200b"):
            found = la.feedback([{"draft": "a draft", "final": final}])
            assert found.rows[0].verdict == "discarded"
            assert (found.rows[0].edit_share, found.rows[0].deleted, found.skipped) == (1, 1, 0)
            assert found.problem_counts == {"empty final": 1}

    def test_identical_sides_are_no_problem(self) -> None:
        found = la.feedback([GOOD, GOOD])
        assert found.problem_counts == {}
        assert found.summary.verdicts == {"used as is": 2}

    def test_duplicate_ids_both_count(self) -> None:
        found = la.feedback([{**GOOD, "id": "a"}, {**GOOD, "id": "b"}, {**GOOD, "id": "a"}])
        assert (found.pairs, found.skipped, found.problem_counts) == (3, 0, {"duplicate id": 1})
        assert found.problems[0].place == "item 3"

    @pytest.mark.parametrize("time", ["yesterday", "2024-13-01", 1700000000, ["2024-01-01"], "2024-01-01 25:00"])
    def test_an_unreadable_time(self, time: Any) -> None:
        found = la.feedback([{**GOOD, "time": time}])
        assert (found.pairs, found.skipped, found.problem_counts) == (1, 0, {"unreadable time": 1})
        assert found.trend() == []

    @pytest.mark.parametrize("text", ["\ud800 lone", "a\x00b", "\u202eabc", "🏳️‍🌈 flag", "e\u0301" * 5])
    def test_odd_characters(self, text: str, tmp_path: Path) -> None:
        found = la.feedback([{"id": text, "draft": text, "final": text + " more", "model": text}], by="model")
        assert found.rows[0].edit_share > 0
        assert found.to_html(tmp_path / "a.html")
        found.to_csv(tmp_path / "a.csv")
        json.dumps(found.to_dict(rows=True))

    def test_many_problems_stay_counted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("lookalike.drafts.report.MAX_PROBLEMS", 3)
        seen: list[Any] = []
        found = la.feedback([None] * 10, on_problem=seen.append)
        assert (len(found.problems), found.skipped, len(seen)) == (3, 10, 10)


class TestBadFiles:
    def read(self, tmp_path: Path, data: bytes, name: str = "pairs.jsonl") -> la.FeedbackReport:
        path = tmp_path / name
        path.write_bytes(data)
        return la.feedback(path)

    @pytest.mark.parametrize(
        ("line", "kind"),
        [
            (b"{not json", "invalid JSON"),
            (b'{"draft": "x", "final": ', "invalid JSON"),
            (b"[" * 100_000, "invalid JSON"),
            (b"1" * 5000, "invalid JSON"),
            (b'{"draft": "\xff", "final": "x"}', "wrong encoding"),
            (b'"text"', "not a pair"),
        ],
    )
    def test_bad_lines(self, tmp_path: Path, line: bytes, kind: str) -> None:
        good = json.dumps(GOOD).encode()
        found = self.read(tmp_path, good + b"\n" + line + b"\n" + good)
        assert (found.pairs, found.problem_counts) == (2, {kind: 1})
        assert found.problems[0].place == f"{tmp_path / 'pairs.jsonl'}:2"

    def test_a_line_that_is_too_long(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("lookalike.corpus.row.MAX_LINE_BYTES", 100)
        good = json.dumps(GOOD).encode()
        for padding in (100, 3_000_000):
            found = self.read(tmp_path, good + b"\n" + b" " * padding + b"{}\n" + good)
            assert (found.pairs, found.problem_counts) == (2, {"line too long": 1})

    def test_a_truncated_gzip_file(self, tmp_path: Path) -> None:
        lines = "".join(json.dumps({"draft": f"words {i} {i * i}", "final": "other"}) + "\n" for i in range(5000))
        data = gzip.compress(lines.encode())
        found = self.read(tmp_path, data[: len(data) // 2], "pairs.jsonl.gz")
        assert 0 < found.pairs < 5000
        assert found.problem_counts == {"damaged file": 1}
        assert self.read(tmp_path, b"no gzip", "pairs.jsonl.gz").problem_counts == {"damaged file": 1}

    def test_bad_rows_of_csv(self, tmp_path: Path) -> None:
        found = self.read(tmp_path, b"draft,final\na b,a b\nshort\n\n\xff,x\nx y,x y,z\n", "pairs.csv")
        assert (found.pairs, found.problem_counts) == (2, {"missing final": 1, "wrong encoding": 1})
        assert [problem.place.rpartition(":")[2] for problem in found.problems] == ["3", "5"]

    @pytest.mark.parametrize("header", [b"", b"a,b\n1,2\n"])
    def test_a_table_without_the_columns(self, tmp_path: Path, header: bytes) -> None:
        with pytest.raises(la.InputError, match=r"draft|empty"):
            self.read(tmp_path, header, "pairs.csv")

    def test_what_is_not_parquet(self, tmp_path: Path) -> None:
        pytest.importorskip("pyarrow")
        with pytest.raises(la.InputError, match="Parquet"):
            self.read(tmp_path, b"PAR1 not really", "pairs.parquet")

    def test_names_that_say_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(la.InputError, match="format="):
            self.read(tmp_path, b"", "pairs.txt")
        with pytest.raises(la.InputError, match="does not exist"):
            la.feedback(tmp_path / "nothing.jsonl")
        with pytest.raises(la.InputError, match="directory"):
            la.feedback(tmp_path, format="jsonl")

    @pytest.mark.parametrize("encoding", ["utf-16", "no-such", "rot13", ""])
    def test_encodings(self, tmp_path: Path, encoding: str) -> None:
        with pytest.raises(la.InputError, match="encoding="):
            la.feedback(write_jsonl(tmp_path / "pairs.jsonl"), encoding=encoding)


@pytest.mark.parametrize("source", [7, None, b"bytes", {"draft": ["a"], "final": ["b"]}, object()])
def test_what_is_no_source(source: Any) -> None:
    with pytest.raises(la.InputError, match="pairs is a"):
        la.feedback(source)


def test_frames_without_the_columns() -> None:
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    for frame in (pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]}), pa.table({"a": [1]})):
        with pytest.raises(la.InputError, match="no column 'draft'"):
            la.feedback(frame)
    for wrong in (pd.Series(["a"]), pl.Series(["a"]), pl.LazyFrame({"draft": ["a"]}), pa.array(["a"])):
        with pytest.raises(la.InputError, match="pairs is a"):
            la.feedback(wrong)
