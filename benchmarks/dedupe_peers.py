"""Dedupe a JSONL file the way the documentation of a peer shows it: one process, file in, file out.

    python benchmarks/dedupe_peers.py rensa|gaoya|copy IN OUT

``copy`` only parses every line and writes it again: what a program that does nothing else has to pay.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

THRESHOLD = 0.8
SIZE = 128


def words5(text: str) -> list[str]:
    words = text.split()
    return [" ".join(words[i : i + 5]) for i in range(max(len(words) - 4, 1))]


def rensa(source: Path, target: Path) -> None:
    """Insert all sketches, then ask for each; of a pair whose estimate reaches the threshold the later one goes."""
    import orjson
    from rensa import RMinHash, RMinHashLSH

    with source.open("rb") as file:
        rows = [orjson.loads(line) for line in file]
    index = RMinHashLSH(threshold=THRESHOLD, num_perm=SIZE, num_bands=16)
    sketches = []
    for number, row in enumerate(rows):
        sketch = RMinHash(num_perm=SIZE, seed=42)
        sketch.update(words5(row["text"]))
        sketches.append(sketch)
        index.insert(number, sketch)
    removed: set[int] = set()
    for number, sketch in enumerate(sketches):
        if number in removed:
            continue
        for candidate in index.query(sketch):
            if candidate != number and candidate not in removed and sketch.jaccard(sketches[candidate]) >= THRESHOLD:
                removed.add(max(number, candidate))
    with target.open("wb") as out:
        for number, row in enumerate(rows):
            if number not in removed:
                out.write(orjson.dumps(row) + b"\n")


def gaoya(source: Path, target: Path) -> None:
    """Ask for each document, and insert it if nothing was found."""
    import orjson
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=THRESHOLD,
        num_bands=16,
        band_size=8,
        num_hashes=SIZE,
        analyzer="word",
        lowercase=False,
        ngram_range=(5, 5),
    )
    with source.open("rb") as file, target.open("wb") as out:
        for number, line in enumerate(file):
            row = orjson.loads(line)
            if not index.query(row["text"]):
                index.insert_document(number, row["text"])
                out.write(orjson.dumps(row) + b"\n")


def copy(source: Path, target: Path) -> None:
    import orjson

    with source.open("rb") as file, target.open("wb") as out:
        for line in file:
            out.write(orjson.dumps(orjson.loads(line)) + b"\n")


SCRIPTS: dict[str, Callable[[Path, Path], None]] = {"rensa": rensa, "gaoya": gaoya, "copy": copy}

if __name__ == "__main__":
    SCRIPTS[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
