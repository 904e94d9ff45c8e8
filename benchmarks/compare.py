"""What `la.compare` costs for texts of a megabyte: CPU seconds by kind of pair, and what of it the parts take.

    python benchmarks/compare.py [--data FOLDER] [--megabytes 1] [--json OUT]

Pairs: English and Chinese news with 2 % and 10 % of the words or characters changed, a twentieth of the paragraphs moved and a fiftieth
deleted; and two English texts with nothing in common. ``--data`` is a folder with real texts (``reuters21578.docs.jsonl.gz``,
``news_zh.docs.jsonl.gz``, ``bible_en.docs.jsonl.gz``); without it they are generated, and the Chinese pair is left out.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import machine

import corpus
import lookalike as la
from lookalike.comparison.edits import edits
from lookalike.comparison.forms import IGNORED_FORMS, FormedPair
from lookalike.comparison.passages import containment, shared_passages
from lookalike.comparison.score import score_of
from lookalike.comparison.texts import TextPair, text_measures

RUNS = 3
WANTED = 0.5  # CPU seconds


def paragraphs(data: Path | None, name: str) -> list[str]:
    if data is None:
        return corpus.load(None)["english"].texts
    with gzip.open(data / f"{name}.docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [part for line in lines for part in json.loads(line)["text"].split("\n\n") if part]


def first_megabytes(parts: Iterable[str], size: int) -> list[str]:
    found, taken = [], 0
    for part in parts:
        found.append(" ".join(part.split()))
        taken += len(part.encode()) + 1
        if taken >= size:
            break
    return found


def edited(parts: list[str], share: float, between: str) -> str:
    """Paragraphs with changed, lost and new pieces (words, or characters where nothing is between them), and some moved or deleted."""
    draw = random.Random(1)
    pool = ["river", "king", "alpha"] if between else ["天", "地", "玄黄"]
    found = []
    for part in parts:
        pieces = part.split(between) if between else list(part)
        for at, piece in enumerate(pieces):
            if draw.random() < share:
                pieces[at] = draw.choice([*pool, "", piece + between + draw.choice(pool)])
        found.append(between.join(piece for piece in pieces if piece))
    for _ in range(len(found) // 20):
        found.insert(draw.randrange(len(found)), found.pop(draw.randrange(len(found))))
    for _ in range(len(found) // 50):
        found.pop(draw.randrange(len(found)))
    return "\n".join(found)


def pairs(data: Path | None, size: int) -> dict[str, tuple[str, str]]:
    english = first_megabytes(paragraphs(data, "reuters21578"), size)
    other = first_megabytes(reversed(paragraphs(data, "bible_en")), size)
    made = {f"english, {share:.0%} changed": ("\n".join(english), edited(english, share, " ")) for share in (0.02, 0.1)}
    if data is not None:
        chinese = first_megabytes(paragraphs(data, "news_zh"), size)
        made |= {f"chinese, {share:.0%} changed": ("\n".join(chinese), edited(chinese, share, "")) for share in (0.02, 0.1)}
    return made | {"english, nothing in common": ("\n".join(english), "\n".join(other))}


def cpu_seconds(job: Callable[[], Any]) -> float:
    began = time.process_time()
    job()
    return round(time.process_time() - began, 3)


def parts_of(left: str, right: str) -> dict[str, float]:
    formed = FormedPair(left, right, IGNORED_FORMS)
    pair = TextPair(formed.left, formed.right)
    return {
        "forms": cpu_seconds(lambda: FormedPair(left, right, IGNORED_FORMS).differing()),
        "measures": cpu_seconds(lambda: text_measures(pair)),
        "score": cpu_seconds(lambda: score_of(*pair.sides)),
        "passages": cpu_seconds(lambda: containment(pair, shared_passages(pair))),
        "edits": cpu_seconds(lambda: edits(formed.left, formed.right)),
    }


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--megabytes", type=float, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    la.compare("warm up", "warmed up")
    rows = []
    for name, (left, right) in pairs(options.data, int(options.megabytes * 1e6)).items():
        seconds = [cpu_seconds(lambda left=left, right=right: la.compare(left, right)) for _ in range(RUNS)]
        rows.append({"pair": name, "cpu_s": min(seconds), "all_cpu_s": seconds, "wanted": WANTED, "parts": parts_of(left, right)})
        print(json.dumps(rows[-1]))
    result = machine.describe() | {"megabytes": options.megabytes, "text": "real" if options.data else "generated", "pairs": rows}
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return result


if __name__ == "__main__":
    main()
