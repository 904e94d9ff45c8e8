"""How fast fingerprints are made from text, ours and the peers' in the same process on the same documents.

    python benchmarks/speed.py [--data FOLDER] [--quick] [--json OUT] [--docs PAGE]
    python benchmarks/speed.py --show RESULT.json [--docs PAGE]

One thread, CPU time of the process, the best of several repetitions that take turns. Progress goes to stderr.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import accuracy
import machine
import peers
import report

import corpus
import lookalike as la

THREADS = ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    documents: int | None  # of each corpus at most
    repetitions: int
    least: float  # seconds of CPU time a repetition: a faster function is called several times
    features: int  # sketched for a row of the table of errors
    lengths: tuple[int, ...] = accuracy.LENGTHS  # of the documents in that table


THOROUGH = Effort(None, 3, 0.1, 10_000_000)
QUICK = Effort(400, 1, 0.1, 100_000)


@dataclass(frozen=True)
class Goal:
    """How many times the peer's throughput is wanted, and aimed at."""

    wanted: float
    aim: float | None = None


@dataclass(frozen=True)
class Job:
    """A thing to do to a corpus, which peers do too."""

    name: str
    corpus: str  # or "files": the english corpus as byte strings
    task: str  # as the adapters call it
    run: Callable[[list[Any]], Sequence[Any]]
    goals: dict[str, Goal | None] = field(default_factory=dict)  # None: compared without a goal
    prepare: Callable[[list[str]], list[Any]] | None = None  # what is done to our documents before the clock starts
    agrees: Callable[[list[Any], Sequence[Any]], bool] | None = None  # documents, the peer's results


def _same_digests(kind: Callable[[list[Any]], Sequence[Any]]) -> Callable[[list[Any], Sequence[Any]], bool]:
    return lambda files, theirs: [found.value for found in kind(files)] == list(theirs)


def _same_choice(recipe: str) -> Callable[[list[Any], Sequence[Any]], bool]:
    """The hashes differ, so the plain selection is given ours: then places and spans must be the same."""

    def agrees(texts: list[Any], _: Sequence[Any]) -> bool:
        for text, found in zip(texts, la.winnows(texts, recipe=recipe), strict=True):
            hashes, tokens = la.shingles(text, recipe), la.tokenize(text, la.recipes.get(recipe).tokenizer)
            places = peers.select(hashes, 4)
            reach = min(peers.N, len(tokens)) - 1
            spans = tuple((tokens[place].start, tokens[place + reach].end) for place in places)
            if found.spans != spans or list(found.values) != [hashes[place] for place in places]:
                return False
        return True

    return agrees


CHAR_MINHASH: dict[str, Goal | None] = {
    "gaoya": Goal(8, 15),
    "datasketch": Goal(100),
    "datasketch, update": Goal(100),
    "rensa RMinHash": Goal(15),
}
VERSE_MINHASH: dict[str, Goal | None] = {"gaoya": Goal(12), "rensa RMinHash": Goal(9), "datasketch": None}
VERSE_WORD_MINHASH: dict[str, Goal | None] = {"gaoya": Goal(8), "rensa RMinHash": Goal(5)}
QUESTION_MINHASH: dict[str, Goal | None] = {"gaoya": Goal(6), "rensa RMinHash": Goal(3), "datasketch": None}
READY: dict[str, Goal | None] = {"rensa RMinHash, shingles at hand": None}  # no goal was set
WORD_MINHASH: dict[str, Goal | None] = CHAR_MINHASH | {"gaoya": Goal(6, 10)}
CHAR_SIMHASH: dict[str, Goal | None] = {"gaoya": Goal(8, 15), "simhash": Goal(60)}
CHINESE_MINHASH: dict[str, Goal | None] = CHAR_MINHASH | {"gaoya": Goal(18)}
CHINESE_SIMHASH: dict[str, Goal | None] = CHAR_SIMHASH | {"gaoya": Goal(12)}
WORD_SIMHASH: dict[str, Goal | None] = {"gaoya": Goal(5, 10), "simhash": Goal(60)}
WINNOWING: dict[str, Goal | None] = {"plain Python": Goal(50), "plain Python, SHA-1": Goal(50)}


def _only(peer: str, goals: dict[str, Goal | None]) -> dict[str, Goal | None]:
    return {peer: goals[peer]}


