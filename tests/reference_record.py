"""The fingerprint of a record, the slow and obvious way (docs/format.md, "Records")."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, NamedTuple

from reference import GOLDEN, MASK, fold, minhash, mix, portable_log, rotate, simhash, token_hash, tokenize

WHOLE, SHINGLE, NUMBER, ZERO, DAY, JSON, KEY = range(1, 8)
UNITS = 2048
MAX_DEPTH = 4
SMALLEST = 1e-9
# Widths of cells, of logarithms and of days, and the share of each in the weight.
NUMBER_SCALES = ((1.0, 0.25), (1.5, 0.25), (3.0, 0.25), (6.0, 0.25))
DAY_SCALES = ((8.0, 0.25), (64.0, 0.375), (512.0, 0.375))
WHOLE_SHARE, CHARACTER_SHARE = 0.03125, 0.5  # of a text; the rest is that of its pairs of characters
KEY_SHARE = 0.125
DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ][0-9:.,+Z-]*)?")


class Feature(NamedTuple):
    hash: int
    weight: float


def child(path: int, name: str) -> int:
    return mix(rotate(path, 13) ^ token_hash(name.encode("utf-8", "surrogatepass")))


def feature(path: int, kind: int, value: int) -> int:
    return mix(path ^ mix((value + kind * GOLDEN) & MASK))


def cells(path: int, kind: int, value: float, scales: tuple[tuple[float, float], ...], weight: float, sign: int) -> Iterator[Feature]:
    """At each scale the two cells that a value lies between, weighted by how near it is to each."""
    for scale, (width, share) in enumerate(scales):
        place = value / width
        cell = math.floor(place)
        rest = place - cell
        upper = rest * rest * (3 - 2 * rest)
        for number, part in ((cell, 1 - upper), (cell + 1, upper)):
            if part > 0:
                packed = (number & 0xFFFFFFFFFFFF) | scale << 48 | sign << 56
                yield Feature(feature(path, kind, packed), weight * share * part)


def text_features(path: int, text: str, weight: float) -> Iterator[Feature]:
    hashes = [token_hash(token.encode()) for token, _, _ in tokenize(text, "chars")]
    whole = token_hash(fold(text).encode())
    if not hashes:
        yield Feature(feature(path, WHOLE, whole), weight)
        return
    yield Feature(feature(path, WHOLE, whole), weight * WHOLE_SHARE)
    for hashed in hashes:
        yield Feature(feature(path, SHINGLE, mix(hashed)), weight * CHARACTER_SHARE / len(hashes))
    n = min(2, len(hashes))
    pairs = [mix(rotate(hashes[i], 13) ^ hashes[i + 1]) if n == 2 else mix(hashes[i]) for i in range(len(hashes) - n + 1)]
    for hashed in pairs:
        yield Feature(feature(path, SHINGLE, hashed), weight * (1 - WHOLE_SHARE - CHARACTER_SHARE) / len(pairs))


def day_of(text: str) -> int | None:
    found = DATE.fullmatch(text)
    if not found:
        return None
    try:
        return date(*map(int, found.groups())).toordinal()
    except ValueError:
        return None


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def features(value: Any, path: int, weight: float, depth: int = 1) -> Iterator[Feature]:
    if isinstance(value, str):
        day = day_of(value)
        if day is not None:
            yield from cells(path, DAY, float(day), DAY_SCALES, weight / 2, 0)
            weight /= 2
        yield from text_features(path, value, weight)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if abs(value) < SMALLEST:
            yield Feature(feature(path, ZERO, 0), weight)
        else:
            yield from cells(path, NUMBER, portable_log(abs(float(value))), NUMBER_SCALES, weight, int(value < 0))
    elif isinstance(value, dict) and value and depth <= MAX_DEPTH:
        each = weight / len(value)
        for key in sorted(value):
            inner = child(path, key)
            yield Feature(feature(inner, KEY, 0), each * KEY_SHARE)
            yield from features(value[key], inner, each * (1 - KEY_SHARE), depth + 1)
    elif isinstance(value, list) and value and depth <= MAX_DEPTH:
        distinct = {canonical(item): item for item in value}
        each = weight / len(distinct)
        for written, item in distinct.items():
            if isinstance(item, str):
                yield Feature(feature(path, WHOLE, token_hash(fold(item).encode())), each)
            elif isinstance(item, dict | list) and item:
                yield Feature(feature(path, JSON, token_hash(written.encode())), each / 2)
                yield from features(item, child(path, "[]"), each / 2, depth + 1)
            else:
                yield Feature(feature(path, JSON, token_hash(written.encode())), each)
    else:
        yield Feature(feature(path, JSON, token_hash(canonical(value).encode())), weight)


def record_features(data: Mapping[str, Any], weights: Mapping[str, float] | None = None) -> list[Feature]:
    """The features of a record, ascending; their weights sum to 1."""
    used = {name: (weights or {}).get(name, 1.0) for name in data}
    total = 0.0
    for name in sorted(used):
        total += used[name]
    sums: dict[int, float] = {}
    for name in sorted(data):
        if used[name]:
            for hashed, weight in features(data[name], child(0, name), used[name] / total):
                sums[hashed] = sums.get(hashed, 0.0) + weight
    return [Feature(hashed, sums[hashed]) for hashed in sorted(sums)]


def units(found: list[Feature]) -> list[int]:
    """A feature becomes as many as its weight has units; what is left of a unit counts where the feature's own hash is below it."""
    made = []
    for hashed, weight in found:
        chance = (mix(hashed) >> 12) * 2.0**-52
        made += [mix((hashed + (number + 1) * GOLDEN) & MASK) for number in range(math.floor(weight * UNITS + chance))]
    return made


def record_simhash(found: list[Feature], bits: int) -> int:
    return simhash([each.hash for each in found], bits, [math.sqrt(each.weight) for each in found])


def record_minhash(found: list[Feature], size: int) -> list[int]:
    return minhash(units(found), size)
