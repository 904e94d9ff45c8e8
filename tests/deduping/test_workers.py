"""The same files, lists and reports for any number of workers: formats, packing, long lines, errors, limits, resuming, budgets."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from dedupe_corpora import near_copies, rows_of, write_jsonl
from lookalike.corpus.formats import lines
from lookalike.deduping import early_output, local, working_files
from lookalike.leaders import decider

TEXTS = near_copies(31, 260, 60)
WORKERS = (1, 2, 5)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BLOCK", 4000)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def figures(report: la.DedupeReport) -> Any:
    found = report.to_dict()
    return [found[name] for name in ("documents", "kept", "removed", "clusters", "compared", "skipped")], report.problems


def same_for_all(tmp_path: Path, inputs: Any, out: str, **options: Any) -> dict[str, bytes]:
    """What every number of workers makes of it."""
    made, reports = [], []
    for workers in WORKERS:
        folder = tmp_path / f"workers{workers}"
        folder.mkdir()
        reports.append(figures(la.dedupe(inputs, out=f"{folder}/{out}", removed=folder / "removed.jsonl", workers=workers, **options)))
        made.append(contents(folder))
    assert made[1:] == made[:1] * (len(made) - 1)
    assert reports[1:] == reports[:1] * (len(reports) - 1)
    return made[0]


def written_late(tmp_path: Path, inputs: Any, out: str, **options: Any) -> dict[str, bytes]:
    """The same by one worker, and written when everything was read, as other formats are."""
    late = tmp_path / "late"
    late.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(early_output.EarlyOutput, "possible", lambda *_: False)
        la.dedupe(inputs, out=f"{late}/{out}", removed=late / "removed.jsonl", workers=1, **options)
    return contents(late)


def written(tmp_path: Path, name: str, rows: list[dict[str, Any]]) -> Path:
    path = tmp_path / name
    if name.endswith(".parquet"):
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=50)
    elif name.endswith(".csv"):
        path.write_text("id,text\n" + "".join(f"{row['id']},{row['text']}\n" for row in rows), encoding="utf-8")
    elif name.endswith(".json"):
        path.write_text(json.dumps(rows), encoding="utf-8")
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress(write_jsonl(tmp_path / "plain", rows).read_bytes()))
    elif name.endswith(".zst"):
        zstandard = pytest.importorskip("zstandard")
        path.write_bytes(zstandard.compress(write_jsonl(tmp_path / "plain", rows).read_bytes()))
    else:
        write_jsonl(path, rows)
    return path


@pytest.mark.parametrize(
    ("name", "out"),
    [
        ("in.jsonl", "out.jsonl"),
        ("in.jsonl", "out.jsonl.gz"),
        ("in.jsonl.gz", "out.jsonl"),
        ("in.jsonl.gz", "out.jsonl.gz"),
        ("in.jsonl.zst", "out.jsonl.zst"),
        ("in.csv", "out.csv"),
        ("in.json", "out.json"),
        ("in.parquet", "out.parquet"),
        ("in.jsonl", "folder/"),
        ("in.jsonl", "new/folder/out.jsonl"),
    ],
)
def test_formats(tmp_path: Path, name: str, out: str) -> None:
    source = written(tmp_path, name, rows_of(TEXTS))
    assert same_for_all(tmp_path, source, out) == written_late(tmp_path, source, out)


@pytest.mark.parametrize(
    "options", [{"method": "simhash"}, {"method": "exact"}, {"method": "bytes"}, {"keep": "longest"}, {"recipe": "chars"}]
)
def test_methods_and_orders(tmp_path: Path, options: dict[str, Any]) -> None:
    same_for_all(tmp_path, written(tmp_path, "in.jsonl", rows_of(TEXTS)), "out.jsonl", **options)


@pytest.mark.parametrize("options", [{"annotate": True}, {"level": "line"}, {"keep": "best:n"}])
def test_rows_that_are_not_written_as_they_came(tmp_path: Path, options: dict[str, Any]) -> None:
    rows = rows_of([f"{text}\nAll rights reserved." for text in TEXTS], n=[i * 7 % 11 for i in range(len(TEXTS))])
    same_for_all(tmp_path, written(tmp_path, "in.jsonl", rows), "out.jsonl", **options)


def test_many_files_into_a_folder(tmp_path: Path) -> None:
    """Some are empty, or have nothing that can be used; one ends without a line break, one begins with a mark."""
    rows = rows_of(TEXTS)
    inputs = [write_jsonl(tmp_path / f"in{i}.jsonl", rows[i * 40 : i * 40 + 40]) for i in range(5)]
    inputs[1].write_bytes(inputs[1].read_bytes().rstrip(b"\n"))
    inputs[2].write_bytes(b"\xef\xbb\xbf" + inputs[2].read_bytes())
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "broken.jsonl.gz").write_bytes(b"\x1f\x8b no")
    write_jsonl(tmp_path / "copies.jsonl", rows_of(TEXTS[:3]))
    inputs = [*sorted(tmp_path.glob("*.jsonl*"))]
    made = same_for_all(tmp_path, inputs, "out/", on_error="skip")
    assert made == written_late(tmp_path, inputs, "out/", on_error="skip")
    assert made["out/in0.jsonl"].startswith(b"{")
    assert made["out/in1.jsonl"].endswith(b"}\n")
    assert made["out/in2.jsonl"].startswith(b"{")
    assert made["out/copies.jsonl"].count(b"\n") == 3
    assert made["out/empty.jsonl"] == b""


def test_long_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many blocks, and too long for any."""
    monkeypatch.setattr("lookalike.corpus.batches.MAX_ROW_BYTES", 30_000)
    texts = [*TEXTS[:40], "x y " * 4000, *TEXTS[40:60], "z " * 40_000, TEXTS[0], "x y " * 4000, "w " * 50_000]
    made = same_for_all(tmp_path, written(tmp_path, "in.jsonl", rows_of(texts)), "out.jsonl", on_error="skip")
    assert made["out.jsonl"].count(b"x y x y") > 1000
    assert b"z z z z" not in made["out.jsonl"]


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("name", ["in.jsonl", "in.jsonl.gz"])
def test_what_goes_wrong_is_said_at_its_place_and_leaves_nothing(tmp_path: Path, workers: int, name: str) -> None:
    data = write_jsonl(tmp_path / "plain", rows_of(TEXTS)).read_bytes().splitlines(keepends=True)
    damaged = b"".join([*data[:200], b'{"text": \n', *data[200:]])
    source = tmp_path / name
    source.write_bytes(gzip.compress(damaged) if name.endswith("gz") else damaged)
    with pytest.raises(la.InputError, match=r"in\.jsonl(\.gz)?:201: invalid JSON"):
        la.dedupe(source, out=tmp_path / "a" / "b" / "out.jsonl", workers=workers)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["plain", name])


