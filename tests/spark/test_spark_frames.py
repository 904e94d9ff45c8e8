"""Functions on frames of Spark, the command line, and a cluster that loses an executor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lookalike as la
from dedupe_corpora import near_copies, read_jsonl, rows_of, write_jsonl
from lookalike.cli import main
from lookalike.deduping.spark.blobs import SCHEMA, Blob, batch_of
from lookalike.deduping.spark.engine import configured
from lookalike.deduping.spark.frames import frame_of
from lookalike.deduping.spark.hamming import first_common, near_others, near_pairs, routes
from lookalike.deduping.spark.work import Work
from spark_session import CONFIGURATION, find_java, shared_session

pytestmark = pytest.mark.xdist_group("spark")
CODES = {"id": "long", "code": "long"}
TESTS = Path(__file__).parent.parent


def called(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """The exit code of a command, and what it said."""
    capfd.readouterr()
    with pytest.raises(SystemExit) as stop:
        main([str(each) for each in arguments])
    return int(stop.value.code or 0), *capfd.readouterr()


@pytest.fixture(scope="module")
def session() -> Any:
    return shared_session()


def codes_with_neighbours(count: int, seed: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    draw = np.random.default_rng(seed)
    codes = draw.integers(0, 2**64, count, dtype=np.uint64)
    for place in range(1, count, 2):
        code = int(codes[draw.integers(0, place)])
        for bit in draw.choice(64, draw.integers(0, 8), replace=False).tolist():
            code ^= 1 << bit
        codes[place] = code
    return codes


def within(left: list[int], right: list[int], k: int) -> set[tuple[int, int, int]]:
    """All pairs by all, with numbers of rows."""
    mask = 2**64 - 1
    found = ((i, j, ((a ^ b) & mask).bit_count()) for i, a in enumerate(left) for j, b in enumerate(right))
    return {each for each in found if each[2] <= k}


@pytest.mark.parametrize("k", [0, 1, 3, 6, 16])
def test_blocks_find_each_pair_once(k: int) -> None:
    """Whatever the number of partitions, each pair within k is found in one partition, once; two sets likewise."""
    codes = np.unique(codes_with_neighbours(300, k))
    found: list[tuple[int, int, int]] = []
    between: list[tuple[int, int, int]] = []
    for place, targets in routes(codes, k, 3):
        for target in range(3):
            here = np.flatnonzero(targets == target)
            left, right, distances = near_pairs(codes[here], place, k)
            found += zip(*np.sort((here[left], here[right]), axis=0).tolist(), distances.tolist(), strict=True)
            left, right, distances = near_others(codes[here], codes[here], place, k)
            between += zip(here[left].tolist(), here[right].tolist(), distances.tolist(), strict=True)
    wanted = within(codes.tolist(), codes.tolist(), k)
    assert sorted(between) == sorted(wanted)
    assert sorted(found) == sorted((i, j, d) for i, j, d in wanted if i < j)
    assert (first_common(codes[:1], ~codes[:1], k) == k + 1).all()


def test_arrays_of_hashes_are_kept_as_they_are(session: Any, tmp_path: Path) -> None:
    """No time goes into making them smaller; tables are packed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with configured(session, 1):
        work = Work(session, str(tmp_path / "work"))
        blobs = session.createDataFrame(pa.Table.from_batches([batch_of([Blob(1, 2, b"name", b"hash")])]), SCHEMA)
        assert [tuple(row) for row in work.saved(blobs, "rows").collect()] == [(1, 2, b"name", b"hash", b"")]
        work.saved(frame_of(session, [(1, 2)], CODES), "table")
    parts = [pq.read_metadata(path).row_group(0).column(0) for path in sorted((tmp_path / "work").rglob("part-*.parquet"))]
    assert [part.compression for part in parts] == ["UNCOMPRESSED", "ZSTD"]
    assert not parts[0].has_dictionary_page


