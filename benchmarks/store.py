"""An embedded store against a plain SQLite table: the same documents, the same durability, in the same process.

    python benchmarks/store.py [--documents 1000000] [--entries 10000000] [--data FOLDER] [--quick] [--json OUT]

Documents of 1 KB are made of the sentences of real text (or of generated text, without --data); every tenth is a changed copy.
They are made before the clock starts. The store keeps the text, SimHash and MinHash; the table keeps id and text; both commit
the same batches, each with an fsync. Both are given strings that nobody has read before (Python keeps the UTF-8 of one that was written
to a table), a disk that has nothing else to write, memory that the machine has, and a process
that has imported what they need. Then the store is searched by text,
every answer verified exactly, and a store of SimHashes alone is opened.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import random
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import machine
import numpy as np

import corpus
import lookalike as la
from lookalike.index.add import BATCH_DOCUMENTS
from lookalike.stores.embedded.database import PAGE_BYTES

SIZE = 1024
QUERIES = 1000
WARMING = 10_000  # documents, so that every step was taken once
TOUCHED = 2800  # bytes of memory for each document before the clock starts: the database, its log, segments, and what is made of the text
OPEN = """
import sys, time
import numpy, lookalike as la
from lookalike.index import index as _
wall = time.perf_counter()
index = la.open(sys.argv[1], read_only=True)
opened = time.perf_counter() - wall
index.search_simhashes(numpy.arange(1, dtype="uint64"), k=3)
print(opened, time.perf_counter() - wall)
"""


def documents(texts: list[str], count: int) -> Iterator[tuple[str, str]]:
    """Sentences of the text, drawn at random until they make 1 KB; every tenth document is an earlier one, a little changed."""
    draw = random.Random(5)
    sentences = [sentence for text in texts for sentence in re.split(r"(?<=[.!?])\s", text) if 20 <= len(sentence) <= 400]
    kept = [""] * 1000
    for number in range(count):
        if number % 10 == 9:
            copied = kept[draw.randrange(min(number, len(kept)))].split(" ")
            copied[draw.randrange(len(copied))] = "changed"
            text = " ".join(copied)
        else:
            text = f"{number} "
            while len(text) < SIZE - 40:
                text += sentences[int(draw.random() * len(sentences))] + " "
            text = text[:SIZE]
        kept[number % len(kept)] = text
        yield f"doc-{number}", text


def fresh(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The same in strings of their own."""
    return [(id_.encode().decode(), text.encode().decode()) for id_, text in rows]


def touch_memory(documents: int) -> None:
    """What the files will take of the system's memory. A virtual machine may have given it back to its host, which then needs seconds for
    gigabytes, within whichever of the two comes first."""
    with mmap.mmap(-1, max(1, documents * TOUCHED)) as memory:
        for at in range(0, len(memory), mmap.PAGESIZE):
            memory[at] = 1


def measured(add: Callable[[Path, list[tuple[str, str]]], dict[str, float]], path: Path, rows: list[tuple[str, str]]) -> dict[str, float]:
    """What adding costs a process that has done it before, elsewhere."""
    add(path.with_name(f"few-{path.name}"), fresh(rows[:WARMING]))
    given = fresh(rows)
    os.sync()
    touch_memory(len(rows))
    return add(path, given)


def spent(wall: float, cpu: float) -> dict[str, float]:
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def add_to_store(path: Path, rows: list[tuple[str, str]]) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    with la.open(path, kinds="simhash,minhash") as index:
        index.add(rows)
    return spent(wall, cpu)


def add_to_table(path: Path, rows: list[tuple[str, str]]) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE documents (id TEXT PRIMARY KEY, text TEXT)")
    for first in range(0, len(rows), BATCH_DOCUMENTS):
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO documents VALUES (?, ?)", rows[first : first + BATCH_DOCUMENTS])
        connection.execute("COMMIT")
    connection.close()
    return spent(wall, cpu)