def minhash(recipe: str) -> Callable[[list[Any]], Sequence[Any]]:
    return lambda texts: la.minhashes(texts, recipe=recipe)  # type: ignore[return-value]


def simhash(recipe: str) -> Callable[[list[Any]], Sequence[Any]]:
    return lambda texts: la.simhashes(texts, recipe=recipe)  # type: ignore[return-value]


def winnow(recipe: str) -> Callable[[list[Any]], Sequence[Any]]:
    return lambda texts: la.winnows(texts, recipe=recipe)


def of_sets(sets: list[Any]) -> Sequence[Any]:
    return la.minhashes(sets)  # type: ignore[return-value]


# A job is measured against the peers that its goals name; the goals of the fuzzy hashes are not set, so all of them.
JOBS = [
    Job("MinHash-128, char 5-grams", "english", "minhash-char5", minhash("chars"), CHAR_MINHASH),
    Job("MinHash-128, word 5-grams", "english", "minhash-word5", minhash("words"), WORD_MINHASH),
    Job("SimHash-64, char 5-grams", "english", "simhash-char5", simhash("chars"), CHAR_SIMHASH),
    Job("SimHash-64, word 5-grams", "english", "simhash-word5", simhash("words"), WORD_SIMHASH),
    Job("winnowing with spans, words", "english", "winnow-word5", winnow("words"), WINNOWING, agrees=_same_choice("words")),
    Job("winnowing with spans, chars", "english", "winnow-char5", winnow("chars"), WINNOWING, agrees=_same_choice("chars")),
    Job("MinHash-128, char 5-grams", "news", "minhash-char5", minhash("chars"), _only("gaoya", CHAR_MINHASH)),
    Job("MinHash-128, word 5-grams", "news", "minhash-word5", minhash("words"), _only("gaoya", WORD_MINHASH)),
    Job("SimHash-64, char 5-grams", "news", "simhash-char5", simhash("chars"), _only("gaoya", CHAR_SIMHASH)),
    Job("SimHash-64, word 5-grams", "news", "simhash-word5", simhash("words"), _only("gaoya", WORD_SIMHASH)),
    # gaoya splits words at white space, which Chinese has none of: it is given characters for both of ours.
    Job("MinHash-128, char 5-grams", "chinese", "minhash-char5", minhash("chars"), CHINESE_MINHASH),
    Job("MinHash-128, auto 5-grams", "chinese", "minhash-char5", minhash("default"), _only("gaoya", CHINESE_MINHASH)),
    Job("SimHash-64, char 5-grams", "chinese", "simhash-char5", simhash("chars"), CHINESE_SIMHASH),
    Job("SimHash-64, auto 5-grams", "chinese", "simhash-char5", simhash("default"), _only("gaoya", CHINESE_SIMHASH)),
    Job("winnowing with spans, auto", "chinese", "winnow-char5", winnow("default"), WINNOWING),
    Job("MinHash-128, char 5-grams", "verses", "minhash-char5", minhash("chars"), VERSE_MINHASH),
    Job("MinHash-128, word 5-grams", "verses", "minhash-word5", minhash("words"), VERSE_WORD_MINHASH),
    Job("SimHash-64, char 5-grams", "verses", "simhash-char5", simhash("chars"), {"gaoya": Goal(12), "simhash": None}),
    Job("SimHash-64, word 5-grams", "verses", "simhash-word5", simhash("words"), {"gaoya": Goal(8)}),
    Job("MinHash-128, char 5-grams", "questions", "minhash-char5", minhash("chars"), QUESTION_MINHASH),
    Job("SimHash-64, char 5-grams", "questions", "simhash-char5", simhash("chars"), {"gaoya": Goal(5), "simhash": None}),
    # Both are given lists of shingles, all of them in one call.
    Job("MinHash-128 of ready shingles", "english", "minhash-char5", of_sets, READY, peers.char_shingle_lists),
    Job("MinHash-128 of ready shingles", "verses", "minhash-char5", of_sets, READY, peers.char_shingle_lists),
    Job("MinHash-128 of ready shingles", "questions", "minhash-char5", of_sets, READY, peers.char_shingle_lists),
    Job("ssdeep", "files", "ssdeep", lambda files: la.ssdeeps(files), agrees=_same_digests(la.ssdeeps)),
    Job("TLSH", "files", "tlsh", lambda files: la.tlshs(files), agrees=_same_digests(la.tlshs)),
]

