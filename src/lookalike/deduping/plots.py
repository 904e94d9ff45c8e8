"""Bars as SVG: upright ones for distributions, lying ones for named amounts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from lookalike.comparison.escaping import attribute

WIDTH = 720
RIGHT = 16
HEIGHT = 170
LABEL_WIDTH = 110
WIDEST = 96  # of an upright bar, however few there are
FLATTENS = 30  # times: a bar that is so much higher leaves nothing to be seen of the lowest


class Bar(NamedTuple):
    label: str
    value: float
    tip: str


def upright(title: str, bars: Sequence[Bar]) -> str:
    """A distribution of counts. Every label is under its bar, and every count above it."""
    left, top = 60, 24
    values = [bar.value for bar in bars if bar.value > 0]
    scale = Scale.of(values)
    width = (WIDTH - left - RIGHT) / max(len(bars), 1)
    parts = []
    for tick in scale.ticks:
        y = top + HEIGHT * (1 - scale.height(tick))
        parts.append(f'<line class="grid" x1="{left}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text(left - 6, y + 4, f"{tick:,}", "end"))
    for i, bar in enumerate(bars):
        tall, middle = HEIGHT * scale.height(bar.value), left + (i + 0.5) * width
        wide = min(width - 2, WIDEST)
        parts.append(_rect(middle - wide / 2, top + HEIGHT - tall, wide, tall, bar.tip))
        if bar.value:
            parts.append(_text(middle, top + HEIGHT - tall - 5, f"{bar.value:,.0f}", "middle"))
        parts.append(_text(middle, top + HEIGHT + 18, bar.label, "middle"))
    if scale.logarithmic:
        parts.append(_text(left, 12, "logarithmic scale", "start"))
    return _svg(title, top + HEIGHT + 28, parts)


class Scale(NamedTuple):
    """From counts to shares of the height. Where one bar would flatten the others, the scale is logarithmic."""

    top: float
    logarithmic: bool
    ticks: tuple[int, ...]

    @classmethod
    def of(cls, values: Sequence[float]) -> Scale:
        largest, least = max(values, default=1), min(values, default=1)
        if largest > FLATTENS * least:
            ticks = tuple(10**power for power in range(len(str(int(largest)))))
            return cls(largest, True, ticks)
        # Two to five whole steps of 1, 2 or 5, or ten times that, and so on.
        step = next(step for power in range(20) for step in (10**power, 2 * 10**power, 5 * 10**power) if largest / step <= 5)
        ticks = tuple(range(0, int(largest) + 1, step))
        return cls(largest, False, ticks)

    def height(self, value: float) -> float:
        if value <= 0:
            return 0.0
        # A count of one is to be seen: the logarithmic scale begins at a half.
        return math.log(2 * value) / math.log(2 * self.top) if self.logarithmic else value / self.top


def lying(title: str, bars: Sequence[Bar]) -> str:
    """Named amounts, one under the other, each with its tip behind it."""
    row, room = 26, WIDTH - LABEL_WIDTH - 200
    largest = max((bar.value for bar in bars), default=0) or 1
    parts = []
    for i, bar in enumerate(bars):
        y, long = 6 + i * row, room * bar.value / largest
        parts.append(_text(LABEL_WIDTH - 8, y + 14, bar.label, "end"))
        parts.append(_rect(LABEL_WIDTH, y, long, 20, bar.tip))
        parts.append(_text(LABEL_WIDTH + long + 8, y + 14, bar.tip, "start"))
    return _svg(title, 12 + len(bars) * row, parts)


def _svg(title: str, height: float, parts: Sequence[str]) -> str:
    label = attribute(title)
    drawn = f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{label}"><title>{label}</title>{"".join(parts)}</svg>'
    return f"<div class=wide>{drawn}</div>"


def _rect(x: float, y: float, width: float, height: float, tip: str) -> str:
    if width <= 0 or height <= 0:
        return ""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"><title>{attribute(tip)}</title></rect>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{attribute(text)}</text>'
