"""Repeated passages: `lookalike dedupe --level substring`, and a suffix array of pydivsufsort on the same text.

    python benchmarks/substrings.py [--data FOLDER] [--mb N] [--peer-mb N] [--peer-folder FOLDER] [--json OUT]

The texts are words of the real texts in ``--data``, or of generated ones, drawn by their frequency: a tenth of the documents have a
passage of 80 words that others have too, and a twentieth a piece of another document. So a passage is there because it was put there.
Every program runs as a process of its own; CPU time and peak memory are those that the system counted. The suffix array is made of bytes,
with the longest common prefixes (Kasai), and nothing is decided or written: it is the part that a program on suffix arrays cannot do
without. ``--peer-folder``: where pydivsufsort is installed, if not here.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import machine
from dedupe import OURS, measured

import corpus

WORDS_PER_DOCUMENT = 300
BYTES_PER_DOCUMENT = 2000  # roughly
POOL = 500
ROUND_BYTES = 40_000_000
SEED = 1
PEER = """
import json, sys
sys.path[:0] = [sys.argv[3]] if sys.argv[3] else []
import numpy as np
from pydivsufsort import divsufsort, kasai
with open(sys.argv[1], encoding="utf-8") as lines:
    text = "\\0".join(json.loads(line)["text"] for line in lines).encode()
suffixes = divsufsort(text)
shared = kasai(text, suffixes)
repeated = int((np.asarray(shared) >= 300).sum())
with open(sys.argv[2], "w") as out:
    out.write(json.dumps(repeated) + "\\n")
"""


def vocabulary(data: Path | None) -> tuple[list[str], list[int]]:
    counts = Counter(word for text in corpus.load(data)["english"].texts for word in text.split())
    words = [word for word, _ in counts.most_common(60_000)]
    return words, list(accumulate(counts[word] for word in words))


def documents(data: Path | None, size: int) -> Iterator[str]:
    """Texts of so many bytes in all. Drawing words takes longer than finding passages, so later rounds have other letters."""
    texts, written = [], 0
    for text in drawn(data):
        texts.append(text)
        written += len(text.encode()) + 1
        yield text
        if written >= min(size, ROUND_BYTES):
            break
    for turn in itertools.count(1):
        letters = str.maketrans(ascii_lowercase, ascii_lowercase[turn % 26 :] + ascii_lowercase[: turn % 26])
        for text in texts:
            if written >= size:
                return
            written += len(text.encode()) + 1
            yield text.translate(letters)


def drawn(data: Path | None) -> Iterator[str]:
    words, sums = vocabulary(data)
    draw = random.Random(SEED)

    def some(count: int) -> list[str]:
        return draw.choices(words, cum_weights=sums, k=count)

    pool = [some(80) for _ in range(POOL)]
    recent: list[list[str]] = []
    while True:
        text, kind = some(WORDS_PER_DOCUMENT), draw.random()
        if kind < 0.1:
            text[150:150] = draw.choice(pool)
        elif kind < 0.15 and recent:
            text[90:90] = draw.choice(recent)[:170]
        elif kind > 0.99:
            recent = [*recent[-2000:], text]
        yield " ".join(text)


def write(path: Path, texts: Iterator[str]) -> tuple[int, int]:
    """How many texts, and how many bytes they have."""
    count = size = 0
    with path.open("w", encoding="utf-8") as file:
        for count, text in enumerate(texts, 1):
            size += len(text.encode())
            file.write(json.dumps({"id": count, "text": text}, ensure_ascii=False) + "\n")
    return count, size


def ours(path: Path, size: int, *options: str) -> dict[str, Any]:
    out, removed = path.with_suffix(".out.jsonl"), path.with_suffix(".removed.jsonl")
    found = measured([*OURS, str(path), "--level", "substring", "--out", str(out), "--removed", str(removed), "--quiet", *options], out)
    with removed.open("rb") as lines:
        found["passages"] = sum(1 for _ in lines)
    removed.unlink()
    return rated(found, size)


def rated(found: dict[str, Any], size: int) -> dict[str, Any]:
    return found | {
        "mb": round(size / 1e6, 1),
        "mb_per_s": round(size / 1e6 / found["seconds"], 1),
        "mb_per_cpu_s": round(size / 1e6 / found["cpu_s"], 1),
        "peak_bytes_per_byte": round(found["peak_mb"] * 2**20 / size, 2),
    }


def peer(path: Path, size: int, folder: str) -> dict[str, Any] | None:
    out = path.with_suffix(".peer.jsonl")
    try:
        found = measured([sys.executable, "-c", PEER, str(path), str(out), folder], out)
    except SystemExit as error:
        if "pydivsufsort" not in str(error):
            raise
        return None
    return rated(found, size)


def copies(folder: Path, data: Path | None, count: int) -> dict[str, Any]:
    """One passage in every document, and the same documents without it: the cost per byte must not differ much."""
    texts = list(documents(data, count * BYTES_PER_DOCUMENT))
    passage = texts[0]
    found = {}
    for name, made in (("without", texts), ("with", [f"{text} {passage}" for text in texts])):
        path = folder / f"copies-{name}.jsonl"
        _, size = write(path, iter(made))
        found[name] = ours(path, size, "--workers", "1")
        path.unlink()
    found["ratio"] = round(found["without"]["mb_per_cpu_s"] / found["with"]["mb_per_cpu_s"], 2)
    return found


def main(given: list[str] | None = None) -> dict[str, Any]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--mb", type=int, default=100)
    parser.add_argument("--peer-mb", type=int, default=20)
    parser.add_argument("--copies", type=int, default=10_000)
    parser.add_argument("--peer-folder", default="")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args(given)
    result: dict[str, Any] = machine.describe() | {"generated": arguments.data is None, "cores": os.cpu_count()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "peer.jsonl"
        _, size = write(path, documents(arguments.data, arguments.peer_mb * 10**6))
        small, beside = ours(path, size, "--workers", "1"), peer(path, size, arguments.peer_folder)
        result["beside"] = {"lookalike": small, "pydivsufsort": beside}
        if beside:
            result["beside"]["ratio_of_cpu"] = round(beside["cpu_s"] / small["cpu_s"], 1)
        path.unlink()
        result["copies"] = copies(folder, arguments.data, arguments.copies)
        path = folder / "large.jsonl"
        count, size = write(path, documents(arguments.data, arguments.mb * 10**6))
        result["large"] = ours(path, size) | {"documents": count}
    return machine.finish(result, arguments.json)


if __name__ == "__main__":
    main()
