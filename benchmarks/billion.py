"""Hundreds of millions of SimHashes in memory, a billion mapped from disk: built in slices, searched, and every answer checked.

    python benchmarks/billion.py [--memory 500000000] [--disk 1000000000] [--slice 50000000] [--folder FOLDER] [--json OUT]

The fingerprints are random. Queries are some of them with 0 to 3 flipped bits, each asked once and within k = 3: all of them must be found.
In memory 28 bytes are needed for each, and on the disk of the folder as many; while a slice is built, some 60 for each of its
fingerprints. 0 leaves a part out. A small run: ``--memory 2000000 --disk 4000000 --slice 1000000``.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import machine
import numpy as np
from numpy.typing import NDArray

import lookalike as la
from lookalike.segments.container import read_segment, search_here_and_there, write_segment
from lookalike.segments.simhashes import SimhashSegment

K = 3
BATCH = 1000
BATCHES = 10
SINGLES = 500
RECIPE = "random"
NO_LIMIT = 2**62

Search = Callable[[NDArray[np.uint64]], list[Any]]


def values_of(number: int, count: int) -> NDArray[np.uint64]:
    """The fingerprints of one slice, the same whenever they are asked for."""
    return np.random.default_rng(20261117 + number).integers(0, 2**64, count, dtype=np.uint64)


class Queries:
    """Some fingerprints of every slice with a few flipped bits, in random order, and the ids that must be found."""

    def __init__(self, slices: int) -> None:
        self._each = (BATCH * BATCHES + SINGLES) // slices + 1
        self._words: list[NDArray[np.uint64]] = []
        self._ids: list[NDArray[np.int64]] = []
        self._draw = np.random.default_rng(1)

    def take(self, values: NDArray[np.uint64], first: int) -> None:
        places = self._draw.integers(0, len(values), self._each)
        words = values[places]
        for _ in range(K):
            bits = np.uint64(1) << self._draw.integers(0, 64, len(words)).astype(np.uint64)
            words = np.where(self._draw.random(len(words)) < 0.5, words ^ bits, words)
        self._words.append(words)
        self._ids.append(places + first)

    def shuffled(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        words, ids = np.concatenate(self._words), np.concatenate(self._ids)
        order = self._draw.permutation(len(words))
        return words[order], ids[order]


class Clock:
    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def spent(self, count: int = 1) -> dict[str, float]:
        return {"wall": (time.perf_counter() - self._wall) / count, "cpu": (time.process_time() - self._cpu) / count}


def slices(entries: int, size: int) -> Iterator[tuple[int, int, int]]:
    """The number of each slice, its first id, and how many it has."""
    for number, first in enumerate(range(0, entries, size)):
        yield number, first, min(size, entries - first)


def asked(search: Search, queries: Queries) -> dict[str, Any]:
    """Seconds for each query, in batches and singly, and how many found what they were made of."""
    words, ids = queries.shuffled()
    times, found = [], 0
    for first in range(0, BATCH * BATCHES, BATCH):
        clock = Clock()
        answers = search(words[first : first + BATCH])
        times.append(clock.spent(BATCH))
        for at, wanted in enumerate(ids[first : first + BATCH].tolist()):
            found += any(wanted in answer.ids[answer.offsets[at] : answer.offsets[at + 1]] for answer in answers)
    clock = Clock()
    for at in range(BATCH * BATCHES, BATCH * BATCHES + SINGLES):
        search(words[at : at + 1])
    singles = clock.spent(SINGLES)
    middle = {name: float(np.median([each[name] for each in times])) for name in ("wall", "cpu")}
    return {"first batch": times[0], "batches": middle, "singles": singles, "found": found, "asked": BATCH * BATCHES}


def in_memory(entries: int, size: int) -> dict[str, Any]:
    index, queries, clock = la.HammingIndex(), Queries(-(-entries // size)), Clock()
    for number, first, count in slices(entries, size):
        values = values_of(number, count)
        queries.take(values, first)
        index.add(values, np.arange(first, first + count))
        print(f"in memory: {len(index):,}", file=sys.stderr)
    built = clock.spent()
    result = {"entries": entries, "slice": size, "build": built, "bytes_an_entry": index.nbytes / entries, "peak_gb": peak_gb()}
    return result | asked(lambda words: [index.search(words, K)], queries)


def on_disk(entries: int, size: int, folder: Path) -> dict[str, Any]:
    queries, paths, clock = Queries(-(-entries // size)), [], Clock()
    for number, first, count in slices(entries, size):
        values = values_of(number, count)
        queries.take(values, first)
        segment = SimhashSegment.build(np.arange(first, first + count), values, 64)
        paths.append(folder / f"slice-{number}")
        write_segment(paths[-1], SimhashSegment.kind, RECIPE, segment.sections())
        print(f"on disk: {first + count:,}", file=sys.stderr)
    built, clock = clock.spent(), Clock()
    opened = []
    for path in paths:
        sections = read_segment(path, SimhashSegment.kind, RECIPE)
        opened.append(SimhashSegment.open(sections))
        search_here_and_there(sections)  # as a store does
    found: dict[str, Any] = {"entries": entries, "slice": size, "build": built, "open": clock.spent(), "peak_gb": peak_gb()}
    found["bytes_an_entry"] = sum(path.stat().st_size for path in paths) / entries
    return found | asked(lambda words: [segment.search(words, K, NO_LIMIT) for segment in opened], queries)


def peak_gb() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", type=int, default=500_000_000, help="fingerprints in memory")
    parser.add_argument("--disk", type=int, default=1_000_000_000, help="fingerprints on disk")
    parser.add_argument("--slice", type=int, default=50_000_000)
    parser.add_argument("--folder", type=Path, help="where the files go for the time of the run")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    result: dict[str, Any] = machine.describe()
    if options.disk:  # first: what the index takes in memory is not there for the pages of files
        with tempfile.TemporaryDirectory(dir=options.folder) as name:
            result["disk"] = on_disk(options.disk, options.slice, Path(name))
        print(json.dumps(result["disk"], indent=1))
    if options.memory:
        result["memory"] = in_memory(options.memory, options.slice)
        print(json.dumps(result["memory"], indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
