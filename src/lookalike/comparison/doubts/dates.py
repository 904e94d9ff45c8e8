"""Names of months and days of the week, in English; in Chinese they are numbers."""

from __future__ import annotations

import re

_MONTHS = "january february march april may june july august september october november december"
_DAYS = frozenset({"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"})
_VALUES = {name: str(number) for number, name in enumerate(_MONTHS.split(), 1)}
_VALUES |= {name[:3]: value for name, value in _VALUES.items()} | {"sept": "9"}
# May, to march, jan: only beside a number, or behind a word that months follow.
_AMBIGUOUS = frozenset(name for name in _VALUES if len(name) < 5) - {"june", "july"} | {"march"}
_ALONE, _DOUBTFUL = "|".join(sorted((_VALUES.keys() - _AMBIGUOUS) | _DAYS)), "|".join(sorted(_AMBIGUOUS, reverse=True))
_NUMBER_BEFORE = [f"[0-9]{between}" for between in (" ", "st ", "nd ", "rd ", "th ", " of ", "st of ", "nd of ", "rd of ", "th of ")]
_BEFORE = "|".join(f"(?<={before})" for before in (*_NUMBER_BEFORE, r"\bin ", r"\bsince ", r"\buntil ", r"\blast ", r"\bnext "))
DATES = re.compile(rf"\b(?:{_ALONE})\b|(?:{_BEFORE})(?:{_DOUBTFUL})\b|\b(?:{_DOUBTFUL})(?=\.? [0-9])", re.IGNORECASE)


def date_named(said: str) -> str:
    """What stands for a name: the number of a month, however long it is written, or the day itself."""
    name = said.lower()
    return _VALUES.get(name, name)
