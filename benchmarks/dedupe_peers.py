"""Dedupe a JSONL file the way the documentation of a peer shows it: one process, file in, file out.

    python benchmarks/dedupe_peers.py rensa|gaoya|text-dedup|datatrove|copy IN OUT

``copy`` only parses every line and writes it again: what a program that does nothing else has to pay.
"""

from __future__ import annotations

import os
import sys
import tempfile
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


def text_dedup(source: Path, target: Path) -> None:
    """Its own pipeline by its configuration file; both cores, as it does by default. It saves a dataset, which is written as lines."""
    from datasets import load_from_disk
    from text_dedup.config.base import load_config_from_toml
    from text_dedup.minhash import main

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["HF_HOME"] = str(folder / "cache")
        settings = folder / "config.toml"
        settings.write_text(
            f'''
[input]
input_type = "local_files"
file_type = "json"
read_arguments = {{path = "json", data_files = "{source}", split = "train", cache_dir = "{folder / "cache"}"}}
[algorithm]
algorithm_name = "minhash"
text_column = "text"
num_perm = {SIZE}
ngram_size = 5
threshold = {THRESHOLD}
check_false_positive = true
[output]
output_dir = "{folder / "out"}"
[debug]
logging_level = 40
'''
        )
        main(load_config_from_toml(settings))
        load_from_disk(str(folder / "out")).to_json(str(target))


def datatrove(source: Path, target: Path) -> None:
    """The four steps of its example, one task each."""
    from datatrove.executor.local import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers.jsonl import JsonlWriter
    from datatrove.utils.typeshelper import Languages

    config = MinhashConfig(n_grams=5, num_buckets=16, hashes_per_bucket=8)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in").mkdir()
        (folder / "in" / "documents.jsonl").symlink_to(source.resolve())

        def reader() -> JsonlReader:
            return JsonlReader(str(folder / "in"), compression=None)

        steps = [
            ([reader(), MinhashDedupSignature(str(folder / "signatures"), config=config, language=Languages.english)], 1),
            ([MinhashDedupBuckets(str(folder / "signatures"), str(folder / "buckets"), config=config)], config.num_buckets),
            ([MinhashDedupCluster(str(folder / "buckets"), str(folder / "remove"), config=config)], 1),
            ([reader(), MinhashDedupFilter(str(folder / "remove")), JsonlWriter(str(folder / "out"), compression=None)], 1),
        ]
        for number, (pipeline, tasks) in enumerate(steps):
            LocalPipelineExecutor(pipeline, tasks=tasks, workers=1, logging_dir=str(folder / f"logs{number}")).run()
        target.write_bytes(b"".join(path.read_bytes() for path in sorted((folder / "out").glob("*.jsonl"))))


def copy(source: Path, target: Path) -> None:
    import orjson

    with source.open("rb") as file, target.open("wb") as out:
        for line in file:
            out.write(orjson.dumps(orjson.loads(line)) + b"\n")


SCRIPTS: dict[str, Callable[[Path, Path], None]] = {
    "rensa": rensa,
    "gaoya": gaoya,
    "text-dedup": text_dedup,
    "datatrove": datatrove,
    "copy": copy,
}

if __name__ == "__main__":
    SCRIPTS[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
