"""An embedded store against a plain SQLite table: the same documents, the same durability, in the same process.

    python benchmarks/store.py [--documents 1000000] [--entries 10000000] [--data FOLDER] [--quick] [--json OUT]

Documents of 1 KB are cut from real text (or generated, without --data) and numbered, so that no two are equal. The store keeps
the text, SimHash and MinHash; the table keeps id and text; both commit the same batches, each with an fsync. Then the store is
searched by text, every answer verified exactly, and a store of SimHashes alone is opened.
"""

from __future__ import annotations

import argparse
import itertools
import json
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import machine
import numpy as np

import corpus
import lookalike as la
from lookalike.indexing.adding import BATCH_DOCUMENTS
from lookalike.stores.database import PAGE_BYTES

SIZE = 1024
QUERIES = 1000
OPEN = """
import sys, time
import numpy, lookalike as la
from lookalike.indexing import index as _
wall = time.perf_counter()
index = la.open(sys.argv[1], read_only=True)
opened = time.perf_counter() - wall
index.search_simhashes(numpy.arange(1, dtype="uint64"), k=3)
print(opened, time.perf_counter() - wall)
"""


def documents(texts: list[str], count: int) -> Iterator[tuple[str, str]]:
    """Pieces of the text, each with its number, over and over: no two are equal, and many look alike."""
    whole = " ".join(texts)
    step = SIZE - 20
    for number in range(count):
        start = number * step % (len(whole) - SIZE)
        shift = number * step // (len(whole) - SIZE) * 137 % 611  # another cut in each round
        yield f"doc-{number}", f"{number} {whole[start + shift : start + shift + step]}"


def spent(wall: float, cpu: float) -> dict[str, float]:
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def add_to_store(path: Path, texts: list[str], count: int) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    with la.open(path, kinds="simhash,minhash") as index:
        index.add(documents(texts, count))
    return spent(wall, cpu)


def add_to_table(path: Path, texts: list[str], count: int) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE documents (id TEXT PRIMARY KEY, text TEXT)")
    rows = documents(texts, count)
    while batch := list(itertools.islice(rows, BATCH_DOCUMENTS)):
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO documents VALUES (?, ?)", batch)
        connection.execute("COMMIT")
    connection.close()
    return spent(wall, cpu)


def query(path: Path, texts: list[str], count: int) -> dict[str, Any]:
    """By text: a stored document with its number changed, so that it is found, and not by being equal."""
    asked = [text.replace(" ", " x ", 1) for _, text in itertools.islice(documents(texts, count), 0, count, max(1, count // QUERIES))]
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
    return found


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
        table = add_to_table(folder / "plain.sqlite", texts, count)
        store = add_to_store(folder / "store", texts, count)
        size = sum(path.stat().st_size for path in (folder / "store").rglob("*") if path.is_file())
        result = {"documents": count, "store": store, "table": table, "bytes_a_document": size / count}
        result["queries"] = query(folder / "store", texts, count)
        result["entries"], result["simhashes"] = entries, open_large(folder / "simhashes", entries)
    finally:
        shutil.rmtree(folder)
    ratio = store["wall"] / table["wall"]
    print(
        f"add {count:,} documents of 1 KB: store {store['wall']:.1f} s wall ({store['cpu']:.1f} s CPU), {count / store['wall']:,.0f} documents/s"
    )
    print(f"  plain SQLite {table['wall']:.1f} s wall ({table['cpu']:.1f} s CPU): {ratio:.2f}× its time (wanted: at most 2.5)")
    print(f"  {size / count:,.0f} bytes a document")
    for by, times in result["queries"].items():
        print(f"search by {by}: p50 {times['p50'] * 1e3:.2f} ms, p99 {times['p99'] * 1e3:.2f} ms, found {times['found']:.1%}")
    large = result["simhashes"]
    print(f"{entries:,} SimHashes: added in {large['added_wall']:.1f} s, opened in {large['open']:.3f} s (wanted: less than 1),")
    print(
        f"  with the first query {large['open_and_first_query']:.3f} s; {large['query_in_batches'] * 1e6:.1f} µs a query in batches, ids included"
    )
    if options.json:
        options.json.write_text(json.dumps(machine.describe() | result, indent=1) + "\n")


if __name__ == "__main__":
    main()