def query(path: Path, rows: list[tuple[str, str]]) -> dict[str, Any]:
    """By text: stored documents with a word put in, so that they are found, and not by being equal."""
    asked = [text.replace(" ", " inserted ", 1) for _, text in rows[:: max(1, len(rows) // QUERIES)]]
    found: dict[str, Any] = {}
    with la.open(path, read_only=True) as index:
        for by in ("near", "simhash"):
            index.search(asked[0], by=by)
            times, hits = [], 0
            for text in asked:
                start = time.perf_counter()
                hits += bool(index.search(text, by=by))
                times.append(time.perf_counter() - start)
            found[by] = {"p50": statistics.median(times), "p99": float(np.percentile(times, 99)), "found": hits / len(asked)}
            found[by] |= at_once(index, asked, by)
    return found


def at_once(index: la.Index, asked: list[str], by: str) -> dict[str, float]:
    """Processor time of a search, the least of several runs; and how many times as many searches two threads do as one."""

    def run(texts: list[str]) -> None:
        for text in texts:
            index.search(text, by=by)

    cpu, one, two = [], [], []
    for _ in range(5):
        wall, spent_before = time.perf_counter(), time.process_time()
        run(asked)
        cpu.append((time.process_time() - spent_before) / len(asked))
        one.append(time.perf_counter() - wall)
        wall = time.perf_counter()
        with ThreadPoolExecutor(2) as threads:
            list(threads.map(run, (asked, asked)))
        two.append(time.perf_counter() - wall)
    return {"cpu": min(cpu), "two_threads": 2 * min(one) / min(two)}


def open_large(path: Path, entries: int) -> dict[str, float]:
    """A store of SimHashes: added, and opened by a process of its own."""
    values = np.random.default_rng(7).integers(0, 2**64, entries, dtype=np.uint64)
    wall, cpu = time.perf_counter(), time.process_time()
    with la.open(path, kinds="simhash") as index:
        index.add_simhashes(np.arange(entries), values)
        added = spent(wall, cpu)
        index.compact()
    shown = subprocess.run([sys.executable, "-c", OPEN, path], capture_output=True, text=True, check=True).stdout.split()
    with la.open(path, read_only=True) as index:
        index.search_simhashes(values[:1000], k=3)
        wall = time.perf_counter()
        for first in range(1000, 11_000, 1000):
            index.search_simhashes(values[first : first + 1000], k=3)
        batched = (time.perf_counter() - wall) / 10_000
    return {"added_wall": added["wall"], "open": float(shown[0]), "open_and_first_query": float(shown[1]), "query_in_batches": batched}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--entries", type=int, default=10_000_000)
    parser.add_argument("--data", type=Path, help="folder of real text")
    parser.add_argument("--folder", type=Path, help="where the stores are made [default: a temporary folder]")
    parser.add_argument("--quick", action="store_true", help="a few thousand documents: does everything run?")
    parser.add_argument("--json", type=Path, help="write the result to this file")
    options = parser.parse_args()
    count, entries = (5000, 20_000) if options.quick else (options.documents, options.entries)
    texts = corpus.load(options.data)["english"].texts
    folder = Path(tempfile.mkdtemp(prefix="lookalike-", dir=options.folder))
    try:
        rows = list(documents(texts, count))
        table = measured(add_to_table, folder / "plain.sqlite", rows)
        store = measured(add_to_store, folder / "store", rows)
        size = sum(path.stat().st_size for path in (folder / "store").rglob("*") if path.is_file())
        result = {"documents": count, "store": store, "table": table, "bytes_a_document": size / count}
        result["queries"] = query(folder / "store", rows)
        result["entries"], result["simhashes"] = entries, open_large(folder / "simhashes", entries)
    finally:
        shutil.rmtree(folder)
    ratio, cpu_ratio = store["wall"] / table["wall"], store["cpu"] / table["cpu"]
    print(f"add {count:,} documents of 1 KB: store {store['wall']:.1f} s wall ({store['cpu']:.1f} s CPU)")
    print(f"  {count / store['wall']:,.0f} documents/s (wanted: more than 20,000)")
    print(f"  plain SQLite {table['wall']:.1f} s wall ({table['cpu']:.1f} s CPU):", end=" ")
    print(f"{ratio:.2f}× its time (wanted: at most 1.6), {cpu_ratio:.2f}× its CPU")
    print(f"  {size / count:,.0f} bytes a document")
    for by, times in result["queries"].items():
        print(f"search by {by}: p50 {times['p50'] * 1e3:.2f} ms, p99 {times['p99'] * 1e3:.2f} ms, found {times['found']:.1%}")
    large = result["simhashes"]
    print(f"{entries:,} SimHashes: added in {large['added_wall']:.1f} s, opened in {large['open']:.3f} s (wanted: less than 1),")
    print(f"  with the first query {large['open_and_first_query']:.3f} s")
    print(f"  {large['query_in_batches'] * 1e6:.1f} µs a query in batches, ids included")
    if options.json:
        options.json.write_text(json.dumps(machine.describe() | result, indent=1) + "\n")


if __name__ == "__main__":
    main()
