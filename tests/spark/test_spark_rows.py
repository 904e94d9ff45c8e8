"""Rows of Spark become documents as rows of files do, and go back as they should; without Spark."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from lookalike.corpus.batches import Columns  # noqa: E402
from lookalike.deduping.spark.deciding import Ranging, range_of  # noqa: E402
from lookalike.deduping.spark.decoding import FromColumns, FromFiles, FromLines  # noqa: E402
from lookalike.deduping.spark.identifying import Identifying  # noqa: E402
from lookalike.deduping.spark.inputs import FILE, NUMBER, Places, key_of  # noqa: E402
from lookalike.deduping.spark.levels import UNITS, Cutting, Spanning  # noqa: E402
from lookalike.deduping.spark.outcome import VALUE, Adding  # noqa: E402
from lookalike.deduping.spark.sketching import Priorities, Range  # noqa: E402

LINES = ['{"id": 1, "text": "a"}\n', "\n", "{broken\n", '{"text": null}\n', '{"id": "x", "text": "b\\ud800"}\n']


def batch(**columns: Any) -> Any:
    return pa.RecordBatch.from_pydict(columns)


def test_lines() -> None:
    """Numbers of rows stay with their documents, whatever is left out between them; slices too."""
    whole = batch(n=[90, 10, 11, 12, 13, 14], cell=["skipped\n", *LINES])
    found = FromLines(Columns())(whole.slice(1))
    assert found.numbers.tolist() == [10, 13, 14]
    assert found.with_text.tolist() == [10, 14]
    assert [(each.n, each.problem.kind) for each in found.problems] == [(12, "invalid JSON")]
    assert list(found.batch.texts.texts()) == ["a", "b\ud800"]
    (ids,) = Identifying(FromLines(Columns()), Places(["in.jsonl"], [0]))([whole.slice(1)])
    assert ids.to_pydict() == {"n": [10, 13, 14], "id": ["1", '"in.jsonl:14"', '"x"']}


def test_columns_and_their_problems() -> None:
    given = batch(n=[5, 6, 7], cell=["a", None, "c"], rank=["3", "x", None])
    found = FromColumns(Columns(rank="score", rank_kind="best"))(given)
    assert found.numbers.tolist() == [5, 7]
    assert [(each.n, each.problem.kind) for each in found.problems] == [(6, "wrong type")]
    assert found.batch.ranks is not None
    assert found.batch.ranks.tolist() == [3.0, -np.inf]


def test_files() -> None:
    found = FromFiles(Columns(), "text", None)(
        batch(n=[0, 1, 2], cell=[b"caf\xe9 au lait, tr\xe8s chaud", b"\x89PNG\r\n\x1a\n" + bytes(40), "五".encode()])
    )
    assert found.numbers.tolist() == [0, 2]
    assert list(found.batch.texts.texts()) == ["café au lait, très chaud", "五"]
    assert [each.n for each in found.problems] == [1]


def test_priorities_keep_order_and_number() -> None:
    found = FromColumns(Columns())(batch(n=[3, 4, 5], cell=["bb", "a", "cc"]))
    longest = Priorities("longest", bits=10, rank_bits=29)
    names = longest.of(found.with_text, found)
    assert longest.numbers(names).tolist() == [3, 4, 5]
    assert longest.numbers(np.sort(names)).tolist() == [3, 5, 4]


def test_whole_numbers_need_no_table_of_values() -> None:
    """The largest first, and rows without a value last, before and after seconds beyond what is exact in 53 bits."""
    given = batch(n=[3, 4, 5, 6], cell=["a", "b", "c", "d"], rank=["-7", None, "12", "12"])
    decode = FromColumns(Columns(rank="score", rank_kind="best"))
    parts = pa.Table.from_batches(list(Ranging(decode)([given.slice(0, 2), given.slice(1, 1), given.slice(2)])))
    whole = range_of(parts)
    assert whole == Range(-7, 12)
    ranked = Priorities("best", bits=10, rank_bits=whole.bits, range=whole)
    names = ranked.of(np.array([3, 4, 5, 6]), decode(given))
    assert ranked.numbers(np.sort(names)).tolist() == [5, 6, 3, 4]
    assert names.max() < 1 << 10 + whole.bits
    far = Range(2.0**60, 2.0**60 + 2048)
    assert far.places(np.array([far.most, far.most - 256, far.least, -np.inf])).tolist() == [0, 256, 2048, 2049]
    for wrong in (["1.5"], ["inf"], [None]):
        found = list(Ranging(decode)([batch(n=[1], cell=["a"], rank=wrong)]))
        assert range_of(pa.Table.from_batches(found, parts.schema)) is None


@pytest.mark.parametrize("format", ["jsonl", "parquet", "text"])
def test_cutting(format: str) -> None:
    text = "first\n\nsecond\n\nthird"
    cell = json.dumps({"text": text, "other": 1}) if format == "jsonl" else text.encode() if format == "text" else text
    target = {"jsonl": VALUE, "parquet": "text", "text": "edited"}[format]
    decode: Any = {"jsonl": FromLines(Columns()), "parquet": FromColumns(Columns()), "text": FromFiles(Columns(), "text", None)}[format]
    given = pa.table({NUMBER: [1, 2], target: [cell, cell], UNITS: pa.array([[1], None], pa.list_(pa.int32()))}).to_batches()[0]
    names = tuple(given.schema.names)
    (found,) = Cutting("paragraph", decode, "text", format, names)([given.rename_columns(["c0", "c1", "c2"])])
    assert found.schema.names == ["c0", "c1"]
    cut, whole = found.column("c1").to_pylist()
    assert (json.loads(cut)["text"] if format == "jsonl" else cut.decode() if format == "text" else cut) == "first\n\nthird"
    assert whole == (None if format == "text" else cell), "a file that did not change is copied, and not written"
    wanted = batch(n=[1], cell=[cell + "\n" if format == "jsonl" else cell], units=[[0, 2]])
    (spans,) = Spanning("paragraph", decode)([wanted])
    assert [text[row["begin"] : row["end"]] for row in spans.to_pylist()] == ["first\n\n", "third"]


def test_columns_are_added_to_lines() -> None:
    given = pa.table({VALUE: ['{"a": 1} ', "{}"], FILE: ["f", "f"], "kept": [True, False], "kept_id": ['"x"', "3"]}).to_batches()[0]
    (found,) = Adding(("kept", "kept_id"))([given])
    assert found.column(VALUE).to_pylist() == ['{"a": 1, "kept": true, "kept_id": "x"}', '{"kept": false, "kept_id": 3}']


def test_places() -> None:
    places = Places(["a", "empty", "b"], [0, 4, 4])
    assert [places.place(n) for n in (0, 3, 4, 9)] == ["a:1", "a:4", "b:1", "b:6"]
    assert Places(["a", "b"], [0, 1], documents=True).place(1) == "b"
    assert Places().place(7) == "row 7"
    assert key_of("hdfs:///a/b") == key_of("hdfs:/a/b") == "hdfs:/a/b" != key_of("hdfs://a/b")
    assert key_of("s3a://bucket/a%20b") == "s3a://bucket/a b"
    assert key_of("file:///a%20b/c") == key_of("file:/a b/c") == "/a b/c"
