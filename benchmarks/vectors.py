"""Search by meaning: our scan and our graph, FAISS flat and usearch alone, on the same vectors of the default model, in the same process.

    python benchmarks/vectors.py [--data FOLDER] [--vectors OUT.npy] [--entries 100000] [--queries 500] [--no-peer] [--json OUT]

Sentences of the corpora are encoded by the default model; ``--vectors`` keeps what was encoded for the next run, and takes any
float32 array of rows. Queries are sentences that are not stored. One thread; CPU and wall time a query, the median of all.
Recall is the share of the ten nearest by exact cosine that were found.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
import numpy as np
from numpy.typing import NDArray

import corpus
from lookalike.embedders.encoding import encode
from lookalike.segments.container import read_segment, write_segment
from lookalike.segments.graphs import VectorGraph, search_through
from lookalike.segments.vectors import VectorSegment, unit_halves

LIMIT = 10
NOTHING = np.zeros(0, np.int64)
Floats = NDArray[np.float32]


def sentences(data: Path | None, wanted: int) -> list[str]:
    """Of each corpus as many, in an order that has nothing to do with it: queries are of the same kind as what is stored."""
    found: dict[str, None] = {}
    loaded = corpus.load(data)
    corpora = [loaded[name] for name in ("english", "news", "chinese")]
    for each in corpora:
        pieces = (piece.strip() for text in each.texts for piece in re.split(r"(?<=[.!?。！？])\s*|\n+", text))
        distinct = dict.fromkeys(piece for piece in pieces if 12 <= len(piece) <= 300 and piece not in found)
        found |= dict(itertools.islice(distinct.items(), -(-wanted // len(corpora))))
    mixed = list(found)
    random.Random(1).shuffle(mixed)
    return mixed[:wanted]


def vectors_of(data: Path | None, kept: Path | None, wanted: int) -> Floats:
    if kept is not None and kept.exists():
        loaded: Floats = np.load(kept)
        return loaded[:wanted]
    made = encode(sentences(data, wanted), cache=False).vectors
    if kept is not None:
        np.save(kept, made)
    return made


def timed(job: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = job()
    return result, {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def each_query(search: Callable[[NDArray[Any]], Any], queries: NDArray[Any]) -> tuple[list[list[int]], dict[str, float]]:
    """What was found for each query, and the median seconds of one."""
    found, times = [], []
    for query in queries:
        result, seconds = timed(lambda query=query: search(query))
        found.append([int(each) for each in result])
        times.append(seconds)
    return found, {clock: float(np.median([each[clock] for each in times])) for clock in ("wall", "cpu")}


def recall(found: list[list[int]], expected: list[list[int]]) -> float:
    return sum(len(set(a) & set(b)) for a, b in zip(found, expected, strict=True)) / sum(map(len, expected))


def ours(stored: Floats, queries: Floats) -> tuple[list[list[int]], dict[str, Any], dict[str, Any]]:
    """A segment and its graph as a store has them: written, mapped, searched. What is nearest; the scan; the graph, compared exactly."""
    dimensions = stored.shape[1]
    halves = unit_halves(stored, dimensions)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "1.vector"
        built = VectorSegment.build(np.arange(len(stored)), halves, dimensions)
        _, writing = timed(lambda: write_segment(path, "vector", "x", built.sections()))
        opened, opening = timed(lambda: VectorSegment.open(read_segment(path, "vector", "x")))
        asked = unit_halves(queries, dimensions).reshape(len(queries), dimensions)
        found, seconds = each_query(lambda query: opened.search(query, 0.0, LIMIT, 1, NOTHING).rows, asked)
        _, batch = timed(lambda: opened.search(asked.reshape(-1), 0.0, LIMIT, 1, NOTHING))
        size = path.stat().st_size
        approximate = through_graph(opened, asked, found, path.with_suffix(".graph"))
    exact = {
        "write": writing, "open": opening, "query": seconds, "batch_query": {clock: each / len(queries) for clock, each in batch.items()},
        "bytes_a_vector": size / len(stored), "recall": 1.0,
    }  # fmt: skip
    return found, exact, approximate


def through_graph(segment: VectorSegment, asked: NDArray[np.uint16], expected: list[list[int]], path: Path) -> dict[str, Any]:
    def search(queries: NDArray[np.uint16]) -> NDArray[np.int64]:
        found = search_through(opened, segment, queries, LIMIT, 1, NOTHING)
        return NOTHING if found is None else found.rows

    built, building = timed(lambda: VectorGraph.build(segment))
    _, writing = timed(lambda: write_segment(path, "graph", "x", built.sections()))
    opened, opening = timed(lambda: VectorGraph.open(read_segment(path, "graph", "x")))
    found, seconds = each_query(search, asked)
    _, batch = timed(lambda: search(asked.reshape(-1)))
    return {
        "build": building, "write": writing, "open": opening, "query": seconds,
        "batch_query": {clock: each / len(asked) for clock, each in batch.items()},
        "bytes_a_vector": path.stat().st_size / len(segment), "recall": recall(found, expected),
    }  # fmt: skip


def rounding(stored: Floats, queries: Floats) -> dict[str, float]:
    """What halves change in cosines, and in which are the ten nearest."""
    units = stored.astype(np.float64) / np.linalg.norm(stored.astype(np.float64), axis=1, keepdims=True)
    asked = queries.astype(np.float64) / np.linalg.norm(queries.astype(np.float64), axis=1, keepdims=True)
    halves, asked_halves = (
        unit_halves(each, stored.shape[1]).view(np.float16).reshape(each.shape).astype(np.float64) for each in (stored, queries)
    )
    lengths = np.sqrt((halves**2).sum(axis=1)), np.sqrt((asked_halves**2).sum(axis=1))
    largest, total, same = 0.0, 0.0, 0
    for place in range(min(100, len(asked))):
        exact = units @ asked[place]
        rounded = (halves @ asked_halves[place]) / (lengths[0] * lengths[1][place])
        difference = np.abs(exact - rounded)
        largest, total = max(largest, float(difference.max())), total + float((difference**2).mean())
        same += len(set(np.argsort(-exact)[:LIMIT].tolist()) & set(np.argsort(-rounded)[:LIMIT].tolist()))
    count = min(100, len(asked))
    return {"largest_difference": largest, "root_mean_square": float(np.sqrt(total / count)), "same_nearest": same / (count * LIMIT)}


def faiss_flat(stored: Floats, queries: Floats, expected: list[list[int]]) -> dict[str, Any]:
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(stored.shape[1])
    _, built = timed(lambda: index.add(stored))
    found, seconds = each_query(lambda query: index.search(query[None], LIMIT)[1][0], queries)
    _, batch = timed(lambda: index.search(queries, LIMIT))
    each = {clock: value / len(queries) for clock, value in batch.items()}
    return {"build": built, "query": seconds, "batch_query": each, "bytes_a_vector": 4 * stored.shape[1], "recall": recall(found, expected)}


def faiss_half(stored: Floats, queries: Floats, expected: list[list[int]]) -> dict[str, Any]:
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexScalarQuantizer(stored.shape[1], faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
    _, built = timed(lambda: index.add(stored))
    found, seconds = each_query(lambda query: index.search(query[None], LIMIT)[1][0], queries)
    return {"build": built, "query": seconds, "bytes_a_vector": 2 * stored.shape[1], "recall": recall(found, expected)}


def usearch_graph(stored: Floats, queries: Floats, expected: list[list[int]], kind: str) -> dict[str, Any]:
    from usearch.index import Index

    index = Index(ndim=stored.shape[1], metric="cos", dtype=kind, connectivity=16, expansion_add=128, expansion_search=64)
    _, built = timed(lambda: index.add(np.arange(len(stored)), stored, threads=1))
    result: dict[str, Any] = {"build": built, "bytes_a_vector": index.serialized_length / len(stored), "breadths": {}}
    for breadth in (64, 200, 500):
        index.expansion_search = breadth
        found, seconds = each_query(lambda query: index.search(query, LIMIT, threads=1).keys, queries)
        result["breadths"][str(breadth)] = {"query": seconds, "recall": recall(found, expected)}
    return result


PEERS: dict[str, Callable[..., dict[str, Any]]] = {
    "FAISS flat, float32": faiss_flat,
    "FAISS flat, float16": faiss_half,
    "usearch HNSW, float16": lambda *each: usearch_graph(*each, "f16"),
    "usearch HNSW, int8": lambda *each: usearch_graph(*each, "i8"),
}


def run(vectors: Floats, asked: int, peers: bool) -> dict[str, Any]:
    stored, queries = vectors[:-asked], vectors[-asked:]
    expected, exact, approximate = ours(stored, queries)
    found: dict[str, Any] = machine.describe() | {
        "entries": len(stored), "dimensions": stored.shape[1], "queries": asked,
        "rounding": rounding(stored, queries), "ours": exact, "ours, approximate": approximate, "peers": {},
    }  # fmt: skip
    for name, measure in PEERS.items() if peers else ():
        try:
            found["peers"][name] = measure(stored, queries, expected)
        except ImportError as error:
            found["peers"][name] = {"skipped": f"pip install {error.name}"}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = run(vectors_of(options.data, options.vectors, options.entries + options.queries), options.queries, not options.no_peer)
    text = json.dumps(found, indent=1)
    if options.json:
        options.json.write_text(text + "\n", encoding="utf-8")
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