def test_hamming_joins(session: Any) -> None:
    left, right = (codes_with_neighbours(400, seed).view(np.int64).tolist() for seed in (1, 1))
    right = right[100:] + [code ^ 5 for code in right[:50]]
    first, second = (frame_of(session, list(enumerate(codes)), CODES).repartition(3) for codes in (left, right))
    found = [tuple(row) for row in la.spark.hamming_join(first, second, k=3, partitions=3).collect()]
    assert len(found) == len(set(found))
    assert set(found) == within(left, right, 3)
    twice = [*left, left[0], left[0]]
    itself = frame_of(session, list(enumerate(twice)), CODES)
    found = [tuple(row) for row in la.spark.hamming_join(itself, k=3, partitions=2).collect()]
    assert len(found) == len(set(found))
    assert set(found) == {(i, j, d) for i, j, d in within(twice, twice, 3) if i < j}
    with pytest.raises(la.InputError, match="no column 'code'"):
        la.spark.hamming_join(first.drop("code"))
    with pytest.raises(la.InputError, match="k=40"):
        la.spark.hamming_join(first, k=40)


def test_fingerprints_of_a_column(session: Any) -> None:
    texts = ["one text of some words", None, "相似的文本", ""]
    frame = frame_of(session, [(text,) for text in texts], {"text": "string"})
    found = frame.select(*(la.spark.fingerprint("text", kind).alias(kind) for kind in ("simhash", "digest", "minhash"))).collect()
    for text, row in zip(texts, found, strict=True):
        if text is None:
            assert list(row) == [None, None, None]
        else:
            assert row.simhash & 2**64 - 1 == la.simhash(text).value
            assert row.digest == la.digest(text).value
            assert row.minhash == la.minhashes([text])[0].tolist()
    with pytest.raises(la.InputError, match="choose simhash, digest or minhash"):
        la.spark.fingerprint("text", "tlsh")


def test_searching_a_store(session: Any, tmp_path: Path) -> None:
    texts = near_copies(4, 200)
    with la.open(tmp_path / "known") as index:
        index.add([(f"k{i}", text) for i, text in enumerate(texts[:150])])
        found = index.search_texts(texts, limit=3)
        wanted = {(place, match.id, match.score) for place, matches in enumerate(found) for match in matches}
    frame = frame_of(session, list(enumerate(texts)), {"id": "long", "text": "string"}).repartition(2)
    assert {tuple(row) for row in la.spark.search(frame, tmp_path / "known", limit=3).collect()} == wanted
    with pytest.raises(la.InputError, match="no column 'body'"):
        la.spark.search(frame, tmp_path / "known", text="body")


