"""The parameters of ``dedupe`` and ``plan``, in groups, each checked in one place.

``Criteria`` decide the result. ``Input`` says where documents are, ``Destinations`` where results go, ``Resources`` what the run may
use, ``Against`` which store it looks at, ``Conduct`` what it does about problems and whom it tells. ``options`` puts keywords into them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lookalike.checks import (
    check_bool,
    check_callback,
    check_choice,
    check_int,
    check_path,
    check_several,
    check_str,
    check_workers,
    is_whole,
    refuse,
)
from lookalike.corpus.batches import Columns
from lookalike.corpus.row import Problem
from lookalike.deduping.problems import POLICIES, Problems
from lookalike.deduping.progress import Progress
from lookalike.deduping.record_columns import RecordColumns
from lookalike.deduping.references.rule import ContainsRule
from lookalike.deduping.substrings.rule import PassageRule
from lookalike.errors import InputError, TooManyRemoved
from lookalike.figures import shown_share
from lookalike.leaders.decider import DEFAULT_MEMORY
from lookalike.leaders.rule import Rule
from lookalike.markup.extracts import check_extract
from lookalike.recipe import Recipe
from lookalike.segments.banding import Banding
from lookalike.system import usable_cores

METHODS = ("minhash", "simhash", "exact", "bytes", "meaning", "record")
DIGESTED = ("exact", "bytes")  # methods that ask whether texts are equal, and nothing else
THRESHOLDS = {"meaning": 0.9}  # of the others 0.8
MODEL = "use-multilingual"
LEVELS = ("document", "paragraph", "line", "sentences", "substring")
ORDERS = ("first", "longest", "newest", "best")
ANNOTATIONS = ("cluster", "kept", "kept_id", "similarity")  # the columns that annotate adds
CUT_ANNOTATIONS = ("cut", "repeats")  # those at levels that cut texts

_SIZE = r"(?i)(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?"  # compiled when somebody says a size
_SHARE = r"(\d+(?:\.\d+)?)\s*%"


@dataclass(frozen=True, slots=True)
class Keep:
    """Which of two similar documents stays: the first, the longest, or the one with the larger value in a column."""

    order: str = "first"
    column: str | None = None

    @classmethod
    def of(cls, keep: str) -> Keep:
        if not isinstance(keep, str):
            raise InputError(f"keep={keep!r}: give 'first', 'longest', 'newest:COLUMN' or 'best:COLUMN'")
        order, colon, column = keep.partition(":")
        needs_column = order in ("newest", "best")
        if order not in ORDERS or bool(column) != needs_column or bool(colon) != needs_column:
            raise InputError(f"keep={keep!r}: choose first, longest, newest:COLUMN or best:COLUMN")
        return cls(order, column or None)

    def __str__(self) -> str:
        return f"{self.order}:{self.column}" if self.column else self.order


@dataclass(frozen=True, slots=True)
class Criteria:
    """Two runs with equal settings and equal documents in the same order give the same result."""

    method: str = "minhash"
    threshold: float = 0.8
    distance: int = 3
    keep: Keep = field(default_factory=Keep)
    recipe: Recipe = field(default_factory=Recipe)
    level: str = "document"
    columns: RecordColumns | None = None  # of the method record
    passages: PassageRule | None = None  # of the levels that are about passages
    contains: ContainsRule | None = None  # given: what goes are documents that hold a reference, and nothing else

    def __post_init__(self) -> None:
        check_choice("method", self.method, METHODS)
        check_choice("level", self.level, LEVELS)
        self.rule.check()
        if self.method == "record" and self.level != "document":
            raise InputError(f"level={self.level!r}: paragraphs and lines are parts of texts; method='record' is for documents")
        if self.method == "meaning" and self.level != "document":
            raise InputError(f"level={self.level!r}: paragraphs and lines are compared exactly; method='meaning' is for documents")
        if self.method == "bytes" and self.passages is not None:
            raise InputError(
                f"level={self.level!r}: passages have equal words, whatever their case and punctuation: leave out method='bytes'"
            )
        if self.passages is not None:
            self.passages.units(self.recipe)
        if self.contains is not None:
            self.contains.form(self.recipe)
            if self.level != "document" or self.method != "minhash":
                raise InputError("contains= is about whole documents and the words of references: leave out level= and method=")
        if self.method == "minhash" and self.recipe.hash != "lookalike64":
            raise InputError(f"recipe hash={self.recipe.hash!r}: method='minhash' needs a recipe with 'lookalike64', such as the default")

    @property
    def rule(self) -> Rule:
        """What decides about documents that are offered one after the other."""
        fields = self.columns or RecordColumns()
        return Rule(self.method, self.recipe, self.threshold, self.distance, weights=fields.weights, measures=fields.measures)

    @property
    def banding(self) -> Banding:
        """How sketches are cut; no bands where none are needed."""
        return self.rule.banding

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"method": self.method, "level": self.level, "keep": str(self.keep), "recipe": self.recipe.id}
        if self.passages is not None:
            return {**out, "method": "exact", **self.passages.to_dict()}
        if self.contains is not None:
            return {**out, "method": "contains", **self.contains.to_dict()}
        if self.method == "minhash":
            out |= {"threshold": self.threshold, "size": self.rule.sketch_size, "bands": self.banding.bands, "rows": self.banding.rows}
        elif self.method == "simhash":
            out |= {"distance": self.distance}
        elif self.method == "record":
            out |= {"threshold": self.threshold, "columns": self.columns.shown if self.columns else {}}
        elif self.method == "meaning":
            out |= {"threshold": self.threshold, "model": self.recipe.embedder}
        return out


@dataclass(frozen=True, slots=True)
class Input:
    """Where documents are: files, or a table; and which of their columns matter."""

    corpus: Any
    text_column: str = "text"
    id_column: str = "id"
    format: str | None = None
    encoding: str | None = None
    extract: str = "main"  # what is compared of web pages: the main text, or all of it

    def __post_init__(self) -> None:
        check_extract(self.extract)
        for name, value in (("text_column", self.text_column), ("id_column", self.id_column)):
            if not isinstance(value, str) or not value:
                raise refuse(name, value, "give the name of a column")
        if self.text_column == self.id_column:
            raise InputError(f"text_column and id_column are both {self.text_column!r}: give each a column of its own")
        if self.encoding is not None:
            check_str("encoding", self.encoding, "the name of an encoding, such as utf-8")

    @property
    def is_files(self) -> bool:
        corpus = self.corpus
        named = isinstance(corpus, Sequence) and corpus and all(isinstance(each, str | Path) for each in corpus)
        return isinstance(corpus, str | Path) or bool(named)

    def columns(self, settings: Criteria, annotate: bool = False) -> Columns:
        """The columns to look at."""
        keep = settings.keep
        added = (ANNOTATIONS if settings.level == "document" else CUT_ANNOTATIONS) if annotate else ()
        if taken := {self.text_column, self.id_column, keep.column} & set(added):
            raise InputError(f"the column {min(map(str, taken))!r} is one that annotate adds: rename it")
        fields, check = (settings.columns.names, settings.columns.check) if settings.columns is not None else (None, None)
        if self.id_column in (fields or ()):
            raise InputError(f"columns: {self.id_column!r} is the column of the id, which no two rows share: leave it out")
        return Columns(self.text_column, self.id_column, keep.column, keep.order if keep.column else "", added, self.extract, fields, check)


@dataclass(frozen=True, slots=True)
class Destinations:
    """Where results go; None: nowhere."""

    out: str | Path | None = None  # the rows that stay, and with ``annotate`` all rows, each with the verdict on it
    removed: str | Path | None = None  # the audit trail
    html: str | Path | None = None  # a page about the run
    annotate: bool = False

    def __post_init__(self) -> None:
        check_bool("annotate", self.annotate)
        for name, path in (("out", self.out), *self.reports.items()):
            if path is not None:
                check_path(name, path)

    @property
    def reports(self) -> dict[str, str | Path | None]:
        return {"removed": self.removed, "html": self.html}


@dataclass(frozen=True, slots=True)
class Resources:
    """What a run may use; the result does not depend on it."""

    workers: int | None = None  # threads; None: one per core
    memory: int | str | None = None

    def __post_init__(self) -> None:
        if self.workers is not None:
            check_workers(self.workers)
        memory_bytes(self.memory)

    @property
    def threads(self) -> int:
        return self.workers or usable_cores()

    @property
    def budget(self) -> int:
        return memory_bytes(self.memory)


@dataclass(frozen=True, slots=True)
class Against:
    """A store, or files: what they have goes, and with ``add`` what stays is added to the store."""

    against: str | Path | Sequence[str | Path] | None = None
    add: bool = False
    against_column: str | None = None  # of the texts of files; None: that of the corpus
    references: str | Path | None = None  # where what became of each reference is written

    @property
    def is_frame(self) -> bool:
        """Whether it is a DataFrame of Spark, which is not imported for this question."""
        return type(self.store).__module__.startswith("pyspark.sql")

    def __post_init__(self) -> None:
        if check_bool("add", self.add) and self.against is None:
            raise InputError("add=True adds to the store of against=: name it")
        if self.against is not None and not isinstance(self.against, str | Path) and not self.is_frame:
            several = check_several("against", self.against, "a store, a path, a folder or a pattern, or a list of files")
            if any(isinstance(each, str) and "://" in each for each in several):
                raise InputError("against: several were given, and one of them is a URL: give one store, or files and folders")
        if self.references is not None:
            check_path("references", self.references)
        if self.against_column is not None:
            check_str("against_column", self.against_column, "the name of a column")
            if self.against is None:
                raise InputError("against_column= is the column of the texts of against=: name the files")

    @property
    def store(self) -> str | Path | Sequence[str | Path] | None:
        return self.against


@dataclass(frozen=True, slots=True)
class Conduct:
    """What a run does about problems, when it stops, and whom it tells."""

    max_removed: int | float | str | None = None
    on_error: str = "stop"
    on_problem: Callable[[Problem], object] | None = None
    progress: Callable[[Progress], object] | None = None
    resume: bool = False  # whether to go on where an interrupted run ended

    def __post_init__(self) -> None:
        check_callback("progress", self.progress)
        check_callback("on_problem", self.on_problem)
        check_choice("on_error", self.on_error, POLICIES)
        check_bool("resume", self.resume)
        removal_limit(self.max_removed)

    def problems(self) -> Problems:
        return Problems(self.on_error, self.on_problem)

    def check_removed(self, removed: int, total: int, units: str) -> None:
        """Nothing is written where more would go than was allowed."""
        limit = removal_limit(self.max_removed)
        if limit is None or removed <= (limit * total if isinstance(limit, float) else limit):
            return
        allowed = f"{limit:.4g} of them" if isinstance(limit, float) else f"{limit:,}"
        found = f"{removed:,} of {total:,} {units} would be removed ({shown_share(removed / total)})"
        raise TooManyRemoved(f"{found}, and max_removed allows {allowed}: nothing was written; look at the input, or allow more")


def memory_bytes(memory: int | str | None) -> int:
    """A budget in bytes, from a number or from text such as ``512M`` or ``4G``."""
    if memory is None:
        return DEFAULT_MEMORY
    found = re.fullmatch(_SIZE, memory.strip()) if isinstance(memory, str) else None
    size = int(float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " ")) if found else memory
    remedy = "give at least a megabyte, such as '512M' or '4G'"
    if not isinstance(size, int):
        raise refuse("memory", memory, remedy)
    return check_int("memory", size, 1 << 20, 1 << 62, remedy)


def removal_limit(limit: int | float | str | None) -> float | int | None:
    """How many documents may be removed: a number, a share below 1, or text such as ``30%``."""
    if limit is None:
        return None
    found = re.fullmatch(_SHARE, limit.strip()) if isinstance(limit, str) else None
    value: Any = float(found[1]) / 100 if found else limit
    if isinstance(value, str):
        value = int(value) if value.strip().isdecimal() and len(value) < 20 else math.nan
    whole = is_whole(value)
    if not (value >= 0 if whole else isinstance(value, float) and 0 <= value <= 1):
        raise refuse("max_removed", limit, "give a share such as '30%' or 0.3, or a whole number of documents")
    allowed: float | int = value
    return allowed