@pytest.mark.parametrize("workers", WORKERS)
def test_a_limit_that_is_exceeded_leaves_nothing(tmp_path: Path, workers: int) -> None:
    source = written(tmp_path, "in.jsonl", rows_of(TEXTS))
    for out in ("out.jsonl", "out/"):
        with pytest.raises(la.TooManyRemoved):
            la.dedupe(source, out=f"{tmp_path}/{out}", workers=workers, max_removed=3)
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


@pytest.mark.parametrize("workers", WORKERS)
def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    source = written(tmp_path, "in.jsonl", rows_of(TEXTS))
    monkeypatch.setattr(early_output._native, "write_kept_rows", full)
    with pytest.raises(la.InputError, match=r"out\.jsonl' cannot be written: No space left on device"):
        la.dedupe(source, out=tmp_path / "out.jsonl", workers=workers)
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


@pytest.mark.parametrize("workers", WORKERS)
def test_resuming_with_another_number_of_workers(tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = [write_jsonl(tmp_path / f"in{i}.jsonl", [{"text": text} for text in TEXTS[i::2]]) for i in range(2)]
    la.dedupe(sources, out=tmp_path / "whole.jsonl", workers=1)
    append, appended = working_files.Journal.append, 0

    def interrupted(self: working_files.Journal, *arguments: Any) -> int:
        nonlocal appended
        appended += 1
        if appended == 5:
            raise KeyboardInterrupt
        return append(self, *arguments)

    monkeypatch.setattr(working_files.Journal, "append", interrupted)
    with pytest.raises(KeyboardInterrupt):
        local.dedupe(sources, out=tmp_path / "out.jsonl", resume=True, workers=6 - workers)
    assert not list(tmp_path.glob("*.part")), "what was begun lies in the working folder"
    monkeypatch.setattr(working_files.Journal, "append", append)
    report = local.dedupe(sources, out=tmp_path / "out.jsonl", resume=True, workers=workers)
    assert "resume" in report.stages
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert not list(tmp_path.glob(".lookalike*"))


@pytest.mark.parametrize("name", ["in.jsonl", "in.jsonl.gz"])
def test_features_that_do_not_fit_go_to_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Those that stay where they were made, those that were copied since few of a batch were kept, and those that were made again."""
    distinct = near_copies(5, 400, 400)
    copies = [distinct[i % 7] for i in range(400)]
    texts = [text for pair in zip(distinct, copies, strict=True) for text in pair] + distinct
    source = written(tmp_path, name, rows_of(texts))
    (tmp_path / "plenty").mkdir()
    expected = same_for_all(tmp_path / "plenty", source, "out.jsonl")
    monkeypatch.setattr(decider, "LEAST_FEATURES", 1 << 14)
    monkeypatch.setattr(decider, "FILE_BYTES", 1 << 15)
    (tmp_path / "little").mkdir()
    assert same_for_all(tmp_path / "little", source, "out.jsonl", memory="1M") == expected
    assert la.dedupe(source, memory="1M", workers=2).to_dict()["spilled_bytes"] > 0


def test_all_cores_are_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.system.os.sched_getaffinity", lambda _: range(7), raising=False)
    assert local.Resources().threads == 7
    assert local.Resources(workers=3).threads == 3


def test_an_output_that_is_no_folder_is_not_called_one(tmp_path: Path) -> None:
    source = written(tmp_path, "in.jsonl", rows_of(TEXTS))
    (tmp_path / "there").write_text("what stays")
    with pytest.raises(la.InputError, match=r"there' is there and is no folder: name a new folder, or a file by its ending"):
        la.dedupe(source, out=tmp_path / "there")
    assert (tmp_path / "there").read_text() == "what stays"
