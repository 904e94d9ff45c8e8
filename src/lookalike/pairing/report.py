"""What ``pairs`` found."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lookalike.checks import check_bool, check_share
from lookalike.corpus.row import Problem
from lookalike.files.model import where
from lookalike.model import Span
from lookalike.pairing.things import Thing


class SharedPassage(NamedTuple):
    """A run of tokens that both sides have: where it stands in the text of which part, its tokens, and how surprising it is, in bits."""

    left: Span
    right: Span
    tokens: int
    surprise: float
    left_part: int = 0
    right_part: int = 0


@dataclass(frozen=True, slots=True)
class Pair:
    """Two things that share something. ``score`` is the share of both that lies inside of shared passages, by tokens that count."""

    left: str
    right: str
    score: float
    shared: int = 0  # tokens inside of shared passages, on the side that has fewer of them
    containment: tuple[float, float] = (0.0, 0.0)  # the same as a share of each side
    passages: tuple[SharedPassage, ...] = ()  # the longest first
    similarity: float | None = None  # of records, and of the structure of pages


@dataclass(frozen=True, slots=True)
class CommonPassage:
    """What so many things share that it does not count: where it stands first."""

    id: str
    span: Span
    things: int
    part: int = 0


@dataclass(slots=True)
class PairsReport:
    """All pairs that share passages, the most alike first."""

    kind: str
    things: list[Thing] = field(repr=False)
    pairs: list[Pair] = field(repr=False)
    total: int  # pairs that were found, those beyond the limit too
    threshold: float
    settings: dict[str, Any] = field(default_factory=dict)
    common: list[CommonPassage] = field(default_factory=list, repr=False)
    problems: list[Problem] = field(default_factory=list, repr=False)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    masks: dict[str, list[tuple[int, Span, str]]] = field(
        default_factory=dict, repr=False
    )  # what does not count, by thing: part, span, why

    @property
    def ids(self) -> list[str]:
        return [thing.id for thing in self.things]

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    def clusters(self, threshold: float | None = None) -> list[list[str]]:
        """Things that pairs with this score or a higher one link, directly or through others; the largest group first."""
        least = self.threshold if threshold is None else check_share("threshold", threshold)
        leader: dict[str, str] = {}

        def find(id_: str) -> str:
            while (up := leader.setdefault(id_, id_)) != id_:
                leader[id_] = id_ = leader[up]
            return id_

        for pair in self.pairs:
            if pair.score >= least:
                first, second = find(pair.left), find(pair.right)
                leader[second] = first
        groups: dict[str, list[str]] = {}
        for id_ in self.ids:
            if id_ in leader:
                groups.setdefault(find(id_), []).append(id_)
        return sorted(groups.values(), key=len, reverse=True)

    def matrix(self) -> list[list[float]]:
        """The score of each thing with each, in the order of ``ids``; 1 with itself, and 0 for what is no pair."""
        place = {id_: at for at, id_ in enumerate(self.ids)}
        rows = [[float(row == column) for column in range(len(place))] for row in range(len(place))]
        for pair in self.pairs:
            left, right = place[pair.left], place[pair.right]
            rows[left][right] = rows[right][left] = pair.score
        return rows

    def to_dicts(self) -> Iterator[dict[str, Any]]:
        """The pairs as JSON has them."""
        by_id = {thing.id: thing for thing in self.things}
        for pair in self.pairs:
            yield {
                "left": pair.left,
                "right": pair.right,
                "score": pair.score,
                "shared": pair.shared,
                "containment": {"left": pair.containment[0], "right": pair.containment[1]},
                "passages": [_passage(each, by_id[pair.left], by_id[pair.right]) for each in pair.passages],
            } | ({} if pair.similarity is None else {"similarity": pair.similarity})

    def to_csv(self) -> str:
        """The pairs as a table: one line for each, without the places of passages."""
        names = ("left", "right", "score", "shared", "of_left", "of_right", "passages", "longest")
        rows = (
            (
                _cell(pair.left),
                _cell(pair.right),
                pair.score,
                pair.shared,
                *pair.containment,
                len(pair.passages),
                pair.passages[0].tokens if pair.passages else 0,
            )
            for pair in self.pairs
        )
        return _csv([names, *rows])

    def matrix_csv(self) -> str:
        """The matrix as a table."""
        ids = [_cell(id_) for id_ in self.ids]
        return _csv([("", *ids), *((id_, *row) for id_, row in zip(ids, self.matrix(), strict=True))])

    def to_html(self, *, anonymous: bool = False, title: str = "") -> str:
        """A page that shows everything: one file that needs nothing else. ``anonymous``: names are not in the file at all."""
        from lookalike.pairing.html_report import page

        return page(self, check_bool("anonymous", anonymous), title)


def _passage(passage: SharedPassage, left: Thing, right: Thing) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "left": list(passage.left),
        "right": list(passage.right),
        "tokens": passage.tokens,
        "surprise": round(passage.surprise, 1),
    }
    for side, thing, span, number in (
        ("left", left, passage.left, passage.left_part),
        ("right", right, passage.right, passage.right_part),
    ):
        part = thing.parts[number]
        if part.name != thing.id:
            shown[f"{side}_file"] = part.name
        if place := where(part.places, span):
            shown[f"{side}_place"] = place
    return shown


def _cell(text: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _csv(rows: list[tuple[Any, ...]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()
