"""From which score on two pages are the same page, by the view that is asked for: thresholds for web pages.

    python benchmarks/page_thresholds.py --data DIR [--pairs 1500] [--json OUT]

DIR holds ``debian_pages`` and ``petclinic_pages`` (``NAME.docs.jsonl.gz``: ``id``, ``html``; ``NAME.pairs.jsonl.gz``: ``a``, ``b``,
``label``). Positive are the same page in another release (debian) and clones and near-duplicates (petclinic); all other pairs are
negative, among them sibling pages of one template. For each view: the AUC, how many negatives reach .8 and how many positives do, and the
threshold with the best F1, found on one half of the pairs and shown on the other half.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import machine
import numpy as np

import lookalike as la
from lookalike.pages.tags import TagWeights

SETS = {"debian_pages": lambda label: label == 2, "petclinic_pages": lambda label: label < 2}
USUAL = 0.8
# Weights by type of tag: what is told by attributes alone, and what by its text.
BY_TAG = TagWeights(
    by_tag={
        **dict.fromkeys(("script", "link", "meta", "img", "input"), TagWeights(name=0, attrs=1, string=0)),
        **dict.fromkeys(("p", "li", "td", "th", "h1", "h2", "h3", "title"), TagWeights(name=0, attrs=0, string=1)),
    }
)


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def auc(scores: np.ndarray[Any, Any], truth: np.ndarray[Any, Any]) -> float:
    ranks = np.sort(scores[~truth])
    positive = scores[truth]
    return float(np.mean((np.searchsorted(ranks, positive, "left") + np.searchsorted(ranks, positive, "right")) / 2 / len(ranks)))


def f1(scores: np.ndarray[Any, Any], truth: np.ndarray[Any, Any], threshold: float) -> float:
    found = scores >= threshold
    return float(2 * np.sum(found & truth) / max(1, np.sum(found) + np.sum(truth)))


def best_threshold(scores: np.ndarray[Any, Any], truth: np.ndarray[Any, Any]) -> float:
    return float(max(np.arange(0.3, 1.0, 0.02), key=lambda threshold: f1(scores, truth, threshold)))


def measured(folder: Path, name: str, count: int) -> dict[str, Any]:
    pages = {row["id"]: la.page(row["html"]) for row in rows(folder / f"{name}.docs.jsonl.gz")}
    pairs = list(rows(folder / f"{name}.pairs.jsonl.gz"))
    random.Random(7).shuffle(pairs)
    pairs = pairs[:count]
    truth = np.array([SETS[name](int(pair["label"])) for pair in pairs])
    scores: dict[str, list[float]] = {}
    for pair in pairs:
        left, right = pages[pair["a"]], pages[pair["b"]]
        compared = la.compare(left, right)
        for view, value in {"all": compared.score, **compared.measures}.items():
            scores.setdefault(view, []).append(float(value or 0))
        scores.setdefault("tags by type", []).append(la.match_tags(left, right, weights=BY_TAG, align="order").score)
        scores.setdefault("tags in order", []).append(la.match_tags(left, right, align="order").score)
    found: dict[str, Any] = {"pairs": len(pairs), "positive": int(truth.sum()), "views": {}}
    half = np.arange(len(pairs)) % 2 == 0
    for view, values in scores.items():
        each = np.array(values)
        threshold = best_threshold(each[half], truth[half])
        found["views"][view] = {
            "auc": round(auc(each, truth), 3),
            "false at .8": round(float(np.mean(each[~truth] >= USUAL)), 3),
            "found at .8": round(float(np.mean(each[truth] >= USUAL)), 3),
            "best": round(threshold, 2),
            "false at best": round(float(np.mean(each[~half & ~truth] >= threshold)), 3),
            "found at best": round(float(np.mean(each[~half & truth] >= threshold)), 3),
            "f1 at .8": round(f1(each[~half], truth[~half], USUAL), 3),
            "f1 at best": round(f1(each[~half], truth[~half], threshold), 3),
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--pairs", type=int, default=1_500)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    result: dict[str, Any] = {**machine.describe(), "sets": {}}
    for name in SETS:
        found = result["sets"][name] = measured(options.data, name, options.pairs)
        print(f"\n{name}: {found['pairs']} pairs, {found['positive']} positive")
        for view, row in found["views"].items():
            print(f"{view:16}", "  ".join(f"{key} {value:.3f}" for key, value in row.items()), flush=True)
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
