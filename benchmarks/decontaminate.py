"""Documents that hold the questions of a benchmark: `lookalike dedupe --against --contains`, and a script of n-gram sets.

    python benchmarks/decontaminate.py [--data FOLDER] [--documents N] [--questions N] [--peer-documents N] [--json OUT]

The documents are words as in benchmarks/substrings.py; one in a hundred holds a question, half of these with a word changed. What was put
in is known, so what is found can be counted. The script beside it is Python, as published practice has it: a set of the 13-grams of all
questions, and a document goes if it has one of them.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import machine
from dedupe import OURS, measured
from substrings import vocabulary

SEED = 2
QUESTION_WORDS = 40
DOCUMENT_WORDS = 200
ROUND = 20_000  # documents
HELD = 100  # one document in so many
SHARE = 0.5
PEER = """
import json, re, sys
WORD = re.compile(r"\\w+")
def grams(text):
    words = WORD.findall(text.lower())
    return {tuple(words[i : i + 13]) for i in range(len(words) - 12)}
with open(sys.argv[1], encoding="utf-8") as lines:
    known = set().union(*(grams(json.loads(line)["text"]) for line in lines))
with open(sys.argv[2], encoding="utf-8") as lines, open(sys.argv[3], "w", encoding="utf-8") as out:
    for line in lines:
        if known.isdisjoint(grams(json.loads(line)["text"])):
            out.write(line)
"""


class Texts:
    def __init__(self, data: Path | None, questions: int) -> None:
        self._words, self._sums = vocabulary(data)
        self._draw = random.Random(SEED)
        self.questions = [self.some(QUESTION_WORDS) for _ in range(questions)]

    def some(self, count: int) -> list[str]:
        return self._draw.choices(self._words, cum_weights=self._sums, k=count)

    def documents(self, count: int) -> Iterator[tuple[str, bool]]:
        """Drawing words takes longer than finding questions, so later rounds have other letters."""
        drawn = [" ".join(self.some(DOCUMENT_WORDS)) for _ in range(min(count, ROUND))]
        for number in range(count):
            turn = number // ROUND % 26
            letters = str.maketrans(ascii_lowercase, ascii_lowercase[turn:] + ascii_lowercase[:turn])
            text = drawn[number % ROUND].translate(letters).split()
            if held := number % HELD == 0:
                question = list(self._draw.choice(self.questions))
                if number % (2 * HELD):
                    question[self._draw.randrange(5)] = "changed"
                text[100:100] = question
            yield " ".join(text), held


def write(path: Path, texts: Texts, count: int) -> tuple[int, set[int]]:
    """How many bytes, and which documents hold a question."""
    size, holding = 0, set()
    with path.open("w", encoding="utf-8") as file:
        for number, (text, held) in enumerate(texts.documents(count)):
            size += len(text.encode())
            holding |= {number} if held else set()
            file.write(json.dumps({"id": number, "text": text}, ensure_ascii=False) + "\n")
    return size, holding


def ours(path: Path, questions: Path, holding: set[int], size: int, *options: str) -> dict[str, Any]:
    out, removed = path.with_suffix(".out.jsonl"), path.with_suffix(".removed.jsonl")
    command = [
        *OURS,
        str(path),
        "--against",
        str(questions),
        "--contains",
        str(SHARE),
        "--out",
        str(out),
        "--removed",
        str(removed),
        "--quiet",
    ]
    found = measured([*command, *options], out)
    with removed.open(encoding="utf-8") as lines:
        gone = {json.loads(line)["id"] for line in lines}
    removed.unlink()
    counts = {"holding": len(holding), "found": len(gone & holding), "wrongly": len(gone - holding)}
    return found | counts | {"mb": round(size / 1e6, 1), "mb_per_cpu_s": round(size / 1e6 / found["cpu_s"], 1)}


def main(given: list[str] | None = None) -> dict[str, Any]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument("--peer-documents", type=int, default=5_000)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args(given)
    result: dict[str, Any] = machine.describe() | {"generated": arguments.data is None, "questions": arguments.questions}
    texts = Texts(arguments.data, arguments.questions)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        questions = folder / "questions.jsonl"
        questions.write_text("".join(json.dumps({"text": " ".join(words)}) + "\n" for words in texts.questions), "utf-8")
        path, out = folder / "peer.jsonl", folder / "peer.out.jsonl"
        size, holding = write(path, texts, arguments.peer_documents)
        small = ours(path, questions, holding, size, "--workers", "1")
        beside = measured([sys.executable, "-c", PEER, str(questions), str(path), str(out)], out)
        result["beside"] = {"lookalike": small, "script": beside, "ratio_of_cpu": round(beside["cpu_s"] / small["cpu_s"], 1)}
        path.unlink()
        path = folder / "large.jsonl"
        size, holding = write(path, texts, arguments.documents)
        result["large"] = ours(path, questions, holding, size) | {"documents": arguments.documents}
    return machine.finish(result, arguments.json)


if __name__ == "__main__":
    main()
