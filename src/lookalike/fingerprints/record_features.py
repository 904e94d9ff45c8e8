"""What records are sketched by: the leaves of their canonical data, each with a path and a weight (docs/format.md, "Records").

A field weighs what its weight is in the sum of all; a mapping shares its weight among its keys, a list among its distinct elements. So the
features that two records have in common weigh about as much as their fields are alike. The native kernel makes features of the leaves.
"""

from __future__ import annotations

import datetime
import re
from array import array
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from lookalike import _native
from lookalike.checks import is_number
from lookalike.fingerprints.canonical import to_json
from lookalike.text.tokenize import hash_strings

MAX_DEPTH = 4  # of mappings and lists inside each other; what is deeper is compared as a whole
KEY_SHARE = 0.125  # of what a key with its value weighs
VERSION = 1

_TEXT, _ELEMENT, _JSON, _NUMBER, _DAY, _KEY = range(6)
_MASK = 2**64 - 1
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ][0-9:.,+Z-]*)?")


class Leaves:
    """The leaves of several records, in the columns that the kernel reads."""

    def __init__(self) -> None:
        self._paths, self._weights, self._numbers = array("Q"), array("d"), array("d")
        self._kinds, self._strings = bytearray(), list[str]()
        self._records = array("q", (0,))

    def add_record(self, data: Mapping[str, Any], weights: Mapping[str, float]) -> None:
        """A record of canonical data; a field weighs 1 unless ``weights`` says something else."""
        names = [name for name in sorted(data) if weights.get(name, 1.0)]
        total = 0.0
        for name in names:  # not sum(), whose last bits depend on the version of Python
            total += weights.get(name, 1.0)
        for name in names:
            self._add(data[name], _child(0, name), weights.get(name, 1.0) / total, 1)
        self._records.append(len(self._paths))

    def _add(self, value: Any, path: int, weight: float, depth: int) -> None:
        if isinstance(value, str):
            day = day_of(value)
            if day is not None:
                weight /= 2
                self._put(path, weight, _DAY, number=day)
            self._put(path, weight, _TEXT, value)
        elif is_number(value):
            self._put(path, weight, _NUMBER, number=float(value))
        elif not value or not isinstance(value, dict | list) or depth > MAX_DEPTH:
            self._put(path, weight, _JSON, to_json(value))
        elif isinstance(value, dict):
            each = weight / len(value)
            for key in sorted(value):
                inner = _child(path, key)
                self._put(inner, each * KEY_SHARE, _KEY)
                self._add(value[key], inner, each * (1 - KEY_SHARE), depth + 1)
        else:
            self._add_elements(value, path, weight, depth)

    def _add_elements(self, values: list[Any], path: int, weight: float, depth: int) -> None:
        distinct = {to_json(value): value for value in values}
        each = weight / len(distinct)
        for written, value in distinct.items():
            if isinstance(value, str):
                self._put(path, each, _ELEMENT, value)
            elif isinstance(value, dict | list) and value:
                self._put(path, each / 2, _JSON, written)
                self._add(value, _child(path, "[]"), each / 2, depth + 1)
            else:
                self._put(path, each, _JSON, written)

    def _put(self, path: int, weight: float, kind: int, string: str = "", number: float = 0.0) -> None:
        self._paths.append(path)
        self._weights.append(weight)
        self._kinds.append(kind)
        self._strings.append(string)
        self._numbers.append(number)

    def columns(self) -> tuple[Any, Any, Any, Any, Any, Any, Any]:
        data, offsets = _native.pack_strings(self._strings)
        return self._paths, self._weights, self._kinds, self._numbers, data, offsets, self._records


class RecordSketches(NamedTuple):
    """Of several records, one after the other: SimHashes of 64-bit words, the low one first, and the values of MinHashes."""

    simhashes: Any
    minhashes: Any


def sketch_records(
    records: Iterable[Mapping[str, Any]], weights: Mapping[str, float], bits: int, size: int, workers: int = 1
) -> RecordSketches:
    """The sketches of records of canonical data."""
    leaves = Leaves()
    for data in records:
        leaves.add_record(data, weights)
    return RecordSketches(*_native.sketch_records(*leaves.columns(), bits, size, workers))


def record_features(data: Mapping[str, Any], weights: Mapping[str, float]) -> dict[int, float]:
    """The features of one record, and what share of it each is."""
    leaves = Leaves()
    leaves.add_record(data, weights)
    hashes, shares = _native.record_features(*leaves.columns())
    return dict(zip(hashes, shares, strict=True))


def day_of(text: str) -> int | None:
    """The number of the day that a text in the form of ISO 8601 names, with or without a time."""
    found = _DATE.fullmatch(text) if len(text) >= 10 and text[4] == "-" else None
    try:
        return datetime.date(int(found[1]), int(found[2]), int(found[3])).toordinal() if found else None
    except ValueError:
        return None


@lru_cache(maxsize=1 << 16)
def _child(path: int, name: str) -> int:
    """The hash of a path that goes on with a name."""
    turned = (path << 13 | path >> 51) & _MASK
    return _mix(turned ^ hash_strings([name])[0])


def _mix(x: int) -> int:
    """As native/base/hash.hpp has it: names of fields come again and again, so it is asked for once each."""
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _MASK
    return x ^ x >> 31
