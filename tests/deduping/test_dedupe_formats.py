"""Formats in and out: columns and types stay, files are whole or not there, and what is wrong is named."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import datasets
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

import lookalike as la
from dedupe_corpora import near_copies, read_jsonl, rows_of, write_jsonl
from lookalike.corpus.formats import lines

TEXTS = ["one two three", "four", "ONE two three!", "five", "four"]
KEPT = [0, 1, 3]
TABLE = pa.table(
    {
        "key": pa.array([1, 2, 3, 4, 5], pa.int32()),
        "text": TEXTS,
        "tags": [["a"], [], None, ["b", "c"], []],
        "when": pa.array([0, 1, 2, 3, 4], pa.timestamp("us", "UTC")),
        "kind": pa.array(["x", "y", "x", "x", "y"]).dictionary_encode(),
    }
)


@pytest.mark.parametrize("convert", [pa.Table.to_batches, lambda table: [table]], ids=["batch", "table"])
def test_arrow(convert: Any) -> None:
    report = la.dedupe(convert(TABLE)[0], id_column="key")
    kept = report.kept
    assert kept.schema == TABLE.schema
    assert kept.column("key").to_pylist() == [1, 2, 4]
    assert [(removed.id, removed.kept_id) for removed in report.removed] == [(3, 1), (5, 2)]


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())], ids=str)
def test_arrow_text_types(kind: Any) -> None:
    table = TABLE.set_column(1, "text", TABLE.column("text").cast(kind))
    assert la.dedupe(table).kept.column("key").to_pylist() == [1, 2, 4]


def test_arrow_slices_and_nulls() -> None:
    table = pa.table({"text": pa.chunked_array([["x", None, "a b"], ["A b", None]])}).slice(1)
    report = la.dedupe(table)
    assert report.kept.column("text").to_pylist() == [None, "a b", None]
    assert report.verdicts.ledger.without_text == 2


def test_polars() -> None:
    frame = pl.from_arrow(TABLE)
    assert isinstance(frame, pl.DataFrame)
    report = la.dedupe(frame, id_column="key")
    assert report.kept.equals(frame[KEPT])
    assert report.kept.schema == frame.schema
    assert [removed.id for removed in report.removed] == [3, 5]


def test_pandas() -> None:
    frame = pd.DataFrame({"text": [*TEXTS, None], "n": range(6), "when": pd.date_range("2026-01-01", periods=6)}, index=list("uvwxyz"))
    kept = la.dedupe(frame).kept
    assert kept.index.tolist() == ["u", "v", "x", "z"]
    assert kept.dtypes.equals(frame.dtypes)
    newest = la.dedupe(frame, keep="newest:when").kept
    assert newest.index.tolist() == ["w", "x", "y", "z"]


def test_hugging_face_dataset() -> None:
    dataset = datasets.Dataset.from_dict({"text": TEXTS, "n": list(range(5)), "tags": [["a"], [], ["b"], [], []]})
    shuffled = dataset.select([4, 3, 2, 1, 0])
    kept = la.dedupe(shuffled).kept
    assert isinstance(kept, datasets.Dataset)
    assert kept.features == dataset.features
    assert kept["n"][:] == [4, 3, 2]


def test_mappings() -> None:
    rows = [{"text": text, "n": i} for i, text in enumerate(TEXTS)]
    assert la.dedupe(rows).kept == [rows[i] for i in KEPT]


def test_a_table_without_the_column() -> None:
    with pytest.raises(la.InputError, match="text_column='body': no row has a column 'body'; the columns are 'key', 'text'"):
        la.dedupe(TABLE, text_column="body")
    with pytest.raises(la.InputError, match="column 'key' holds int32"):
        la.dedupe(TABLE, text_column="key")


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
def test_packed_lines(tmp_path: Path, packing: str) -> None:
    data = "".join(json.dumps(row) + "\n" for row in rows_of(TEXTS)).encode()
    pack = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}[packing]
    unpack = {"": bytes, ".gz": gzip.decompress, ".zst": lambda packed: zstandard.ZstdDecompressor().decompressobj().decompress(packed)}[
        packing
    ]
    source = tmp_path / f"in.jsonl{packing}"
    source.write_bytes(pack(data))
    target = tmp_path / f"out.jsonl{packing}"
    la.dedupe(source, out=target, removed=tmp_path / f"removed.jsonl{packing}")
    expected = [line for i, line in enumerate(data.splitlines(keepends=True)) if i in KEPT]
    assert unpack(target.read_bytes()) == b"".join(expected)
    assert len(unpack((tmp_path / f"removed.jsonl{packing}").read_bytes()).splitlines()) == 2
    plain = tmp_path / "plain.jsonl"
    la.dedupe(source, out=plain)
    assert plain.read_bytes() == b"".join(expected)


@pytest.mark.parametrize("compression", ["snappy", "zstd", "none"])
def test_parquet(tmp_path: Path, compression: str) -> None:
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(TABLE, source, compression=compression, row_group_size=2)
    la.dedupe(source, out=target, id_column="key", removed=tmp_path / "removed.parquet")
    kept = pq.read_table(target)
    assert kept.schema == pq.read_table(source).schema
    assert kept.equals(pq.read_table(source).take(KEPT))
    assert pq.ParquetFile(target).metadata.row_group(0).column(0).compression == {"none": "UNCOMPRESSED"}.get(
        compression, compression.upper()
    )
    assert pq.read_table(tmp_path / "removed.parquet").to_pylist()[0] == {
        "id": "3", "kept_id": "1", "similarity": 1.0, "file": source.as_posix(), "row": 3,
    }  # fmt: skip


def test_parquet_annotated(tmp_path: Path) -> None:
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(TABLE, source)
    la.dedupe(source, out=target, id_column="key", annotate=True)
    found = pq.read_table(target)
    assert found.select(TABLE.column_names).equals(pq.read_table(source))
    assert found.column("kept").to_pylist() == [True, True, False, True, False]
    assert found.column("cluster").to_pylist() == [0, 1, 0, 2, 1]
    assert found.column("kept_id").to_pylist() == ["1", "2", "1", "4", "2"]


def test_several_parquet_files(tmp_path: Path) -> None:
    for name, rows in (("a", [0, 1, 2]), ("b", [3, 4])):
        pq.write_table(TABLE.take(rows), tmp_path / f"{name}.parquet")
    la.dedupe(str(tmp_path / "?.parquet"), out=tmp_path / "one.parquet", id_column="key")
    assert pq.read_table(tmp_path / "one.parquet").column("key").to_pylist() == [1, 2, 4]
    la.dedupe(str(tmp_path / "[ab].parquet"), out=f"{tmp_path}/clean/", id_column="key")
    assert [pq.read_table(tmp_path / "clean" / f"{name}.parquet").num_rows for name in "ab"] == [2, 1]
    pq.write_table(pa.table({"text": ["z"], "key": ["other"]}), tmp_path / "c.parquet")
    with pytest.raises(la.InputError, match=r"c.parquet has other columns or types than .*a.parquet"):
        la.dedupe(str(tmp_path / "[abc].parquet"), out=tmp_path / "mixed.parquet", id_column="key")
    assert not (tmp_path / "mixed.parquet").exists()


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_separated(tmp_path: Path, ending: str) -> None:
    separator = "," if ending == "csv" else "\t"
    source, target = tmp_path / f"in.{ending}", tmp_path / f"out.{ending}"
    rows = [
        ["id", "text", "note"],
        ["1", "one, two\nthree", 'say "x"'],
        ["2", "four", "0012"],
        ["3", "One two three", ""],
        ["4", "five", "a", "more"],
    ]
    with source.open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file, delimiter=separator).writerows(rows)
    report = la.dedupe(source, out=target, removed=tmp_path / "removed.csv")
    with target.open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file, delimiter=separator)) == [*rows[:3], rows[4]]
    assert [(removed.id, removed.kept_id, removed.row) for removed in report.removed] == [("3", "1", 3)]
    assert (tmp_path / "removed.csv").read_text().splitlines() == ["id,kept_id,similarity,file,row", f"3,1,1.0,{source},3"]
    la.dedupe(source, out=tmp_path / f"all.{ending}", annotate=True)
    with (tmp_path / f"all.{ending}").open(newline="", encoding="utf-8") as file:
        found = list(csv.reader(file, delimiter=separator))
    assert found[0] == [*rows[0], "cluster", "kept", "kept_id", "similarity"]
    assert found[3] == [*rows[3], "0", "false", "1", "1.0"]


def test_csv_files_with_other_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text\n1,x\n")
    (tmp_path / "b.csv").write_text("text,id\ny,2\n")
    with pytest.raises(la.InputError, match=r"b.csv has other columns than .*a.csv"):
        la.dedupe([tmp_path / "a.csv", tmp_path / "b.csv"], out=tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_json_array(tmp_path: Path) -> None:
    rows = rows_of(TEXTS)
    (tmp_path / "in.json").write_text(json.dumps(rows, indent=1))
    la.dedupe(tmp_path / "in.json", out=tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text()) == [rows[i] for i in KEPT]


def test_text_and_html_files(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    files = {
        "a.txt": "one two three four five six", "b/c.txt": "seven", "b/d.txt": "ONE two three four five six",
        "e.html": "<html><head><title>t</title><style>one</style></head><body><p>alpha beta</p><script>x</script></body></html>",
        "f.html": "<body><div class=x>Alpha <b>beta</b></div></body>",
    }  # fmt: skip
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    report = la.dedupe(folder, out=tmp_path / "clean", removed=tmp_path / "removed.jsonl")
    found = {
        path.relative_to(tmp_path / "clean").as_posix(): path.read_text() for path in (tmp_path / "clean").rglob("*") if path.is_file()
    }
    assert found == {name: files[name] for name in ("a.txt", "b/c.txt", "e.html")}
    assert [(Path(removed.id).name, Path(removed.kept_id).name, removed.row) for removed in report.removed] == [
        ("d.txt", "a.txt", 0),
        ("f.html", "e.html", 0),
    ]
    with pytest.raises(la.InputError, match="not empty"):
        la.dedupe(folder, out=tmp_path / "clean")
    with pytest.raises(la.InputError, match="text files go to a folder"):
        la.dedupe(folder, out=tmp_path / "out.jsonl")
    with pytest.raises(la.InputError, match="texts and pages have none"):
        la.dedupe(folder, out=f"{tmp_path}/new/", annotate=True)
    with pytest.raises(la.InputError, match="text files have no columns"):
        la.dedupe(folder, keep="best:x")


def test_outputs_are_not_inputs(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "in.jsonl", rows_of(TEXTS))
    (tmp_path / "link.jsonl").symlink_to(source)
    for options in ({"out": source}, {"out": tmp_path / "link.jsonl"}, {"out": tmp_path / "o.jsonl", "removed": source}):
        with pytest.raises(la.InputError, match="is the input"):
            la.dedupe(source, **options)
    with pytest.raises(la.InputError, match=r"removed=.* is out= too"):
        la.dedupe(source, out=tmp_path / "o.jsonl", removed=tmp_path / "o.jsonl")
    with pytest.raises(la.InputError, match="another format"):
        la.dedupe(source, out=tmp_path / "o.parquet")
    with pytest.raises(la.InputError, match="choose one of these endings"):
        la.dedupe(source, out=tmp_path / "o.jsonl", removed=tmp_path / "r.txt")
    assert read_jsonl(source) == rows_of(TEXTS)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "link.jsonl"]


BAD_LINES = {
    "broken": ('{"text": "a"', "in.jsonl:2: invalid JSON: the line is damaged at byte 13"),
    "no object": ("[1]", "in.jsonl:2: not an object"),
    "missing": ('{"txt": "a"}', "in.jsonl:2: no text: no column 'text'"),
    "type": ('{"text": 3}', "in.jsonl:2: wrong type: 'text' is not a text"),
    "id": ('{"text": "a", "id": [1]}', r"in.jsonl:2: unusable id: 'id' is \[1\]"),
    "encoding": (b'{"text": "\xff"}', "in.jsonl:2: invalid JSON"),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_bad_lines(tmp_path: Path, name: str) -> None:
    line, message = BAD_LINES[name]
    source = tmp_path / "in.jsonl"
    source.write_bytes(b'{"text": "one"}\n' + (line if isinstance(line, bytes) else line.encode()) + b'\n{"text": "ONE"}\n{"text": "b"}\n')
    with pytest.raises(la.InputError, match=message):
        la.dedupe(source, out=tmp_path / "out.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]
    found: list[Any] = []
    report = la.dedupe(source, out=tmp_path / "out.jsonl", on_error="skip", on_problem=found.append)
    assert report.skipped == 1
    assert [problem.place for problem in found] == [f"{source}:2"]
    assert read_jsonl(tmp_path / "out.jsonl") == [{"text": "one"}, {"text": "b"}]
    assert [removed.row for removed in report.removed] == [3]


def test_repeated_ids(tmp_path: Path) -> None:
    source = write_jsonl(
        tmp_path / "in.jsonl", [{"id": "x", "text": "a"}, {"id": 1, "text": "b"}, {"id": "x", "text": "c"}, {"id": "1", "text": "d"}]
    )
    with pytest.raises(la.InputError, match=r'in.jsonl:3: repeated id: "x" is also the id of .*in.jsonl:1'):
        la.dedupe(source)
    report = la.dedupe(source, on_error="skip")
    assert (report.documents, report.skipped, report.problem_counts) == (4, 0, {"repeated id": 1})


def test_a_long_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.corpus.batches.MAX_ROW_BYTES", 3000)
    monkeypatch.setattr(lines, "BLOCK", 1000)
    rows = [{"text": "a"}, {"text": "x" * 5000}, {"text": "y" * 2500}, {"text": "A"}, {"text": "z" * 9000}]
    source = write_jsonl(tmp_path / "in.jsonl", rows)
    with pytest.raises(la.InputError, match=r"in.jsonl:2: line too long: the line has more than 3,000 bytes"):
        la.dedupe(source)
    report = la.dedupe(source, out=tmp_path / "out.jsonl", on_error="skip")
    assert report.skipped == 2
    assert read_jsonl(tmp_path / "out.jsonl") == [rows[0], rows[2]]
    assert [(removed.row, removed.similarity) for removed in report.removed] == [(4, 1.0)]


@pytest.mark.parametrize("name", ["in.jsonl", "in.csv", "in.parquet"])
def test_an_empty_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(la.InputError, match=name.replace(".", r"\.")):
        la.dedupe(tmp_path / name)
    report = la.dedupe([tmp_path / name, write_jsonl(tmp_path / "more.jsonl", rows_of(["a"]))], on_error="skip")
    assert report.documents == 1
    assert sum(report.problem_counts.values()) == 1


def test_cut_off_files(tmp_path: Path) -> None:
    data = "".join(json.dumps(row) + "\n" for row in rows_of(near_copies(1, 300))).encode()
    (tmp_path / "in.jsonl.gz").write_bytes(gzip.compress(data)[:-3000])
    with pytest.raises(la.InputError, match=r"in.jsonl.gz:\d+: damaged file"):
        la.dedupe(tmp_path / "in.jsonl.gz")
    assert 0 < la.dedupe(tmp_path / "in.jsonl.gz", on_error="skip").documents < 300
    pq.write_table(TABLE, tmp_path / "in.parquet")
    (tmp_path / "in.parquet").write_bytes((tmp_path / "in.parquet").read_bytes()[:-100])
    with pytest.raises(la.InputError, match=r"in.parquet: unreadable file"):
        la.dedupe(tmp_path / "in.parquet")


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(la.InputError, match="does not exist"):
        la.dedupe(tmp_path / "nothing.jsonl")
    with pytest.raises(la.InputError, match="no file matches"):
        la.dedupe(str(tmp_path / "*.jsonl"))


def test_other_encodings(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(
        "".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in ("相似", "文本", "相似")).encode("gb18030")
    )
    assert len(la.dedupe(source, encoding="gb18030").removed) == 1
    with pytest.raises(la.InputError, match="invalid JSON"):
        la.dedupe(source)


@pytest.mark.parametrize("on_error", ["stop", "skip"])
@pytest.mark.parametrize("data", [b"no gzip at all", gzip.compress(b"one two three\n" * 100)[:-20]], ids=["no gzip", "cut gzip"])
def test_damage_is_told_before_where_the_output_may_go(tmp_path: Path, data: bytes, on_error: str) -> None:
    (tmp_path / "data.gz").write_bytes(data)
    (tmp_path / "whole.gz").write_bytes(gzip.compress(b"one two three\n"))
    with pytest.raises(la.InputError, match=r"data\.gz: (unreadable|damaged) file"):
        la.dedupe([tmp_path / "whole.gz", tmp_path / "data.gz"], out=tmp_path / "out.jsonl", on_error=on_error)
    with pytest.raises(la.InputError, match="text files go to a folder"):
        la.dedupe(tmp_path / "whole.gz", out=tmp_path / "out.jsonl")
