"""Values of table columns as JSON can hold them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import date, time, timedelta
from typing import Any

_PLAIN = frozenset({str, int, bool, type(None)})

DEEPEST = 200  # lists and objects of meta within each other: Python reads about a thousand, less what it is in itself


def plain(value: Any) -> Any:
    """Times in ISO 8601, spans of time in seconds, bytes in hexadecimal, decimals as text, no NaN; the rest as it is."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        # Most values of most rows are plain: asking here saves a call for each.
        return {str(key): each if type(each) in _PLAIN else plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return value.hex() if isinstance(value, bytes) else str(value)


def is_too_deep(meta: Mapping[str, Any]) -> bool:
    """Whether so many lists and objects lie within each other that somebody who reads it may run out of stack."""
    level: list[Any] = [meta]
    for _ in range(DEEPEST):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return False
    return any(True for each in level for _ in _inside(each))


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
