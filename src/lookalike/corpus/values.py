"""Values of table columns as JSON can hold them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, time, timedelta
from typing import Any

_PLAIN = frozenset({str, int, bool, type(None)})


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
