"""SimHashes, MinHashes and digests from one pass over the texts, where a collection has both kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.stores.given import Given
from lookalike.stores.settings import Settings
from lookalike.text.columns import in_place
from lookalike.text.features import is_native
from lookalike.text.tokenize import native_form


def sketches_of(given: Given, settings: Settings, workers: int) -> tuple[Any, Any, Any] | None:
    """All three, made by whichever kind asks first; None where each has to make its own."""
    if not {"simhash", "minhash"} <= set(settings.kinds) or not is_native(settings.recipe):
        return None
    return given.once("sketches", lambda: _sketches(given, settings, workers))  # type: ignore[no-any-return]  # whatever it makes


def _sketches(given: Given, settings: Settings, workers: int) -> tuple[Any, Any, Any]:
    recipe = settings.recipe
    options = *native_form(recipe), settings.bits, recipe.weights == "one", settings.size, workers
    parts = [_native.sketch_texts(*piece, *options) for piece in in_place(given.texts)]
    simhash, minhash, digests = (_in_one([np.asarray(part[i]) for part in parts]) for i in range(3))
    return simhash, minhash, digests


def _in_one(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """One after the other; mostly there is one, and megabytes need not be copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
