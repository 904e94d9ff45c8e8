"""Corpora for the tests of dedupe: prose of random words, with near-copies."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

WORDS = [
    f"{begin}{end}"
    for begin in ["river", "king", "gold", "stone", "wind", "fire", "night", "house", "garden", "letter"]
    for end in range(60)
]


def prose(draw: random.Random, length: int) -> list[str]:
    return [draw.choice(WORDS) for _ in range(length)]


def near_copies(seed: int, documents: int, length: int = 80) -> list[str]:
    """Texts of which about half are edited copies of an earlier one."""
    draw = random.Random(seed)
    texts: list[list[str]] = []
    for _ in range(documents):
        if texts and draw.random() < 0.5:
            words = list(draw.choice(texts))
            for _ in range(draw.choice([0, 1, 1, 2, 3, 6])):
                words[draw.randrange(len(words))] = draw.choice(WORDS)
            texts.append(words)
        else:
            texts.append(prose(draw, draw.randint(length // 2, length)))
    return [" ".join(words) for words in texts]


def real_texts(count: int) -> list[str]:
    """Functions and classes of Python's standard library: real texts that are on every machine."""
    found: list[str] = []
    for path in sorted(Path(random.__file__).parent.glob("*.py")):
        found += [each for each in re.split(r"\n(?=(?: {4})?(?:def|class) )", path.read_text(encoding="utf-8")) if len(each) > 120]
        if len(found) >= count:
            break
    return found[:count]


def rows_of(texts: Sequence[str], **columns: Sequence[Any]) -> list[dict[str, Any]]:
    return [{"id": f"d{i}", "text": text, **{name: values[i] for name, values in columns.items()}} for i, text in enumerate(texts)]


def write_jsonl(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def read_jsonl(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
