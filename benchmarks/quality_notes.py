"""What the notes of a comparison see: sentences with one difference that no share of words sees, and what people say of pairs whose verdict
was withheld. ``quality.py`` runs it.

Sentences are taken from news. *Swapped*: two words that stand once, with others between them, change places. *Number*: one number is
another one. *Negation*: a "not" is put in. Pairs that people judged are those of which the score is at least 0.8.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from report import table

import lookalike as la
from lookalike.comparison.doubts import SHORT_TOKENS
from lookalike.text.blending import function_words

Row = dict[str, Any]
Change = Callable[[str, random.Random], str | None]
COUNT = 400  # of each kind
NEWS = {"English": "reuters21578", "Chinese": "news_zh"}
SENTENCE = {"English": re.compile(r"[A-Z][^.!?<>]{30,200}[.]"), "Chinese": re.compile(r"[\u4e00-\u9fff][^。！？\n]{10,60}。")}
# What a negation is put behind, or before; and what it is.
NEGATED = {
    "English": (re.compile(r"\b(is|are|was|were|will|would|could|should|has|have|had)\b"), r"\1 not"),
    "Chinese": (re.compile(r"(?<![不没无未])(会|能|是|愿意|应该|可以|存在|同意)(?![不没])"), r"不\1"),
}
DOUBTS = (
    "numbers differ",
    "dates differ",
    "numbers in another order",
    "one text negates",
    "words in another order",
    "the same words in another order",
)
# A set, and from which label on people call a pair the same.
JUDGED = {"lcqmc_zh.dev": 1.0, "stsb_zh.dev": 4.0, "stsb_en.dev": 4.0, "semeval2016": 4.0}


def words(text: str, language: str) -> list[tuple[int, int]]:
    """Where the words stand that can be swapped: those of some length, no function words, once in the text."""
    found = [token for token in la.tokenize(text, "jieba" if language == "Chinese" else "words") if len(token.text) >= 2]
    names = [token.text for token in found]
    return [
        (token.start, token.end)
        for token in found
        if names.count(token.text) == 1 and token.text not in function_words() and token.text.isalpha()
    ]


def swapped(language: str) -> Change:
    def change(text: str, chance: random.Random) -> str | None:
        places = words(text, language)
        if len(places) < 4:
            return None
        first = chance.randrange(len(places) - 3)
        second = chance.randrange(first + 2, len(places))
        (a, b), (c, d) = places[first], places[second]
        return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]

    return change


def another_number(text: str, chance: random.Random) -> str | None:
    found = [*re.finditer(r"(?<![\d.,])\d+(?![\d.,])", text)]
    if not found:
        return None
    one = chance.choice(found)
    other = int(one[0]) + chance.choice((1, 2, 5, 10, 90))
    return f"{text[: one.start()]}{other}{text[one.end() :]}"


def negated(language: str) -> Change:
    pattern, instead = NEGATED[language]

    def change(text: str, chance: random.Random) -> str | None:
        found = pattern.sub(instead, text, count=1)
        return found if found != text else None

    return change


def sentences(folder: Path, language: str) -> Iterator[str]:
    from quality import rows

    for row in rows(folder / f"{NEWS[language]}.docs.jsonl.gz"):
        yield from (" ".join(found.split()) for found in SENTENCE[language].findall(row["text"])[:3])


def made(folder: Path) -> list[Row]:
    """How often a made difference is named, and how often it withholds the verdict of a short text."""
    found = []
    for language in NEWS:
        changes: dict[str, Change] = {"swapped": swapped(language), "number": another_number, "negation": negated(language)}
        for what, change in changes.items():
            chance = random.Random(what)
            pairs = []
            for text in sentences(folder, language):
                if (other := change(text, chance)) and other != text:
                    pairs.append(la.compare(text, other, measures=[]))
                if len(pairs) == COUNT:
                    break
            short = [pair for pair in pairs if min(len(la.tokenize(str(pair.left))), len(la.tokenize(str(pair.right)))) <= SHORT_TOKENS]
            found.append(
                {
                    "language": language,
                    "what": what,
                    "pairs": len(pairs),
                    "score": float(np.median([pair.score for pair in pairs])),
                    "noted": float(np.mean([any(_is_doubt(note) for note in pair.notes) for pair in pairs])),
                    "short": len(short),
                    "withheld": float(np.mean([bool(pair.doubts) for pair in short])) if short else None,
                }
            )
    return found


def _is_doubt(note: str) -> bool:
    return note.startswith(DOUBTS)


def judged(sets: dict[str, list[Any]]) -> list[Row]:
    """What people say of pairs with a score of at least .8: of those that are called alike, and of those whose verdict is withheld."""
    found = []
    for name, least in JUDGED.items():
        verdicts: dict[str, list[bool]] = {"alike": [], "withheld": []}
        for pair in sets.get(name, []):
            one = la.compare(pair.left, pair.right, measures=[])
            if one.score >= one.threshold:
                verdicts["alike" if one.alike else "withheld"].append(pair.label >= least)
        if verdicts["alike"]:
            found.append({"set": name} | {verdict: [len(same), float(np.mean(same or [0.0]))] for verdict, same in verdicts.items()})
    return found


def render(result: Row) -> str:
    parts = []
    if rows := result.get("made_differences"):
        cells = [
            [
                row["language"],
                row["what"],
                f"{row['pairs']}",
                f"{row['score']:.2f}",
                f"{row['noted']:.0%}",
                f"{row['short']}",
                _share(row["withheld"]),
            ]
            for row in rows
        ]
        header = ["language", "difference", "sentences", "median score", "noted", "short ones", "verdict withheld"]
        parts.append(f"Sentences of news with one difference that was made:\n\n{table(header, cells)}")
    if rows := result.get("withheld_verdicts"):
        cells = [
            [row["set"], *(cell for verdict in ("alike", "withheld") for cell in (f"{row[verdict][0]:,}", _share(row[verdict][1])))]
            for row in rows
        ]
        header = ["set", "called alike", "the same by people", "withheld", "the same by people"]
        parts.append(f"Judged pairs with a score of at least 0.8:\n\n{table(header, cells)}")
    return "\n\n".join(parts)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"
