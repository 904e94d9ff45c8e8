"""What may be said to ``dedupe`` and ``plan`` by keyword; the defaults are those of the groups here and in ``settings``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from lookalike.checks import check_choice
from lookalike.corpus.row import Problem
from lookalike.deduping.progress import Progress
from lookalike.deduping.record_columns import parse_columns
from lookalike.deduping.references.rule import contains_rule
from lookalike.deduping.settings import LEVELS, METHODS, MODEL, THRESHOLDS, Criteria, Keep
from lookalike.deduping.substrings.rule import passage_rule
from lookalike.errors import InputError
from lookalike.recipe import Recipe, resolve


class PlanOptions(TypedDict, total=False):
    method: str
    threshold: float | None
    distance: int
    recipe: Recipe | str | None
    model: str | None
    text_column: str
    id_column: str
    format: str | None
    encoding: str | None
    extract: str
    workers: int | None
    memory: int | str | None


class DedupeOptions(PlanOptions, total=False):
    out: str | Path | None
    removed: str | Path | None
    html: str | Path | None
    annotate: bool
    columns: str | Mapping[str, Any] | Iterable[str] | None
    keep: str
    level: str
    unit: str | None
    min_length: int | None
    within: bool
    contains: float | None
    contains_by: str | None
    ngram: int | None
    against: str | Path | Sequence[str | Path] | None
    against_column: str | None
    add: bool
    references: str | Path | None
    resume: bool
    max_removed: int | float | str | None
    on_error: str
    on_problem: Callable[[Problem], object] | None
    progress: Callable[[Progress], object] | None


@dataclass(frozen=True, slots=True)
class Method:
    """How documents are compared, as the caller says it."""

    method: str = "minhash"
    threshold: float | None = None
    distance: int = 3
    recipe: Recipe | str | None = None
    model: str | None = None

    def settings(self, scope: Scope) -> Criteria:
        chosen = resolve(self.recipe)
        if check_choice("method", self.method, METHODS) == "meaning":
            if self.model is not None and not isinstance(self.model, str):
                raise InputError(f"model={self.model!r}: give the name of a model, or the path of its folder")
            chosen = chosen.replace(embedder=self.model or chosen.embedder or MODEL)
        elif self.model is not None:
            raise InputError(f"model={self.model!r} is for method='meaning', not for {self.method!r}")
        if scope.columns is not None and self.method != "record":
            raise InputError(f"columns= is for method='record' (--as record), not for {self.method!r}")
        least = THRESHOLDS.get(self.method, 0.8) if self.threshold is None else self.threshold
        return Criteria(
            self.method,
            least,
            self.distance,
            Keep.of(scope.keep),
            chosen,
            scope.level,
            parse_columns(scope.columns) if self.method == "record" else None,
            passage_rule(check_choice("level", scope.level, LEVELS), scope.unit, scope.min_length, scope.within),
            contains_rule(scope.contains, scope.ngram, scope.contains_by),
        )


@dataclass(frozen=True, slots=True)
class Scope:
    """What of documents is compared, and what of it stays, as the caller says it."""

    columns: str | Mapping[str, Any] | Iterable[str] | None = None
    keep: str = "first"
    level: str = "document"
    unit: str | None = None
    min_length: int | None = None
    within: bool = True
    contains: float | None = None
    contains_by: str | None = None
    ngram: int | None = None
