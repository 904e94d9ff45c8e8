"""What a repeated passage is."""

from __future__ import annotations

from typing import Any, NamedTuple

from lookalike.checks import check_bool, check_choice, check_int
from lookalike.errors import InputError
from lookalike.recipe import Recipe
from lookalike.text.native_form import NATIVE_MODES, is_native, native_form

LEVELS = ("sentences", "substring")  # of dedupe, that are about passages
UNITS = ("tokens", "characters")
LENGTHS = {"sentences": 3, "tokens": 50, "characters": 200}  # C4 and FineWeb take three sentences, google-research 50 tokens of a model
LONGEST = 1_000_000


class UnitRule(NamedTuple):
    """How the kernels take a text apart."""

    mode: int
    fold: bool
    sentences: bool


class PassageRule(NamedTuple):
    """At least so many units in a row, which stand elsewhere too."""

    unit: str  # "tokens", "characters" or "sentences"
    length: int
    within: bool  # whether what a document itself repeats counts

    def units(self, recipe: Recipe) -> UnitRule:
        if not is_native(recipe):
            raise InputError(
                f"recipe={recipe.id!r}: passages are found by the tokens of auto, words, chars and symbols: choose such a recipe"
            )
        mode, fold, *_ = native_form(recipe)
        return UnitRule(NATIVE_MODES["chars"] if self.unit == "characters" else mode, fold, self.unit == "sentences")

    def to_dict(self) -> dict[str, Any]:
        return {"unit": self.unit, "min_length": self.length, "within": self.within}


def passage_rule(level: str, unit: str | None, min_length: int | None, within: bool) -> PassageRule | None:
    """The rule of a level; None for levels that are not about passages, which take none of its parameters."""
    check_bool("within", within)
    if level not in LEVELS:
        given = {"unit": unit, "min_length": min_length, "within": None if within else within}
        if wrong := next((name for name, value in given.items() if value is not None), None):
            raise InputError(f"{wrong}={given[wrong]!r} is for level='substring' and level='sentences', not for {level!r}")
        return None
    if level == "sentences" and unit is not None:
        raise InputError(f"unit={unit!r} is for level='substring': level='sentences' counts sentences")
    chosen = "sentences" if level == "sentences" else check_choice("unit", "tokens" if unit is None else unit, UNITS)
    length = LENGTHS[chosen] if min_length is None else check_int("min_length", min_length, 1, LONGEST)
    return PassageRule(chosen, length, within)
