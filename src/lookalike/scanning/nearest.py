"""Near-copies of near-copies: which older file each is most like. Clusters say of each only how alike it is to the one that they keep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lookalike.scanning.relations import FileEntry
from lookalike.stores.kinds.verifying import verified_features

if TYPE_CHECKING:
    from lookalike.index.index import Index

# Of a cluster, whose texts are all compared with each other; of a larger one it stays with what the cluster says.
MOST_FILES, MOST_CHARACTERS = 50, 4_000_000
Pair = tuple[str, str, float]  # two ids, and how alike they are


def nearest_older(index: Index, near: Iterable[Pair], entries: Mapping[str, FileEntry], threshold: float) -> list[Pair]:
    """The most alike first. ``near`` are the pairs of clusters: the one that is kept, and another."""
    clusters: dict[str, set[str]] = {}
    for kept, other, _ in near:
        clusters.setdefault(kept, {kept}).add(other)
    found: list[Pair] = []
    for ids in clusters.values():
        newest_first = sorted(ids, key=lambda id_: entries[id_].age, reverse=True)
        contents = {entries[id_].sha256: id_ for id_ in newest_first}  # the oldest of each content
        if 2 < len(contents) <= MOST_FILES:
            found += _nearest(index, sorted(contents.values(), key=lambda id_: entries[id_].age), threshold)
    return sorted(found, key=lambda pair: -pair[2])


def _nearest(index: Index, ids: Sequence[str], threshold: float) -> Iterator[Pair]:
    texts = [document.text or "" for document in index.documents(ids)]
    if len(texts) < len(ids) or not all(texts) or sum(map(len, texts)) > MOST_CHARACTERS:
        return
    features = [verified_features(text, index.recipe) for text in texts]
    for place in range(1, len(ids)):
        common = [len(np.intersect1d(features[place], older, assume_unique=True)) for older in features[:place]]
        scores = [each / max(len(features[place]) + len(features[older]) - each, 1) for older, each in enumerate(common)]
        best = scores.index(max(scores))  # the oldest of equals
        if scores[best] >= threshold:
            yield ids[best], ids[place], scores[best]
