"""File in, deduplicated file out: ours and the peers' on the same file, and how the cost grows.

    python benchmarks/dedupe.py [--data FOLDER] [--documents N] [--json OUT] [--only speed|workers|slow|quality|skew|growth ...]
                                [--slow-minutes M] [--skew-documents N] [--growth-documents N] [--python PEER=PYTHON ...]

``slow`` are peers that take minutes for what takes others seconds: they get as many documents as they finish in so many minutes, judged by
a tenth of them. ``--python`` names the Python that a peer is installed in, where it does not go together with the others.

``workers`` are rounds with one worker and with one per core, in turns, and what the CPU seconds of the stages say about more cores. Wall
times need a quiet machine: the load is written down with them.

Every program runs as a process of its own; CPU time and peak memory are those that the system counted for it. ``--data`` is a folder
with the real texts (``bible_en.docs.jsonl.gz`` …); without it texts are generated, which shows that everything runs and no more.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import machine

import corpus
import lookalike as la
from lookalike.corpus.formats.lines import BLOCK
from lookalike.leaders.decider import DECIDING

THRESHOLD = 0.8
RUNS = 3
WORDS = ("alpha", "beta", "gamma", "delta", "river", "king")
EDITS = (0, 0.002, 0.005, 0.01, 0.02, 0.04, 0.08)
PEERS = Path(__file__).with_name("dedupe_peers.py")
OURS = [sys.executable, "-m", "lookalike", "dedupe"]
STAGES = """
import json, os, sys, tempfile, time
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as the command line does: its threads spin for a while, and their time is no stage
from pathlib import Path
from types import SimpleNamespace
import lookalike as la
from lookalike import _native
from lookalike.corpus.formats.lines import Buffers, line_blocks
from lookalike.deduping import progress
from lookalike.leaders.candidates import BUCKET_LIMIT
from lookalike.leaders.decider import Decider
from lookalike.text.native_form import native_form
clock = time.perf_counter
progress.time = SimpleNamespace(perf_counter=time.thread_time)
with tempfile.TemporaryDirectory() as folder:  # a small run of the same kind imports everything
    small = Path(folder, "small.jsonl")
    small.write_text('{"text": "one"}\\n{"text": "two"}\\n')
    la.dedupe(small, out=Path(folder, "out.jsonl"), workers=1)
kernel = 0.0  # seconds of the decision itself, without what Python does around it
class Timed:
    def __init__(self, leaders):
        self._leaders = leaders
    def __getattr__(self, name):
        return getattr(self._leaders, name)
    def offer(self, *given):
        global kernel
        began = time.thread_time()
        found = self._leaders.offer(*given)
        kernel += time.thread_time() - began
        return found
make = Decider.__init__
def made(self, *given, **options):
    make(self, *given, **options)
    self._leaders = Timed(self._leaders)
Decider.__init__ = made
begin = time.process_time()
report = la.dedupe(sys.argv[1], out=sys.argv[2], workers=1)
total = time.process_time() - begin
Decider.__init__ = make
begin, buffers = time.thread_time(), Buffers()
with open(sys.argv[1], "rb") as file:
    for block in line_blocks(file, "", 1 << 27, buffers=buffers):
        buffers.give(block)
blocks = time.thread_time() - begin
sketched, offer = [], Decider.offer
def recorded(self, sketches, others=0, **how):
    sketched.append((sketches, how.get("rows") or ()))
    return offer(self, sketches, others, **how)
Decider.offer = recorded
la.dedupe(sys.argv[1], workers=1)
rule, decided = report.settings.rule, {1: [], 2: []}  # seconds, and those of them in which one thread works alone
for threads in [1, 2] * 3:
    leaders, begin = _native.Leaders(rule.banding.bands, rule.threshold, BUCKET_LIMIT, form=native_form(rule.recipe)), clock()
    leaders.expect(report.to_dict()["documents"], threads)
    for each, rows in sketched:
        leaders.offer(each.features, each.offsets, each.digests, each.keys, True, threads, *rows)
    decided[threads].append((clock() - begin, leaders.alone))
