"""SimHash for reposts: which recipe finds lightly edited copies, by their length, the kind of edit and the language.

    python benchmarks/reposts.py [--data DIR] [--json OUT] [--candidates]
    python benchmarks/reposts.py --shown RESULT.json --picture OUT.svg     the table of the documentation, and its picture

DIR holds documents as gzipped JSON lines (``news_zh.docs.jsonl.gz``, ``reuters21578.docs.jsonl.gz``: ``text``); without it texts are
made of random words. A document is cut to a length; its repost is the same with one kind of edit. *Recall* is the share of reposts whose
SimHash differs in at most k of 64 bits. A *false pair* is a pair of different documents within k bits that have less than half of
their character 3-grams in common.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import machine
import numpy as np

import lookalike as la

LENGTHS = (300, 1_000, 3_000)  # characters
BOUNDS = (3, 6)
SENTENCE = re.compile(r"[^。！？.!?\n]+[。！？.!?\n]+\s*")
WORD = {"zh": re.compile(r"[\u4e00-\u9fff]{2}"), "en": re.compile(r"[A-Za-z]+")}
HEADS = {
    "zh": ["本报讯（记者张伟）", "据新华社报道，", "【转载】昨日记者从有关部门获悉，", "中新网11月17日电 "],
    "en": ["(Our correspondent) ", "LONDON, Nov 17 - ", "As reported by the agency yesterday: ", "UPDATE 2 - "],
}
TAILS = {
    "zh": ["（责任编辑：李娜）", "来源：综合新闻网 原标题有改动", "（完）", "更多内容请关注我们的公众号"],
    "en": [" (Reporting by our staff)", " Source: news desk, headline changed", " END", " Follow us for more stories like this one"],
}


class Corpus(NamedTuple):
    language: str
    texts: list[str]
    words: list[str]


def attributed(text: str, corpus: Corpus, generator: random.Random) -> str:
    """Another head and another tail."""
    return generator.choice(HEADS[corpus.language]) + text + generator.choice(TAILS[corpus.language])


def reworded(text: str, corpus: Corpus, generator: random.Random, share: float = 0.02) -> str:
    """A word in fifty is another one."""
    return WORD[corpus.language].sub(lambda found: generator.choice(corpus.words) if generator.random() < share else found[0], text)


def shortened(text: str, corpus: Corpus, generator: random.Random) -> str:
    """One sentence is missing, but not more than a tenth."""
    sentences = [found for found in SENTENCE.finditer(text) if len(found[0]) <= len(text) / 10]
    if not sentences:
        at = generator.randrange(max(1, len(text) * 9 // 10))
        return text[:at] + text[at + len(text) // 20 :]
    gone = generator.choice(sentences)
    return text[: gone.start()] + text[gone.end() :]


def mistyped(text: str, corpus: Corpus, generator: random.Random) -> str:
    """One character in two hundred is missing or doubled."""
    return "".join(char * generator.choice((0, 2)) if generator.random() < 0.005 else char for char in text)


def swapped(text: str, corpus: Corpus, generator: random.Random) -> str:
    """Two neighbouring sentences change places."""
    sentences = SENTENCE.findall(text)
    if len(sentences) < 3:
        return text
    at = generator.randrange(len(sentences) - 1)
    sentences[at : at + 2] = sentences[at : at + 2][::-1]
    return "".join(sentences) + text[sum(map(len, sentences)) :]


def edited(text: str, corpus: Corpus, generator: random.Random) -> str:
    """What a repost usually has: another head and tail, a word in a hundred, a missing sentence."""
    return attributed(shortened(reworded(text, corpus, generator, 0.01), corpus, generator), corpus, generator)


EDITS: dict[str, Callable[[str, Corpus, random.Random], str]] = {
    "head and tail": attributed,
    "words": reworded,
    "a sentence less": shortened,
    "typing errors": mistyped,
    "sentences swapped": swapped,
    "all of a repost": edited,
}
RECIPES: dict[str, la.Recipe | str] = {
    "default": "default",
    "n = 2": la.Recipe(ngram=2),
    "n = 3": la.Recipe(ngram=3),
    "reposts": "reposts",
    "chars": "chars",
    "n = 1": la.Recipe(ngram=1),
}
CANDIDATES: dict[str, la.Recipe | str] = {
    **{f"auto, n = {n}": la.Recipe(ngram=n) for n in (1, 2, 3, 4)},
    **{f"auto, n = {n}, each once": la.Recipe(ngram=n, weights="one") for n in (1, 2, 3)},
    **{f"chars, n = {n}": la.Recipe(tokenizer="chars", ngram=n) for n in (2, 3, 4)},
    "jieba, n = 1": la.Recipe(tokenizer="jieba", ngram=1),
    "jieba, n = 1, each once": la.Recipe(tokenizer="jieba", ngram=1, weights="one"),
    "jieba, n = 2": la.Recipe(tokenizer="jieba", ngram=2),
    "jieba, tf-idf": la.Recipe(tokenizer="jieba", ngram=1, weights="tfidf", idf="jieba", stop_words="default"),
}


def read(folder: Path | None, name: str, language: str, length: int, count: int) -> Corpus:
    """Documents of a length: longer ones are cut, and shorter ones are joined with the next."""
    texts, waiting = [], ""
    for text in documents(folder, name, language):
        waiting += text.strip() + "\n"
        if len(waiting) >= length:
            texts.append(waiting[:length])
            waiting = ""
        if len(texts) == count:
            break
    words = [word for text in texts[:200] for word in WORD[language].findall(text)]
    return Corpus(language, texts, words)


def documents(folder: Path | None, name: str, language: str) -> Iterator[str]:
    if folder is None:
        generator = random.Random(name)
        letters = [chr(0x4E00 + number) for number in range(2_000)] if language == "zh" else "abcdefghijklmnopqrstuvwxyz"
        words = ["".join(generator.choices(letters, k=2 if language == "zh" else 5)) for _ in range(5_000)]
        common = [words[min(int(generator.paretovariate(0.6)), 4_999)] for _ in range(50_000)]
        for _ in range(2_000):
            sentences = [("" if language == "zh" else " ").join(generator.choices(common, k=12)) for _ in range(10)]
            yield ("。" if language == "zh" else ". ").join([*sentences, ""])
        return
    with gzip.open(folder / f"{name}.docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)["text"]


def trigrams(text: str) -> set[str]:
    return {text[at : at + 3] for at in range(len(text) - 2)}


def false_pairs(texts: list[str], values: np.ndarray[Any, Any], bound: int) -> int:
    """Pairs within the bound that have little in common."""
    left, right, *_ = la.HammingIndex(values).pairs(bound)
    found = 0
    for a, b in zip(left.tolist(), right.tolist(), strict=True):
        one, two = trigrams(texts[a]), trigrams(texts[b])
        found += len(one & two) < 0.5 * len(one | two)
    return found


def measured(corpus: Corpus, recipe: la.Recipe | str, reposts: dict[str, list[str]]) -> dict[str, Any]:
    values = la.simhashes(corpus.texts, recipe=recipe)
    row: dict[str, Any] = {"recall": {}, "false_pairs": {f"{bound}": false_pairs(corpus.texts, values, bound) for bound in BOUNDS}}
    for name, texts in reposts.items():
        distances = np.bitwise_count(values[: len(texts)] ^ la.simhashes(texts, recipe=recipe))
        row["recall"][name] = {f"{bound}": round(float(np.mean(distances <= bound)), 3) for bound in BOUNDS}
    return row


NAMES = {"zh": "Chinese", "en": "English"}


def means(result: dict[str, Any], recipe: str, bound: int) -> dict[tuple[str, int], float]:
    """The recall of a recipe by language and length: the mean of the kinds of edit."""
    return {
        (each["language"], each["length"]): float(np.mean([edit[f"{bound}"] for edit in each["recipes"][recipe]["recall"].values()]))
        for each in result["corpora"]
    }


def table(result: dict[str, Any]) -> str:
    """Markdown: recall of each kind of edit, ``k = 3 / k = 6``."""
    lines = [f"| language, characters | recipe | {' | '.join(EDITS)} | mean | false pairs |", "|---|---|" + "--:|" * (len(EDITS) + 2)]
    for each in result["corpora"]:
        for recipe in ("default", "reposts", "chars", "n = 1"):
            row = each["recipes"][recipe]
            cells = [f"{edit['3']:.2f} / {edit['6']:.2f}" for edit in row["recall"].values()]
            mean = [means(result, recipe, bound)[each["language"], each["length"]] for bound in BOUNDS]
            false = " / ".join(f"{row['false_pairs'][f'{bound}']:,}" for bound in BOUNDS)
            name = f"`{recipe}`" if recipe in la.recipes else recipe
            place = f"{NAMES[each['language']]}, {each['length']:,}" if recipe == "default" else ""
            lines.append(f"| {place} | {name} | {' | '.join(cells)} | **{mean[0]:.2f} / {mean[1]:.2f}** | {false} |")
    return "\n".join(lines)


def picture(result: dict[str, Any]) -> str:
    """Recall by length as SVG: one panel per language, a line per recipe and bound."""
    styles = {
        ("default", 3): ("#8c8a83", ""),
        ("default", 6): ("#8c8a83", "5 4"),
        ("reposts", 3): ("#5a3ea6", ""),
        ("reposts", 6): ("#5a3ea6", "5 4"),
        ("chars", 3): ("#b5541c", ""),
        ("chars", 6): ("#b5541c", "5 4"),
    }
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 300" font-family="sans-serif" font-size="12">']
    parts.append('<rect width="720" height="300" fill="#fff"/>')
    for panel, language in enumerate(NAMES):
        left = 50 + 350 * panel
        parts.append(f'<text x="{left}" y="20" font-weight="bold">{NAMES[language]}</text>')
        for tenth in range(0, 11, 2):
            y = 240 - 20 * tenth
            parts.append(
                f'<path d="M{left} {y}h220" stroke="#e3e1da"/><text x="{left - 8}" y="{y + 4}" text-anchor="end">{tenth / 10:.1f}</text>'
            )
        for place, length in enumerate(LENGTHS):
            parts.append(f'<text x="{left + 10 + 100 * place}" y="258" text-anchor="middle">{length:,}</text>')
        for number, ((recipe, bound), (colour, dashes)) in enumerate(styles.items()):
            found = means(result, recipe, bound)
            points = [(left + 10 + 100 * place, 240 - 200 * found[language, length]) for place, length in enumerate(LENGTHS)]
            path = " ".join(f"{x},{y:.1f}" for x, y in points)
            parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>')
            parts += [f'<circle cx="{x}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
            if panel == 0:
                parts.append(f'<path d="M{50 + 112 * number} 285h24" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>')
                parts.append(f'<text x="{80 + 112 * number}" y="289">{recipe}, k = {bound}</text>')
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--count", type=int, default=6_000, help="documents per language and length, fewer where there are not so many")
    parser.add_argument("--reposts", type=int, default=1_000)
    parser.add_argument("--candidates", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--shown", type=Path)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    if options.shown:
        result = json.loads(options.shown.read_text(encoding="utf-8"))
        print(table(result))
        if options.picture:
            options.picture.write_text(picture(result), encoding="utf-8")
        return
    recipes = CANDIDATES if options.candidates else RECIPES
    result = {**machine.describe(), "corpora": []}
    for name, language in (("news_zh", "zh"), ("reuters21578", "en")):
        for length in LENGTHS:
            corpus = read(options.data, name, language, length, options.count)
            generator = random.Random(length)
            reposts = {
                edit: [rewrite(text, corpus, generator) for text in corpus.texts[: options.reposts]] for edit, rewrite in EDITS.items()
            }
            rows = {recipe: measured(corpus, made, reposts) for recipe, made in recipes.items()}
            result["corpora"].append({"language": language, "length": length, "documents": len(corpus.texts), "recipes": rows})
            print(f"\n{language}, {length} characters, {len(corpus.texts)} documents: recall at k = 3 / 6, and false pairs")
            for recipe, row in rows.items():
                cells = "  ".join(f"{edit} {each['3']:.2f}/{each['6']:.2f}" for edit, each in row["recall"].items())
                print(f"{recipe:24} {cells}  false {row['false_pairs']['3']}/{row['false_pairs']['6']}")
    if options.json:
        options.json.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
