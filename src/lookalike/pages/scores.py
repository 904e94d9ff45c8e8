"""Two pages by one method or by all of them.

The combined score of ``all`` is the mean of three views that fail in different places: how the pages look (style), what they
ask for (forms) and what they say (text). It was chosen on labelled pages with benchmarks/pages.py: three weights of a third,
nothing else to tune.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from lookalike.errors import InputError
from lookalike.markup.page import Page
from lookalike.pages.matching import TagMatch, match_tags
from lookalike.pages.views import VIEWS, share, views_of

METHODS = ("all", "tags", *VIEWS)
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

    @property
    def signature(self) -> str:
        return COMBINED_ID if self.method == "all" else f"{self.method}-1"


def check_method(method: str, tag_options: Iterable[str]) -> None:
    if method not in METHODS:
        raise InputError(f"method={method!r}: choose one of {', '.join(METHODS)}")
    if tag_options and method not in ("all", "tags"):
        raise InputError(f"{', '.join(tag_options)}: belong to method='tags' or 'all', not to {method!r}")


def page_scores(left: Page, right: Page, method: str = "all", **tag_options: Any) -> PageScores:
    """How alike two pages are. ``tag_options`` are those of ``match_tags``: align, weight, strings, weights."""
    check_method(method, tag_options)
    tags = match_tags(left, right, **tag_options) if method in ("all", "tags") else None
    measures = {"tags": tags.score} if tags else {}
    for view in VIEWS if method == "all" else [method] if method != "tags" else []:
        measures[view] = share(getattr(views_of(left), view), getattr(views_of(right), view))
    score = sum(measures[view] for view in COMBINED) / len(COMBINED) if method == "all" else measures[method]
    notes = [*left.notes, *right.notes, *(tags.notes if tags else [])]
    return PageScores(score, method, measures, tags, notes)


def combined_score(left: Page, right: Page) -> float:
    """The score of method "all" alone: without tags and the other views, which it does not need."""
    a, b = views_of(left), views_of(right)
    return sum(share(getattr(a, view), getattr(b, view)) for view in COMBINED) / len(COMBINED)
