"""Search by Hamming distance: ours and FAISS on the same fingerprints, in the same process.

    python benchmarks/search.py [--entries 10000000] [--quick] [--no-peer] [--json OUT]

80 % of the fingerprints are random, 20 % are copies of others with 1 to 6 flipped bits. Queries are stored fingerprints with
0 to 3 flipped bits, each asked once: nothing is in a cache because it was asked before. One thread; CPU time and wall time.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
import numpy as np
import report
from numpy.typing import NDArray

import lookalike as la

BATCH = 1000
SINGLES = 2000
DISTANCES = (1, 3, 6, 8)
WANTED = {(3, "batch"): 50, (3, "single"): 10, (6, "batch"): 100}
MULTI_HASH = ((3, 21), (4, 16))  # tables and bits each: the two settings that suit these sizes


def fingerprints(entries: int, generator: np.random.Generator) -> NDArray[np.uint64]:
    values = generator.integers(0, 2**64, entries, dtype=np.uint64)
    copies = entries // 5
    values[entries - copies :] = flipped(values[generator.integers(0, entries - copies, copies)], 1, 6, generator)
    return values


def flipped(values: NDArray[np.uint64], least: int, most: int, generator: np.random.Generator) -> NDArray[np.uint64]:
    """The same with a random number of bits flipped (some twice, so a few less)."""
    counts = generator.integers(least, most + 1, len(values))
    values = values.copy()
    for number in range(most):
        bits = np.uint64(1) << generator.integers(0, 64, len(values)).astype(np.uint64)
        values = np.where(counts > number, values ^ bits, values)
    return values


def timed(job: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = job()
    return result, {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def median_of_batches(search: Callable[[NDArray[np.uint64]], Any], queries: NDArray[np.uint64], batch: int) -> dict[str, float]:
    """Seconds a query: the median over batches that were not asked before."""
    times = [timed(lambda part=queries[first : first + batch]: search(part))[1] for first in range(0, len(queries), batch)]
    return {clock: float(np.median([each[clock] for each in times])) / batch for clock in ("wall", "cpu")}


def ours(values: NDArray[np.uint64], queries: NDArray[np.uint64]) -> dict[str, Any]:
    index, built = timed(lambda: la.HammingIndex(values))
    found: dict[str, Any] = {"build": built, "bytes_an_entry": index.nbytes / len(values), "queries": {}}
    for k in DISTANCES:
        found["queries"][f"{k} batch"] = median_of_batches(
            lambda part, k=k: index.search(part, k), queries[: 20 * BATCH if k < 6 else 5 * BATCH], BATCH
        )
    found["queries"]["3 single"] = median_of_batches(lambda part: index.search(part, 3), queries[-SINGLES:], 1)
    two = median_of_batches(lambda part: index.search(part, 3, workers=2), queries[: 20 * BATCH], BATCH)
    found["two_workers"] = two
    pairs, joined = timed(lambda: index.pairs(3))
    found["self_join"] = joined | {"pairs": len(pairs.left)}
    return found


def faiss_found(values: NDArray[np.uint64], queries: NDArray[np.uint64], tables: int, bits: int, expected: Any) -> dict[str, Any]:
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexBinaryMultiHash(64, tables, bits)
    data = values.view(np.uint8).reshape(-1, 8)
    _, built = timed(lambda: index.add(data))
    found: dict[str, Any] = {"tables": tables, "bits": bits, "build": built, "queries": {}}
    for k in (1, 3, 6):
        index.nflip = k // tables  # what an exact search needs: one table within k / tables bits
        count = {1: 2 * BATCH, 3: 2 * BATCH, 6: 100}[k]

        def search(part: NDArray[np.uint64], k: int = k) -> Any:
            return index.range_search(part.view(np.uint8).reshape(-1, 8), k + 1)

        found["queries"][f"{k} batch"] = median_of_batches(search, queries[:count], min(BATCH, count))
        if k == 3:
            found["queries"]["3 single"] = median_of_batches(search, queries[-300:], 1)
            limits, _, labels = search(queries[:BATCH])
            found["same_answers"] = all(
                set(labels[limits[q] : limits[q + 1]].tolist()) == set(expected.ids[expected.offsets[q] : expected.offsets[q + 1]].tolist())
                for q in range(BATCH)
            )
    return found


def compared(mine: dict[str, Any], theirs: list[dict[str, Any]]) -> list[list[str]]:
    """Each query against the setting of the peer that answers it fastest; the build against each setting."""
    rows = []
    for name, spent in mine["queries"].items():
        k, _, way = name.partition(" ")
        title = f"k={k}, {'batches of 1,000' if way == 'batch' else 'single calls'}, µs a query"
        peers = [each["queries"][name] for each in theirs if name in each["queries"]]
        rows.append(_row(title, spent, min(peers, key=lambda each: each["cpu"], default=None), WANTED.get((int(k), way)), 1e6))
    for each in theirs or [None]:
        title = f"build, seconds, against {each['tables']}×{each['bits']}" if each else "build, seconds"
        # By wall time: ours uses all cores for it, the peer one.
        rows.append(_row(title, mine["build"], each["build"] if each else None, 15, 1, "wall"))
    return rows


def _row(
    title: str, spent: dict[str, float], peer: dict[str, float] | None, wanted: float | None, unit: float, clock: str = "cpu"
) -> list[str]:
    line = [title, f"{spent['wall'] * unit:.2f}", f"{spent['cpu'] * unit:.2f}"]
    if peer is None:
        return [*line, "–", "–", "–", ""]
    ratio = peer[clock] / spent[clock]
    verdict = "" if wanted is None else "ok" if ratio >= wanted else "miss"
    return [*line, f"{peer['cpu'] * unit:.1f}", f"{ratio:.0f}×", f"{wanted}×" if wanted else "–", verdict]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=10_000_000)
    parser.add_argument("--quick", action="store_true", help="100,000 entries: does everything run?")
    parser.add_argument("--no-peer", action="store_true", help="ours alone")
    parser.add_argument("--json", type=Path, help="write the result to this file")
    options = parser.parse_args()
    entries = 100_000 if options.quick else options.entries
    generator = np.random.default_rng(20261115)
    values = fingerprints(entries, generator)
    queries = flipped(values[generator.integers(0, entries, 20 * BATCH + SINGLES)], 0, 3, generator)
    print(f"{entries:,} fingerprints: ours", file=sys.stderr)
    mine = ours(values, queries)
    theirs = []
    if not options.no_peer:
        expected = la.HammingIndex(values).search(queries[:BATCH], 3)
        for tables, bits in MULTI_HASH:
            print(f"FAISS IndexBinaryMultiHash {tables}×{bits}", file=sys.stderr)
            theirs.append(faiss_found(values, queries, tables, bits, expected))
    header = [f"{entries:,} fingerprints of 64 bits", "ours (wall)", "ours (CPU)", "FAISS (CPU)", "ratio", "wanted", ""]
    print(report.table(header, compared(mine, theirs)))
    join = mine["self_join"]
    print(f"\n{mine['bytes_an_entry']:.1f} bytes an entry (wanted: at most 32), ids included")
    print(f"self-join within 3: {join['pairs']:,} pairs in {join['cpu']:.1f} s CPU (wanted: less than 5), {join['wall']:.1f} s wall")
    print(f"two workers: {mine['two_workers']['wall'] * 1e6:.2f} µs a query (wall)")
    for each in theirs:
        said = "same answers" if each["same_answers"] else "OTHER ANSWERS"
        query = each["queries"]["3 batch"]["cpu"] * 1e6
        print(f"FAISS {each['tables']}×{each['bits']}: {said} on {BATCH:,} queries, {query:.0f} µs each")
        print(f"  built in {each['build']['cpu']:.1f} s CPU")
    if options.json:
        options.json.write_text(json.dumps(machine.describe() | {"entries": entries, "ours": mine, "faiss": theirs}, indent=1) + "\n")


if __name__ == "__main__":
    main()
