"""``la.distinct``: a short list without near-duplicates, such as the results of a search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from lookalike.checks import check_callback, check_several, check_share, check_str
from lookalike.recipe import Recipe, resolve
from lookalike.text.features import secret_features

Item = TypeVar("Item")


def distinct(
    items: Iterable[Item], threshold: float = 0.8, *, key: Callable[[Item], str] | None = None, recipe: Recipe | str = "default"
) -> list[Item]:
    """The items without those that look like an earlier one that stays: texts, or things whose text ``key`` gives; in their order.

    Two texts look alike if their features have a Jaccard similarity of at least ``threshold``. Every item is compared with every one that
    stays, exactly: this is for lists of up to some ten thousand. ``la.dedupe`` is for a corpus.
    """
    check_share("threshold", threshold)
    check_callback("key", key)
    made_with = resolve(recipe)
    kept: list[Item] = []
    sizes: list[int] = []
    holders: dict[int, list[int]] = {}  # by feature, the places of those kept items that have it
    for item in check_several("items", items, "a list of texts, or of things with key="):
        text: Any = item if key is None else key(item)
        own = np.frombuffer(secret_features(check_str("items", text, "texts; or give key="), made_with), dtype=np.uint64).tolist()
        common = Counter(place for feature in own for place in holders.get(feature, ()))
        if not own:  # what has no features is like what has none
            common.update(place for place, size in enumerate(sizes) if size == 0)
        if any(_share(count, len(own), sizes[place]) >= threshold for place, count in common.items()) or (threshold == 0 and kept):
            continue
        for feature in own:
            holders.setdefault(feature, []).append(len(kept))
        kept.append(item)
        sizes.append(len(own))
    return kept


def _share(common: int, one: int, other: int) -> float:
    union = one + other - common
    return common / union if one or other else 1.0
