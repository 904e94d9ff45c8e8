"""How well page scores order pairs that people labelled, and what comparing and fingerprinting pages costs.

    python benchmarks/pages.py [--data DIR] [--json OUT] [--pages N]

DIR holds ``petclinic_pages`` and ``debian_pages`` (``NAME.docs.jsonl.gz`` and ``NAME.pairs.jsonl.gz``). Without it, small pages
are generated, which show that the program runs and little else. The direct implementation of the design (BeautifulSoup and
difflib, tags paired in order) and the bare parser are measured in the same run.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import machine
import numpy as np
import quality

import lookalike as la
from lookalike.pages.prints import page_print
from lookalike.pages.scores import combined_score
from lookalike.pages.views import VIEWS, share, views_of

# name -> whether a label says that two pages are the same
SETS: dict[str, Callable[[int], bool]] = {"petclinic_pages": lambda label: label < 2, "debian_pages": lambda label: label == 2}
Pairs = list[tuple[str, str, bool]]
Scores = dict[str, Callable[[la.Page, la.Page], float]]


def read(folder: Path, name: str) -> tuple[dict[str, str], Pairs]:
    pairs = [(row["a"], row["b"], SETS[name](row["label"])) for row in quality.rows(folder / f"{name}.pairs.jsonl.gz")]
    used = {key for left, right, _ in pairs for key in (left, right)}
    return {row["id"]: row["html"] for row in quality.rows(folder / f"{name}.docs.jsonl.gz") if row["id"] in used}, pairs


def generated(count: int = 30, seed: int = 1) -> tuple[dict[str, str], Pairs]:
    """Pages of a few templates; a page and its copy with some words changed are the same."""
    chance = random.Random(seed)
    words = ["".join(chance.choices("abcdefghij", k=6)) for _ in range(400)]
    pages: dict[str, str] = {}
    for number in range(count):
        name = f"t{number % 4}"
        items = [chance.choices(words, k=12) for _ in range(30)]
        for copy in ("", "'"):
            rows = "".join(f"<div class='{name} row'><h2>{' '.join(item[:3])}</h2><p>{' '.join(item)}</p></div>" for item in items)
            pages[f"{number}{copy}"] = f"<title>{number}</title><nav><a href=/>home</a></nav>{rows}<form><input name={name}></form>"
            items[0] = chance.choices(words, k=12)
    keys = list(pages)
    return pages, [(a, b, a.strip("'") == b.strip("'")) for i, a in enumerate(keys) for b in keys[i + 1 :]]


def best_f1(values: np.ndarray, positive: np.ndarray) -> float:
    """The largest F1 over all thresholds."""
    order = np.argsort(-values, kind="stable")
    hits = np.cumsum(positive[order])
    scores = 2 * hits / (np.arange(1, len(values) + 1) + positive.sum())
    ends = np.append(np.diff(values[order]) != 0, True)
    return float(scores[ends].max())


def measure_quality(pages: dict[str, str], pairs: Pairs) -> dict[str, dict[str, float]]:
    parsed = {key: la.page(html) for key, html in pages.items()}
    scores: Scores = {"score": combined_score}
    scores |= {view: lambda a, b, view=view: share(getattr(views_of(a), view), getattr(views_of(b), view)) for view in VIEWS}
    positive = np.array([same for *_, same in pairs])
    found = {}
    for name, score in scores.items():
        values = np.array([score(parsed[a], parsed[b]) for a, b, _ in pairs])
        found[name] = {"auc": quality.auc(values, positive), "f1": best_f1(values, positive)}
    return found


def direct(left: str, right: str) -> float:
    """The design to the letter: BeautifulSoup, difflib, tags paired in order, head and body equally weighted."""
    from bs4 import BeautifulSoup, Comment, NavigableString

    def strings(a: str | None, b: str | None) -> float:
        return float(a is b) if a is None or b is None else SequenceMatcher(None, a, b).ratio()

    def values(a: Any, b: Any) -> float:
        if isinstance(a, list) and isinstance(b, list):
            return len(set(a) & set(b)) / len(set(a) | set(b)) if a or b else 1.0
        return strings(a, b) if isinstance(a, str) and isinstance(b, str) else 0.0

    def attributes(a: dict[str, Any], b: dict[str, Any]) -> float:
        common = a.keys() & b.keys()
        if not common:
            return float(not a and not b)
        return (len(common) / len(a.keys() | b.keys()) + sum(values(a[key], b[key]) for key in common) / len(common)) / 2

    def tags(a: Any, b: Any) -> float:
        if isinstance(a, NavigableString) or isinstance(b, NavigableString):
            return strings(str(a), str(b)) if isinstance(a, NavigableString) and isinstance(b, NavigableString) else 0.0
        return ((a.name == b.name) + attributes(a.attrs, b.attrs) + strings(a.string, b.string)) / 3

    def part(soup: Any, name: str) -> list[Any]:
        found = getattr(soup, name)
        return [node for node in found.descendants if not isinstance(node, Comment) and str(node).strip()] if found else []

    soups = [BeautifulSoup(html, "html.parser") for html in (left, right)]
    total = 0.0
    for name in ("head", "body"):
        a, b = (part(soup, name) for soup in soups)
        total += sum(map(tags, a, b)) / max(len(a), len(b)) if a or b else 1.0
    return total / 2


def seconds(run: Callable[[], object], repetitions: int = 3) -> float:
    """CPU seconds, the least of several runs."""
    taken = []
    for _ in range(repetitions):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    return min(taken)


def measure_speed(pages: dict[str, str], pairs: Pairs, count: int) -> dict[str, float]:
    import turbohtml

    few = [pages[key] for key in list(pages)[:: max(1, len(pages) // count)]]
    sized = [(pages[a], pages[b]) for a, b, _ in pairs if 700 < pages[a].count("</") < 1_500 and 700 < pages[b].count("</") < 1_500]
    compared = (sized or [(pages[a], pages[b]) for a, b, _ in pairs])[:8]

    def ours(align: str) -> Callable[[], object]:
        return lambda: [la.compare(la.page(a), la.page(b), method="tags", align=align).score for a, b in compared]

    naive = seconds(lambda: [direct(a, b) for a, b in compared], 1)
    parse = seconds(lambda: [turbohtml.parse(html) for html in few])
    sequence = seconds(lambda: [[(tag.tag, dict(tag.attrs)) for tag in turbohtml.parse(html).iter_elements()] for html in few])
    prints = seconds(lambda: [page_print(html) for html in few])
    return {
        "direct_ms": 1e3 * naive / len(compared),
        "times_direct_best": naive / seconds(ours("best")),
        "times_direct_order": naive / seconds(ours("order")),
        "parse_pages_s": len(few) / parse,
        "tag_sequence_pages_s": len(few) / sequence,
        "fingerprint_pages_s": len(few) / prints,
        "fingerprint_by_parse": prints / parse,
        "fingerprint_by_tag_sequence": prints / sequence,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of the labelled pages")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the results here as well")
    parser.add_argument("--pages", type=int, default=200, metavar="N", help="pages for the speed of fingerprints [default: 200]")
    options = parser.parse_args()
    chosen = {name: read(options.data, name) for name in SETS} if options.data else {"generated": generated()}
    result: dict[str, Any] = {**machine.describe(), "generated": options.data is None, "quality": {}, "speed": {}}
    for name, (pages, pairs) in chosen.items():
        result["quality"][name] = measure_quality(pages, pairs)
        result["speed"][name] = measure_speed(pages, pairs, options.pages)
        print(f"{name}: {len(pages)} pages, {len(pairs)} pairs")
        for measure, values in result["quality"][name].items():
            print(f"  {measure:12} AUC {values['auc']:.4f}  F1 {values['f1']:.4f}")
        for what, value in result["speed"][name].items():
            print(f"  {what:28} {value:10.2f}")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
