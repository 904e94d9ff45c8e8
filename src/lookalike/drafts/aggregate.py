"""Running sums over rows: overall, by the values of a column, and over time. Memory does not grow with the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from lookalike.drafts.judge import SHARES, USABLE, VERDICTS, DraftRow
from lookalike.drafts.sketches import Spread

NONE = "(none)"
OTHERS = "(others)"
MAX_GROUPS = 1000  # different values of a column; what comes later is counted under OTHERS
BARS = 20
MOST_ADDED = 100.0  # times the draft: so that a few short drafts do not outweigh all others, and for bounded memory
MAX_PERIODS = 4000


class Summary:
    """Counts, means, medians and verdicts of some rows."""

    def __init__(self) -> None:
        self.verdicts: Counter[str] = Counter()
        self.edit_share = Spread()
        self.kept = Spread()
        self.added = Spread()
        self.bars: Counter[tuple[int, str]] = Counter()  # pairs by 5 % of the edit share, and by verdict
        self.totals = dict.fromkeys(("moved", "reworded", "deleted", "inserted", "form"), 0.0)
        self.draft_characters = 0
        self.final_characters = 0

    def add(self, row: DraftRow) -> None:
        self.verdicts[row.verdict] += 1
        self.edit_share.add(row.edit_share)
        self.kept.add(row.kept)
        self.added.add(min(row.added, MOST_ADDED))
        self.bars[min(int(row.edit_share * BARS), BARS - 1), row.verdict] += 1
        for name in self.totals:
            self.totals[name] += getattr(row, name)
        self.draft_characters += row.draft_characters
        self.final_characters += row.final_characters

    def merge(self, other: Summary) -> None:
        self.verdicts.update(other.verdicts)
        self.edit_share.merge(other.edit_share)
        self.kept.merge(other.kept)
        self.added.merge(other.added)
        self.bars.update(other.bars)
        for name in self.totals:
            self.totals[name] += other.totals[name]
        self.draft_characters += other.draft_characters
        self.final_characters += other.final_characters

    @property
    def pairs(self) -> int:
        return self.edit_share.count

    @property
    def usable(self) -> float:
        """The share of drafts that were used as they were, after a light edit, or with more text added."""
        return sum(self.verdicts[name] for name in USABLE) / self.pairs if self.pairs else 0.0

    def mean(self, name: str) -> float:
        """The mean of a share of which there is no median."""
        return self.totals[name] / self.pairs if self.pairs else 0.0

    def distribution(self) -> list[int]:
        """How many pairs have an edit share in each of twenty equal parts of 0 … 1; the last one has its upper end."""
        return [sum(self.bars[part, verdict] for verdict in VERDICTS) for part in range(BARS)]

    def to_dict(self) -> dict[str, Any]:
        return {
            "pairs": self.pairs,
            "usable": round(self.usable, 6),
            "edit_share": _middle(self.edit_share),
            "kept": _middle(self.kept),
            **{name: {"mean": round(self.mean(name), 6)} for name in SHARES if name in self.totals},
            "added": _middle(self.added),
            "form": {"mean": round(self.mean("form"), 6)},
            "verdicts": {name: self.verdicts[name] for name in VERDICTS},
            "draft_characters": self.draft_characters,
            "final_characters": self.final_characters,
        }


def _middle(spread: Spread) -> dict[str, float]:
    return {"mean": round(spread.mean, 6), "median": round(spread.median, 4)}


class Groups:
    """A summary for each value of a column."""

    def __init__(self) -> None:
        self.summaries: dict[str, Summary] = {}

    def add(self, value: str | None, row: DraftRow) -> None:
        name = NONE if value is None else value
        if name not in self.summaries and len(self.summaries) >= MAX_GROUPS:
            name = OTHERS
        self.summaries.setdefault(name, Summary()).add(row)

    def ranked(self) -> dict[str, Summary]:
        """The largest group first; equal ones by name."""
        return dict(sorted(self.summaries.items(), key=lambda item: (-item[1].pairs, item[0])))


_PERIODS: dict[str, Callable[[date], date]] = {
    "day": lambda day: day,
    "week": lambda day: day - timedelta(days=min(day.weekday(), day.toordinal() - 1)),
    "month": lambda day: day.replace(day=1),
    "year": lambda day: day.replace(month=1, day=1),
}
# The longest range in days for which each unit is chosen: 31 days, 46 weeks or 60 months make a readable plot.
_LONGEST = {"day": 31, "week": 320, "month": 1830}


def slot(unit: str, day: date) -> int:
    """The number of a period: neighbours differ by one, so that a plot can leave room for periods without pairs."""
    months = 12 * day.year + day.month
    return {"day": day.toordinal(), "week": (day.toordinal() - 1) // 7, "month": months, "year": day.year}[unit]


class Trend:
    """A summary for each day, week, month or year, whichever suits the range."""

    def __init__(self) -> None:
        self._unit = "day"
        self._periods: dict[date, Summary] = {}
        self.range: tuple[date, date] | None = None  # the first and the last day

    def add(self, row: DraftRow) -> None:
        if row.time is None:
            return
        first, last = self.range or (row.time, row.time)
        self.range = min(first, row.time), max(last, row.time)
        self._periods.setdefault(_PERIODS[self._unit](row.time), Summary()).add(row)
        if len(self._periods) > MAX_PERIODS and self._unit != "year":
            self._unit = "month" if self._unit == "day" else "year"
            self._periods = self._merged(self._unit)

    def _merged(self, unit: str) -> dict[date, Summary]:
        merged: dict[date, Summary] = {}
        for day, summary in sorted(self._periods.items()):
            merged.setdefault(_PERIODS[unit](day), Summary()).merge(summary)
        return merged

    @property
    def unit(self) -> str:
        if self.range is None:
            return self._unit
        days = (self.range[1] - self.range[0]).days
        suits = next((unit for unit, longest in _LONGEST.items() if days <= longest), "year")
        units = list(_PERIODS)
        return max(suits, self._unit, key=units.index)

    def points(self) -> list[tuple[date, Summary]]:
        return list(self._merged(self.unit).items())

    def to_list(self) -> list[dict[str, Any]]:
        unit = self.unit
        return [{"from": day.isoformat(), "unit": unit, **summary.to_dict()} for day, summary in self.points()]
