"""How well the score, measures by a model and the edit share order pairs that people judged, beside trivial baselines, with intervals; the
same for web pages; what people said of edits; what dedupe removes, against all pairs by brute force.

    python benchmarks/quality.py --data DIR [--json OUT] [--docs PAGE] [--only NAME ...] [--texts]

DIR holds the labelled sets as gzipped JSON lines (``NAME.pairs.jsonl.gz``: ``a``, ``b``, ``label``). Sets that are not
there are named and left out. Without DIR a small set is generated, where the label is the share of words that were kept.
``--texts`` leaves all but the table of texts out, and ``--docs`` fills docs/quality.md with it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import platform
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from quality_statistics import auc as auc
from quality_statistics import ranks as ranks
from quality_statistics import spearman as spearman
from quality_table import fill, headlines, render, run

import lookalike as la
from lookalike.comparison.score import text_score
from lookalike.text.normalize import fold

Row = dict[str, Any]


class Pair(NamedTuple):
    left: str
    right: str
    label: float


@dataclass(frozen=True)
class LabelledSet:
    """A set of pairs; higher labels are more alike. Where ``positive`` is given, labels above it are the AUC's positives."""

    name: str
    read: Callable[[Path], list[Pair]]
    positive: float | None = None


def jaccard(left: str, right: str) -> float:
    """The baseline: distinct character 3-grams."""
    a, b = ({text[i : i + 3] for i in range(max(1, len(text) - 2))} for text in (left, right))
    return len(a & b) / len(a | b)


MEASURES: dict[str, Callable[[str, str], float]] = {
    "score": lambda left, right: text_score(left, right).value,
    "jaccard": jaccard,
    "jaccard_folded": lambda left, right: jaccard(fold(left), fold(right)),
}


