"""What Word Mover's Distance costs: the solver against POT, pairs of texts against gensim, and search with its pruning.

    python benchmarks/word_mover.py [--data DIR] [--json OUT] [--quick] [--no-peer]

DIR holds ``reuters21578.docs.jsonl.gz`` (``id``, ``text``). Without it, texts are generated: words of a few hundred subjects, whose
vectors lie together. Peers run in the same process on the same input, and every value is compared with ours. gensim and POT are left out
where they are not installed.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import machine
import numpy as np
import quality

import lookalike as la
from lookalike import _native
from lookalike.word_mover.words import words_of

Texts = list[list[str]]
Table = dict[str, np.ndarray]
DIMENSIONS = 300  # of generated vectors


def seconds(run: Callable[[], object], repetitions: int = 3) -> dict[str, float]:
    """CPU and wall seconds, each the least of several runs."""
    cpu, wall = [], []
    for _ in range(repetitions):
        start = time.process_time(), time.perf_counter()
        run()
        cpu.append(time.process_time() - start[0])
        wall.append(time.perf_counter() - start[1])
    return {"cpu_ms": 1e3 * min(cpu), "wall_ms": 1e3 * min(wall)}


def per(found: dict[str, float], count: int) -> dict[str, float]:
    return {name: value / count for name, value in found.items()}


def generated(count: int, seed: int = 1) -> tuple[Texts, Table]:
    """Texts about one to three of 200 subjects, 50 words each."""
    chance = np.random.default_rng(seed)
    middles = chance.normal(size=(200, DIMENSIONS))
    table = {
        f"w{subject}x{i}": (middles[subject] + chance.normal(size=DIMENSIONS)).astype(np.float32)
        for subject in range(200)
        for i in range(50)
    }
    texts = []
    for _ in range(count):
        subjects = chance.integers(0, 200, chance.integers(1, 4))
        texts.append([f"w{chance.choice(subjects)}x{chance.integers(0, 50)}" for _ in range(chance.integers(8, 200))])
    return texts, table


def real(folder: Path, count: int) -> tuple[Texts, Table]:
    """The words of news, encoded by the default model."""
    found: Texts = []
    for row in quality.rows(folder / "reuters21578.docs.jsonl.gz"):
        words = [word.normal for word in words_of(row["text"])]
        if len(words) >= 8:
            found.append(words)
        if len(found) == count:
            break
    vocabulary = sorted({word for words in found for word in words})
    vectors = la.embedder().encode(vocabulary)
    return found, dict(zip(vocabulary, vectors, strict=True))


def largest_difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Relative, where the distance is above rounding."""
    return float(np.max(np.abs(ours - theirs) / np.maximum(np.abs(theirs), 1e-3)))


