"""What decides the result of a run, checked."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from lookalike.checks import check_choice, check_int, refuse
from lookalike.errors import InputError
from lookalike.leaders.decider import DEFAULT_MEMORY
from lookalike.leaders.rule import Rule
from lookalike.recipe import Recipe, resolve
from lookalike.segments.banding import Banding

METHODS = ("minhash", "simhash", "exact", "bytes", "meaning")
DIGESTED = ("exact", "bytes")  # methods that ask whether texts are equal, and nothing else
THRESHOLDS = {"meaning": 0.9}  # of the others 0.8
MODEL = "use-multilingual"
LEVELS = ("document", "paragraph", "line")
ORDERS = ("first", "longest", "newest", "best")

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*%")


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
class Settings:
    """Two runs with equal settings and equal documents in the same order give the same result."""

    method: str = "minhash"
    threshold: float = 0.8
    distance: int = 3
    keep: Keep = field(default_factory=Keep)
    recipe: Recipe = field(default_factory=Recipe)
    level: str = "document"

    def __post_init__(self) -> None:
        _one_of("method", self.method, METHODS)
        _one_of("level", self.level, LEVELS)
        self.rule.check()
        if self.method == "meaning" and self.level != "document":
            raise InputError(f"level={self.level!r}: paragraphs and lines are compared exactly; method='meaning' is for documents")
        if self.method == "minhash" and self.recipe.hash != "lookalike64":
            raise InputError(f"recipe hash={self.recipe.hash!r}: method='minhash' needs a recipe with 'lookalike64', such as the default")

    @property
    def rule(self) -> Rule:
        """What decides about documents that are offered one after the other."""
        return Rule(self.method, self.recipe, self.threshold, self.distance)

    @property
    def banding(self) -> Banding:
        """How sketches are cut; no bands where none are needed."""
        return self.rule.banding

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"method": self.method, "level": self.level, "keep": str(self.keep), "recipe": self.recipe.id}
        if self.method == "minhash":
            out |= {"threshold": self.threshold, "size": self.rule.sketch_size, "bands": self.banding.bands, "rows": self.banding.rows}
        elif self.method == "simhash":
            out |= {"distance": self.distance}
        elif self.method == "meaning":
            out |= {"threshold": self.threshold, "model": self.recipe.embedder}
        return out


def make_settings(
    method: str, threshold: float | None, distance: int, keep: str, recipe: Recipe | str | None, level: str, model: str | None = None
) -> Settings:
    chosen = resolve(recipe)
    if check_choice("method", method, METHODS) == "meaning":
        if model is not None and not isinstance(model, str):
            raise InputError(f"model={model!r}: give the name of a model, or the path of its folder")
        chosen = chosen.replace(embedder=model or chosen.embedder or MODEL)
    elif model is not None:
        raise InputError(f"model={model!r} is for method='meaning', not for {method!r}")
    least = THRESHOLDS.get(method, 0.8) if threshold is None else threshold
    return Settings(method, least, distance, Keep.of(keep), chosen, level)


def _one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in allowed:
        raise InputError(f"{name}={value!r}: choose one of {', '.join(allowed)}")


def memory_bytes(memory: int | str | None) -> int:
    """A budget in bytes, from a number or from text such as ``512M`` or ``4G``."""
    if memory is None:
        return DEFAULT_MEMORY
    found = _SIZE.fullmatch(memory.strip()) if isinstance(memory, str) else None
    size = int(float(found[1]) * 1024 ** " KMGT".index(found[2].upper() or " ")) if found else memory
    remedy = "give at least a megabyte, such as '512M' or '4G'"
    if not isinstance(size, int):
        raise refuse("memory", memory, remedy)
    return check_int("memory", size, 1 << 20, 1 << 62, remedy)


def removal_limit(limit: int | float | str | None) -> float | int | None:
    """How many documents may be removed: a number, a share below 1, or text such as ``30%``."""
    if limit is None:
        return None
    found = _SHARE.fullmatch(limit.strip()) if isinstance(limit, str) else None
    value: Any = float(found[1]) / 100 if found else limit
    if isinstance(value, str):
        value = int(value) if value.strip().isdecimal() and len(value) < 20 else math.nan
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0 or (isinstance(value, float) and value > 1):
        raise InputError(f"max_removed={limit!r}: give a share such as '30%' or 0.3, or a whole number of documents")
    return value
