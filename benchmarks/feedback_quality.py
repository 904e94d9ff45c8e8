"""What the edit share is worth: its correlation with HTER, with human judgements, and its speed.

    python benchmarks/feedback_quality.py                     # small pairs made here, with a known number of edits
    python benchmarks/feedback_quality.py --data FOLDER       # the labelled sets, where the folder has them

Prints one JSON object. ``hter`` is the share of words a translator changed, ``quality`` an independent judgement of the draft,
``gain`` how much better the edited text was judged. Beside ours stands the Jaccard distance of character trigrams.
"""

from __future__ import annotations

import argparse
import gzip
import json
import platform
import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import lookalike as la

WORDS = ("river", "market", "window", "garden", "letter", "winter", "bridge", "morning", "teacher", "paper", "harbour", "kitchen", "music")
CHARACTERS = "春眠不觉晓处闻啼鸟夜来风雨声花落知多少床前明月光疑是地上霜举头望低思故乡"


class Pair(NamedTuple):
    draft: str
    final: str
    labels: dict[str, float]


def rows(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(folder / f"{name}.pairs.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def translations(folder: Path, name: str) -> list[Pair]:
    return [Pair(row["a"], row["b"], {"hter": row["label"], "quality": -row["da_mean"]}) for row in rows(folder, name)]


def edited_fiction(folder: Path) -> list[Pair]:
    found = (row for row in rows(folder, "lamp_edits") if row["label"])
    return [Pair(row["a"], row["b"], {"gain": float(row["label"][1]) - float(row["label"][0])}) for row in found]


def made(seed: int, vocabulary: Sequence[str], joiner: str, count: int = 200) -> list[Pair]:
    """Random texts with a known number of words replaced, deleted and inserted: the label is that share."""
    draw = random.Random(seed)
    pairs = []
    for _ in range(count):
        words = draw.choices(vocabulary, k=draw.randint(20, 60))
        rate = draw.random()
        final = [draw.choice(vocabulary) if draw.random() < rate else word for word in words]
        changed = sum(a != b for a, b in zip(words, final, strict=True))
        pairs.append(Pair(joiner.join(words), joiner.join(final), {"hter": changed / len(words)}))
    return pairs


def load(folder: Path | None) -> dict[str, list[Pair]]:
    if folder is None:
        return {"made_en": made(1, WORDS, " "), "made_zh": made(2, CHARACTERS, "")}
    return {
        "mlqe_en-zh.dev": translations(folder, "mlqe_en-zh.dev"),
        "mlqe_ro-en.dev": translations(folder, "mlqe_ro-en.dev"),
        "lamp_edits": edited_fiction(folder),
    }


def trigram_distance(draft: str, final: str) -> float:
    a, b = ({text[i : i + 3] for i in range(max(1, len(text) - 2))} for text in (draft, final))
    return 1 - len(a & b) / len(a | b)


def ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 0; equal values share the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return ((ends - counts + ends - 1) / 2)[inverse]


def pearson(x: np.ndarray, y: np.ndarray) -> float:
    return round(float(np.corrcoef(x, y)[0, 1]), 4)


def correlations(pairs: list[Pair], measure: Callable[[str, str], float]) -> dict[str, dict[str, float]]:
    values = np.array([measure(pair.draft, pair.final) for pair in pairs])
    out = {}
    for label in pairs[0].labels:
        truth = np.array([pair.labels[label] for pair in pairs])
        out[label] = {"spearman": pearson(ranks(values), ranks(truth)), "pearson": pearson(values, truth)}
    return out


def speed(pairs: list[Pair], size: int = 3000, count: int = 300) -> dict[str, float]:
    """Pairs of ``size`` bytes made of the texts at hand, through the whole of feedback()."""
    drafts, finals = ("\n".join(getattr(pair, side) for pair in pairs * 20) for side in ("draft", "final"))
    width = len(drafts.encode()) / len(drafts)
    step = int(size / width)
    long = [(drafts[i * step : (i + 1) * step], finals[i * step : (i + 1) * step]) for i in range(min(count, len(drafts) // step))]
    start = time.process_time()
    report = la.feedback(long, keep_rows=False)
    return {"pairs": report.pairs, "bytes": size, "cpu_ms_a_pair": round(1000 * (time.process_time() - start) / max(1, report.pairs), 3)}


def measure(folder: Path | None) -> dict[str, Any]:
    """How the edit share and the baseline correlate with what people said, on every set."""
    return {
        name: {
            "pairs": len(pairs),
            "edit_share": correlations(pairs, la.edit_share),
            "trigram_jaccard": correlations(pairs, trigram_distance),
        }
        for name, pairs in load(folder).items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with the labelled sets")
    options = parser.parse_args()
    result = {
        "lookalike": la.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "sets": measure(options.data),
        "speed": {name: speed(pairs) for name, pairs in load(options.data).items()},
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
