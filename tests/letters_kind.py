"""A kind of fingerprint that another package could bring: which letters a text has. All of it is in this file, and one registration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike.recipe import require_same
from lookalike.stores.base import OnProgress, Reader, Segments
from lookalike.stores.clusters import Cluster, Clusters, Member
from lookalike.stores.given import Given
from lookalike.stores.kinds import kinds
from lookalike.stores.kinds.base import Asked, Kind, Options, Way
from lookalike.stores.kinds.columns import Column
from lookalike.stores.matches import Match, Matches
from lookalike.stores.settings import Settings
from lookalike.stores.stretches import Stretch

RECIPE = "letters-1"
ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def letters_of(text: str) -> str:
    return "".join(letter for letter in ALPHABET if letter in text.lower())


def bits_of(letters: str) -> int:
    return sum(1 << ALPHABET.index(letter) for letter in letters)


def alike(left: int, right: int) -> float:
    union = (left | right).bit_count()
    return (left & right).bit_count() / union if union else 1.0


class LetterSegment:
    """A row and its letters, as bits, for each document."""

    def __init__(self, rows: Any, letters: Any) -> None:
        self._sections = {"rows": rows, "letters": letters}

    @classmethod
    def build(cls, rows: Any, letters: Sequence[str]) -> LetterSegment:
        return cls(rows, np.array([bits_of(each) for each in letters], dtype=np.uint32))

    @classmethod
    def open(cls, sections: Mapping[str, Any]) -> LetterSegment:
        if len(sections["rows"]) != len(sections["letters"]):
            raise ValueError("there are not as many letters as rows")
        return cls(sections["rows"], sections["letters"])

    @classmethod
    def merge(cls, segments: Sequence[LetterSegment], removed: Any) -> LetterSegment:
        rows, letters = (np.concatenate([each.sections()[name] for each in segments]) for name in ("rows", "letters"))
        live = ~np.isin(rows, removed)
        return cls(rows[live], letters[live])

    def sections(self) -> dict[str, Any]:
        return self._sections

    def __len__(self) -> int:
        return len(self._sections["rows"])


@dataclass
class HavingLetters(Asked[list[tuple[float, int]]]):
    """Scores and rows from a threshold on, best first."""

    letters: int
    threshold: float

    kind = "letters"

    def in_segments(self, segments: Segments) -> list[tuple[float, int]]:
        found = []
        for segment in segments.all:
            rows, letters = segment.sections()["rows"], segment.sections()["letters"]
            live = segments.live(rows)
            scored = zip((alike(self.letters, each) for each in letters[live].tolist()), rows[live].tolist(), strict=True)
            found += [(score, row) for score, row in scored if score >= self.threshold]
        return sorted(found, key=lambda item: (-item[0], item[1]))


class ByLetters(Way):
    name, scale = "letters", "jaccard of letters"
    clusters_are_made = True

    def query(self, thing: Any, settings: Settings) -> Any:
        return bits_of(letters_of(thing))

    def find(self, reader: Reader, settings: Settings, query: Any, options: Options) -> Matches:
        found = reader.find(HavingLetters(query, options.least(0.5)))
        records = reader.records([row for _, row in found], ())
        return Matches([Match(records[row].id, score, 1 - score) for score, row in found[: options.limit]], len(found))

    def clusters(self, reader: Reader, settings: Settings, options: Options, progress: OnProgress | None) -> Clusters:
        leaders: dict[Any, tuple[int, list[Member]]] = {}
        for record in reader.scan(("letters",)):
            bits = bits_of(record.columns["letters"] or "")
            best = max(((alike(bits, other), -age, id_) for age, (id_, (other, _)) in enumerate(leaders.items())), default=(0.0, 0, None))
            if best[2] is not None and best[0] >= options.least(0.5):
                leaders[best[2]][1].append(Member(record.id, best[0]))
            else:
                leaders[record.id] = bits, []
        return Clusters(Cluster(kept, tuple(members)) for kept, (_, members) in leaders.items() if members)


class Letters(Kind):
    name = "letters"
    columns = (Column("letters", text=True),)
    segment = LetterSegment
    built_from = ("letters",)
    ways = (ByLetters(),)

    def recipe(self, settings: Settings) -> str:
        return RECIPE

    def made(self, given: Given, settings: Settings, workers: int) -> dict[str, Any]:
        return {"letters": list(map(letters_of, given.texts))}

    def remade(self, texts: Sequence[str], settings: Settings) -> dict[str, list[Any]]:
        return {"letters": list(map(letters_of, texts))}

    def build(self, stretch: Stretch, settings: Settings) -> LetterSegment:
        return LetterSegment.build(*stretch.columns["letters"])

    def print_of(self, value: Any, settings: Settings) -> dict[str, Any]:
        return {"value": value, "recipe": RECIPE}

    def read_print(self, data: Any, settings: Settings) -> Any:
        require_same(data["recipe"], RECIPE)
        return letters_of(data["value"])


LETTERS = Letters()


def register() -> None:
    kinds.register("letters", LETTERS)
