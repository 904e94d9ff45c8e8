"""Plots as SVG text: bars for a distribution, stacked bars for groups, stacked columns over time.

Colours are classes that the page's style sheet fills in; every value is also written out or in a tooltip.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from datetime import date

from lookalike.comparison.escaping import attribute
from lookalike.drafts.aggregate import BARS, Summary, slot
from lookalike.drafts.judge import VERDICTS
from lookalike.figures import shown_share

WIDTH = 520  # so that text can be read where the page is 500 pixels wide, and is not large where it has room
RIGHT = 24  # room for half a label
LABEL_WIDTH = 150
LABEL_CHARACTERS = 20  # half-width ones
COUNT_WIDTH = 110
LABEL_ROOM = 80  # for a date under the time axis


def verdict_class(verdict: str) -> str:
    return f"v{VERDICTS.index(verdict)}"


def distribution(summary: Summary) -> str:
    """How many pairs have which edit share, in bars of 5 %, coloured by verdict."""
    bars: list[Counter[str]] = [Counter() for _ in range(BARS)]
    for (bar, verdict), count in summary.bars.items():
        bars[bar][verdict] += count
    height, left = 180, 46
    tick = _tick(max(bar.total() for bar in bars))
    top = tick * max(1, -(-max(bar.total() for bar in bars) // tick))
    width = (WIDTH - left - RIGHT) / BARS
    parts = [_grid(left, height, [(i / top, f"{i:,}") for i in range(0, top + 1, tick)])]
    for i, counts in enumerate(bars):
        y = 20.0 + height
        for verdict in VERDICTS:
            tall = height * counts[verdict] / top
            y -= tall
            tip = f"edit share {i / BARS:.0%} to {(i + 1) / BARS:.0%}: {verdict}, {counts[verdict]:,} pairs"
            parts.append(_bar(left + i * width + 1, y, width - 2, tall, verdict, tip))
    parts += [_text(left + i * width, height + 38, f"{i / BARS:.0%}", "middle") for i in range(0, BARS + 1, 4)]
    return _svg("Distribution of the edit share", height + 48, parts)


def _tick(largest: int) -> int:
    """A round number of which two to five make up the largest count."""
    size = int("1" + "0" * (len(str(largest)) - 1))
    return next(tick for tick in (max(size // 5, 1), max(size // 2, 1), size, 2 * size) if largest <= 5 * tick)


def groups(name: str, summaries: Sequence[tuple[str, Summary]]) -> str:
    """The verdicts of each group, as shares of a bar."""
    row, left = 30, LABEL_WIDTH
    width = WIDTH - left - COUNT_WIDTH
    parts = []
    for i, (value, summary) in enumerate(summaries):
        y = 24 + i * row
        parts.append(_text(left - 8, y + 15, _shortened(value), "end", tip=value))
        x = float(left)
        for verdict in VERDICTS:
            share = summary.verdicts[verdict] / summary.pairs
            tip = f"{value}: {verdict} {shown_share(share)} ({summary.verdicts[verdict]:,} of {summary.pairs:,})"
            parts.append(_bar(x, y, share * width, 22, verdict, tip))
            if share * width > 34:
                parts.append(_text(x + share * width / 2, y + 15, shown_share(share, 0), "middle", f"on-{verdict_class(verdict)}"))
            x += share * width
        parts.append(_text(left + width + 10, y + 15, f"{shown_share(summary.usable, 0)} of {summary.pairs:,}", "start"))
    parts.append(_text(left + width + 10, 14, "usable", "start", "muted"))
    return _svg(f"Verdicts by {name}", 30 + len(summaries) * row, parts)


def over_time(unit: str, points: Sequence[tuple[date, Summary]]) -> str:
    """The verdicts of each period, and the mean edit share as a line."""
    first = slot(unit, points[0][0])
    slots = slot(unit, points[-1][0]) - first + 1
    left, height, step = 46, 180, (WIDTH - 46 - RIGHT) / slots
    wide = min(step * 0.8, 60)
    parts = [_grid(left, height, [(i / 4, f"{i / 4:.0%}") for i in range(5)])]
    line = []
    next_label = 0.0
    for day, summary in points:
        middle, y = left + (slot(unit, day) - first + 0.5) * step, 20.0
        for verdict in reversed(VERDICTS):
            share = summary.verdicts[verdict] / summary.pairs
            tip = f"{unit} from {day.isoformat()}: {verdict} {shown_share(share)} ({summary.verdicts[verdict]:,} of {summary.pairs:,})"
            parts.append(_bar(middle - wide / 2, y, wide, share * height, verdict, tip))
            y += share * height
        line.append((middle, 20 + height * (1 - summary.edit_share.mean), day, summary))
        if middle >= next_label:
            next_label = middle + LABEL_ROOM
            parts.append(_text(min(middle, WIDTH - LABEL_ROOM / 2), height + 38, _period(unit, day), "middle"))
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _, _ in line)
    parts.append(f'<polyline class="line-halo" points="{path}"/><polyline class="line" points="{path}"/>')
    for x, y, day, summary in line:
        tip = f"{day.isoformat()}: mean edit share {shown_share(summary.edit_share.mean)}"
        parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3.5"><title>{attribute(tip)}</title></circle>')
    return _svg(f"Verdicts by {unit}", height + 48, parts)


def _period(unit: str, day: date) -> str:
    return {"month": f"{day:%Y-%m}", "year": f"{day.year:04d}"}.get(unit, day.isoformat())


def _svg(title: str, height: float, parts: Sequence[str]) -> str:
    label = attribute(title)
    return f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{label}"><title>{label}</title>{"".join(parts)}</svg>'


def _grid(left: int, height: int, marks: Sequence[tuple[float, str]]) -> str:
    """A line and its label at each share of the height."""
    lines = []
    for share, label in marks:
        y = 20 + height * (1 - share)
        lines.append(f'<line class="grid" x1="{left}" x2="{WIDTH - RIGHT}" y1="{y:g}" y2="{y:g}"/>{_text(left - 6, y + 4, label, "end")}')
    return "".join(lines)


def _bar(x: float, y: float, width: float, height: float, verdict: str, tip: str) -> str:
    if width <= 0 or height <= 0:
        return ""
    shape = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect class="{verdict_class(verdict)}" {shape}><title>{attribute(tip)}</title></rect>'


def _text(x: float, y: float, text: str, anchor: str, style: str = "", *, tip: str = "") -> str:
    title = f"<title>{attribute(tip)}</title>" if tip else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{style}">{attribute(text)}{title}</text>'


def _shortened(text: str) -> str:
    """As much of a label as fits: an ideograph takes the room of two letters."""
    room = LABEL_CHARACTERS
    for i, char in enumerate(text):
        room -= 2 if unicodedata.east_asian_width(char) in "WF" else 1
        if room < 0:
            return text[: max(i - 1, 1)] + "…"
    return text
