"""How well Word Mover's Distance orders pairs that people judged, beside the headline score and the Jaccard index.

    python benchmarks/quality_word_mover.py --data DIR [--json OUT] [--only NAME ...] [--vectors FILE]

DIR holds the labelled sets of ``quality.py``. Words are encoded by the default model, or looked up in a table. Without DIR a small
set is generated, with random vectors, which shows that the program runs and nothing else.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import machine
import numpy as np
import quality

from lookalike.word_mover.mover import Bag, WordMover, distances_of

SETS = ("stsb_en.dev", "stsb_zh.dev", "lcqmc_zh.dev", "sohu_dd_zh")


def similarities(pairs: Sequence[quality.Pair], mover: WordMover, workers: int = 2) -> np.ndarray:
    """1 / (1 + distance) of each pair; 0 where a text has no known word, 1 where neither has."""
    bags = mover.bags([pair.left for pair in pairs] + [pair.right for pair in pairs])
    left, right = bags[: len(pairs)], bags[len(pairs) :]
    found = np.array([float(bool(a.words) == bool(b.words)) for a, b in zip(left, right, strict=True)])
    full = [i for i, (a, b) in enumerate(zip(left, right, strict=True)) if a.words and b.words]

    def chosen(side: list[Bag]) -> list[Bag]:
        return [side[i] for i in full]

    found[full] = 1 / (1 + distances_of(chosen(left), chosen(right), workers=workers))
    return found


def unknown_share(pairs: Sequence[quality.Pair], mover: WordMover) -> float:
    bags = mover.bags([text for pair in pairs for text in (pair.left, pair.right)])
    return sum(bag.unknown for bag in bags) / max(1, sum(bag.tokens for bag in bags))


def measure(name: str, pairs: Sequence[quality.Pair], mover: WordMover) -> dict[str, Any]:
    """Spearman x 100 of Word Mover's Distance, of the headline score and of the baseline, on one set."""
    labels = np.array([pair.label for pair in pairs])
    start = time.perf_counter()
    values = {"wmd": similarities(pairs, mover)}
    seconds = time.perf_counter() - start
    values |= {key: np.array([quality.MEASURES[key](pair.left, pair.right) for pair in pairs]) for key in ("score", "jaccard")}
    found = {key: round(100 * quality.spearman(value, labels), 2) for key, value in values.items()}
    return {"set": name, "pairs": len(pairs), "spearman": found, "unknown_words": unknown_share(pairs, mover), "wmd_seconds": seconds}


def generated() -> tuple[list[quality.Pair], WordMover]:
    pairs = quality.generated(quality.LATIN, " ", 9, run=20, count=60)
    chance = np.random.default_rng(1)
    words = sorted({word for pair in pairs for text in (pair.left, pair.right) for word in text.split()})
    return pairs, WordMover(dict(zip(words, chance.normal(size=(len(words), 20)), strict=True)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of the labelled sets")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the results here as well")
    parser.add_argument("--only", nargs="+", default=SETS, choices=SETS, metavar="NAME", help="these sets alone")
    parser.add_argument("--vectors", type=Path, metavar="FILE", help="a table of word vectors [default: the default model]")
    options = parser.parse_args()
    if options.data is None:
        pairs, mover = generated()
        results = [measure("generated", pairs, mover)]
    else:
        mover = WordMover(options.vectors)
        results = [measure(name, quality.labelled(name)(options.data), mover) for name in options.only]
    for row in results:
        print(f"{row['set']:16}{row['pairs']:>7} pairs  " + "  ".join(f"{key} {value:.2f}" for key, value in row["spearman"].items()))
    if options.json is not None:
        about = {**machine.describe(), "generated": options.data is None, "vectors": mover.vectors.name, "results": results}
        options.json.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
