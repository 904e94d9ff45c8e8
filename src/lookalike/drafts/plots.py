"""The plots of verdicts: bars for a distribution, stacked bars for groups, stacked columns over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date

from lookalike.drafts.aggregate import BARS, Summary, slot
from lookalike.drafts.judge import VERDICTS
from lookalike.figures import shown_share
from lookalike.reports.escaping import attribute
from lookalike.reports.plots import HEIGHT, LEFT, RIGHT, TOP, WIDTH, AxisLabels, Scale, grid, rect, shortened, svg, text

LABEL_WIDTH = 150
LABEL_CHARACTERS = 20  # half-width ones
COUNT_WIDTH = 110
BOTTOM = TOP + HEIGHT


def verdict_class(verdict: str) -> str:
    return f"v{VERDICTS.index(verdict)}"


def distribution(summary: Summary) -> str:
    """How many pairs have which edit share, in bars of 5 %, coloured by verdict."""
    bars: list[Counter[str]] = [Counter() for _ in range(BARS)]
    for (bar, verdict), count in summary.bars.items():
        bars[bar][verdict] += count
    largest = max(1, *(bar.total() for bar in bars))
    width = (WIDTH - LEFT - RIGHT) / BARS
    parts = [grid(Scale.of([largest]).marks)]
    for i, counts in enumerate(bars):
        y = float(BOTTOM)
        for verdict in VERDICTS:
            tall = HEIGHT * counts[verdict] / largest
            y -= tall
            tip = f"edit share {i / BARS:.0%} to {(i + 1) / BARS:.0%}: {verdict}, {counts[verdict]:,} pairs"
            parts.append(rect(LEFT + i * width + 1, y, width - 2, tall, tip, verdict_class(verdict)))
    parts += [text(LEFT + i * width, BOTTOM + 18, f"{i / BARS:.0%}", "middle") for i in range(0, BARS + 1, 4)]
    return svg("Distribution of the edit share", BOTTOM + 28, parts)


def groups(name: str, summaries: Sequence[tuple[str, Summary]]) -> str:
    """The verdicts of each group, as shares of a bar."""
    row, left = 30, LABEL_WIDTH
    width = WIDTH - left - COUNT_WIDTH
    parts = []
    for i, (value, summary) in enumerate(summaries):
        y = 24 + i * row
        parts.append(text(left - 8, y + 15, shortened(value, LABEL_CHARACTERS), "end", tip=value))
        x = float(left)
        for verdict in VERDICTS:
            share = summary.verdicts[verdict] / summary.pairs
            parts.append(rect(x, y, share * width, 22, f"{value}: {_share(summary, verdict)}", verdict_class(verdict)))
            if share * width > 34:
                parts.append(text(x + share * width / 2, y + 15, shown_share(share, 0), "middle", f"on-{verdict_class(verdict)}"))
            x += share * width
        parts.append(text(left + width + 10, y + 15, f"{shown_share(summary.usable, 0)} of {summary.pairs:,}", "start"))
    parts.append(text(left + width + 10, 14, "usable", "start", "soft"))
    return svg(f"Verdicts by {name}", 30 + len(summaries) * row, parts)


def _share(summary: Summary, verdict: str) -> str:
    count = summary.verdicts[verdict]
    return f"{verdict} {shown_share(count / summary.pairs)} ({count:,} of {summary.pairs:,})"


def over_time(unit: str, points: Sequence[tuple[date, Summary]]) -> str:
    """The verdicts of each period, and the mean edit share as a line."""
    first = slot(unit, points[0][0])
    step = (WIDTH - LEFT - RIGHT) / (slot(unit, points[-1][0]) - first + 1)
    wide = min(step * 0.8, 60)
    labels = AxisLabels()
    parts = [grid([(i / 4, f"{i / 4:.0%}") for i in range(5)])]
    line, dots = [], []
    for day, summary in points:
        middle, y = LEFT + (slot(unit, day) - first + 0.5) * step, float(TOP)
        for verdict in reversed(VERDICTS):
            tall = HEIGHT * summary.verdicts[verdict] / summary.pairs
            tip = f"{unit} from {day.isoformat()}: {_share(summary, verdict)}"
            parts.append(rect(middle - wide / 2, y, wide, tall, tip, verdict_class(verdict)))
            y += tall
        mean = summary.edit_share.mean
        place, tip = (f"{middle:.1f}", f"{BOTTOM - HEIGHT * mean:.1f}"), f"{day.isoformat()}: mean edit share {shown_share(mean)}"
        line.append(",".join(place))
        dots.append('<circle class="dot" cx="{}" cy="{}" r="3.5">'.format(*place) + f"<title>{attribute(tip)}</title></circle>")
        parts.append(labels.above(middle, BOTTOM + 18, _period(unit, day)))
    parts += [f'<polyline class="{style}" points="{" ".join(line)}"/>' for style in ("halo", "trend")]
    return svg(f"Verdicts by {unit}", BOTTOM + 28, [*parts, *dots])


def _period(unit: str, day: date) -> str:
    return {"month": f"{day:%Y-%m}", "year": f"{day.year:04d}"}.get(unit, day.isoformat())