# Batches with two workers: wall time, and whether the bytes are the same.
WORKERS: dict[str, Callable[[list[str], int], Any]] = {
    "MinHash-128, char 5-grams": lambda texts, workers: la.minhashes(texts, recipe="chars", workers=workers),
    "MinHash-128, word 5-grams": lambda texts, workers: la.minhashes(texts, recipe="words", workers=workers),
    "SimHash-64, char 5-grams": lambda texts, workers: la.simhashes(texts, recipe="chars", workers=workers),
    "winnowing with spans, words": lambda texts, workers: la.winnows(texts, recipe="words", workers=workers),
}


class Seconds(NamedTuple):
    """What a call took."""

    cpu: float
    wall: float


def timed(run: Callable[[], object], least: float) -> Seconds:
    """The mean of as many calls as take ``least`` seconds.

    The garbage collector rests, as in timeit: what makes many objects, as most peers do, gains by it.
    """
    gc.disable()
    try:
        calls, cpu, wall = 0, time.process_time(), time.perf_counter()
        while calls == 0 or time.process_time() - cpu < least:
            run()
            calls += 1
        return Seconds((time.process_time() - cpu) / calls, (time.perf_counter() - wall) / calls)
    finally:
        gc.enable()


def compare(job: Job, adapter: peers.Adapter, texts: list[Any], effort: Effort) -> dict[str, Any]:
    """One row of the table."""
    goal = job.goals.get(adapter.peer)
    row: dict[str, Any] = {"job": job.name, "corpus": job.corpus, "peer": adapter.peer, "version": adapter.version}
    row |= {"computes": adapter.computes, "wanted": goal.wanted if goal else None, "aim": goal.aim if goal else None}
    try:
        theirs = adapter.make()
    except ImportError as error:
        print(f"  {job.name}: {adapter.peer} is left out, {error}: pip install {adapter.distribution}", file=sys.stderr)
        return row | {"skipped": f"not installed: pip install {adapter.distribution}"}
    print(f"  {job.name}, {job.corpus}: against {adapter.peer}", file=sys.stderr)
    whole = corpus.megabytes(texts)
    some = texts[:: max(1, round(whole / adapter.megabytes))]
    share = corpus.megabytes(some)
    few = some[:200]  # for the imports and tables that a first call pays for
    ready = job.prepare(texts) if job.prepare else texts
    job.run(ready[:200])
    found = theirs(adapter.prepare(few) if adapter.prepare else few)
    given = adapter.prepare(some) if adapter.prepare else some
    turns = [(timed(lambda: job.run(ready), effort.least), timed(lambda: theirs(given), effort.least)) for _ in range(effort.repetitions)]
    ours_best, theirs_best = whole / min(ours.cpu for ours, _ in turns), share / min(peer.cpu for _, peer in turns)
    ratio = ours_best / theirs_best
    ratios = [whole / ours.cpu / (share / peer.cpu) for ours, peer in turns]
    return row | {
        "ours_mb_s": round(ours_best, 1),
        "peer_mb_s": round(theirs_best, 2),
        "ratio": round(ratio, 1),
        "ratios": [round(min(ratios), 1), round(max(ratios), 1)],
        "ok": ratio >= goal.wanted if goal else None,
        "agree": job.agrees(few, found) if job.agrees else None,
        "ours_mb": round(whole, 2),
        "peer_mb": round(share, 2),
        "ours_seconds": [_rounded(ours) for ours, _ in turns],
        "peer_seconds": [_rounded(peer) for _, peer in turns],
    }


def _rounded(seconds: Seconds) -> dict[str, float]:
    return {name: round(value, 5) for name, value in seconds._asdict().items()}


def with_workers(name: str, texts: list[str], effort: Effort) -> dict[str, Any]:
    run = WORKERS[name]
    one, two = run(texts, 1), run(texts, 2)
    same = one.tobytes() == two.tobytes() if hasattr(one, "tobytes") else [x.to_bytes() for x in one] == [x.to_bytes() for x in two]
    del one, two
    turns = [[timed(lambda: run(texts, 1), effort.least), timed(lambda: run(texts, 2), effort.least)] for _ in range(effort.repetitions)]
    seconds = [min(turn[n].wall for turn in turns) for n in (0, 1)]
    size = corpus.megabytes(texts)
    rates = {"one_mb_s": round(size / seconds[0], 1), "two_mb_s": round(size / seconds[1], 1)}
    return {"job": name, **rates, "speedup": round(seconds[0] / seconds[1], 2), "same_bytes": same}


