"""Slow, obvious versions of what dedupe is made of."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import reference

Decision = tuple[int | None, float]  # the kept document and the similarity to it; None: kept itself


def jaccard(left: set[int], right: set[int]) -> float:
    return len(left & right) / len(left | right)


def band_keys(features: set[int], size: int, bands: int, rows: int) -> list[int]:
    bins = reference.minhash(sorted(features), size)
    keys = []
    for band in range(bands):
        state = (band + 1) * reference.GOLDEN & reference.MASK
        for value in bins[band * rows : (band + 1) * rows]:
            state = (state ^ value) * reference.BLOCK_MULTIPLIER & reference.MASK
            state ^= state >> 32
        keys.append(reference.mix(state))
    return keys


def leaders(
    documents: Sequence[tuple[object, set[int], Sequence[int]]],
    threshold: float,
    bucket_limit: int = 2**32 - 1,
    measure: Callable[[set[int], set[int]], float] = jaccard,
) -> list[Decision]:
    """The decisions on (digest, features, keys), in order. Each document is decided by what was kept when its turn comes."""
    kept: dict[object, int] = {}
    buckets: dict[tuple[int, int], list[int]] = {}
    decisions: list[Decision] = []
    for number, (digest, features, keys) in enumerate(documents):
        if digest in kept:
            decisions.append((kept[digest], 1.0))
            continue
        candidates = {other for place in enumerate(keys) for other in buckets.get(place, ())} if features else set()
        similar = [(-measure(features, documents[other][1]), other) for other in candidates]
        best = min((pair for pair in similar if -pair[0] >= threshold), default=None)
        if best is not None:
            decisions.append((best[1], -best[0]))
            continue
        kept[digest] = number
        decisions.append((None, 0.0))
        for place in enumerate(keys) if features else ():
            bucket = buckets.setdefault(place, [])
            if len(bucket) < bucket_limit:
                bucket.append(number)
    return decisions


def share_of_values(left: set[int], right: set[int]) -> float:
    """Of MinHashes of one size, each value with its place."""
    return len(left & right) / len(left)


def simhash_leaders(documents: Sequence[tuple[object, int]], k: int, bits: int) -> list[Decision]:
    """The decisions on (digest, SimHash). A document without tokens has the digest 0, and is like another such one."""
    kept: list[int] = []
    empty: int | None = None
    decisions: list[Decision] = []
    for number, (digest, value) in enumerate(documents):
        if not digest:
            decisions.append((None, 0.0) if empty is None else (empty, 1.0))
            empty = number if empty is None else empty
            continue
        near = [((value ^ documents[other][1]).bit_count(), other) for other in kept]
        best = min((pair for pair in near if pair[0] <= k), default=None)
        decisions.append((None, 0.0) if best is None else (best[1], 1 - best[0] / bits))
        kept += [number] if best is None else []
    return decisions


def json_rows(block: bytes, columns: Sequence[str]) -> list[tuple[int, str, list[Any]]]:
    """Line number, what is wrong with it, and the columns of each row."""
    rows = []
    for number, line in enumerate(block.split(b"\n")):
        if not line.strip(b" \t\r"):
            continue
        try:
            value = json.loads(line.decode("utf-8"))
        except ValueError:
            rows.append((number, "broken", []))
            continue
        if not isinstance(value, dict):
            rows.append((number, "not an object", []))
            continue
        text = value.get(columns[0])
        problem = "no column" if columns[0] not in value else "no text" if text is None else "" if isinstance(text, str) else "wrong type"
        rows.append((number, problem, [value.get(column) for column in columns]))
    return rows
