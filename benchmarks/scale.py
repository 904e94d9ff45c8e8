"""Dedupe on Spark beside dedupe on one machine: the same made-up documents, the same process, the same result.

    python benchmarks/scale.py [--documents 200000 1000000] [--master 'local[2]'] [--codec lz4|zstd] [--curator PYTHON] [--simulate]
                               [--corpora FOLDER] [--json OUT]

Documents of 2 KB of made-up words, in Parquet; some 30 % share a bucket with another. Processor time is that of all processes: of this
one, of the Java machine, and of its workers. A small run before the first one warms everything up; starting is not counted. Shuffled
bytes are Spark's own figures. --curator: distributed-curator on the same files, by the interpreter of its own environment (curator.py says
how to make one). --simulate: some partitions of ten billion documents, from the real stages and synthetic keys.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import machine
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from processor import tree_seconds

import lookalike as la

WORDS, WORD = 1 << 16, 6  # words of five letters and a space
LENGTH = 333  # words of a document: 2 KB
FILE_ROWS = 25_000
BILLIONS = 10_000_000_000


def write_corpus(folder: Path, documents: int, seed: int = 1) -> None:
    """Of each file a tenth are near-copies of another document in it, a twentieth copies, and a tenth share two thirds of their words."""
    draw = np.random.default_rng(seed)
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", np.uint8)
    table = np.full((WORDS, WORD), ord(" "), np.uint8)
    table[:, :5] = letters[draw.integers(0, 26, (WORDS, 5))]
    for number, first in enumerate(range(0, documents, FILE_ROWS)):
        count = min(FILE_ROWS, documents - first)
        words = draw.integers(0, WORDS, (count, LENGTH), dtype=np.uint16)
        near, same, half = np.split(draw.permutation(count)[: count // 4], [count // 10, count // 10 + count // 20])
        for chosen, changed in ((near, 5), (same, 0), (half, LENGTH // 3)):
            words[chosen] = words[draw.integers(0, count, len(chosen))]
            first_word = int(draw.integers(0, LENGTH - changed))
            columns = draw.permutation(LENGTH)[:changed] if changed < 10 else np.arange(first_word, first_word + changed)
            words[np.ix_(chosen, columns)] = draw.integers(0, WORDS, (len(chosen), changed), dtype=np.uint16)
        text = table[words].reshape(count, -1)
        offsets = np.arange(count + 1, dtype=np.int64) * LENGTH * WORD
        column = pa.Array.from_buffers(pa.large_string(), count, [None, pa.py_buffer(offsets), pa.py_buffer(text.tobytes())])
        ids = pa.array(np.arange(first, first + count))
        pq.write_table(pa.table({"id": ids, "text": column}), folder / f"part-{number:05}.parquet", row_group_size=8192, compression="zstd")


def corpus_of(documents: int, place: Path) -> Path:
    """The folder with so many documents; it has its name when all of them are there."""
    folder, unfinished = place / str(documents), place / f"{documents}.unfinished"
    if not folder.exists():
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        write_corpus(unfinished, documents)
        unfinished.rename(folder)
    return folder


class Shuffled:
    """Bytes that Spark wrote for its shuffles so far."""

    def __init__(self, session: Any) -> None:
        self._context = session.sparkContext

    def total(self) -> int:
        jvm, empty = self._context._jvm, self._context._gateway.new_array(self._context._jvm.double, 0)
        stages = self._context._jsc.sc().statusStore().stageList(jvm.java.util.ArrayList(), False, False, empty, jvm.java.util.ArrayList())
        return sum(stages.apply(i).shuffleWriteBytes() for i in range(stages.size()))


def measured_local(folder: Path) -> tuple[dict[str, Any], dict[Any, Any]]:
    wall, cpu = time.perf_counter(), time.process_time()
    report = la.dedupe(folder)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return _row(report.documents, wall, cpu, report.to_dict()), {each.id: (each.kept_id, each.similarity) for each in report.removed}


def measured_spark(session: Any, folder: Path) -> tuple[dict[str, Any], dict[Any, Any]]:
    shuffled = Shuffled(session)
    marks: list[tuple[str, int, float]] = []
    seconds = lambda: tree_seconds(os.getpid())  # noqa: E731
    wall, cpu, before = time.perf_counter(), seconds(), shuffled.total()
    report = la.dedupe(folder, engine="spark", progress=lambda at: marks.append((at.stage, shuffled.total(), seconds())))
    wall, cpu = time.perf_counter() - wall, seconds() - cpu
    marks.append(("end", shuffled.total(), seconds()))
    by_stage: dict[str, dict[str, float]] = {}
    for (stage, bytes_, at), (_, after, then) in pairwise(marks):
        row = by_stage.setdefault(stage, {"shuffled": 0, "cpu_us": 0.0})
        row["shuffled"] += (after - bytes_) / report.documents
        row["cpu_us"] += (then - at) * 1e6 / report.documents
    row = _row(report.documents, wall, cpu, report.to_dict())
    total = (marks[-1][1] - before) / report.documents
    row |= {"shuffled_per_document": round(total, 1), "beyond_texts": round(total - by_stage["verify"]["shuffled"], 1)}
    row["stages_per_document"] = {stage: {name: round(value, 1) for name, value in each.items()} for stage, each in by_stage.items()}
    found = {int(each.id): (int(each.kept_id), each.similarity) for each in report.removed.collect()}
    report.close()
    return row, found


def measured_curator(python: str, folder: Path, documents: int, master: str) -> dict[str, Any]:
    """In a process of its own, which has another Spark: starting is not counted, but nothing is warm."""
    script = Path(__file__).with_name("curator.py")
    environment = {name: value for name, value in os.environ.items() if name not in ("PYSPARK_PYTHON", "SPARK_HOME")}
    ran = subprocess.run([python, script, folder, master], capture_output=True, text=True, env=environment, check=False)
    if ran.returncode:
        return {"failed": ran.stderr.strip().splitlines()[-1:]}
    took = json.loads(ran.stdout.strip().splitlines()[-1])
    return {"documents": documents, **took, "cpu_us_per_document": round(took["cpu"] * 1e6 / documents, 2)}


def _row(documents: int, wall: float, cpu: float, said: dict[str, Any]) -> dict[str, Any]:
    kept = {name: said[name] for name in ("removed", "compared")}
    return {
        "documents": documents,
        "wall": round(wall, 2),
        "cpu": round(cpu, 2),
        "cpu_us_per_document": round(cpu * 1e6 / documents, 2),
        **kept,
    }


def spark_session(master: str, codec: str) -> Any:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName("scale").config("spark.ui.enabled", "false").config("spark.driver.memory", "3g")
    builder = builder.config("spark.io.compression.codec", codec).config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    return builder.config("spark.sql.shuffle.partitions", "4").config("spark.log.level", "ERROR").getOrCreate()


def simulated(documents: int = BILLIONS, bands: int = 14, mates: float = 0.31, sample: int = 2_000_000) -> dict[str, Any]:
    """Some partitions of a run with so many documents, as large as there: synthetic keys go through the real stages. One document in ten
    thousand belongs to a template, and all of these share one bucket."""
    from lookalike.deduping.spark.blobs import PAIRS, ROWS, Blob, blobs_of, coded, scattered, target_of
    from lookalike.deduping.spark.costs import DOCUMENTS_PER_PARTITION
    from lookalike.deduping.spark.engine import MOST_PARTITIONS
    from lookalike.deduping.spark.stages import Grouping, PairRound
    from lookalike.leaders.candidates import bucketed

    draw = np.random.default_rng(4)
    partitions = min(-(-documents // DOCUMENTS_PER_PARTITION), MOST_PARTITIONS)
    here = max(sample // DOCUMENTS_PER_PARTITION, 1)
    keys = draw.integers(0, 2**63, (sample, bands), dtype=np.uint64)
    with_mate = draw.permutation(sample)[: int(sample * mates / 2)]
    others = draw.integers(0, sample, len(with_mate))
    for band in range(bands):  # a document and its mate agree in half of their bands
        agree = draw.random(len(with_mate)) < 0.5
        keys[with_mate[agree], band] = keys[others[agree], band]
    rows = bucketed(keys.reshape(-1), bands, np.arange(sample, dtype=np.int64))
    targets = target_of(rows.buckets, here)
    counts = np.bincount(targets.astype(np.int64), minlength=here)
    hot = documents // 10_000
    arrived: list[list[Blob]] = [[] for _ in range(here)]
    for blob in scattered(ROWS, targets, rows.priorities, rows.buckets):
        arrived[blob.p].append(blob)
    template = np.sort(draw.choice(10 * hot, hot, replace=False)) + sample
    arrived[0] += scattered(ROWS, np.zeros(hot, np.uint64), template, np.full(hot, 12345, np.uint64))
    figures = []
    for place, blobs in enumerate(arrived):
        cpu = time.process_time()
        members = list(Grouping(_Known(np.zeros(0, np.int64)))(_batches(blobs)))
        grouped_rows = sum(len(blob.b) // 8 for blob in blobs_of(members))
        found = list(blobs_of(PairRound(_Known([]), partitions)(members)))
        pairs = np.bincount([blob.p for blob in found if blob.kind == PAIRS], [len(blob.b) // 8 for blob in found if blob.kind == PAIRS])
        figures.append(
            {
                "rows": sum(len(blob.b) // 8 for blob in blobs),
                "bytes": sum(len(blob.a) + len(blob.b) for blob in blobs),
                "members": grouped_rows,
                "pairs": int(pairs.sum()),
                "pairs_to_one_partition": int(pairs.max(initial=0)),
                "template": place == 0,
                "cpu": round(time.process_time() - cpu, 2),
            }
        )
    split = 65_536 * FILE_ROWS // 25_000  # documents of a task that reads 128 MB
    steps = np.sort(draw.choice(split, max(split * bands // partitions, 1), replace=False))
    plain = figures[1:] or figures
    mean = documents * bands / partitions
    return {
        "documents": documents,
        "partitions": partitions,
        "simulated_partitions": here,
        "rows_per_partition": round(mean),
        "largest_by_chance": round(1 + 4.8 * (1 / mean) ** 0.5, 4),  # the largest of 65,536 is 4.3 deviations above
        "evenness_of_sample": round(float(counts.std() / counts.mean() / (1 / counts.mean()) ** 0.5), 3),  # 1: as by chance
        "bytes_per_name": round(len(coded(steps.astype(np.int64))) / len(steps), 2),
        "bytes_per_partition": round(mean * (8 + len(coded(steps.astype(np.int64))) / len(steps))),
        "hot_bucket_members": hot,
        "hot_partition_to_mean": round(figures[0]["rows"] / np.mean([each["rows"] for each in plain]), 3),
        "texts_per_partition": round(documents * mates * 2000 / partitions),
        "core_hours_of_buckets_and_pairs": round(float(np.mean([each["cpu"] for each in plain])) * partitions / 3600, 1),
        "by_partition": figures,
    }


class _Known:
    """What Spark would broadcast."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _batches(blobs: list[Any]) -> Any:
    from lookalike.deduping.spark.blobs import batches_of

    return batches_of(blobs)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--documents", type=int, nargs="+", default=[200_000, 1_000_000])
    options.add_argument("--master", default="local[2]")
    options.add_argument("--codec", default="lz4", help="of shuffles: lz4, Spark's default, or zstd: less is shuffled, with more work")
    options.add_argument("--simulate", action="store_true")
    options.add_argument("--curator", metavar="PYTHON", help="an interpreter that has distributed-curator")
    options.add_argument("--curator-most", type=int, default=200_000, help="documents that it gets at most")
    options.add_argument("--corpora", type=Path, help="a folder for the documents: they stay there, and are used again")
    options.add_argument("--json", type=Path)
    chosen = options.parse_args()
    result: dict[str, Any] = machine.describe() | {"runs": []}
    if chosen.simulate:
        result["simulation"] = simulated()
        print(json.dumps(result["simulation"], indent=1))
    if chosen.documents != [0]:
        session = spark_session(chosen.master, chosen.codec)
        result["versions"] |= {"spark": session.version}
        result["codec"] = chosen.codec
        with tempfile.TemporaryDirectory() as place:
            for count in (2_000, *chosen.documents):
                folder = corpus_of(count, chosen.corpora or Path(place))
                local, wanted = measured_local(folder)
                on_spark, found = measured_spark(session, folder)
                same = found == wanted
                each = [engine["cpu_us_per_document"] for engine in (local, on_spark)]
                print(f"{count:>9,}: local {each[0]} us, Spark {each[1]} us a document, same: {same}", flush=True)
                print("          ", json.dumps(on_spark))
                if count in chosen.documents:
                    result["runs"].append({"local": local, "spark": on_spark, "same_result": same})
                    if chosen.curator and count <= chosen.curator_most:
                        result["runs"][-1]["distributed-curator"] = measured_curator(chosen.curator, folder, count, chosen.master)
                        print("           distributed-curator", json.dumps(result["runs"][-1]["distributed-curator"]), flush=True)
                    save(result, chosen.json)
    save(result, chosen.json)
    print(json.dumps(result.get("slope", {}), indent=1))


def save(result: dict[str, Any], path: Path | None) -> None:
    """After each run: what was measured stays, whatever becomes of the next one."""
    if len(result["runs"]) > 1:
        result["slope"] = slope(result["runs"])
    if path:
        path.write_text(json.dumps(result, indent=1) + "\n")


def slope(runs: list[dict[str, Any]]) -> dict[str, float]:
    """Microseconds of a further document, from the first run to the last."""
    first, last = runs[0], runs[-1]
    more = last["local"]["documents"] - first["local"]["documents"]
    local, on_spark = ((last[engine]["cpu"] - first[engine]["cpu"]) * 1e6 / more for engine in ("local", "spark"))
    return {"local_us": round(local, 2), "spark_us": round(on_spark, 2), "ratio": round(on_spark / local, 2)}


if __name__ == "__main__":
    main()
