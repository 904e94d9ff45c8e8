"""A folder against itself: what is found of copied passages and of disguised code, how fast, and beside copydetect.

    python benchmarks/pairs.py [--data FOLDER] [--files 40] [--essays 500] [--many 10000] [--json OUT]

Essays are the texts of ``corpus.py`` (real ones with ``--data``), into which passages of other essays are copied, as they are and with
every twentieth word changed. A pair that was there before is no false one. Code is Python's standard library and this project's own
source; copies are made by ``disguises.py``, and stand in one folder with the originals: a perfect ranking has every copy beside its
original. copydetect (PyPI) reads the same folders, and so does Dolos where ``DOLOS`` names a folder in which ``npm install
@dodona/dolos-lib`` ran. JPlag is no package of PyPI or npm; it was not to be had. Times are of the processor.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any

import machine
import numpy as np
from disguises import PYTHON, Rewrite
from source_code import python_files, read

import corpus
import lookalike as la

LENGTHS = (8, 12, 20, 40, 80)  # words, or ideographs, of a copied passage
COPIES = 40  # of each length
ESSAY = 5_000  # characters at most
CHANGED = 0.05  # of the words of an edited passage
Pair = tuple[str, str]


def written(folder: Path, texts: dict[str, str]) -> Path:
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def found_in(folder: Path, **options: Any) -> tuple[la.PairsReport, float]:
    started = time.process_time()
    report = la.pairs(folder, limit=1_000_000, **options)
    return report, time.process_time() - started


def names(left: str, right: str) -> Pair:
    first, second = sorted((Path(left).name, Path(right).name))
    return first, second


def planted(texts: list[str], length: int, edited: bool, generator: random.Random) -> tuple[list[str], set[Pair]]:
    """The texts, where passages of others stand in some; and who took from whom."""
    made, pairs = list(texts), set()
    while len(pairs) < COPIES:
        donor, taker = generator.sample(range(len(texts)), 2)
        spans = [(token.start, token.end) for token in la.tokenize(texts[donor])]
        if len(spans) < 2 * length:
            continue
        at = generator.randrange(len(spans) - length)
        words = [texts[donor][start:end] for start, end in spans[at : at + length]]
        if edited:
            words = [generator.choice(words) if generator.random() < CHANGED else word for word in words]
        glue = " " if " " in texts[donor][:500] else ""
        here = generator.choice(la.tokenize(made[taker])).start
        made[taker] = f"{made[taker][:here]}{glue.join(words)} {made[taker][here:]}"
        pairs.add((f"{donor:05}.txt", f"{taker:05}.txt"))
    return made, pairs


def beside(taken: set[Pair], before: set[Pair]) -> set[Pair]:
    """Pairs that are no false ones: two that took from one, and one that took from a text which another shared something with before."""
    groups: dict[str, set[str]] = {}
    for donor, taker in taken:
        groups.setdefault(donor, set()).add(taker)
    for left, right in before:
        for one, other in ((left, right), (right, left)):
            if one in groups:
                groups[one].add(other)
    return before | {names(a, b) for group in groups.values() for a, b in combinations(sorted(group), 2)}


def essays(texts: list[str], scratch: Path, seed: int = 5) -> dict[str, Any]:
    generator = random.Random(seed)
    report, seconds = found_in(written(scratch / "before", {f"{n:05}.txt": text for n, text in enumerate(texts)}))
    before = {names(pair.left, pair.right) for pair in report}
    page = report.to_html()
    rows: dict[str, Any] = {}
    for length in LENGTHS:
        for edited in (False, True):
            made, taken = planted(texts, length, edited, generator)
            truth = {names(donor, taker) for donor, taker in taken}
            folder = written(scratch / f"{length}-{edited}", {f"{n:05}.txt": text for n, text in enumerate(made)})
            now, _ = found_in(folder)
            found = {names(pair.left, pair.right) for pair in now} - (beside(taken, before) - truth)
            rows[f"{length} words{', edited' if edited else ''}"] = {
                "recall": round(len(found & truth) / len(truth), 3),
                "precision": round(len(found & truth) / max(len(found), 1), 3),
            }
    return {
        "essays": len(texts),
        "characters": sum(map(len, texts)),
        "seconds": round(seconds, 2),
        "pairs_before": len(before),
        "report_megabytes": round(len(page.encode()) / 1e6, 2),
        "copied": rows,
    }


def auc(matrix: np.ndarray[Any, Any], truth: list[tuple[int, int]]) -> float:
    """How often a copy and its original are more alike than two unrelated files."""
    size = len(matrix)
    chosen = np.zeros((size, size), dtype=bool)
    for a, b in truth:
        chosen[a, b] = chosen[b, a] = True
    upper = np.triu_indices(size, 1)
    scores, is_copy = matrix[upper], chosen[upper]
    order = scores.argsort(kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    for value in np.unique(scores):
        ranks[scores == value] = ranks[scores == value].mean()
    copies = int(is_copy.sum())
    return float((ranks[is_copy].sum() - copies * (copies + 1) / 2) / (copies * (len(scores) - copies)))


def at_the_top(matrix: np.ndarray[Any, Any], truth: list[tuple[int, int]]) -> float:
    """The share of copies among the best pairs, as many as there are copies."""
    upper = np.triu_indices(len(matrix), 1)
    best = np.argsort(-matrix[upper], kind="stable")[: len(truth)]
    return len({(int(upper[0][at]), int(upper[1][at])) for at in best} & {(min(pair), max(pair)) for pair in truth}) / len(truth)


def ours(folder: Path) -> np.ndarray[Any, Any]:
    return np.array(la.pairs(folder, kind="code", limit=1_000_000).matrix())


def copydetect(folder: Path) -> np.ndarray[Any, Any]:
    from copydetect import CopyDetector

    detector = CopyDetector(test_dirs=[str(folder)], extensions=["py"], display_t=0, silent=True, disable_filtering=False)
    detector.run()
    place = {Path(path).name: at for at, path in enumerate(detector.test_files)}
    order = [place[path.name] for path in sorted(folder.iterdir())]
    similarity = np.maximum(detector.similarity_matrix, 0)
    both = similarity.mean(axis=2) if similarity.ndim == 3 else (similarity + similarity.T) / 2
    both = np.maximum(both, both.T)
    return np.asarray(both[np.ix_(order, order)])


DOLOS_SCRIPT = """
import { Dolos } from "@dodona/dolos-lib";
const report = await new Dolos({ language: "python" }).analyzePaths(process.argv.slice(1));
const pairs = report.allPairs().map((pair) => [pair.leftFile.path, pair.rightFile.path, pair.similarity]);
console.log(JSON.stringify(pairs));
"""


def dolos(folder: Path) -> np.ndarray[Any, Any]:
    files = sorted(map(str, folder.iterdir()))
    command = ["node", "--input-type=module", "-e", DOLOS_SCRIPT, "--", *files]
    done = subprocess.run(command, cwd=os.environ["DOLOS"], capture_output=True, text=True, check=True)
    place = {name: at for at, name in enumerate(files)}
    matrix = np.eye(len(files))
    for left, right, similarity in json.loads(done.stdout):
        matrix[place[left], place[right]] = matrix[place[right], place[left]] = similarity
    return matrix


WAYS: dict[str, Callable[[Path], np.ndarray[Any, Any]]] = {"lookalike": ours}
if importlib.util.find_spec("copydetect"):
    WAYS["copydetect"] = copydetect
if os.environ.get("DOLOS"):
    WAYS["dolos"] = dolos


def processor_time() -> float:
    """Of this process and of those that it started and waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def code(texts: list[str], disguises: dict[str, Rewrite], scratch: Path) -> dict[str, Any]:
    rows: dict[str, Any] = {}
    for name, rewrite in disguises.items():
        copies = [rewrite(text, texts[(number + 1) % len(texts)], number) for number, text in enumerate(texts)]
        files = {f"{n:04}.py": text for n, text in enumerate([*texts, *copies])}
        folder = written(scratch / f"code-{len(rows)}", files)
        truth = [(n, n + len(texts)) for n in range(len(texts))]
        rows[name] = {}
        for way, run in WAYS.items():
            started = processor_time()
            matrix = run(folder)
            rows[name][way] = {
                "auc": round(auc(matrix, truth), 3),
                "top": round(at_the_top(matrix, truth), 3),
                "seconds": round(processor_time() - started, 2),
            }
    return {"files": 2 * len(texts), "disguises": rows}


