"""How alike two values of a record's field are.

============  =====================  ===============================================================================
measure       default for            score
============  =====================  ===============================================================================
exact         booleans, null         1 for the same value, 0 for another
ratio         strings                normalised indel similarity of the folded strings (NFKC, case)
number        numbers                1 - abs(a - b) / max(abs(a), abs(b), 1e-9), at least 0
jaccard       lists, sets            common distinct elements by all distinct elements, strings folded
containment   none                   the share of the left record's distinct elements that the right one has too
schema        objects                mean over the keys of both, each value by the default measure of its type
date          none                   1 - days between them / 366, at least 0, of strings such as 2024-02-29, also with a time
============  =====================  ===============================================================================

Values of different types score 0 by default; null equals null and nothing else. Folding follows Python's Unicode tables:
Unicode never changes it for a character once assigned.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable
from typing import Any

from lookalike.checks import is_number
from lookalike.errors import InputError
from lookalike.figures import shown_value
from lookalike.fingerprints.canonical import to_json
from lookalike.fingerprints.record_features import day_of
from lookalike.registry import Registry

MAX_RATIO_LENGTH = 200_000  # the ratio takes time by the product of two lengths: two seconds here
_SMALLEST_SCALE = 1e-9
_DAYS = 366  # between dates that are not alike at all
_MOST_MARKS = 30  # what Unicode's stream-safe text format allows in a row

FieldMeasure = Callable[[Any, Any], float]

field_measures: Registry[FieldMeasure] = Registry("field_measure", plural="field measures")
"""Functions of a field's two values, in canonical form, that give a score of 0 to 1."""


def exact(left: Any, right: Any) -> float:
    return 1.0 if to_json(left) == to_json(right) else 0.0


def ratio(left: Any, right: Any) -> float:
    from rapidfuzz.distance import Indel

    _need("ratio", str, left, right)
    if max(len(left), len(right)) > MAX_RATIO_LENGTH:
        raise InputError(f"strings of {len(left)} and {len(right)} characters are too long for a ratio: choose exact, or a weight of 0")
    return Indel.normalized_similarity(folded(left), folded(right))


def number(left: Any, right: Any) -> float:
    _need("number", (int, float), left, right)
    scale = max(abs(left), abs(right), _SMALLEST_SCALE)
    difference: float = abs(left / scale - right / scale)
    return max(0.0, 1.0 - difference)


def jaccard(left: Any, right: Any) -> float:
    _need("jaccard", list, left, right)
    mine, yours = _elements(left), _elements(right)
    return len(mine & yours) / len(mine | yours) if mine or yours else 1.0


def containment(left: Any, right: Any) -> float:
    _need("containment", list, left, right)
    mine, yours = _elements(left), _elements(right)
    return len(mine & yours) / len(mine) if mine else 1.0


def schema(left: Any, right: Any) -> float:
    _need("schema", dict, left, right)
    keys = left.keys() | right.keys()
    scores = (compared(left[key], right[key], key, None)[0] for key in keys if key in left and key in right)
    return min(1.0, math.fsum(scores) / len(keys)) if keys else 1.0


def date(left: Any, right: Any) -> float:
    _need("date", str, left, right)
    days = [day_of(value) for value in (left, right)]
    for value, day in zip((left, right), days, strict=True):
        if day is None:
            raise InputError(f"{shown_value(value)} is not a date such as 2024-02-29: choose ratio or exact")
    return max(0.0, 1.0 - abs((days[0] or 0) - (days[1] or 0)) / _DAYS)


_BUILT_IN: dict[str, FieldMeasure] = {
    "exact": exact,
    "ratio": ratio,
    "number": number,
    "jaccard": jaccard,
    "containment": containment,
    "schema": schema,
    "date": date,
}
_DEFAULTS = {str: "ratio", int: "number", float: "number", list: "jaccard", dict: "schema"}
for _name, _function in _BUILT_IN.items():
    field_measures.register(_name, _function)


def compared(left: Any, right: Any, path: str, measure: str | None) -> tuple[float, str]:
    default = _DEFAULTS.get(type(left), "exact")
    if left is None or right is None or (measure is None and default != _DEFAULTS.get(type(right), "exact")):
        return exact(left, right), "exact"
    chosen = measure or default
    try:
        # Names given by the user may be registered anew; the defaults are fixed, for no recipe names them.
        score = field_measures.get(measure)(left, right) if measure else _BUILT_IN[default](left, right)
    except InputError as error:
        raise InputError(f"record field {path!r}: {error}") from error
    if not isinstance(score, int | float) or not 0 <= score <= 1:
        raise InputError(f"record field {path!r}: measure {chosen!r} gave {score!r}, not a number from 0 to 1")
    return float(score), chosen


def check_comparable(value: Any, path: str, measure: str | None) -> None:
    """An ``InputError`` for a value that could not even be compared with itself."""
    if measure is not None:
        compared(value, value, path, measure)
    elif isinstance(value, dict):
        for key, inner in value.items():
            check_comparable(inner, f"{path}.{key}", None)
    elif isinstance(value, str) and len(value) > MAX_RATIO_LENGTH:
        raise InputError(
            f"record field {path!r}: a string of {len(value)} characters is too long for a ratio: choose exact, or a weight of 0"
        )


def shared(left: Any, right: Any) -> list[Any]:
    """What two values have in common, as a list of one value; an empty list where that is nothing."""
    if isinstance(left, str) and isinstance(right, str):
        return [left] if folded(left) == folded(right) else []
    if isinstance(left, list) and isinstance(right, list):
        theirs = _elements(right)
        common = [value for value in left if not theirs.isdisjoint(_elements([value]))]
        return [common] if common or not (left or right) else []
    if isinstance(left, dict) and isinstance(right, dict):
        inner = {key: value for key in left if key in right for value in shared(left[key], right[key])}
        return [inner] if inner or not (left or right) else []
    return [left] if exact(left, right) else []


def _need(measure: str, types: type | tuple[type, ...], *values: Any) -> None:
    wanted = {"ratio": "a string", "date": "a string", "number": "a number", "schema": "an object"}.get(measure, "a list or a set")
    for value in values:
        if not isinstance(value, types) or isinstance(value, bool):
            raise InputError(f"measure {measure!r} needs {wanted}, not {type(value).__name__}")


def folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    if len(text) > 1000:
        text = _stream_safe(text)
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _stream_safe(text: str) -> str:
    """The text with its runs of combining marks broken: normalising a run takes time by the square of its length."""
    safe: list[str] = []
    run = 0
    for char in text:
        run = run + 1 if unicodedata.combining(char) else 0
        if run > _MOST_MARKS:
            safe.append("\u034f")
            run = 1
        safe.append(char)
    return "".join(safe)


def _elements(values: list[Any]) -> set[tuple[str, Any]]:
    found: set[tuple[str, Any]] = set()
    for value in values:
        if isinstance(value, str):
            found.add(("string", folded(value)))
        elif is_number(value):
            found.add(("number", value))
        else:
            found.add(("json", to_json(value)))
    return found
