"""JSON in one form: the same data give the same text, whatever the order of keys and set elements.

Keys are sorted by code points, there is no white space, everything beyond ASCII is escaped, and a float is written as
Python's ``repr`` does: the shortest digits that give it back. Before that, values are made alike that JSON, or the
reader of JSON, cannot tell apart: an integral float up to 2**53 is an integer, a date is its ISO form, a tuple is a
list, a set is a list sorted by the JSON of its elements, and a pair of surrogates is the character it stands for.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from lookalike.errors import InputError
from lookalike.figures import shown_value

MAX_DEPTH = 64
MAX_VALUES = 1_000_000  # objects that share parts can unfold to any size
MAX_INTEGER_BITS = 1023  # what a float can hold


def canonical_json(data: Mapping[str, Any]) -> str:
    """The canonical JSON of a record; what JSON does not have is an ``InputError`` that names its place."""
    return to_json(canonical_data(data))


def canonical_data(data: object) -> dict[str, Any]:
    """The same as values, not as text."""
    if not isinstance(data, Mapping):
        raise InputError(f"record of type {type(data).__name__}: give a mapping of field names to values")
    made: dict[str, Any] = _Canonical().of(data, "")
    return made


def to_json(value: Any) -> str:
    """The text of values that are canonical already."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def from_json(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(f"record fingerprint: its content is not JSON: {error}") from error


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def joined_surrogates(value: str) -> str:
    """The same text with every pair of surrogates as one character, which is how JSON is read."""
    text = str.__str__(value)  # a subclass may print itself as something else
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


class _Canonical:
    """Turns Python values into those that JSON has, and names the place of what it cannot turn."""

    def __init__(self) -> None:
        self._count = 0
        self._open: set[int] = set()  # the containers around the current value

    def of(self, value: Any, path: str) -> Any:
        self._count += 1
        if self._count > MAX_VALUES:
            raise _refused(path, f"the record has more than {MAX_VALUES} values: split it")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return joined_surrogates(value)
        if isinstance(value, int | float):
            return _number(value, path)
        if isinstance(value, date):  # a datetime too
            return value.isoformat()
        if not isinstance(value, Mapping | list | tuple | set | frozenset):
            raise _refused(path, f"{type(value).__name__} has no JSON form: turn it into a string, a number, a list or a mapping")
        if id(value) in self._open:
            raise _refused(path, "it contains itself: cut the cycle")
        if len(self._open) >= MAX_DEPTH:
            raise _refused(path, f"nested more than {MAX_DEPTH} deep: flatten it")
        self._open.add(id(value))
        inner = self._mapping(value, path) if isinstance(value, Mapping) else self._list(value, path)
        self._open.remove(id(value))
        return inner

    def _mapping(self, value: Mapping[Any, Any], path: str) -> dict[str, Any]:
        inner: dict[str, Any] = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise _refused(path, f"key {shown_value(key)} is of type {type(key).__name__}: keys are strings")
            name = joined_surrogates(key)
            place = f"{path}.{name}" if path else name
            if name in inner:
                raise _refused(place, "two keys are the same text, once written with surrogates: keep one")
            inner[name] = self.of(item, place)
        return inner

    def _list(self, value: Iterable[Any], path: str) -> list[Any]:
        if isinstance(value, set | frozenset):
            elements = {to_json(inner): inner for inner in (self.of(item, f"{path}[*]") for item in value)}
            return [elements[key] for key in sorted(elements)]
        return [self.of(item, f"{path}[{index}]") for index, item in enumerate(value)]


def _number(value: float, path: str) -> int | float:
    if isinstance(value, int):
        if value.bit_length() > MAX_INTEGER_BITS:
            raise _refused(path, f"an integer of {value.bit_length()} bits is too large: give it as a string")
        return int(value)
    if not math.isfinite(value):
        raise _refused(path, f"{value!r} is not a finite number: leave the field out, or use None")
    return int(value) if value.is_integer() and abs(value) <= 2**53 else float(value)


def _refused(path: str, reason: str) -> InputError:
    return InputError(f"record field {path!r}: {reason}" if path else f"record: {reason}")