def many(count: int, scratch: Path, seed: int = 9) -> dict[str, Any]:
    """So many documents that all share one passage, and nothing else."""
    generator = random.Random(seed)
    words = [f"word{n}" for n in range(20_000)]
    shared = " ".join(generator.choices(words, k=60))
    folder = scratch / "many"
    folder.mkdir()
    with open(folder / "all.jsonl", "w", encoding="utf-8") as file:
        for n in range(count):
            text = f"{' '.join(generator.choices(words, k=150))} {shared} {' '.join(generator.choices(words, k=150))}"
            file.write(json.dumps({"id": n, "text": text}) + "\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report, seconds = found_in(folder / "all.jsonl")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    figures = {"documents": count, "pairs": report.total, "common": len(report.common)}
    return figures | {"seconds": round(seconds, 2), "megabytes_more": round(grown)}


def print_code(found: dict[str, Any]) -> None:
    print(f"\ncode, {found['files']} files{'':10}" + "".join(f"{way + ': auc, top, s':>34}" for way in WAYS))
    for name, row in found["disguises"].items():
        print(f"{name:30}" + "".join(f"{each['auc']:>18.3f}{each['top']:8.3f}{each['seconds']:8.2f}" for each in row.values()))


def print_essays(name: str, found: dict[str, Any]) -> None:
    print(f"\n{name}:", {key: value for key, value in found.items() if key != "copied"})
    for row, figures in found["copied"].items():
        print(f"  {row:24}recall {figures['recall']:.3f}  precision {figures['precision']:.3f}")


def versions() -> dict[str, str]:
    found = {"copydetect": version("copydetect")} if "copydetect" in WAYS else {}
    if "dolos" in WAYS:
        package = Path(os.environ["DOLOS"], "node_modules", "@dodona", "dolos-lib", "package.json")
        found["dolos-lib"] = json.loads(package.read_text(encoding="utf-8"))["version"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--files", type=int, default=40)
    parser.add_argument("--essays", type=int, default=500)
    parser.add_argument("--many", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    result: dict[str, Any] = machine.describe()
    result["versions"] |= versions()
    with tempfile.TemporaryDirectory() as folder:
        result["many"] = many(options.many, Path(folder))
        print("one passage in all:", result["many"])
        result["code"] = code(read(python_files(), "python", options.files), PYTHON, Path(folder))
        print_code(result["code"])
        for name, texts in corpus.load(options.data, None).items():
            chosen = [text[:ESSAY] for text in texts.texts if len(text) > 600][: options.essays]
            if len(chosen) >= 20:
                (Path(folder) / name).mkdir()
                result.setdefault("essays", {})[name] = essays(chosen, Path(folder) / name)
                print_essays(name, result["essays"][name])
    if options.json:
        options.json.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
