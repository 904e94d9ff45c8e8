"""SimHashes, what is kept of MinHashes, and digests from one pass over the texts, where a collection has both kinds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike import _native
from lookalike.stores.given import Given
from lookalike.stores.kinds.bands import band_keys
from lookalike.stores.settings import Settings
from lookalike.text.columns import in_place
from lookalike.text.features import is_native
from lookalike.text.tokenize import native_form


class SharedSketches(NamedTuple):
    simhashes: Any
    values: Any  # of the MinHashes; None where they can be made from the texts again
    keys: Any  # of their bands
    digests: Any


def sketches_of(given: Given, settings: Settings, workers: int) -> SharedSketches | None:
    """All of them, made by whichever kind asks first; None where each has to make its own."""
    if not {"simhash", "minhash"} <= set(settings.kinds) or not is_native(settings.recipe):
        return None
    return given.once("sketches", lambda: _sketches(given, settings, workers))  # type: ignore[no-any-return]  # whatever it makes


def _sketches(given: Given, settings: Settings, workers: int) -> SharedSketches:
    recipe = settings.recipe
    options = *native_form(recipe), settings.bits, recipe.weights == "one", settings.size
    if settings.keep_text:  # values that nobody keeps are never in memory, but for those of one text
        parts = [_native.sketch_banded(*piece, *options, *settings.banding, workers) for piece in in_place(given.texts)]
        simhashes, keys, digests = _joined(parts)
        return SharedSketches(simhashes, None, keys, digests)
    simhashes, values, digests = _joined([_native.sketch_texts(*piece, *options, workers) for piece in in_place(given.texts)])
    return SharedSketches(simhashes, values, band_keys(values, settings), digests)


def _joined(parts: Sequence[tuple[Any, Any, Any]]) -> Iterator[NDArray[Any]]:
    return (_in_one([np.asarray(each) for each in column]) for column in zip(*parts, strict=True))


def _in_one(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """One after the other; mostly there is one, and megabytes need not be copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