# What a job on the english corpus needs beside the texts: the growth of the largest size of a process of its own.
MEMORY: dict[str, str] = {
    "MinHash-128, char 5-grams": "la.minhashes(texts, recipe='chars')",
    "SimHash-64, char 5-grams": "la.simhashes(texts, recipe='chars')",
    "winnowing with spans, words": "la.winnows(texts, recipe='words')",
    "rensa RMinHash, char 5-grams": "peers._rensa('char5')(texts)",
    "gaoya MinHash, char 5-grams": "peers._gaoya_minhash('char5')(texts)",
}
_GROWTH = """
import resource, sys
from pathlib import Path
import numpy, corpus, peers
import lookalike as la
folder, documents, job = sys.argv[1:]
texts = corpus.load(Path(folder) if folder else None, int(documents) or None)["english"].texts
few = texts[:50]
eval(job, {"la": la, "peers": peers, "texts": few})
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = eval(job, {"la": la, "peers": peers, "texts": texts})
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, getattr(found, "nbytes", 0))
"""


def memory_of(name: str, data: Path | None, effort: Effort) -> dict[str, Any]:
    command = [sys.executable, "-c", _GROWTH, str(data.absolute() if data else ""), str(effort.documents or 0), MEMORY[name]]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True)
    if done.returncode:
        return {"job": name, "skipped": done.stderr.strip().rpartition("\n")[2]}
    growth, result = map(int, done.stdout.split())
    return {"job": name, "growth_mb": round(growth / 1000, 1), "result_mb": round(result / 1e6, 1)}


def run_all(data: Path | None, effort: Effort) -> dict[str, Any]:
    print("reading the corpora" if data else "generating the corpora", file=sys.stderr)
    corpora = corpus.load(data, effort.documents)
    inputs: dict[str, list[Any]] = {name: found.texts for name, found in corpora.items()}
    inputs["files"] = corpus.files(corpora["english"])
    print(f"speed: best of {effort.repetitions}, one thread", file=sys.stderr)
    rows = [
        compare(job, adapter, inputs[job.corpus], effort)
        for job in JOBS
        for adapter in peers.adapters(job.task)
        if not job.goals or adapter.peer in job.goals
    ]
    print("two workers", file=sys.stderr)
    workers = [with_workers(name, inputs["english"], effort) for name in WORKERS]
    print("memory", file=sys.stderr)
    memory = [memory_of(name, data, effort) for name in MEMORY]
    print("quality", file=sys.stderr)
    return {
        "benchmark": "speed",
        **machine.describe(),
        "method": {"repetitions": effort.repetitions, "taken": "best", "clock": "process CPU time", "threads": 1},
        "generated": data is None,
        "corpora": {name: found.describe() for name, found in corpora.items()},
        "rows": rows,
        "workers": workers,
        "memory": memory,
        "quality": accuracy.measure(effort.features, effort.lengths),
    }


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Lookalike and its peers on the same text.")
    parser.add_argument(
        "--data", type=Path, help="folder with bible_en.docs, reuters21578.docs, news_zh.docs and lcqmc_zh.dev.pairs (.jsonl.gz)"
    )
    parser.add_argument("--documents", type=int, help="at most so many documents of each corpus")
    parser.add_argument("--quick", action="store_true", help="a rough answer in under a minute")
    parser.add_argument("--json", type=Path, help="write the result here")
    parser.add_argument("--docs", type=Path, help="rewrite the measured part of this page")
    parser.add_argument("--show", type=Path, help="measure nothing, show this result")
    options = parser.parse_args(arguments)
    for name in THREADS:  # read by the peers when they start their first thread
        os.environ[name] = "1"
    if options.show:
        result = json.loads(options.show.read_text(encoding="utf-8"))
    else:
        effort = QUICK if options.quick else THOROUGH
        result = run_all(options.data, replace(effort, documents=options.documents or effort.documents))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if options.docs:
        options.docs.write_text(report.replace_measured(options.docs.read_text(encoding="utf-8"), result), encoding="utf-8")
    print(report.render(result))


if __name__ == "__main__":
    main()
