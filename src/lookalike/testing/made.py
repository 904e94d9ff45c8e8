"""Documents, pages and a model for tests, and what is true of them by definition."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from lookalike.markup.page import page
from lookalike.measures import jaccard
from lookalike.stores.clusters import Cluster
from lookalike.text.shingle import shingle_set

_WORDS = [
    "river",
    "bridge",
    "council",
    "market",
    "winter",
    "lantern",
    "harbour",
    "engine",
    "letter",
    "garden",
    "station",
    "window",
    "copper",
    "thunder",
    "valley",
    "meadow",
    "merchant",
    "signal",
    "orchard",
    "compass",
    "quarry",
    "lighthouse",
    "ferry",
    "archive",
    "blanket",
    "mirror",
    "temple",
    "kettle",
    "saddle",
    "candle",
]
_IDEOGRAPHS = "春江潮水连海平海上明月共潮生滟滟随波千万里何处春江无月明江流宛转绕芳甸月照花林皆似霰空里流霜不觉飞汀上白沙看不见"


def corpus(documents: int, seed: int = 0) -> list[tuple[str, str]]:
    """Made-up documents, English and Chinese, of which every fourth is a changed copy of an earlier one."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    made: list[tuple[str, str]] = []
    for number in range(documents):
        if number % 4 == 3:
            made.append((f"doc-{number}", _changed(made[chance.randrange(len(made))][1], chance)))
        elif number % 4 == 2:
            made.append((f"doc-{number}", "".join(chance.choices(_IDEOGRAPHS, k=chance.randrange(40, 160)))))
        else:
            made.append((f"doc-{number}", " ".join(chance.choices(_WORDS, k=chance.randrange(30, 120)))))
    return made


def made_pages(count: int, seed: int = 0) -> list[tuple[str, str]]:
    """Made-up web pages, in HTML, of four templates: what is on them differs, and a little of how it is laid out."""
    chance = random.Random(seed)  # noqa: S311
    frames = [
        "<nav><ul><li><a href=/>home</a></ul></nav><main><h1>{0}</h1><p>{1}</p>{2}</main>",
        "<table><tr><td><b>{0}</b><td><p>{1}</p>{2}</table><footer><address>us</address></footer>",
        "<section><article><header><h2>{0}</h2></header><div><div><p>{1}</p></div>{2}</div></article></section>",
        "<form><fieldset><legend>{0}</legend><label>{1}<input></label><select><option>a</select></fieldset></form>{2}",
    ]
    extras = ["", "", "<blockquote><em>{0}</em></blockquote>", "<pre><code>{0}</code></pre>", "<ol><li>{0}<li>{0}</ol>"]
    made = []
    for number in range(count):
        words = [" ".join(chance.choices(_WORDS, k=k)) for k in (3, chance.randrange(20, 60), 8)]
        extra = chance.choice(extras).format(words[2])
        made.append((f"page-{number}", f"<title>{words[0]}</title><body>{chance.choice(frames).format(words[0], words[1], extra)}"))
    return made


def tag_paths(html: str) -> set[str]:
    return {element.path for element in page(html).elements if not element.is_text}


def _changed(text: str, chance: random.Random) -> str:
    units = text.split(" ") if " " in text else list(text)
    for _ in range(chance.randrange(4)):
        units[chance.randrange(len(units))] = chance.choice(_WORDS) if " " in text else chance.choice(_IDEOGRAPHS)
    return (" " if " " in text else "").join(units)


def joined_to(clusters: Iterable[Cluster]) -> dict[str | int, tuple[str | int, float]]:
    return {member.id: (cluster.kept, member.similarity) for cluster in clusters for member in cluster.removed}


def removed_by_dedupe(rows: Sequence[dict[str, Any]], **options: Any) -> dict[str | int, tuple[str | int, float]]:
    from lookalike.deduping.local import dedupe

    return {each.id: (each.kept_id, each.similarity) for each in dedupe(rows, **options).removed}


@contextmanager
def refused(*errors: type[Exception]) -> Iterator[None]:
    message = None
    try:
        yield
    except errors as error:
        message = str(error)
    assert message, f"nothing was raised, or without a message; expected {errors}"


def exact_jaccard(left: str, right: str) -> float:
    return jaccard.similarity(shingle_set(left), shingle_set(right))


class TinyEmbedder:
    """A model for tests: how often each hashed pair of letters occurs. Small, quick, and the same everywhere."""

    name, version, dimensions = "lookalike-tiny", "1", 32

    def encode(self, texts: Sequence[str], /) -> Any:
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for pair in zip(text.lower(), text.lower()[1:], strict=False):
                if pair[0].isalpha() and pair[1].isalpha():  # it knows nothing else
                    vectors[row, zlib.crc32("".join(pair).encode("utf-8", "replace")) % self.dimensions] += 1
        return vectors


def tiny_model(name: str = "lookalike-tiny") -> str:
    """The name of the tiny model, registered."""
    from lookalike.embedders.opening import embedders

    if name not in embedders:
        embedders.register(name, TinyEmbedder(), version=TinyEmbedder.version)
    return name


def cosines_of(query: str, texts: Sequence[str]) -> list[float]:
    """Of the vectors as stores keep them: halves of length 1. These sums are exact in any order."""
    vectors = TinyEmbedder().encode([query, *texts]).astype(np.float64)
    lengths = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
    halves = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0).astype(np.float16).astype(np.float64)
    dots, squares = halves[1:] @ halves[0], (halves**2).sum(axis=1)
    return [float(dot / np.sqrt(square * squares[0])) if square else -4.0 for dot, square in zip(dots, squares[1:], strict=True)]
