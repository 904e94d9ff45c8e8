"""Two pages by one method or by all of them.

The combined score of ``all`` is the mean of three views that fail in different places: how the pages look (style), what they
ask for (forms) and what they say (text). It was chosen on labelled pages with benchmarks/pages.py: three weights of a third,
nothing else to tune.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lookalike.embedders.opening import embedder_id
from lookalike.errors import InputError
from lookalike.markup.page import Page
from lookalike.pages.matching import TagMatch, match_tags
from lookalike.pages.views import VIEWS, share, views_of

if TYPE_CHECKING:
    from lookalike.embedders.opening import Model
    from lookalike.pages.representation import Centre

METHODS = ("all", "tags", *VIEWS)
REPRESENTATION = "representation"  # needs a model, and is no part of all
COMBINED = ("style", "forms", "text")
COMBINED_ID = "page-1"  # of the formula; a new one gets a new name


@dataclass(frozen=True, slots=True)
class PageScores:
    """The score by the method that was asked for, every measure that was computed, and which tag is which."""

    score: float
    method: str
    measures: dict[str, float]
    tags: TagMatch | None = None
    notes: list[str] = field(default_factory=list)
    signed: dict[str, str] = field(default_factory=dict)  # what else the score depends on, such as a model

    @property
    def signature(self) -> dict[str, str]:
        return {"score": COMBINED_ID if self.method == "all" else f"{self.method}-1"} | self.signed


def check_method(method: str, tag_options: Mapping[str, Any]) -> None:
    if not isinstance(method, str) or method not in (*METHODS, REPRESENTATION):
        raise InputError(f"method={method!r}: choose one of {', '.join((*METHODS, REPRESENTATION))}")
    if method == REPRESENTATION:
        if "strings" in tag_options:
            raise InputError(f"strings: belongs to method='tags', not to {REPRESENTATION!r}, where the model reads them")
        return
    for option in ("model", "centre"):
        if option in tag_options and (option == "centre" or not _by_strings_meaning(tag_options)):
            raise InputError(f"{option}: belongs to method={REPRESENTATION!r} or strings='meaning', not to {method!r}")
    if tag_options and method not in ("all", "tags"):
        raise InputError(f"{', '.join(tag_options)}: belong to method='tags' or 'all', not to {method!r}")


def _by_strings_meaning(tag_options: Mapping[str, Any]) -> bool:
    strings = tag_options.get("strings")
    return isinstance(strings, str) and strings == "meaning"


def page_scores(left: Page, right: Page, method: str = "all", **tag_options: Any) -> PageScores:
    """How alike two pages are. ``tag_options`` are those of ``match_tags`` or, by representation, of ``match_representations``."""
    check_method(method, tag_options)
    if method == REPRESENTATION:
        return _by_representation(left, right, **tag_options)
    if _by_strings_meaning(tag_options):
        return _by_meaning(left, right, method, **tag_options)
    tags = match_tags(left, right, **tag_options) if method in ("all", "tags") else None
    measures = {"tags": tags.score} if tags else {}
    for view in VIEWS if method == "all" else [method] if method != "tags" else []:
        measures[view] = share(getattr(views_of(left), view), getattr(views_of(right), view))
    score = sum(measures[view] for view in COMBINED) / len(COMBINED) if method == "all" else measures[method]
    notes = [*left.notes, *right.notes, *(tags.notes if tags else [])]
    return PageScores(score, method, measures, tags, notes)


def _by_meaning(left: Page, right: Page, method: str, *, strings: str, model: Model = None, **tag_options: Any) -> PageScores:
    """The strings of tags by a model: the function that does so is made here, since its id belongs to the result."""
    from lookalike.pages.string_meaning import MeaningOfStrings

    meaning = MeaningOfStrings(model)
    return replace(page_scores(left, right, method, strings=meaning, **tag_options), signed={strings: meaning.id})


def _by_representation(left: Page, right: Page, *, model: Model = None, centre: Centre = None, **tag_options: Any) -> PageScores:
    from lookalike.embedders.causal import CausalModel
    from lookalike.pages.representation import match_representations, opened

    chosen = opened(model)
    found = match_representations(left, right, model=chosen, centre=centre, **tag_options)
    signed = {"model": embedder_id(chosen)} | ({"centre": centre if isinstance(centre, str) else "given"} if centre is not None else {})
    notes = [*left.notes, *right.notes, *found.notes]
    if centre is None and isinstance(chosen, CausalModel):
        notes.append("the vectors of a language model crowd together, and so do scores: centre='pages' tells pages further apart")
    return PageScores(found.score, REPRESENTATION, {REPRESENTATION: found.score}, found, notes, signed)
