"""One text at a time: what a recipe needs for it is made once and kept."""

from __future__ import annotations

from typing import NamedTuple

from lookalike import _native
from lookalike.recipe import Recipe
from lookalike.text.features import is_native
from lookalike.text.tokenize import native_form

_MOST = 64  # plans that are kept
_plans: dict[tuple[int, str, int], ReadyRecipe] = {}


class ReadyRecipe(NamedTuple):
    """A recipe that is ready for single texts, and the id that their fingerprints carry."""

    recipe: Recipe  # kept alive: plans are found by where it lies
    sketcher: _native.TextSketcher
    unique: bool  # whether a feature counts once
    identity: str


def plan_for(recipe: Recipe, kind: str, width: int) -> ReadyRecipe | None:
    """For a fingerprint such as ``minhash`` of 128 values; None where a text is not native from its first byte to the fingerprint.

    A recipe with a key has no plan, since the key would outlive its collection.
    """
    found = _plans.get((id(recipe), kind, width))
    if found is not None or not is_native(recipe) or recipe.key is not None or recipe.embedder is not None:
        return found
    if len(_plans) >= _MOST:
        _plans.clear()
    made = ReadyRecipe(recipe, _native.TextSketcher(*native_form(recipe)), recipe.weights == "one", f"{kind}-{width}/{recipe.id}")
    _plans[id(recipe), kind, width] = made
    return made