def measure_solver(sizes: list[int], peer: bool) -> list[dict[str, Any]]:
    """Transport alone: costs are ready."""
    rows = []
    for size in sizes:
        chance = np.random.default_rng(size)
        supplies, demands = (chance.integers(1, 9, size).astype(np.uint64) for _ in range(2))
        masses = supplies * demands.sum(), demands * supplies.sum()
        points = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in chance.normal(size=(2, size, DIMENSIONS))]
        costs = np.sqrt(np.maximum(0, 2 - 2 * points[0] @ points[1].T))
        repetitions = max(3, 2000 // size)

        def ours(masses: Any = masses, costs: Any = costs) -> float:
            sources, sinks, amounts, _ = _native.transport_plan(*masses, costs.reshape(-1))
            return float((np.asarray(amounts) * costs[np.asarray(sources), np.asarray(sinks)]).sum() / masses[0].sum())

        row: dict[str, Any] = {
            "words": size,
            "pivots": _native.transport_plan(*masses, costs.reshape(-1))[3],
            "ours": seconds(ours, repetitions),
        }
        if peer:
            import ot

            shares = [each / each.sum() for each in masses]
            row["pot"] = seconds(lambda shares=shares, costs=costs: ot.emd2(*shares, costs), repetitions)
            row["largest_difference"] = largest_difference(np.array([ours()]), np.array([ot.emd2(*shares, costs)]))
            row["times_pot_cpu"] = row["pot"]["cpu_ms"] / row["ours"]["cpu_ms"]
        rows.append(row)
    return rows


def measure_pairs(texts: Texts, table: Table, lengths: list[int], pairs: int, peer: bool) -> list[dict[str, Any]]:
    """Whole pairs, from lists of words: look-up, distances between words, transport."""
    keyed: Any = None
    if peer:
        from gensim.models import KeyedVectors

        keyed = KeyedVectors(len(next(iter(table.values()))))
        keyed.add_vectors(list(table), np.stack(list(table.values())))
        keyed.fill_norms()
    one, two = la.measures.wmd_with(table), la.measures.wmd_with(table, workers=2)
    one.distance(texts[0], texts[1])
    two.distance(texts[0], texts[1])
    rows = []
    for length in lengths:
        cut = [words[:length] for words in texts if len(words) >= length]
        if len(cut) < 2:
            continue
        chosen = [(cut[i % len(cut)], cut[(i + 1) % len(cut)]) for i in range(pairs)]
        left, right = [a for a, _ in chosen], [b for _, b in chosen]
        row: dict[str, Any] = {
            "words": length,
            "pairs": pairs,
            "ours_one_by_one": per(seconds(lambda chosen=chosen: [one.distance(a, b) for a, b in chosen]), pairs),
            "ours_batch": per(seconds(lambda left=left, right=right: one.distances(left, right)), pairs),
            "ours_batch_two_threads": per(seconds(lambda left=left, right=right: two.distances(left, right)), pairs),
        }
        if keyed is not None:
            row["gensim"] = per(seconds(lambda chosen=chosen: [keyed.wmdistance(a, b) for a, b in chosen], 1), pairs)
            theirs = np.array([keyed.wmdistance(a, b) for a, b in chosen])
            row["largest_difference"] = largest_difference(one.distances(left, right), theirs)
            for form in ("ours_one_by_one", "ours_batch"):
                row[f"times_gensim_cpu_{form}"] = row["gensim"]["cpu_ms"] / row[form]["cpu_ms"]
            row["times_gensim_wall_ours_batch_two_threads"] = row["gensim"]["wall_ms"] / row["ours_batch_two_threads"]["wall_ms"]
        rows.append(row)
    return rows


def measure_search(texts: Texts, table: Table, queries: int, k: int) -> dict[str, Any]:
    """Texts of the collection as queries, each without itself in mind: it is found first, at distance 0."""
    built = seconds(lambda: la.WmdIndex(texts, vectors=table), 1)
    index = la.WmdIndex(texts, vectors=table)
    asked = texts[:: max(1, len(texts) // queries)][:queries]
    found = [index.search(words, k) for words in asked]
    shares = {
        name: float(np.mean([getattr(each.pruning, name) / each.pruning.texts for each in found]))
        for name in ("by_centroid", "by_relaxed", "solved")
    }
    one = per(seconds(lambda: [index.search(words, k) for words in asked], 1), len(asked))
    two = per(seconds(lambda: [index.search(words, k, workers=2) for words in asked], 1), len(asked))
    measure = la.measures.wmd_with(table)
    few = asked[:3]
    brute = per(seconds(lambda: [measure.pairwise([words], texts) for words in few], 1), len(few))
    same = all(
        [(int(i), row[i]) for i in np.lexsort((np.arange(len(row)), row))[:k]] == [tuple(match) for match in index.search(words, k)]
        for words, row in zip(few, measure.pairwise(few, texts), strict=True)
    )
    return {
        "texts": len(texts),
        "distinct_words": len({word for words in texts for word in words}),
        "queries": len(asked),
        "k": k,
        "build": built,
        "search": one,
        "search_two_threads": two,
        "brute_force": brute,
        "same_as_brute_force": same,
        "shares": shares,
        "index_mb": index.nbytes / 1e6,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of reuters21578")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the results here as well")
    parser.add_argument("--texts", type=int, default=5000, metavar="N", help="texts to search [default: 5000]")
    parser.add_argument("--quick", action="store_true", help="little of everything, to see that it runs")
    parser.add_argument("--no-peer", action="store_true", help="leave gensim and POT out")
    options = parser.parse_args()
    count = 60 if options.quick else options.texts
    texts, table = real(options.data, count) if options.data else generated(count)
    pot = find_spec("ot") is not None and not options.no_peer
    gensim = pot and find_spec("gensim") is not None
    versions = {name: version(name) for name, there in (("gensim", gensim), ("POT", pot)) if there}
    about = machine.describe()
    about["versions"] |= versions
    result: dict[str, Any] = {**about, "generated": options.data is None}
    result["solver"] = measure_solver([10, 50] if options.quick else [10, 50, 200, 500, 1000], pot)
    result["pairs"] = measure_pairs(texts, table, [10] if options.quick else [10, 50, 200], 10 if options.quick else 100, gensim)
    result["search"] = measure_search(texts, table, 2 if options.quick else 20, 10)
    print(json.dumps({name: result[name] for name in ("solver", "pairs", "search")}, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
