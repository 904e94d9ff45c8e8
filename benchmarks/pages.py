"""How well page scores order pairs that people labelled, and what comparing and fingerprinting pages costs.

    python benchmarks/pages.py [--data DIR] [--json OUT] [--pages N] [--speed-only]

DIR holds ``petclinic_pages`` and ``debian_pages`` (``NAME.docs.jsonl.gz`` and ``NAME.pairs.jsonl.gz``). Without it, small pages
are generated, which show that the program runs and little else. The direct implementation of the design (BeautifulSoup and
difflib, tags paired in order) and the bare parser are measured in the same run.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections.abc import Callable
from copy import copy as again
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import machine
import numpy as np
import quality

import lookalike as la
from lookalike.pages.prints import page_print
from lookalike.pages.scores import COMBINED
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


def chosen_sets(folder: Path | None, only: list[str]) -> dict[str, tuple[dict[str, str], Pairs]]:
    """Pages and pairs by the name of their set; of all sets that are there, or of those named."""
    if folder is None:
        return {"generated": generated()}
    wanted = [name for name in SETS if not only or name in only]
    return {name: read(folder, name) for name in wanted if (folder / f"{name}.pairs.jsonl.gz").exists()}


def best_f1(values: np.ndarray, positive: np.ndarray) -> float:
    """The largest F1 over all thresholds."""
    order = np.argsort(-values, kind="stable")
    hits = np.cumsum(positive[order])
    scores = 2 * hits / (np.arange(1, len(values) + 1) + positive.sum())
    ends = np.append(np.diff(values[order]) != 0, True)
    return float(scores[ends].max())


def combined(left: la.Page, right: la.Page) -> float:
    """The score of method "all" alone: without tags and the other views, which it does not need."""
    a, b = views_of(left), views_of(right)
    return sum(share(getattr(a, view), getattr(b, view)) for view in COMBINED) / len(COMBINED)


def trigrams(left: la.Page, right: la.Page) -> float:
    """The baseline: character 3-grams of all that can be read."""
    return quality.jaccard(views_of(left).visible_text(), views_of(right).visible_text())


def measure_quality(pages: dict[str, str], pairs: Pairs) -> dict[str, dict[str, float]]:
    parsed = {key: la.page(html) for key, html in pages.items()}
    scores: Scores = {"score": combined, "trigrams": trigrams}
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


def changed(html: str) -> str:
    """The same page with every word of its texts of four letters and more spelled backwards."""
    backwards = re.compile(r"\b\w{4,}\b")
    return re.sub(r">[^<]+<", lambda text: backwards.sub(lambda word: word.group()[::-1], text.group()), html)


def pairs_of_size(pages: dict[str, str], pairs: Pairs, count: int = 6) -> dict[str, list[tuple[str, str]]]:
    """Pairs of pages of about 1,000 tags: the same page, other pages, and pages with nearly every string changed."""
    sized = [(a, b, same) for a, b, same in pairs if a != b and all(700 < pages[key].count("</") < 1_500 for key in (a, b))] or pairs[:20]
    found = {
        kind: [(pages[a], pages[b]) for a, b, same in sized if same is wanted][:count]
        for kind, wanted in (("same", True), ("other", False))
    }
    large = list(dict.fromkeys(key for a, b, _ in sized for key in (a, b)))
    others = [(pages[a], pages[b]) for a, b in zip(large, large[len(large) // 2 :], strict=False)]
    return {
        "same": found["same"],
        "other": (found["other"] + others)[:count],
        "changed": [(pages[key], changed(pages[key])) for key in large[:count]],
    }


def measure_tags(pages: dict[str, str], pairs: Pairs) -> dict[str, dict[str, float]]:
    """How many times faster than the direct implementation, parsing included: the range over pairs."""
    result: dict[str, dict[str, float]] = {}
    for kind, chosen in pairs_of_size(pages, pairs).items():
        times: dict[str, list[float]] = {"best": [], "order": []}
        taken = []
        for a, b in chosen:
            naive = seconds(lambda a=a, b=b: direct(a, b))
            taken.append(naive)
            for align, found in times.items():
                found.append(
                    naive / seconds(lambda a=a, b=b, align=align: la.compare(la.page(a), la.page(b), method="tags", align=align).score, 7)
                )
        if taken:
            result[kind] = {"pairs": len(taken), "direct_ms": 1e3 * sum(taken) / len(taken)}
            result[kind] |= {
                f"times_direct_{align}_{name}": of(found) for align, found in times.items() for name, of in (("least", min), ("most", max))
            }
    return result


def measure_speed(pages: dict[str, str], count: int) -> dict[str, float]:
    import turbohtml

    few = [pages[key] for key in list(pages)[:: max(1, len(pages) // count)]]
    ratios = []
    for _ in range(5):
        parse = seconds(lambda: [turbohtml.parse(html) for html in few])
        prints = seconds(lambda: [page_print(html) for html in few])
        ratios.append(prints / parse)
    return {
        "parse_pages_s": len(few) / parse,
        "tree_pages_s": len(few) / seconds(lambda: [la.page(html).tree for html in few]),
        "fingerprint_pages_s": len(few) / prints,
        "fingerprint_by_parse_least": min(ratios),
        "fingerprint_by_parse_most": max(ratios),
    }


def measure_workers(pages: dict[str, str], pairs: Pairs, count: int = 1_000) -> dict[str, float]:
    """Seconds on the clock for many pairs and many pages, by one process and by two; starting them is included."""
    parsed = {key: la.page(html) for key, html in pages.items()}
    few = [(parsed[a], parsed[b]) for a, b, _ in pairs[:count]]
    result = {}
    for workers in (1, 2):
        for name, run in (
            ("compare", lambda workers=workers: la.compare_pages([(again(a), again(b)) for a, b in few], method="tags", workers=workers)),
            ("fingerprint", lambda workers=workers: la.page_prints(list(pages.values()), workers=workers)),
        ):
            start = time.perf_counter()
            run()
            result[f"{name}_{workers}_s"] = time.perf_counter() - start
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of the labelled pages")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the results here as well")
    parser.add_argument("--pages", type=int, default=200, metavar="N", help="pages for the speed of fingerprints [default: 200]")
    parser.add_argument("--speed-only", action="store_true", help="leave the quality as it stands in OUT, and name its commit")
    options = parser.parse_args()
    chosen = chosen_sets(options.data, [])
    result: dict[str, Any] = {**machine.describe(), "generated": options.data is None, "quality": {}, "tags": {}, "speed": {}}
    if options.speed_only and options.json and options.json.exists():
        before = json.loads(options.json.read_text(encoding="utf-8"))
        result |= {"quality_commit": before.get("quality_commit", before["commit"]), "quality": before["quality"]}
    for name, (pages, pairs) in chosen.items():
        if not options.speed_only:
            result["quality"][name] = measure_quality(pages, pairs)
        result["tags"][name] = measure_tags(pages, pairs)
        result["speed"][name] = measure_speed(pages, options.pages) | measure_workers(pages, pairs)
        print(f"{name}: {len(pages)} pages, {len(pairs)} pairs")
        for measure, values in result["quality"].get(name, {}).items():
            print(f"  {measure:12} AUC {values['auc']:.4f}  F1 {values['f1']:.4f}")
        for kind, found in result["tags"][name].items():
            print(f"  tags, {kind:8}", "  ".join(f"{what} {value:.0f}" for what, value in found.items()))
        for what, value in result["speed"][name].items():
            print(f"  {what:28} {value:10.2f}")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
