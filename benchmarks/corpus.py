"""The texts that the benchmarks run on: real ones from a folder, or generated ones where there is no folder."""

from __future__ import annotations

import bisect
import gzip
import itertools
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

VERSES = 15  # of one Bible version make a document of about 1.8 KB, the length of a short article
FILE_SIZE = 64_000  # bytes: what the fuzzy hashes are given
SHORT_TEXTS = 16_000  # of each corpus of short ones
MOST_BYTES = 16_000_000  # of each corpus: enough to leave every cache, little enough for slow peers


@dataclass(frozen=True)
class Corpus:
    """Documents and where they come from."""

    name: str
    source: str
    texts: list[str]

    @property
    def megabytes(self) -> float:
        return megabytes(self.texts)

    def describe(self) -> dict[str, Any]:
        return {"source": self.source, "documents": len(self.texts), "mb": round(self.megabytes, 2)}


def megabytes(items: list[Any]) -> float:
    """Millions of bytes, of texts as UTF-8."""
    return sum(len(item.encode() if isinstance(item, str) else item) for item in items) / 1e6


def files(corpus: Corpus) -> list[bytes]:
    """The corpus as a series of text files of equal size."""
    data = "\n".join(corpus.texts).encode()
    return [data[start : start + FILE_SIZE] for start in range(0, len(data), FILE_SIZE)]


def load(data: Path | None, documents: int | None = None) -> dict[str, Corpus]:
    """The corpora ``english``, ``news`` and ``chinese``, and ``verses`` and ``questions`` of short texts; ``documents`` limits each."""
    corpora = _generated(documents or 4000) if data is None else _real(data)
    return {corpus.name: Corpus(corpus.name, corpus.source, _limited(corpus.texts, documents)) for corpus in corpora}


def _limited(texts: list[str], documents: int | None) -> list[str]:
    sizes = itertools.accumulate(len(text.encode()) for text in texts)
    within = sum(1 for _ in itertools.takewhile(lambda size: size <= MOST_BYTES, sizes))
    return texts[: min(max(within, 1), documents or len(texts))]


def _real(folder: Path) -> list[Corpus]:
    return [
        Corpus("english", f"Bible versions, {VERSES} verses a document", list(_passages(folder))),
        Corpus("news", "Reuters-21578", [row["text"] for row in _rows(folder, "reuters21578") if row["text"]]),
        Corpus("chinese", "Chinese newspaper articles", [row["text"] for row in _rows(folder, "news_zh") if row["text"]]),
        Corpus("verses", "verses of Bible versions", [row["text"] for row in _rows(folder, "bible_en") if row["text"]][:SHORT_TEXTS]),
        Corpus("questions", "Chinese questions of LCQMC", [row[side] for row in _rows(folder, "lcqmc_zh.dev", "pairs") for side in "ab"]),
    ]


def _passages(folder: Path) -> Iterator[str]:
    for _, version in itertools.groupby(_rows(folder, "bible_en"), key=lambda row: row["ver"]):
        verses = [row["text"] for row in version]
        for start in range(0, len(verses), VERSES):
            yield " ".join(verses[start : start + VERSES])


def _rows(folder: Path, name: str, kind: str = "docs") -> Iterator[dict[str, Any]]:
    with gzip.open(folder / f"{name}.{kind}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


# In the order of their frequency, roughly: the first is drawn as often as Zipf's law says.
_COMMON = (
    "the of and to in a is that it for was on with as be by at from this have or had not are but they which one you were all "
    "there would their we him been has when who will more no if out so said what up its about into than them can only other new some "
    "could time these two may then do first any my now such like our over man me even most made after also did many before must through "
    "back years where much your way well down should because each just those people how too little state good very make world still own "
    "see men work long get here between both life being under never day same another know while last might us great old year off come "
    "since against go came right used take three system few house use during without again place american around however home small found "
    "thought went say part once general high upon school every does got united left number course war until always away something fact "
    "water though less public put think almost hand enough far took head yet government better told find city group rest market price "
    "company report share month bank rise trade week percent million interest rate quarter board offer analyst agreement stock export "
    "production oil grain minister policy deficit growth council river mountain garden letter evening morning window music language "
    "history science paper story journey winter summer village harbour bridge island forest doctor teacher soldier farmer captain "
)
WORDS = _COMMON.split()
ENDINGS = ("", "s", "ed", "ing", "ly", "er", "ness", "ment", "al", "ity", "ism", "less", "ful", "able", "wise", "hood")
BEGINNINGS = ("", "re", "un", "over", "under", "inter", "counter", "non")
# Common characters, likewise. Words are one character or two.
CHARACTERS = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动"
    "面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向"
    "头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活"
    "尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强"
)


@cache
def _generated(documents: int) -> list[Corpus]:
    source = "generated: Zipf-distributed words of a built-in list, not real text"
    draw = random.Random(20261115)
    vocabulary = [begin + word + end for begin, end in itertools.product(BEGINNINGS, ENDINGS) for word in WORDS]
    characters = list(CHARACTERS) + [draw.choice(CHARACTERS) + draw.choice(CHARACTERS) for _ in range(20_000)]
    return [
        Corpus("english", source, [_prose(draw, vocabulary, 300, " ", (", ", ". ")) for _ in range(documents)]),
        Corpus("news", source, [_prose(draw, vocabulary, draw.randint(20, 250), " ", (", ", ". ")) for _ in range(documents)]),
        Corpus("chinese", source, [_prose(draw, characters, 400, "", ("，", "。")) for _ in range(documents)]),
        Corpus("verses", source, [_prose(draw, vocabulary, 18, " ", (", ", ". ")) for _ in range(documents)]),
        Corpus("questions", source, [_prose(draw, characters, 7, "", ("，", "？")) for _ in range(documents)]),
    ]


def _prose(draw: random.Random, vocabulary: list[str], length: int, glue: str, marks: tuple[str, str]) -> str:
    """Sentences of 5 to 25 words, the first in capitals, with a comma here and there."""
    words = _zipf(draw, vocabulary, length)
    sentences: list[str] = []
    while words:
        end = draw.randint(5, 25)
        sentence, words = words[:end], words[end:]
        if len(sentence) > 12:
            middle = draw.randint(4, 8)
            sentences.append(glue.join(sentence[:middle]).capitalize() + marks[0] + glue.join(sentence[middle:]) + marks[1])
        else:
            sentences.append(glue.join(sentence).capitalize() + marks[1])
    return "".join(sentences).rstrip()


def _zipf(draw: random.Random, vocabulary: list[str], length: int) -> list[str]:
    """Words drawn with a chance of one over their rank plus 2.7 (Mandelbrot's form, closer to real text at the head)."""
    if len(vocabulary) not in _CUMULATIVE:
        _CUMULATIVE[len(vocabulary)] = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(vocabulary))))
    sums = _CUMULATIVE[len(vocabulary)]
    return [vocabulary[bisect.bisect_left(sums, draw.random() * sums[-1])] for _ in range(length)]


_CUMULATIVE: dict[int, list[float]] = {}
