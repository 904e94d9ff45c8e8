"""The nearest without a threshold, and containment: what is found of what comparing with every document finds, and what it costs.

    python benchmarks/nearest.py [--documents 20000] [--queries 200] [--json FILE] [--data FOLDER]

Documents are made up: of each ten, four are independent, and six are made of an earlier one by replacing words, by taking a part of it,
by putting it between other words, or by putting two together. The peers are datasketch's LSH Forest and LSH Ensemble, given the same
features; they estimate, so their answers are compared by the exact similarities of what they name.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine

import lookalike as la
from lookalike.text.shingle import shingle_set

NEAREST = 10
SHARE = 0.8


def words_of(data: Path | None, chance: random.Random) -> list[list[str]]:
    """Texts as lists of words: from a file of documents, or of made-up words."""
    if data is None:
        vocabulary = [f"w{number}" for number in range(5000)]
        return [chance.choices(vocabulary, k=chance.randrange(40, 200)) for _ in range(4000)]
    with gzip.open(data, "rt", encoding="utf-8") as file:
        texts = (json.loads(line).get("text") or "" for line in file)
        return [words[:300] for text in texts if len(words := text.split()) >= 40]


def made(count: int, sources: list[list[str]], chance: random.Random) -> list[list[str]]:
    documents: list[list[str]] = []
    while len(documents) < count:
        kind, words = chance.randrange(10), list(chance.choice(sources))
        if kind >= 4 and documents:
            words = list(chance.choice(documents))
        if kind in (4, 5, 6):
            for _ in range(len(words) * chance.randrange(1, 20) // 100):
                words[chance.randrange(len(words))] = chance.choice(chance.choice(sources))
        elif kind == 7:
            at = chance.randrange(len(words) // 2)
            words = words[at : at + max(20, len(words) // 3)]
        elif kind == 8:
            words = [*chance.choice(sources)[:60], *words, *chance.choice(sources)[:60]]
        elif kind == 9 and documents:
            words = [*words[:150], *chance.choice(documents)[:150]]
        documents.append(words)
    return documents


def timed(ask: Callable[[str], list[int]], queries: list[str]) -> tuple[list[list[int]], float]:
    began = time.process_time()
    found = [ask(query) for query in queries]
    return found, (time.process_time() - began) / len(queries)


def nearest_recall(found: list[list[int]], exact: list[dict[int, float]]) -> float:
    """Of the ten largest similarities, the share that the answers reach: of equal ones any counts."""
    reached = wanted = 0
    for ids, scores in zip(found, exact, strict=True):
        best = sorted((score for score in scores.values() if score > 0), reverse=True)[:NEAREST]
        ours = sorted((scores.get(id_, 0.0) for id_ in ids[:NEAREST]), reverse=True)
        reached += sum(mine >= best_one for mine, best_one in zip(ours, best, strict=False))
        wanted += len(best)
    return reached / wanted


def recall(found: list[list[int]], expected: list[set[int]]) -> float:
    return sum(len(set(ids) & right) for ids, right in zip(found, expected, strict=True)) / max(1, sum(map(len, expected)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    chance = random.Random(7)
    texts = [" ".join(words) for words in made(asked.documents, words_of(asked.data, chance), chance)]
    places = chance.sample(range(len(texts)), asked.queries)
    queries = [texts[place] for place in places]
    sets = [shingle_set(text) for text in texts]
    common: list[dict[int, int]] = []
    postings: dict[Any, list[int]] = {}
    for number, features in enumerate(sets):
        for feature in features:
            postings.setdefault(feature, []).append(number)
    for place in places:
        counts: dict[int, int] = {}
        for feature in sets[place]:
            for number in postings[feature]:
                counts[number] = counts.get(number, 0) + 1
        common.append(counts)
    own = [len(sets[place]) for place in places]
    exact = [{n: c / (size + len(sets[n]) - c) for n, c in counts.items()} for counts, size in zip(common, own, strict=True)]
    holding = [{n for n, c in counts.items() if c / size >= SHARE} for counts, size in zip(common, own, strict=True)]
    held = [{n for n, c in counts.items() if c / len(sets[n]) >= SHARE} for counts in common]
    results: dict[str, Any] = {"documents": len(texts), "queries": len(queries)}
    with la.open("memory://") as index:
        index.add(list(enumerate(texts)))
        index.search(queries[0], threshold=0)
        index.search(queries[0], by="contains")
        for name, options, truth in (
            ("nearest", {"threshold": 0, "limit": NEAREST}, None),
            ("contains", {"by": "contains", "threshold": SHARE, "limit": None}, holding),
            ("contained", {"by": "contained", "threshold": SHARE, "limit": None}, held),
        ):
            found, seconds = timed(lambda query, options=options: [match.id for match in index.search(query, **options)], queries)  # type: ignore[misc]
            share = nearest_recall(found, exact) if truth is None else recall(found, truth)
            results[name] = {"recall": share, "cpu_ms": seconds * 1000, "expected": NEAREST if truth is None else sum(map(len, truth))}
    results |= peers(sets, places, exact, holding)
    for name, value in results.items():
        print(name, value)
    if asked.json:
        asked.json.write_text(json.dumps(machine.describe() | results, indent=1) + "\n")


def peers(sets: list[Any], places: list[int], exact: list[dict[int, float]], holding: list[set[int]]) -> dict[str, Any]:
    try:
        from datasketch import MinHash, MinHashLSHEnsemble, MinHashLSHForest
    except ImportError:
        return {"peers": "datasketch is not installed"}
    began = time.process_time()
    sketches = MinHash.bulk([[str(feature).encode() for feature in features] for features in sets], num_perm=128)
    sketching = time.process_time() - began
    forest = MinHashLSHForest(num_perm=128)
    for number, sketch in enumerate(sketches):
        forest.add(number, sketch)
    forest.index()
    ensemble = MinHashLSHEnsemble(threshold=SHARE, num_perm=128, num_part=16)
    ensemble.index((number, sketch, len(sets[number])) for number, sketch in enumerate(sketches))
    began = time.process_time()
    near = [list(forest.query(sketches[place], NEAREST)) for place in places]
    middle = time.process_time()
    contained = [list(ensemble.query(sketches[place], len(sets[place]))) for place in places]
    end = time.process_time()
    correct = sum(len(set(ids) & right) for ids, right in zip(contained, holding, strict=True))
    return {
        "datasketch forest": {"recall": nearest_recall(near, exact), "cpu_ms": (middle - began) / len(places) * 1000},
        "datasketch ensemble": {
            "recall": recall(contained, holding),
            "precision": correct / max(1, sum(map(len, contained))),
            "cpu_ms": (end - middle) / len(places) * 1000,
        },
        "datasketch sketching of all, seconds": sketching,
    }


if __name__ == "__main__":
    main()
