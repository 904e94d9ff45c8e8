"""What ``compare`` returns: a score, what is behind it, and how it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.comparison.edits import Edits
from lookalike.comparison.ignoring import Ignored
from lookalike.errors import InputError
from lookalike.figures import shown_value
from lookalike.files.model import Place, shown_passages
from lookalike.fingerprints.record import Part
from lookalike.markup.page import Page
from lookalike.model import Passage

if TYPE_CHECKING:
    from lookalike.pages.matching import TagMatch

# What the score is, by what was compared: that of texts is calibrated on pairs that people judged, not a share of anything.
SCALES = {"text": "calibrated", "file": "fuzzy hashes", "record": "mean of fields", "page": "views of pages"}
SCALES["code"] = "shared runs of code"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One score in 0 … 1, the measures behind it, and the reasons.

    ``containment`` is the share of each text that lies inside shared passages. Spans refer to ``left`` and ``right``, the
    things that were compared; a kept or moved stretch may run across text that was ignored.
    """

    score: float
    threshold: float
    kind: str  # text, code, file, record or page
    measures: dict[str, float | None]  # None: not computed, see notes
    edits: Edits | None = None
    passages: list[Passage] = field(default_factory=list)
    parts: dict[str, Part] = field(default_factory=dict)  # of a record
    notes: list[str] = field(default_factory=list)
    signature: dict[str, str] = field(default_factory=dict)
    containment: dict[str, float] | None = None  # of texts
    ignored: Ignored | None = None  # of texts, if there was something to ignore
    doubts: list[str] = field(default_factory=list)  # of short texts: why their words do not tell whether they are alike; also in notes
    form: list[str] = field(default_factory=list)  # of texts: the ignored forms in which the two differ
    language: str | None = None  # of code
    tags: TagMatch | None = field(default=None, repr=False)  # of pages, where tags were compared
    left: str | Path | Page | Mapping[str, Any] = field(default="", repr=False, compare=False)
    right: str | Path | Page | Mapping[str, Any] = field(default="", repr=False, compare=False)
    left_places: tuple[Place, ...] = field(default=(), repr=False, compare=False)  # pages, sheets, slides of a file
    right_places: tuple[Place, ...] = field(default=(), repr=False, compare=False)

    @property
    def alike(self) -> bool:
        """Whether the score reaches the threshold, and nothing is known that it cannot see."""
        return self.score >= self.threshold and not self.doubts

    @property
    def verdict(self) -> str:
        if self.doubts and self.score >= self.threshold:
            return "alike in wording only"
        return "alike" if self.alike else "not alike"

    @property
    def scale(self) -> str:
        """What the score is: only numbers on one scale can be compared (docs/score.md)."""
        return SCALES[self.kind]

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {
            "score": self.score,
            "scale": self.scale,
            "alike": self.alike,
            "verdict": self.verdict,
            "threshold": self.threshold,
            "kind": self.kind,
            "measures": self.measures,
            "edits": self.edits.to_dict() if self.edits else None,
            "segments": self.edits.segments() if self.edits else None,
            "passages": shown_passages(self.passages, self.left_places, self.right_places),
            "containment": self.containment,
            "notes": self.notes,
            "signature": self.signature,
        }
        if self.kind == "text":
            out["form"] = self.form
        if self.ignored is not None:
            out["ignored"] = self.ignored.to_dict()
        if self.tags is not None:
            out["tags"] = self.tags.to_dict()
        if self.kind == "code":
            out["language"] = self.language
            for passage, lines in zip(out["passages"], self.passage_lines(), strict=True):
                passage["lines"] = {"left": list(lines.left), "right": list(lines.right)}
        if self.parts:
            out["parts"] = {
                name: {"similarity": part.similarity, "weight": part.weight, "measure": part.measure} for name, part in self.parts.items()
            }
        return out

    def passage_lines(self) -> list[Passage]:
        """The passages as line numbers: the first and the last line of each, counted from 1."""
        from lookalike.text.lines import Lines

        left, right = Lines(str(self.left)), Lines(str(self.right))
        return [Passage(left.of(passage.left), right.of(passage.right)) for passage in self.passages]

    def to_html(self, *, names: tuple[str, str] = ("A", "B")) -> str:
        """A page that shows the comparison: one file that needs nothing else. ``names`` are what it calls the two sides."""
        from lookalike.comparison.html_report import page

        if not (isinstance(names, (tuple, list)) and len(names) == 2 and all(isinstance(name, str) for name in names)):
            raise InputError(f"names={shown_value(names)}: give two str, what the two sides are called")
        return page(self, (names[0], names[1]))

    def to_terminal(self, *, width: int = 80, colours: bool = False, lines: int = 30) -> str:
        """The changes with a little context, for a terminal; what does not fit into ``lines`` is counted."""
        from lookalike.comparison.terminal import changes

        return changes(self, width=width, colours=colours, most=lines)
