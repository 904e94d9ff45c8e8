"""All sets, measures and baselines in one table, with intervals; ``quality.py`` runs it and fills docs/quality.md with it.

Every set is split by the number of its pairs: constants that were chosen by looking at data were chosen on the *even* pairs, and the table
shows what they give on the *odd* ones, beside all pairs. Intervals are of 95 %, by bootstrap over pairs.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import quality_notes
from quality_statistics import spearman
from report import table

from lookalike.comparison.score import text_score
from lookalike.drafts.edit_share import edit_share
from lookalike.embedders.encoding import encode
from lookalike.measures import difflib
from lookalike.measures.by_model import Evidence, Weighing
from lookalike.measures.vectors import cosine
from lookalike.text.blending import TextWords
from lookalike.text.forms import FORMS, for_models, without_form
from lookalike.text.normalize import fold

Row = dict[str, Any]
Column = np.ndarray
RESAMPLES = 200
MAX_DIFFLIB = 2_000_000  # product of the lengths
OURS = ("score", "meaning", "hybrid", "1 − edit share")
BASELINES = ("3-grams", "characters", "difflib")
WEIGHINGS = [
    Weighing(half, least, kept, scale, order)
    for half in (17.0, 21.0, 25.0)
    for least in (0.02, 0.06, 0.1)
    for kept in ((0.425, 0.535), (0.465, 0.575), (0.505, 0.615))
    for scale in (0.78, 0.85, 0.92)
    for order in (0.16, 0.24, 0.32)
]
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def grams(text: str, size: int) -> set[str]:
    return {text[i : i + size] for i in range(max(1, len(text) - size + 1))}


def jaccard(left: str, right: str, size: int) -> float:
    a, b = grams(left, size), grams(right, size)
    return len(a & b) / len(a | b)


def lexical_columns(pairs: list[Any]) -> dict[str, Column]:
    by_pair: dict[str, Callable[[str, str], float]] = {
        "score": lambda a, b: text_score(a, b).value,
        "1 − edit share": lambda a, b: 1 - edit_share(a, b),
        "3-grams": lambda a, b: jaccard(a, b, 3),
        "characters": lambda a, b: jaccard(a, b, 1),
    }
    found = {name: np.array([of(pair.left, pair.right) for pair in pairs]) for name, of in by_pair.items()}
    if max(len(pair.left) * len(pair.right) for pair in pairs) <= MAX_DIFFLIB:
        found["difflib"] = np.array([difflib.similarity(pair.left, pair.right) for pair in pairs])
    return found


class Parts:
    """What ``hybrid`` is made of: cosines of meaning, and the evidence of the words."""

    def __init__(self, pairs: list[Any]) -> None:
        left, right = ([for_models(getattr(pair, side), ("script",)) for pair in pairs] for side in ("left", "right"))
        vectors = encode([*left, *right]).vectors
        self.cosines = cosine.similarities(vectors[: len(pairs)], vectors[len(pairs) :])  # equal texts tie, at exactly 1
        self._evidence = Evidence.of([(TextWords(a), TextWords(b)) for a, b in zip(left, right, strict=True)])

    def hybrid(self, weighing: Weighing) -> Column:
        return self._evidence.weighed(self.cosines, weighing)


def columns_of(pairs: list[Any]) -> tuple[dict[str, Column], Parts]:
    parts = Parts(pairs)
    found = lexical_columns(pairs) | {"meaning": parts.cosines, "hybrid": parts.hybrid(Weighing())}
    return {name: found[name] for name in (*OURS, *BASELINES) if name in found}, parts


def interval(values: Column, labels: Column, seed: int = 1) -> tuple[float, float]:
    chance = np.random.default_rng(seed)
    rows = (chance.integers(0, len(values), len(values)) for _ in range(RESAMPLES))
    low, high = np.quantile([spearman(values[some], labels[some]) for some in rows], (0.025, 0.975))
    return float(low), float(high)


def measure_set(name: str, pairs: list[Any]) -> tuple[Row, Parts, Column]:
    labels = np.array([pair.label for pair in pairs])
    columns, parts = columns_of(pairs)
    row: Row = {"set": name, "pairs": len(pairs), "spearman": {}}
    for column, values in columns.items():
        row["spearman"][column] = {
            "all": 100 * spearman(values, labels),
            "interval": [100 * edge for edge in interval(values, labels)],
            "even": 100 * spearman(values[::2], labels[::2]),
            "odd": 100 * spearman(values[1::2], labels[1::2]),
        }
    return row, parts, labels


def behind(values: Column, parts: Parts, scores: Column, labels: Column, half: slice) -> float:
    """By how much a column is behind the better of meaning and score, × 100."""
    better = max(spearman(parts.cosines[half], labels[half]), spearman(scores[half], labels[half]))
    return 100 * (better - spearman(values[half], labels[half]))


def cross_validated(sets: dict[str, tuple[Parts, Column, Column]]) -> list[Row]:
    """The constants of ``hybrid`` that are best on one half of every set, and what they lose at worst: there, on the other half, on all."""
    found = []
    halves = {"even": slice(0, None, 2), "odd": slice(1, None, 2), "all": slice(None)}
    for fitted, held in (("even", "odd"), ("odd", "even")):
        losses = {weighing: list(_losses(sets, weighing, halves[fitted]).values()) for weighing in WEIGHINGS}
        best = min(losses, key=lambda weighing: max(losses[weighing]) + 0.2 * float(np.mean(losses[weighing])))
        found.append(_validated(fitted, best, {name: _losses(sets, best, halves[name]) for name in (fitted, held, "all")}))
    shipped = Weighing()
    found.append(_validated("shipped", shipped, {name: _losses(sets, shipped, halves[name]) for name in ("even", "odd", "all")}))
    return found


def _losses(sets: dict[str, tuple[Parts, Column, Column]], weighing: Weighing, half: slice) -> dict[str, float]:
    return {name: behind(parts.hybrid(weighing), parts, scores, labels, half) for name, (parts, scores, labels) in sets.items()}


def _validated(fitted: str, weighing: Weighing, losses: dict[str, dict[str, float]]) -> Row:
    worst = {half: max(by_set, key=lambda name: by_set[name]) for half, by_set in losses.items()}
    return {
        "fitted on": fitted,
        **weighing._asdict(),
        "losses": {half: {"most": losses[half][name], "on": name, "sets": losses[half]} for half, name in worst.items()},
    }


def sentences(folder: Path, name: str, most: int = 60_000) -> list[str]:
    """Distinct sentences, by their folded text."""
    from quality import rows

    texts = (row["text"] for row in rows(folder / f"{name}.docs.jsonl.gz"))
    found: dict[str, str] = {}
    for text in texts:
        for sentence in re.split(r"(?<=[。！？\n])|(?<=[.!?])\s+", text):
            words = " ".join(fold(sentence).split())
            if len(words) >= 4:
                found.setdefault(words, sentence)
        if len(found) >= most:
            break
    return list(found.values())


def false_merges(folder: Path) -> list[Row]:
    """How many distinct sentences fall together when a form does not count, with examples to judge whether they should."""
    found = []
    for name in ("news_zh", "bible_en", "reuters21578"):
        texts = sentences(folder, name)
        for form in FORMS:
            groups: dict[str, list[str]] = {}
            for text in texts:
                groups.setdefault(" ".join(fold(without_form(text, [form])).split()), []).append(text)
            merged = [group for group in groups.values() if len(group) > 1]
            some = random.Random(1).sample(merged, min(3, len(merged)))
            examples = [[" ".join(text.split())[:60] for text in group[:2]] for group in some]
            found.append(
                {"set": name, "form": form, "sentences": len(texts), "merged": sum(map(len, merged)) - len(merged), "examples": examples}
            )
    return found


def headlines(name: str, least: int, count: int = 500, seed: int = 7) -> Callable[[Path], list[Any]]:
    """Titles of news with the article (2), with the article among 60 others that has most of their words (1), and with any other (0)."""
    from quality import Pair, rows

    def read(folder: Path) -> list[Any]:
        chance = random.Random(seed)
        news = [(row["title"].strip(), _body(row)) for row in rows(folder / f"{name}.docs.jsonl.gz") if row.get("title")]
        chance.shuffle(news)
        chosen = [(title, body[: chance.randint(150, 1500)]) for title, body in news if least <= len(title) <= 120 and len(body) > 150]
        chosen = chosen[: 3 * count]
        words = [set(TextWords(body).words) for _, body in chosen]
        pairs = []
        for number, (title, body) in enumerate(chosen[:count]):
            others = [other for other in chance.sample(range(len(chosen)), 60) if other != number]
            own = set(TextWords(title).words)
            near = max(others, key=lambda other: len(own & words[other]))
            pairs += [Pair(title, body, 2.0), Pair(title, chosen[near][1], 1.0), Pair(title, chosen[others[0]][1], 0.0)]
        chance.shuffle(pairs)
        return pairs

    return read


def _body(row: Row) -> str:
    """The text without the title, with which some begin."""
    title, lines = "".join(row["title"].split()), row["text"].split("\n")
    begun = ""
    while lines and title.startswith(begun + "".join(lines[0].split())):
        begun += "".join(lines.pop(0).split())
    return "\n".join(lines)


def render(result: Row) -> str:
    parts = [
        _table(result["texts"], "all"),
        _intervals(result["texts"]),
        _table(result["texts"], "odd"),
        _wins(result["texts"]),
        _fitted(result),
    ]
    return "\n\n".join(part for part in (*parts, quality_notes.render(result), _merges(result)) if part)


def _table(rows: list[Row], half: str) -> str:
    said = {"all": "All pairs, Spearman × 100:", "odd": "The odd pairs alone:"}[half]
    columns = [name for name in (*OURS, *BASELINES) if any(name in row["spearman"] for row in rows)]
    cells = [[row["set"], f"{row['pairs']:,}", *(_cell(row, name, half) for name in columns)] for row in rows]
    return f"{said}\n\n{table(['set', 'pairs', *columns], cells)}"


def _cell(row: Row, name: str, half: str) -> str:
    found = row["spearman"].get(name)
    return "–" if found is None or found[half] is None else f"{found[half]:.1f}"


def _intervals(rows: list[Row]) -> str:
    columns = ("score", "meaning", "hybrid", "3-grams")
    cells = [[row["set"], *("{:.1f} to {:.1f}".format(*row["spearman"][name]["interval"]) for name in columns)] for row in rows]
    return f"95 % intervals:\n\n{table(['set', *columns], cells)}"


def _wins(rows: list[Row]) -> str:
    lines = []
    for row in rows:
        values = {name: found["all"] for name, found in row["spearman"].items()}
        trivial = max((name for name in BASELINES if name in values), key=lambda name: values[name])
        beaten = [f"`{name}` ({values[name]:.1f})" for name in OURS[:3] if values[name] < values[trivial]]
        if beaten:
            lines.append(f"- {row['set']}: {trivial} ({values[trivial]:.1f}) is ahead of {', '.join(beaten)}.")
    return "Where a trivial baseline still wins:\n\n" + ("\n".join(lines) or "- on no set")


def _fitted(result: Row) -> str:
    cells = []
    for row in result["hybrid"]:
        losses = [f"{row['losses'][half]['most']:.1f} ({row['losses'][half]['on']})" for half in ("even", "odd", "all")]
        constants = [f"{row[name]:g}" for name in ("half", "least", "scale", "order")]
        cells.append([row["fitted on"], *constants, "{:g} to {:g}".format(*row["kept"]), *losses])
    header = ["fitted on", "half", "least", "scale", "order", "kept", "even pairs", "odd pairs", "all pairs"]
    said = "`hybrid`, its constants fitted on one half of every set, and those that are shipped: how far it is behind the "
    said += "better of `meaning` and score, at most."
    return f"{said}\n\n{table(header, cells)}"


def _merges(result: Row) -> str:
    rows = [row for row in result.get("false_merges", []) if row["merged"]]
    if not rows:
        return ""
    cells = [[row["set"], row["form"], f"{row['sentences']:,}", f"{row['merged']:,}"] for row in rows]
    said = "Distinct sentences that fall together when a form does not count (forms without a line: none):"
    return f"{said}\n\n{table(['set', 'form', 'sentences', 'fall together'], cells)}"


def fill(page: Path, result: Row) -> None:
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    page.write_text(f"{before}{BEGIN}\n\n{render(result)}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def run(sets: Iterator[tuple[str, list[Any]]], folder: Path | None) -> Row:
    found: list[Row] = []
    pieces: dict[str, tuple[Parts, Column, Column]] = {}
    judged: dict[str, list[Any]] = {}
    for name, pairs in sets:
        judged[name] = pairs
        row, parts, labels = measure_set(name, pairs)
        found.append(row)
        pieces[name] = parts, np.array([text_score(pair.left, pair.right).value for pair in pairs]), labels
        print(f"{name}: " + ", ".join(f"{column} {value['all']:.1f}" for column, value in row["spearman"].items()), flush=True)
    result: Row = {"texts": found, "hybrid": cross_validated(pieces)}
    if folder is not None:
        result["false_merges"] = false_merges(folder)
        result["made_differences"] = quality_notes.made(folder)
        result["withheld_verdicts"] = quality_notes.judged(judged)
    return result
