"""Labels by example: the nearest labelled documents vote, each as much as it is near, and the confidence is the label's share of the votes.

Nearness is the cosine of TF-IDF weights of words, which are learned from the examples.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.checks import check_int, check_path, check_several, is_number
from lookalike.corpus.documents import documents
from lookalike.errors import InputError
from lookalike.files.model import FileText
from lookalike.files.reading import read_many
from lookalike.profiles.words import content_words

NEIGHBOURS = 7  # chosen on Reuters-21578 and on Chinese news, see docs/files.md
LABEL_COLUMNS = ("label", "domain", "class")


class Label(NamedTuple):
    """A label, and from 0 to 1 how sure it is. Without anything to go by the label is empty."""

    name: str
    confidence: float


class Labels:
    """Examples with labels, and who is nearest to a text."""

    def __init__(self, examples: Iterable[tuple[str, str]], neighbours: int = NEIGHBOURS) -> None:
        check_int("neighbours", neighbours, 1, 1000)
        self._neighbours = neighbours
        self._names: list[str] = []
        counted: list[Counter[str]] = []
        mark = hashlib.sha256(str(neighbours).encode())
        for text, name in examples:
            if not isinstance(text, str) or not isinstance(name, str) or not name:
                raise InputError("labels: an example is a text with the name of its label, both str")
            mark.update(json.dumps([text, name]).encode())
            self._names.append(name)
            counted.append(Counter(content_words(text)))
        self.mark = mark.hexdigest()  # the same for the same examples
        if not counted:
            raise InputError("labels: no examples; give a folder for each label, or JSON lines with 'text' and 'label'")
        seen = Counter(word for words in counted for word in words)
        self._idf = {word: math.log((1 + len(counted)) / (1 + count)) + 1 for word, count in seen.items()}
        postings: dict[str, tuple[list[int], list[float]]] = {}
        for place, words in enumerate(counted):
            weights = self._weights(words)
            for word, weight in weights.items():
                places, values = postings.setdefault(word, ([], []))
                places.append(place)
                values.append(weight)
        self._postings: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {
            word: (np.array(places, dtype=np.int64), np.array(values)) for word, (places, values) in postings.items()
        }

    def __len__(self) -> int:
        return len(self._names)

    def of(self, text: str) -> Label:
        """The label of a text: the one that its nearest examples vote for."""
        scores = np.zeros(len(self._names))
        for word, weight in self._weights(Counter(content_words(text))).items():
            if found := self._postings.get(word):
                scores[found[0]] += weight * found[1]
        order = np.lexsort((np.arange(len(scores)), -scores))[: self._neighbours]
        nearest = [(self._names[place], float(scores[place])) for place in order.tolist() if scores[place] > 0]
        if not nearest:
            return Label("", 0.0)
        votes: dict[str, float] = {}
        for name, score in nearest:
            votes[name] = votes.get(name, 0.0) + score
        best = max(votes, key=lambda name: (votes[name], name))
        return Label(best, min(1.0, votes[best] / math.fsum(votes.values())))

    def _weights(self, words: Counter[str]) -> dict[str, float]:
        weights = {word: (1 + math.log(count)) * self._idf[word] for word, count in words.items() if word in self._idf}
        norm = math.sqrt(sum(weight * weight for weight in weights.values()))
        return {word: weight / norm for word, weight in weights.items()} if norm else {}


Labeller = Labels | Callable[[FileText], Any]


def read_labels(source: str | Path | Labeller | Mapping[str, Iterable[str]] | None) -> Labeller | None:
    """Labels from a folder with a folder for each label, from JSON lines with ``text`` and ``label``, from a mapping, or by a function."""
    if source is None or isinstance(source, Labels):
        return source
    if isinstance(source, type):
        raise InputError(f"labels is the type {source.__name__}: give a function that takes a FileText, a path, or a mapping")
    if callable(source):
        return source
    if isinstance(source, Mapping):
        several = "a list of texts for each label"
        return Labels((text, name) for name, texts in source.items() for text in check_several("labels", texts, several))
    path = check_path("labels", source)
    return Labels(_folders(path) if path.is_dir() else _rows(path))


def _folders(folder: Path) -> Iterator[tuple[str, str]]:
    named = sorted(each for each in folder.iterdir() if each.is_dir() and not each.name.startswith("."))
    if not named:
        raise InputError(f"labels: {str(folder)!r} has no folders: give a folder for each label, with examples in it")
    for each in named:
        files = sorted(path for path in each.rglob("*") if path.is_file() and not path.name.startswith("."))
        examples = [found for found in read_many(files) if found.text.strip()]
        if not examples:
            raise InputError(f"labels: no file in {str(each)!r} has a text: give examples, or take the folder away")
        yield from ((f"{Path(found.name).stem}\n{found.text}", each.name) for found in examples)


def _rows(path: Path) -> Iterator[tuple[str, str]]:
    for document in documents(path):
        label = next((document.meta[column] for column in LABEL_COLUMNS if document.meta.get(column)), None)
        if not isinstance(label, str):
            raise InputError(f"labels: {document.id!r:.80} in {str(path)!r} has no label: give each example a column 'label'")
        yield document.text or "", label


def label_of(labeller: Labeller, found: FileText) -> Label:
    if isinstance(labeller, Labels):
        return labeller.of(f"{Path(found.name).stem}\n{found.title or ''}\n{found.text}")
    given = labeller(found)
    if isinstance(given, str):
        return Label(given, 1.0)
    if isinstance(given, (tuple, list)) and len(given) == 2 and isinstance(given[0], str) and is_number(given[1]) and 0 <= given[1] <= 1:
        return Label(given[0], float(given[1]))
    raise InputError(f"labels: the function gave {given!r:.80}: it must give a label, or a label and a confidence from 0 to 1")
