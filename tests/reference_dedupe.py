"""Slow, obvious versions of what dedupe is made of."""

from __future__ import annotations

import json
from collections.abc import Sequence
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
        keys.append(reference.mix(state) & 0xFFFFFFFF)
    return keys


def leaders(documents: Sequence[tuple[object, set[int], Sequence[int]]], threshold: float, bucket_limit: int = 2**32 - 1) -> list[Decision]:
    """The decisions on (digest, features, keys), in order."""
    originals: dict[object, Decision] = {}
    buckets: dict[tuple[int, int], list[int]] = {}
    decisions: list[Decision] = []
    for number, (digest, features, keys) in enumerate(documents):
        if digest not in originals:
            candidates = {kept for place in enumerate(keys) for kept in buckets.get(place, ())} if features else set()
            similar = [(-jaccard(features, documents[kept][1]), kept) for kept in candidates]
            best = min((pair for pair in similar if -pair[0] >= threshold), default=None)
            if best is None:
                originals[digest] = (number, 1.0)
                decisions.append((None, 0.0))
                for place in enumerate(keys) if features else ():
                    bucket = buckets.setdefault(place, [])
                    if len(bucket) < bucket_limit:
                        bucket.append(number)
                continue
            originals[digest] = (best[1], -best[0])
        decisions.append(originals[digest])
    return decisions


def simhash_leaders(documents: Sequence[tuple[object, int]], k: int, bits: int) -> list[Decision]:
    originals: dict[object, Decision] = {}
    kept: list[int] = []
    decisions: list[Decision] = []
    for number, (digest, value) in enumerate(documents):
        if digest not in originals:
            near = [((value ^ documents[other][1]).bit_count(), other) for other in kept] if digest else []
            best = min((pair for pair in near if pair[0] <= k), default=None)
            if best is None:
                originals[digest] = (number, 1.0)
                decisions.append((None, 0.0))
                kept += [number] if digest else []
                continue
            originals[digest] = (best[1], 1 - best[0] / bits)
        decisions.append(originals[digest])
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