found = {"decided": kernel, "decided by one": min(decided[1])[0], "by two": min(decided[2])[0], "of it alone": min(decided[2])[1]}
print(json.dumps({"total": total, **report.stages, "rest": total - sum(report.stages.values()), "blocks": blocks, **found}))
"""
# Modules that were imported once are compiled, as those of an installed package are.
COMPILED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
WANTED = {"rensa": 15, "gaoya": 4, "copy": 1 / 1.3}
THREAD_START = 25e-6  # seconds; 22 were measured, for a block each
SLOW = {"text-dedup": 15, "datatrove": 50}
MODULES = {"text-dedup": "text_dedup"}
QUALITY_SETS = {"spdx_licenses": 819, "bible_en": 20_000, "reuters21578": 19_043, "news_zh": 8_000}


def sentences(data: Path | None) -> list[str]:
    if data is None:
        return [sentence for text in corpus.load(None, 400)["english"].texts for sentence in text.split(". ")]
    with gzip.open(data / "bible_en.docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def documents(source: list[str], count: int, *, near: float = 0.2, size: int = 1850, seed: int = 1) -> Iterator[str]:
    """Texts of real sentences in random order, of which a share are edited copies of one of the last ten thousand."""
    draw = random.Random(seed)
    recent: list[str] = []
    for _ in range(count):
        if recent and draw.random() < near:
            words = draw.choice(recent).split()
            for _ in range(int(len(words) * draw.choice(EDITS))):
                words[draw.randrange(len(words))] = draw.choice(WORDS) + str(draw.randrange(1000))
            text = " ".join(words)
        else:
            parts, length = [], 0
            while length < size:
                parts.append(draw.choice(source))
                length += len(parts[-1]) + 1
            text = " ".join(parts)
        if len(recent) < 10_000:
            recent.append(text)
        else:
            recent[draw.randrange(10_000)] = text
        yield text


def write(path: Path, texts: Iterator[str]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for i, text in enumerate(texts):
            file.write(json.dumps({"id": f"doc-{i}", "text": text}, ensure_ascii=False) + "\n")
    return path


def measured(command: list[str], out: Path) -> dict[str, Any]:
    """Seconds, those of the CPU, and peak megabytes of a process, and how many rows it wrote."""
    began = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said, env=COMPILED)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            said.seek(0)
            raise SystemExit(f"{' '.join(command[:4])} … failed: {said.read()[-2000:].decode(errors='replace')}")
    seconds = round(time.perf_counter() - began, 2)
    with out.open("rb") as file:
        rows = sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
    out.unlink()
    return {"cpu_s": round(usage.ru_utime + usage.ru_stime, 2), "seconds": seconds, "peak_mb": usage.ru_maxrss // 1024, "rows": rows}


def ours(source: Path, *options: str) -> dict[str, Any]:
    out = source.with_suffix(".out.jsonl")
    return measured([*OURS, str(source), "--out", str(out), "--quiet", *options], out)


def speed(folder: Path, source: list[str], count: int) -> list[dict[str, Any]]:
    """One worker, and the best of three runs each, taken in turn: other work on the machine costs them alike."""
    path = write(folder / "speed.jsonl", documents(source, count))
    out = folder / "peer.jsonl"
    missing = {name: [package for package in ("orjson", name) if package != "copy" and find_spec(package) is None] for name in WANTED}
    runs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for _ in range(RUNS):
        runs["lookalike"].append(ours(path, "--workers", "1"))
        for name in WANTED:
            if not missing[name]:
                runs[name].append(measured([sys.executable, str(PEERS), name, str(path), str(out)], out))
    best = {name: min(found, key=lambda row: row["cpu_s"]) | {"all_cpu_s": [row["cpu_s"] for row in found]} for name, found in runs.items()}
    own = best["lookalike"]["cpu_s"]
    rows = [{"program": "lookalike", **best["lookalike"]}]
    for name, wanted in WANTED.items():
        if name in best:
            rows.append({"program": name, **best[name], "ratio": round(best[name]["cpu_s"] / own, 2), "wanted": round(wanted, 2)})
        else:
            rows.append({"program": name, "skipped": f"pip install {' '.join(missing[name])}"})
    return rows


def chinese(data: Path | None, count: int) -> Iterator[str]:
    """Likewise of sentences of newspaper articles; copies have other characters here and there."""
    source = [sentence for text in texts_of(data, "news_zh", 8_000) for sentence in re.findall(r"[^。]+。?", text)]
    draw = random.Random(1)
    recent: list[str] = []
    for _ in range(count):
        if recent and draw.random() < 0.2:
            characters = list(draw.choice(recent))
            for _ in range(int(len(characters) * draw.choice(EDITS))):
                characters[draw.randrange(len(characters))] = draw.choice("天地玄黄宇宙洪荒")
            text = "".join(characters)
        else:
            text = ""
            while len(text) < 650:
                text += draw.choice(source)
        if len(recent) < 10_000:
            recent.append(text)
        else:
            recent[draw.randrange(10_000)] = text
        yield text


def workers(folder: Path, source: list[str], data: Path | None, count: int) -> list[dict[str, Any]]:
    """English and Chinese: one worker, one per core, parsing alone, and the model of the stages."""
    found = []
    corpora = {"english": documents(source, count), "chinese": chinese(data, count * 6 // 10)}
    for name, texts in corpora.items():
        path = write(folder / f"{name}.jsonl", texts)
        runs: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for _ in range(RUNS):
            runs["one worker"].append(ours(path, "--workers", "1"))
            runs["all cores"].append(ours(path))
            if find_spec("orjson") is not None:
                runs["copy"].append(
                    measured([sys.executable, str(PEERS), "copy", str(path), str(folder / "copy.jsonl")], folder / "copy.jsonl")
                )
        best = {program: {key: min(row[key] for row in rows) for key in rows[0]} for program, rows in runs.items()}
        row: dict[str, Any] = {"corpus": name, "mb": path.stat().st_size // 1_000_000, "load": os.getloadavg()[0], **best}
        row["speed_up"] = round(best["one worker"]["seconds"] / best["all cores"]["seconds"], 2)
        if "copy" in best:
            row["cpu_of_copy"] = round(best["one worker"]["cpu_s"] / best["copy"]["cpu_s"], 2)
        found.append(row | modelled(path))
    return found


def modelled(path: Path) -> dict[str, Any]:
    """CPU seconds of the stages with one worker, and how many times as fast more cores could be by them.

    Blocks are found by one thread at a time; scanned and sketched by any; each output file is written by one. Decisions are made in their
    turn, by half of the threads: measured with two, of which one works alone for a part of the time, and both for the rest, with all that
    two lose to each other there. More threads have to be started for each piece, one after the other.
    """
    command = [sys.executable, "-c", STAGES, str(path), str(path.with_suffix(".out.jsonl"))]
    stages = json.loads(subprocess.run(command, capture_output=True, check=True, env=COMPILED).stdout)
    around = stages["compare"] - stages["decided"]  # what Python does before and after
    slower = stages["decided"] / stages["decided by one"]  # among all that else is done than by itself
    model = {}
    for cores in (2, 4, 8, 16):
        deciding = max(cores // DECIDING, 1)
        together = 2 * (stages["by two"] - stages["of it alone"]) / deciding
        starts = max(deciding - 2, 0) * THREAD_START * path.stat().st_size / BLOCK
        decided = stages["of it alone"] + together + starts if deciding > 1 else stages["decided by one"]
        in_order = around + slower * decided + stages["rest"]
        for files in (1, cores):
            seconds = max(stages["total"] / cores, in_order, stages["blocks"], stages["write"] / files)
            model[f"{cores} cores, {files} output files"] = round(stages["total"] / seconds, 1)
    rounded = {name: round(seconds, 3) for name, seconds in stages.items()}
    return {"stages_cpu_s": rounded, "model": model}


def slow(folder: Path, source: list[str], count: int, minutes: float, pythons: dict[str, str]) -> list[dict[str, Any]]:
    out = folder / "peer.jsonl"
    rows: list[dict[str, Any]] = []
    for name, wanted in SLOW.items():
        python = pythons.get(name, sys.executable)
        if name not in pythons and find_spec(MODULES.get(name, name)) is None:
            rows.append({"program": name, "skipped": f"pip install {name}, and --python {name}=… where it is another Python"})
            continue
        command = [python, str(PEERS), name]
        trial = write(folder / "trial.jsonl", documents(source, max(count // 10, 10)))
        share = min(60 * minutes / measured([*command, str(trial), str(out)], out)["seconds"], 10) / 10
        size = max(int(count * share), 10)
        path = write(folder / "slow.jsonl", documents(source, size))
        found = measured([*command, str(path), str(out)], out)
        own = min((ours(path) for _ in range(RUNS)), key=lambda row: row["cpu_s"])
        figures = {"ours": own, "ratio": round(found["cpu_s"] / own["cpu_s"], 2), "wanted": wanted}
        rows.append({"program": name, "documents": size, **found, **figures})
    return rows


def skew(folder: Path, source: list[str], count: int) -> dict[str, Any]:
    """Half of the documents are copies of one page, against all different."""
    half = list(documents(source, count // 2, near=0, size=500))
    distinct = ours(write(folder / "distinct.jsonl", documents(source, count, near=0, size=500)))
    page = half[0]
    skewed = ours(write(folder / "skewed.jsonl", itertools.chain.from_iterable((text, page) for text in half)))
    return {
        "documents": count,
        "distinct": distinct,
        "skewed": skewed,
        "ratio": round(skewed["cpu_s"] / distinct["cpu_s"], 2),
        "wanted": 1.5,
    }


def growth(folder: Path, source: list[str], count: int) -> dict[str, Any]:
    """CPU time at sizes that double, and the exponent between the first and the last."""
    sizes = [count // 8, count // 4, count // 2, count]
    rows = [{"documents": size, **ours(write(folder / "growth.jsonl", documents(source, size, size=400)))} for size in sizes]
    start = ours(write(folder / "growth.jsonl", documents(source, 1)))["cpu_s"]  # the interpreter and its imports
    exponent = math.log(max(rows[-1]["cpu_s"] - start, 0.01) / max(rows[0]["cpu_s"] - start, 0.01)) / math.log(sizes[-1] / sizes[0])
    return {"rows": rows, "exponent": round(exponent, 3), "wanted": 1.1}


def texts_of(data: Path | None, name: str, limit: int) -> list[str]:
    if data is None:
        return list(documents(sentences(None), min(limit, 300), near=0.4))
    with gzip.open(data / f"{name}.docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = itertools.islice((json.loads(line) for line in lines), limit)
        return [row["text"] for row in rows if row.get("text")]


def all_pairs(features: list[set[int]]) -> dict[tuple[int, int], float]:
    """Every pair at or above the threshold, by counting the features that documents share."""
    owners: dict[int, list[int]] = defaultdict(list)
    found: dict[tuple[int, int], float] = {}
    for right, mine in enumerate(features):
        common: Counter[int] = Counter()
        for feature in mine:
            common.update(owners[feature])
            owners[feature].append(right)
        for left, shared in common.items():
            similarity = shared / (len(mine) + len(features[left]) - shared)
            if similarity >= THRESHOLD:
                found[left, right] = similarity
    return found


def quality(data: Path | None) -> list[dict[str, Any]]:
    """What was removed, against leaders chosen with all pairs known."""
    rows = []
    for name, limit in QUALITY_SETS.items():
        texts = texts_of(data, name, limit)
        features = [set(la.shingles(text, unique=True)) for text in texts]
        pairs = all_pairs(features)
        report = la.dedupe([{"text": text} for text in texts], threshold=THRESHOLD)
        true = sum(
            removed.similarity == _similarity(features[removed.id], features[removed.kept_id]) >= THRESHOLD for removed in report.removed
        )
        expected = _leaders(texts, pairs)
        found = {removed.id for removed in report.removed}
        rows.append(
            {
                "set": name,
                "documents": len(texts),
                "pairs": len(pairs),
                "removed": len(found),
                "precision": round(true / len(found), 5) if found else None,
                "recall": round(len(found & expected) / len(expected), 5) if expected else None,
            }
        )
    return rows


def _similarity(left: set[int], right: set[int]) -> float:
    return len(left & right) / len(left | right) if left or right else 1.0


def _leaders(texts: list[str], pairs: dict[tuple[int, int], float]) -> set[int]:
    """The documents that go if every pair is known. Texts without features are copies of each other."""
    earlier: dict[int, list[int]] = defaultdict(list)
    for left, right in pairs:
        earlier[right].append(left)
    removed: set[int] = set()
    empty = [i for i, text in enumerate(texts) if not len(la.shingles(text))]
    removed.update(empty[1:])
    for right in sorted(earlier):
        if any(left not in removed for left in earlier[right]):
            removed.add(right)
    return removed


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    parser = argparse.ArgumentParser(description="Dedupe benchmarks")
    parser.add_argument("--data", type=Path)
    parser.add_argument(
        "--documents", type=int, default=100_000, help="of the speed job, at most of the slow one, and by default of others"
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--slow-minutes", type=float, default=1)
    parser.add_argument("--skew-documents", type=int)
    parser.add_argument("--growth-documents", type=int)
    parser.add_argument("--python", action="append", default=[], metavar="PEER=PYTHON")
    every_job = ["speed", "workers", "slow", "quality", "skew", "growth"]
    parser.add_argument("--only", nargs="+", choices=every_job, default=every_job)
    options = parser.parse_args(arguments)
    result: dict[str, Any] = machine.describe() | {"text": "real" if options.data else "generated"}
    source = sentences(options.data)
    pythons = dict(each.split("=", 1) for each in options.python)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        jobs: dict[str, Callable[[], Any]] = {
            "speed": lambda: speed(folder, source, options.documents),
            "workers": lambda: workers(folder, source, options.data, options.documents),
            "slow": lambda: slow(folder, source, options.documents, options.slow_minutes, pythons),
            "quality": lambda: quality(options.data),
            "skew": lambda: skew(folder, source, options.skew_documents or options.documents),
            "growth": lambda: growth(folder, source, options.growth_documents or options.documents),
        }
        for job in options.only:
            result[job] = jobs[job]()
            print(json.dumps({job: result[job]}, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return result


if __name__ == "__main__":
    main()
