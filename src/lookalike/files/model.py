"""What reading a file gives: its text, the places in it, and how it went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lookalike.model import Passage, Span

OK = "ok"
# Everything else says why there is no text, or not all of it.
EMPTY, SCANNED, ENCRYPTED, BROKEN = "empty", "scanned", "encrypted", "broken"
TOO_LARGE, TOO_SLOW, UNSUPPORTED, BINARY, MISSING = "too large", "too slow", "unsupported", "binary", "missing extra"
WITHIN = " › "


class Place(NamedTuple):
    """A part of a file with a name of its own: a page, a sheet, a slide, an attachment. Places may lie inside each other."""

    kind: str
    name: str
    start: int
    end: int

    def to_list(self) -> list[Any]:
        return list(self)


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of a file. ``places`` say which part of it is which page, in code points of ``text``."""

    name: str
    kind: str  # pdf, docx … by the contents; "text" for what has no format, "binary" for what is no text
    status: str = OK
    text: str = field(default="", repr=False)
    places: tuple[Place, ...] = field(default=(), repr=False)
    title: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    encoding: str | None = None  # of plain text
    data: bytes | None = field(default=None, repr=False, compare=False)  # of a member of an archive

    @property
    def ok(self) -> bool:
        return self.status == OK

    def where(self, span: Span) -> str:
        """The place of a stretch of the text, such as ``page 3`` or ``offer.zip › offer.docx › page 3``; empty where there are none."""
        return where(self.places, span)

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "kind": self.kind,
            "status": self.status,
            "title": self.title,
            "meta": dict(self.meta),
            "places": [place.to_list() for place in self.places],
            "notes": list(self.notes),
            "encoding": self.encoding,
            "text": self.text,
        }


def where(places: Sequence[Place], span: Span) -> str:
    """The names of the places around a stretch, from outside in; where it runs over several pages, the first and the last."""
    first, last = _around(places, span[0]), _around(places, max(span[0], span[1] - 1))
    if first == last or not last:
        return WITHIN.join(first)
    common = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    before, (start, end) = first[:common], [WITHIN.join(each[common:]) for each in (first, last)]
    word = start.rpartition(" ")[0]
    if word and end.rpartition(" ")[0] == word:  # page 1–3
        end = end.rpartition(" ")[2]
    return WITHIN.join([*before, "–".join(filter(None, (start, end)))])


def shown_passages(passages: Iterable[Passage], left: Sequence[Place], right: Sequence[Place]) -> list[dict[str, Any]]:
    """Passages as JSON has them: spans, and the pages where files have some."""
    found = []
    for passage in passages:
        shown: dict[str, Any] = {"left": list(passage.left), "right": list(passage.right)}
        for side, places, span in (("left_place", left, passage.left), ("right_place", right, passage.right)):
            if place := where(places, span):
                shown[side] = place
        found.append(shown)
    return found


def _around(places: Sequence[Place], at: int) -> list[str]:
    return [place.name for place in places if place.start <= at < place.end]


def read_places(value: Any) -> tuple[Place, ...]:
    """Places as they were stored; nothing where that is something else."""
    if not isinstance(value, Iterable):
        return ()
    found = []
    for each in value:
        if not (isinstance(each, (list, tuple)) and len(each) == 4 and isinstance(each[0], str) and isinstance(each[1], str)):
            return ()
        if not all(isinstance(number, int) for number in each[2:]):
            return ()
        found.append(Place(*each))
    return tuple(found)