def rows(path: Path) -> Iterator[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def labelled(name: str, label: Callable[[Row], float] = lambda row: float(row["label"])) -> Callable[[Path], list[Pair]]:
    return lambda folder: [Pair(row["a"], row["b"], label(row)) for row in rows(folder / f"{name}.pairs.jsonl.gz")]


def edit_gains(folder: Path) -> list[Pair]:
    """Drafts and professional edits: the more an edit gained, the less alike draft and edit should be."""
    pairs = []
    for row in rows(folder / "lamp_edits.pairs.jsonl.gz"):
        if isinstance(row["label"], list) and len(row["label"]) == 2:
            before, after = map(float, row["label"])
            pairs.append(Pair(row["a"], row["b"], before - after))
    return pairs


def verses(folder: Path, count: int = 2000, seed: int = 5) -> list[Pair]:
    """A verse with the same verse of another version (1), and with the next verse there (0)."""
    versions: dict[str, dict[str, str]] = {}
    for row in rows(folder / "bible_en.docs.jsonl.gz"):
        versions.setdefault(row["ver"], {})[row["verse"]] = row["text"]
    order = {name: list(texts) for name, texts in versions.items()}
    names, chance = sorted(versions), random.Random(seed)
    pairs: list[Pair] = []
    while len(pairs) < 2 * count:
        here, there = chance.sample(names, 2)
        place = chance.randrange(len(order[here]) - 1)
        verse, following = order[here][place : place + 2]
        if verse in versions[there] and following in versions[there]:
            text = versions[here][verse]
            pairs += [Pair(text, versions[there][verse], 1.0), Pair(text, versions[there][following], 0.0)]
    chance.shuffle(pairs)  # the even pairs must not be those of one label
    return pairs


def page_texts(name: str, label: Callable[[int], float], count: int = 900, most: int = 1500) -> Callable[[Path], list[Pair]]:
    """The main texts of labelled web pages, as far as ``most`` characters: pages are compared otherwise, but texts like these are too."""

    def read(folder: Path) -> list[Pair]:
        pairs = list(rows(folder / f"{name}.pairs.jsonl.gz"))
        pairs = random.Random(1).sample(pairs, min(count, len(pairs)))
        used = {row[side] for row in pairs for side in ("a", "b")}
        documents = (row for row in rows(folder / f"{name}.docs.jsonl.gz") if row["id"] in used)
        texts = {row["id"]: la.page_text(la.page(row["html"]))[:most] for row in documents}
        return [Pair(texts[row["a"]], texts[row["b"]], label(row["label"])) for row in pairs if texts[row["a"]] and texts[row["b"]]]

    return read


SETS = [
    LabelledSet("clough_stevenson", labelled("clough_stevenson"), positive=0.0),
    LabelledSet("semeval2016", labelled("semeval2016")),
    LabelledSet("sohu_dd_zh", labelled("sohu_dd_zh")),
    LabelledSet("lcqmc_zh.dev", labelled("lcqmc_zh.dev"), positive=0.0),
    LabelledSet("stsb_en.dev", labelled("stsb_en.dev")),
    LabelledSet("stsb_zh.dev", labelled("stsb_zh.dev")),
    LabelledSet("mlqe_en-zh.dev", labelled("mlqe_en-zh.dev", lambda row: float(row["da_mean"]))),
    LabelledSet("mlqe_ro-en.dev", labelled("mlqe_ro-en.dev", lambda row: float(row["da_mean"]))),
    LabelledSet("lamp_edits", edit_gains),
    LabelledSet("bible_en", verses, positive=0.0),
    LabelledSet("headlines_zh", headlines("news_zh", 8)),
    LabelledSet("headlines_en", headlines("reuters21578", 12)),
    LabelledSet("petclinic_text", page_texts("petclinic_pages", lambda label: -float(label))),
    LabelledSet("debian_text", page_texts("debian_pages", float)),
]

PAGE_SETS = ["petclinic_pages", "debian_pages"]  # benchmarks/pages.py reads them


def generated(alphabet: str, glue: str, word_length: int, run: int, count: int = 40, seed: int = 1) -> list[Pair]:
    """Texts of made-up words, and copies in which runs of words were replaced; the label is the share that was to be kept."""
    chance = random.Random(seed)
    words = ["".join(chance.choices(alphabet, k=chance.randint(1, word_length))) for _ in range(2000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    pairs = []
    for _ in range(count):
        text = chance.choices(words, weights, k=chance.randint(5, 400))
        kept, copy = chance.random(), list[str]()
        while len(copy) < len(text):
            length = min(chance.randint(1, run), len(text) - len(copy))
            copy += text[len(copy) : len(copy) + length] if chance.random() < kept else chance.choices(words, weights, k=length)
        pairs.append(Pair(glue.join(text), glue.join(copy), kept))
    return pairs


LATIN = "abcdefghijklmnopqrstuvwxyz"
IDEOGRAPHS = "".join(map(chr, range(0x4E00, 0x5200)))
GENERATED = [
    LabelledSet("words, runs replaced", lambda _: generated(LATIN, " ", 9, run=20)),
    LabelledSet("words, one by one", lambda _: generated(LATIN, " ", 9, run=1)),
    LabelledSet("ideographs, runs", lambda _: generated(IDEOGRAPHS, "", 2, run=20)),
    LabelledSet("ideographs, one by one", lambda _: generated(IDEOGRAPHS, "", 2, run=1)),
]


def commit() -> str | None:
    try:
        found = subprocess.run(["git", "rev-parse", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip()


def chosen_sets(folder: Path | None, only: list[str]) -> list[LabelledSet]:
    if folder is None:
        print("no --data DIR: measuring on small generated sets, which show that the program runs and little else", file=sys.stderr)
        return GENERATED
    return [one for one in SETS if not only or one.name in only]


def edit_share(data: Path | None) -> dict[str, Any]:
    """The edit share of feedback, against what people said of drafts and edits."""
    import feedback_quality  # beside this file

    found = feedback_quality.measure(data)
    print(f"\n{'edit share':22}{'pairs':>7}  {'against':9}{'spearman':>16}{'1 - jaccard':>16}{'difference':>13}")
    for name, result in found.items():
        for label, ours in result["edit_share"].items():
            baseline = result["trigram_jaccard"][label]["spearman"]
            print(
                f"{name:22}{result['pairs']:>7}  {label:9}{ours['spearman']:>16.4f}{baseline:>16.4f}{ours['spearman'] - baseline:>+13.4f}"
            )
    return found


def labelled_pages(data: Path | None, only: list[str]) -> dict[str, dict[str, dict[str, float]]]:
    """The score of web pages and each of its views, against what people said of pairs."""
    import pages

    print(f"\n{'pages':22}{'pairs':>7}  {'':9}{'score':>16}{'3-grams':>16}{'difference':>13}")
    found = {}
    for name, (documents, pairs) in pages.chosen_sets(data, only).items():
        found[name] = pages.measure_quality(documents, pairs)
        for statistic in ("auc", "f1"):
            ours, baseline = (found[name][measure][statistic] for measure in ("score", "trigrams"))
            print(f"{name:22}{len(pairs):>7}  {statistic:9}{ours:>16.4f}{baseline:>16.4f}{ours - baseline:>+13.4f}", flush=True)
    return found


def removed_pairs(data: Path | None) -> list[dict[str, Any]]:
    """What dedupe removes at 0.8 against all pairs by brute force: was each pair alike, and were all found?"""
    import dedupe

    found = dedupe.quality(data)
    print(f"\n{'dedupe at 0.8':22}{'documents':>10}{'pairs':>9}{'removed':>9}{'precision':>11}{'recall':>9}")
    for row in found:
        shares = ("–" if row[name] is None else f"{row[name]:.4f}" for name in ("precision", "recall"))
        print(f"{row['set']:22}{row['documents']:>10}{row['pairs']:>9}{row['removed']:>9}" + "{:>11}{:>9}".format(*shares))
    return found


def read_sets(folder: Path | None, only: list[str], missing: list[str]) -> Iterator[tuple[str, list[Pair]]]:
    for one in chosen_sets(folder, only):
        try:
            pairs = one.read(folder or Path())
        except FileNotFoundError as error:
            missing.append(one.name)
            print(f"{one.name}: left out, no {error.filename}", file=sys.stderr)
            continue
        yield one.name, pairs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of the labelled sets")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the results here as well")
    parser.add_argument(
        "--only", nargs="+", default=[], choices=[*(one.name for one in SETS), *PAGE_SETS], metavar="NAME", help="these sets alone"
    )
    parser.add_argument("--docs", type=Path, metavar="PAGE", help="fill this page with the table of texts")
    parser.add_argument("--texts", action="store_true", help="the table of texts alone")
    options = parser.parse_args()
    if options.data is not None and not options.data.is_dir():
        parser.error(f"--data {options.data}: no such folder")
    missing: list[str] = []
    about = {"python": platform.python_version(), "machine": platform.machine(), "commit": commit(), "generated": options.data is None}
    result = about | run(read_sets(options.data, options.only, missing), None if options.only else options.data) | {"missing": missing}
    print(render(result))
    if not options.texts:
        result["pages"] = labelled_pages(options.data, options.only)
    if not options.texts and not options.only:
        result["edit_share"] = edit_share(options.data)
        result["dedupe"] = removed_pairs(options.data)
    if options.json is not None:
        options.json.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if options.docs is not None:
        fill(options.docs, result)
    return 0 if result["texts"] else 2


if __name__ == "__main__":
    raise SystemExit(main())
