"""How scores, shares and wrong values are printed, everywhere: on a terminal, in reports and in messages.

Rounding never says what is not so: only 1 is printed as 1 or 100 %, only 0 as 0, and a score that is below a threshold is not
printed as one that reaches it.
"""

from __future__ import annotations

import math
import reprlib

MOST_PLACES = 17  # as many as tell any two numbers apart


def shown_score(value: float, places: int = 4, threshold: float | None = None) -> str:
    """A score, a similarity or a distance in decimals.

    >>> shown_score(0.99998), shown_score(1.0), shown_score(0.00001), shown_score(0.79996, threshold=0.8)
    ('0.9999', '1.0000', '0.0001', '0.7999')
    """
    while places < MOST_PLACES:
        for shown in _candidates(value, places):
            if _is_true(float(shown), value, threshold):
                return shown
        places += 1  # between two limits that are closer together than the places tell
    return repr(value)


def shown_share(value: float, places: int = 1) -> str:
    """A share of a whole in percent.

    >>> shown_share(0.99999), shown_share(1.0), shown_share(0.00001), shown_share(0.0)
    ('99.9%', '100.0%', '0.1%', '0.0%')
    """
    return f"{float(shown_score(value, places + 2)):.{places}%}"


def _candidates(value: float, places: int) -> list[str]:
    """The nearest decimal, and those on either side of the value."""
    if not math.isfinite(value):
        return [str(value)]
    step = 10.0**-places
    return [f"{each:.{places}f}" for each in (value, math.floor(value / step) * step, math.ceil(value / step) * step)]


def _is_true(shown: float, value: float, threshold: float | None) -> bool:
    """Whether a number as it is shown is 0, 1, or at least the threshold, where the value is, and only there."""
    if not math.isfinite(value):
        return True
    # Beyond 1 there is nothing to tell apart: a measure may miss it by its last bit.
    whole = value >= 1 or shown < 1
    return whole and (shown == 0) == (value == 0) and (threshold is None or (shown >= threshold) == (value >= threshold))


def shown_value(thing: object) -> str:
    """A short representation for messages, of anything: integers of 5,000 digits have none of their own."""
    try:
        return reprlib.repr(thing)
    except Exception:
        return f"a value of type {type(thing).__name__}"


def counted(count: int, thing: str) -> str:
    """``1 document``, ``2,000 documents``."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
