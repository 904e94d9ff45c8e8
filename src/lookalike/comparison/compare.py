"""How alike two things are, and why: ``compare(a, b)``.

A ``str`` is text, a mapping is a record, ``page()`` makes a page, and a ``Path`` is read as what it is: a text, a document (PDF, DOCX …),
a page, or bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.checks import check_several, check_share, check_str
from lookalike.comparison import files, texts
from lookalike.comparison.edits import Edits, edits
from lookalike.comparison.ignoring import Ignored, Templates, blanked, removed, share
from lookalike.comparison.passages import containment, shared_passages
from lookalike.comparison.reading import read_pair
from lookalike.comparison.score import score_of
from lookalike.errors import InputError
from lookalike.figures import shown_share, shown_value
from lookalike.files.model import FileText, Place, shown_passages
from lookalike.fingerprints.record import Part, record
from lookalike.markup.page import Page
from lookalike.model import Passage, Span
from lookalike.recipe import DEFAULT
from lookalike.version import __version__

if TYPE_CHECKING:
    from lookalike.embedders.opening import Model
    from lookalike.pages.matching import TagMatch
    from lookalike.pages.representation import Centre
    from lookalike.pages.strings import StringSimilarity

DEFAULT_THRESHOLD = 0.8
# What the score is, by what was compared: that of texts is calibrated on pairs that people judged, not a share of anything.
SCALES = {"text": "calibrated", "file": "fuzzy hashes", "record": "mean of fields", "page": "views of pages"}


@dataclass(frozen=True, slots=True)
class Comparison:
    """One score in 0 … 1, the measures behind it, and the reasons.

    ``containment`` is the share of each text that lies inside shared passages. Spans refer to ``left`` and ``right``, the
    things that were compared; a kept or moved stretch may run across text that was ignored.
    """

    score: float
    threshold: float
    kind: str  # text, file, record or page
    measures: dict[str, float | None]  # None: not computed, see notes
    edits: Edits | None = None
    passages: list[Passage] = field(default_factory=list)
    parts: dict[str, Part] = field(default_factory=dict)  # of a record
    notes: list[str] = field(default_factory=list)
    signature: dict[str, str] = field(default_factory=dict)
    containment: dict[str, float] | None = None  # of texts
    ignored: Ignored | None = None  # of texts, if there was something to ignore
    tags: TagMatch | None = field(default=None, repr=False)  # of pages, where tags were compared
    left: str | Path | Page | Mapping[str, Any] = field(default="", repr=False, compare=False)
    right: str | Path | Page | Mapping[str, Any] = field(default="", repr=False, compare=False)
    left_places: tuple[Place, ...] = field(default=(), repr=False, compare=False)  # pages, sheets, slides of a file
    right_places: tuple[Place, ...] = field(default=(), repr=False, compare=False)

    @property
    def alike(self) -> bool:
        return self.score >= self.threshold

    @property
    def verdict(self) -> str:
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
        if self.ignored is not None:
            out["ignored"] = self.ignored.to_dict()
        if self.tags is not None:
            out["tags"] = self.tags.to_dict()
        if self.parts:
            out["parts"] = {
                name: {"similarity": part.similarity, "weight": part.weight, "measure": part.measure} for name, part in self.parts.items()
            }
        return out

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


def compare(
    left: str | Path | Page | FileText | Mapping[str, Any],
    right: str | Path | Page | FileText | Mapping[str, Any],
    *,
    kind: str | None = None,
    encoding: str | None = None,
    measures: Iterable[str] | None = None,
    threshold: float = DEFAULT_THRESHOLD,
    ignore: Iterable[str | Path] | None = None,
    method: str | None = None,
    align: str | None = None,
    weight: str | float | None = None,
    strings: str | StringSimilarity | None = None,
    model: Model = None,
    centre: Centre = None,
) -> Comparison:
    """Compare two texts, two files, two records or two pages.

    Files are read as what they are: text in whatever encoding, PDF, DOCX and what else ``la.read`` reads, web pages (``.html``), and of
    files without text the bytes. ``kind`` overrules that: "text", "page", "file" (bytes) or "record" (a JSON object). A web page beside
    a text is compared by its main text.

    ``measures`` names the ones to compute (by default all that need no model); the score does not depend on it. "meaning" and
    "hybrid" need one: ``model`` is what ``embedder`` takes, or the default. ``ignore`` holds texts or files, such as templates and
    boilerplate, whose runs of tokens do not count.

    Of pages, ``method`` says what the score is of: "all" (by default), "tags", "structure", "style", "links", "forms", "text",
    "content" or "representation". For tags, ``align`` is "best" or "order", ``weight`` that of the head ("equal", "tags" or a number), and
    ``strings`` how strings are compared: "lexical", the name of a measure, or a function. By "representation", ``model`` reads the
    tags, and ``centre`` is what is subtracted from its vectors: see ``match_representations``.
    """
    check_share("threshold", threshold)
    names = None if measures is None else _check_names(measures)
    options = {"method": method, "align": align, "weight": weight, "strings": strings, "model": model, "centre": centre}
    given = {name: value for name, value in options.items() if value is not None}
    left, right, read_notes, places = read_pair(left, right, kind, encoding)
    found = _compare_things(left, right, names, threshold, ignore, given)
    if not read_notes and not any(places):
        return found
    return replace(found, notes=[*read_notes, *found.notes], left_places=places[0], right_places=places[1])


def _compare_things(
    left: Any, right: Any, names: list[str] | None, threshold: float, ignore: Iterable[str | Path] | None, given: dict[str, Any]
) -> Comparison:
    if isinstance(left, Page) and isinstance(right, Page):
        if names is not None or ignore is not None:
            raise InputError("measures and ignore are for texts, and these are web pages: choose a method=, or compare their page_text()")
        return _compare_pages(left, right, threshold, given)
    model = given.pop("model", None) if isinstance(left, str) else None
    if model is not None and not texts.needs_model(names):
        raise InputError(f"model={model!r} has nothing to compute: name a measure that needs it, such as measures=['meaning']")
    if given:
        raise InputError(f"{', '.join(given)}: for pages only; make them with page()")
    if isinstance(left, str) and isinstance(right, str):
        return _compare_texts(left, right, names, threshold, ignore, model)
    if ignore is not None:
        raise InputError("ignore: only texts can be compared without a part of them; give two texts")
    if isinstance(left, Path) and isinstance(right, Path):
        return _compare_files(left, right, threshold)
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return _compare_records(left, right, threshold)
    kinds = f"{type(left).__name__} and {type(right).__name__}"
    raise InputError(f"cannot compare {kinds}: give two texts (str), two files (Path), two records (mappings) or two pages (la.page)")


def _check_names(measures: Iterable[str]) -> list[str]:
    if isinstance(measures, str):
        raise InputError(f"measures={measures!r}: give a list of names, such as [{measures!r}]")
    return [check_str("measures", name, "a list of names") for name in check_several("measures", measures, "a list of names")]


def _compare_texts(
    left: str, right: str, names: list[str] | None, threshold: float, ignore: Iterable[str | Path] | None, model: Model
) -> Comparison:
    templates = None if ignore is None else Templates(ignore, DEFAULT)
    ignored, notes = _find_ignored(left, right, templates) if templates else (None, [])
    spans: tuple[tuple[Span, ...], tuple[Span, ...]] = (ignored.left_spans, ignored.right_spans) if ignored else ((), ())
    # Measures see the text without what is ignored; what has places sees spaces there, so that the places are true.
    placed = texts.TextPair(blanked(left, spans[0]), blanked(right, spans[1]))
    rest = texts.TextPair(removed(left, spans[0]), removed(right, spans[1])) if any(spans) else placed
    found, left_out = texts.text_measures(rest, names, model)
    score = score_of(*rest.sides)
    passages = shared_passages(placed, spans)
    return Comparison(
        score=score.value,
        threshold=threshold,
        kind="text",
        measures=found,
        edits=edits(placed.left, placed.right),
        passages=passages,
        notes=([score.note] if score.note else []) + notes + left_out,
        signature={"lookalike": __version__, "score": score.method, "recipe": placed.recipe.id}
        | ({"ignored": templates.digest} if templates else {})
        | ({"model": _model_id(model)} if texts.needs_model(names) else {}),
        containment=containment(placed, passages),
        ignored=ignored,
        left=left,
        right=right,
    )


def _model_id(model: Model) -> str:
    from lookalike.embedders.opening import embedder, embedder_id

    return embedder_id(embedder(model))


def _find_ignored(left: str, right: str, templates: Templates) -> tuple[Ignored, list[str]]:
    spans = templates.spans_in(left), templates.spans_in(right)
    found = Ignored(share(left, spans[0]), share(right, spans[1]), *spans)
    notes = [*templates.notes, f"ignored: {shown_share(found.left)} of the left text, {shown_share(found.right)} of the right text"]
    if found.left == found.right == 1:
        notes.append("nothing but ignored text on both sides: the score says nothing")
    return found, notes


def _compare_files(left: Path, right: Path, threshold: float) -> Comparison:
    found, notes = files.file_measures(left, right)
    return Comparison(
        score=files.file_score(found),
        threshold=threshold,
        kind="file",
        measures=found,
        notes=notes,
        signature={"lookalike": __version__, "score": files.SCORE},
        left=left,
        right=right,
    )


def _compare_records(left: Mapping[str, Any], right: Mapping[str, Any], threshold: float) -> Comparison:
    a, b = record(left), record(right)
    parts = a.parts(b)
    return Comparison(
        score=a.similarity(b),
        threshold=threshold,
        kind="record",
        measures={name: part.similarity for name, part in parts.items()},
        parts=parts,
        signature={"lookalike": __version__, "score": a.recipe},
        left=left,
        right=right,
    )


def _compare_pages(left: Page, right: Page, threshold: float, options: dict[str, Any]) -> Comparison:
    from lookalike.pages.scores import page_scores

    found = page_scores(left, right, **options)
    return Comparison(
        score=found.score,
        threshold=threshold,
        kind="page",
        measures=dict(found.measures),
        notes=found.notes,
        signature={"lookalike": __version__} | found.signature,
        tags=found.tags,
        left=left,
        right=right,
    )
