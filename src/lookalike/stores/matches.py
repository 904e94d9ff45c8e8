"""What a search returns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self

from lookalike.figures import shown_score
from lookalike.files.model import Place, read_places, shown_passages
from lookalike.model import Passage


@dataclass(frozen=True, slots=True)
class FieldMatch:
    """What a field contributes to the score of a record: its similarity, its weight, the measure, and the values that both have."""

    similarity: float
    weight: float
    measure: str
    shared: Any = None

    def to_dict(self) -> dict[str, Any]:
        found = {"similarity": self.similarity, "weight": self.weight, "measure": self.measure}
        return found if self.shared is None else found | {"shared": self.shared}


class Match:
    """A stored document that looks like the query.

    ``score`` is from 0 to 1; what it is, and what ``distance`` is, depends on the search, and ``scale`` says it (docs/search.md).
    ``estimated`` says that the score is an estimate, because the store keeps no text to verify it on. ``compared`` is the score that
    ``la.compare`` gives to the query and the document, where it was asked for: another scale than that of ``score``. By passages,
    ``share`` is how much of the document the query holds. ``places`` are the pages of the query and of the document, where both are files.
    ``fields`` says of a record what each field contributes. ``meta`` is what is kept beside the document; ``text`` is its text where
    that was asked for.
    """

    __slots__ = (
        *("_explain", "_meta", "_passages", "compared", "distance", "estimated", "fields", "id"),
        *("query_places", "row", "scale", "score", "share", "text"),
    )

    def __init__(
        self,
        id: str | int,
        score: float,
        distance: float,
        passages: Iterable[Passage] | Callable[[], list[Passage]] = (),
        *,
        estimated: bool = False,
        fields: dict[str, FieldMatch] | None = None,
        row: int | None = None,
    ) -> None:
        # native/bind/found_matches.hpp makes them too, for searches in one call.
        self.id, self.score, self.distance, self.estimated = id, score, distance, estimated
        self.scale = ""
        self.fields = fields
        self.row = row  # in the store, where whoever found it knows
        self._meta: dict[str, Any] | str | None = None
        self.text: str | None = None
        self.compared: float | None = None
        self.share: float | None = None  # by passages: how much of the document the query holds
        self.query_places: tuple[Place, ...] = ()  # pages of the query, where it is a file
        self._explain: tuple[Any, ...] | None = (passages,) if callable(passages) else None  # a function and its arguments
        self._passages: list[Passage] | None = None if callable(passages) else list(passages)

    @property
    def passages(self) -> list[Passage]:
        """The fragments that the query (left) and the document (right) share, worked out when they are asked for.

        Without texts there are none to name.
        """
        if self._passages is None:
            explain, *arguments = self._explain or (list,)
            self._passages = explain(*arguments)
        return self._passages

    @property
    def meta(self) -> dict[str, Any]:
        """What is kept beside the document."""
        if not isinstance(self._meta, dict):
            self._meta = json.loads(self._meta) if self._meta else {}
        found: dict[str, Any] = self._meta
        return found

    @property
    def places(self) -> tuple[tuple[Place, ...], tuple[Place, ...]]:
        """The pages of the query and of the document, where they are files."""
        return self.query_places, tuple(read_places(self.meta.get("places", ())))

    @property
    def carries(self) -> bool:
        """Whether it was told what is kept beside the document."""
        return self._meta is not None

    def carry(self, meta: str | None) -> None:
        """Tell what is kept beside the document, as JSON: read when somebody asks."""
        self._meta = meta or ""

    def to_dict(self) -> dict[str, Any]:
        passages = shown_passages(self.passages, *self.places)
        found: dict[str, Any] = {"id": self.id, "score": self.score, "scale": self.scale, "distance": self.distance, "passages": passages}
        found["meta"] = self.meta
        if self.text is not None:
            found["text"] = self.text
        if self.share is not None:
            found["share"] = self.share
        if self.compared is not None:
            found["compared"] = self.compared
        if self.fields is not None:
            found["fields"] = {name: field.to_dict() for name, field in self.fields.items()}
        return found | {"estimated": True} if self.estimated else found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Match) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # it compares by value and holds a list

    def __repr__(self) -> str:
        more = "" if self.compared is None else f", compared={shown_score(self.compared)}"
        more += ", estimated" if self.estimated else ""
        return f"Match(id={self.id!r}, score={shown_score(self.score)}, distance={self.distance:g}{more})"


class Matches(list[Match]):
    """Matches, best first. ``total`` is how many there were before the limit, ``notes`` what a reader should know.

    ``scale`` says what their scores are.
    """

    __slots__ = ("notes", "scale", "total")

    def __init__(self, matches: Iterable[Match] = (), total: int | None = None, notes: Iterable[str] = ()) -> None:
        super().__init__(matches)
        self.total = len(self) if total is None else total
        self.notes = list(notes)
        self.scale = ""

    def on(self, scale: str) -> Self:
        """The same, with scores that are on this scale."""
        self.scale = scale
        for match in self:
            match.scale = scale
        return self

    @property
    def cut(self) -> bool:
        """Whether there were more than the limit."""
        return self.total > len(self)