def test_the_command_line(session: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The session of the tests is the active one, and the command uses it."""
    given = write_jsonl(tmp_path / "in.jsonl", rows_of(near_copies(6, 300)))
    _, local, _ = called(capfd, "dedupe", given, "--out", tmp_path / "local.jsonl", "--json", "-q")
    code, said, problems = called(capfd, "dedupe", given, "--out", tmp_path / "spark", "--json", "-q", "--engine", "spark")
    assert code == 0, problems
    assert json.loads(said)["removed"] == json.loads(local)["removed"] > 10
    lines = sorted(line for path in (tmp_path / "spark").glob("part-*") for line in path.read_text(encoding="utf-8").splitlines())
    assert lines == sorted((tmp_path / "local.jsonl").read_text(encoding="utf-8").splitlines())
    code, _, problems = called(capfd, "dedupe", given, "--out", tmp_path / "x", "--per-file")
    assert code == 2
    assert "--per-file is for --engine spark" in problems


def test_plans_for_spark(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = write_jsonl(tmp_path / "in.jsonl", rows_of(near_copies(6, 300)))
    small, large = (la.plan(given, engine="spark", documents=count).spark for count in (1_000_000, 10_000_000_000))
    assert small is not None
    assert large is not None
    assert large.core_hours == pytest.approx(10_000 * small.core_hours)
    assert large.tasks == 40_000
    assert small.shuffled - small.texts == pytest.approx(1_000_000 * (18 + 14 * 10), rel=0.01)
    assert "core-hours" in called(capfd, "plan", given, "--engine", "spark", "--documents", 1_000_000)[1]
    with pytest.raises(la.InputError, match="documents= is for engine='spark'"):
        la.plan(given, documents=5)


CLUSTER = {
    "spark.executor.memory": "512m",
    "spark.python.worker.faulthandler.enabled": "true",
    # Whoever is dead on this machine stays dead: blocks that went with it are not asked for three times, five seconds apart.
    "spark.shuffle.io.maxRetries": "1",
    "spark.shuffle.io.retryWait": "100ms",
    "spark.locality.wait": "0",
}


def packed_python(folder: Path) -> Path:
    """An archive with an interpreter, as venv-pack makes them; this one stands for that of the tests, and notes that it was called."""
    script = folder / "python"
    script.write_text(f'#!/bin/sh\necho called >> {folder / "packed-python"}\nexec {sys.executable} "$@"\n')
    script.chmod(0o755)
    with tarfile.open(folder / "packed.tar.gz", "w:gz") as archive:
        archive.add(script, "bin/python")
    return folder / "packed.tar.gz"


def submitted(script: Path, archive: Path, *arguments: object) -> list[str]:
    """The command of docs/spark.md, on a cluster of two processes on this machine."""
    import pyspark

    settings = [word for name, value in (CONFIGURATION | CLUSTER).items() for word in ("--conf", f"{name}={value}")]
    command = [Path(pyspark.__file__).parent / "bin" / "spark-submit", "--master", "local-cluster[2,1,1024]", *settings]
    return [str(each) for each in (*command, "--archives", f"{archive}#lookalike", script, *arguments)]


def test_an_executor_that_dies(tmp_path: Path) -> None:
    """spark-submit with a packed environment runs examples/submit.py. Two executors; one is killed while pairs are compared. Its tasks
    are done again, and nobody sees a difference. A store travels to executors. Runs that are told to stop say nothing of Java's, and
    leave nothing behind."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    find_java()
    (tmp_path / "in").mkdir()
    rows = rows_of(near_copies(9, 1200, 60))
    for part in range(4):
        pq.write_table(pa.Table.from_pylist(rows[part::4]), tmp_path / "in" / f"{part}.parquet")
    local = la.dedupe(tmp_path / "in", removed=tmp_path / "local.jsonl")
    command = submitted(TESTS / "spark_cluster.py", packed_python(tmp_path), tmp_path / "in", tmp_path)
    environment = os.environ | {"PYSPARK_PYTHON": "./lookalike/bin/python", "PYSPARK_DRIVER_PYTHON": sys.executable}
    ran = subprocess.run(command, capture_output=True, text=True, timeout=1800, env=environment, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    said = json.loads(ran.stdout.splitlines()[-1])
    assert said["submitted"] == [0, 2]
    assert (tmp_path / "submitted.jsonl").read_bytes() == (tmp_path / "local.jsonl").read_bytes()
    assert len(read_jsonl(tmp_path / "submitted.jsonl")) > 100
    kept = sum(pq.read_table(path).num_rows for path in (tmp_path / "submitted").glob("part-*.parquet"))
    assert kept == local.documents - len(local.removed)
    assert (tmp_path / "packed-python").exists(), "executors did not take the interpreter of the archive"
    assert said["pid"]
    assert said["found"] == [["q0", "k0"], ["q1", "k1"]]
    assert said["stopped"] == ["KeyboardInterrupt", "SystemExit 143"]
    after = ran.stderr.partition("stopping")[2]
    assert "\tat " not in after, after[:2000]
    assert "Exception" not in after, after[:2000]
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".lookalike")], "a working folder stayed"
    assert said["executors"] >= 3, "no other executor came in place of the killed one"
