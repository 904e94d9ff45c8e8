"""How well copies of source code are told from unrelated files, whatever was done to hide them.

    python benchmarks/source_code.py [--files 80] [--json OUT]

The files are what every machine has: Python's standard library, this project's Python and C++, and Perl's modules where perl is
installed. Copies are made by ``disguises.py``. Every copy is compared with its original, and as many files of the same language with
each other. Three ways compare the same pairs: the score of the source as text, the Jaccard index of 4-grams of what pygments calls a
token (names, literals and comments replaced), and the score of code. The table shows the AUC of each, and what the score of code
finds at .8.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import subprocess
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import machine
import numpy as np
from disguises import LINES, PYTHON, Rewrite

import lookalike as la
from lookalike.comparison.code import ReadCode, code_score
from lookalike.comparison.score import text_score

ROOT = Path(__file__).parent.parent
SIZES = range(2_000, 40_000)  # characters
THRESHOLD = 0.8


def python_files() -> Iterable[Path]:
    yield from Path(sysconfig.get_paths()["stdlib"]).glob("*.py")
    yield from (ROOT / "src").rglob("*.py")


def perl_files() -> Iterable[Path]:
    try:
        folders = subprocess.run(["perl", "-e", "print join qq(\\n), @INC"], capture_output=True, text=True, check=True).stdout.split("\n")
    except (OSError, subprocess.CalledProcessError):
        return
    for folder in folders:
        yield from Path(folder).glob("*.pm")


SOURCES: dict[str, tuple[Callable[[], Iterable[Path]], dict[str, Rewrite]]] = {
    "python": (python_files, PYTHON),
    "cpp": (lambda: (ROOT / "native").rglob("*.cpp"), LINES),
    "perl": (perl_files, LINES),
}


def read(paths: Iterable[Path], language: str, count: int, seed: int = 1) -> list[str]:
    texts = {}
    for path in sorted(paths):
        try:
            text = path.read_text(encoding="utf-8")
            if language == "python":
                ast.parse(text)
        except (OSError, ValueError, SyntaxError):
            continue
        if len(text) in SIZES:
            texts[text] = None
    found = list(texts)
    random.Random(seed).shuffle(found)
    return found[:count]


def four_grams(text: str, language: str) -> set[tuple[str, ...]]:
    """The usual recipe: pygments' tokens, where names and literals are their type and comments and space are nothing."""
    from pygments.lexers import get_lexer_by_name
    from pygments.token import Comment, Literal, Name, Whitespace

    tokens = []
    for kind, value in get_lexer_by_name(language).get_tokens(text):
        if kind in Comment or kind in Whitespace or not value.strip():
            continue
        tokens.append("name" if kind in Name else "literal" if kind in Literal else value)
    return set(zip(*(tokens[start:] for start in range(4)), strict=False))


def jaccard(left: set[Any], right: set[Any]) -> float:
    return len(left & right) / max(1, len(left | right))


def auc(copies: list[float], others: list[float]) -> float:
    ranks = np.sort(others)
    found = (np.searchsorted(ranks, copies, "left") + np.searchsorted(ranks, copies, "right")) / 2
    return float(np.mean(found)) / len(others)


class Three:
    """A file as each of the three ways reads it."""

    def __init__(self, text: str, language: str) -> None:
        self.text = text
        self.grams = four_grams(text, language)
        self.code = ReadCode(la.code(text, language))

    def compared(self, other: Three) -> tuple[float, float, float]:
        return text_score(self.text, other.text).value, jaccard(self.grams, other.grams), code_score(self.code, other.code)[0]


def measured(language: str, texts: list[str], disguises: dict[str, Rewrite], seed: int = 2) -> dict[str, Any]:
    files = [Three(text, language) for text in texts]
    pairs = [(a, b) for a in range(len(files)) for b in range(a)]
    random.Random(seed).shuffle(pairs)
    others = [files[a].compared(files[b]) for a, b in pairs[: 5 * len(files)]]
    unrelated = list(zip(*others, strict=True))
    rows: dict[str, Any] = {}
    for name, rewrite in disguises.items():
        copies = []
        for number, text in enumerate(texts):
            copy = rewrite(text, texts[(number + 1) % len(texts)], number)
            copies.append(files[number].compared(Three(copy, language)))
        ways = list(zip(*copies, strict=True))
        rows[name] = {
            **{way: round(auc(list(ways[at]), list(unrelated[at])), 3) for at, way in enumerate(("text", "4-grams", "code"))},
            "median": round(float(np.median(ways[2])), 2),
            "found": round(float(np.mean(np.array(ways[2]) >= THRESHOLD)), 2),
        }
    scores = np.array(unrelated[2])
    return {
        "files": len(files),
        "unrelated": {"pairs": len(scores), "median": round(float(np.median(scores)), 3), "highest": round(float(scores.max()), 2)},
        "found_unrelated": round(float(np.mean(scores >= THRESHOLD)), 4),
        "disguises": rows,
    }


def short_pieces(texts: list[str], seed: int = 3, pairs: int = 4_000) -> dict[str, float]:
    """How often two unrelated functions of about the same length are taken for copies, by their tokens."""
    pieces: dict[int, list[ReadCode]] = {20: [], 40: [], 60: [], 100: [], 200: []}
    for text in texts:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                read_code = ReadCode(la.code(ast.get_source_segment(text, node) or "", "python"))
                size = max((size for size in pieces if size <= len(read_code.words)), default=None)
                if size is not None:
                    pieces[size].append(read_code)
    generator = random.Random(seed)
    rates = {}
    for size, found in pieces.items():
        scores = [code_score(*generator.sample(found, 2))[0] for _ in range(pairs)]
        rates[f"{size}+"] = round(float(np.mean(np.array(scores) >= THRESHOLD)), 4)
    return rates


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=80)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    result: dict[str, Any] = {**machine.describe(), "languages": {}}
    for language, (paths, disguises) in SOURCES.items():
        texts = read(paths(), language, options.files)
        if len(texts) < 4:
            print(f"{language}: no files here")
            continue
        found = result["languages"][language] = measured(language, texts, disguises)
        print(f"\n{language}, {found['files']} files; unrelated: {found['unrelated']}, at {THRESHOLD}: {found['found_unrelated']:.2%}")
        print(f"{'':28}{'text':>8}{'4-grams':>9}{'code':>8}{'median':>8}{'found':>7}")
        for name, row in found["disguises"].items():
            print(f"{name:28}{row['text']:8.3f}{row['4-grams']:9.3f}{row['code']:8.3f}{row['median']:8.2f}{row['found']:7.0%}")
        if language == "python":
            result["short"] = short_pieces(texts)
            print("unrelated functions taken for copies, by tokens:", result["short"])
    if options.json:
        options.json.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
