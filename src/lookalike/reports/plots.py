"""Plots as SVG text: upright bars for distributions, lying ones for named amounts, and what other plots are drawn with.

Colours are classes that the style sheet fills in; every value is also written out or in a tooltip.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from lookalike.reports.escaping import attribute, columns

WIDTH = 520  # so that text can be read where the page is 500 pixels wide, and is not large where it has room
LEFT = 46  # room for the labels of the axis
RIGHT = 24  # room for half a label
TOP = 24
HEIGHT = 180
LABEL_WIDTH = 110
CHARACTER = 6.8  # of a label, half-width
WIDEST = 96  # of an upright bar, however few there are
FLATTENS = 30  # times: a bar that is so much higher leaves nothing to be seen of the lowest


class Bar(NamedTuple):
    label: str
    value: float
    tip: str


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

    @property
    def marks(self) -> list[tuple[float, str]]:
        """Where the lines of a grid stand, and what they say."""
        return [(self.height(tick), f"{tick:,}") for tick in self.ticks]


def upright(title: str, bars: Sequence[Bar]) -> str:
    """A distribution of counts: a label under each bar that has room for one, and the count above it."""
    scale = Scale.of([bar.value for bar in bars if bar.value > 0])
    step = (WIDTH - LEFT - RIGHT) / max(len(bars), 1)
    wide = min(step - 2, WIDEST)
    labels, counts = AxisLabels(), AxisLabels()
    parts = [grid(scale.marks)]
    for i, bar in enumerate(bars):
        tall, middle = HEIGHT * scale.height(bar.value), LEFT + (i + 0.5) * step
        parts.append(rect(middle - wide / 2, TOP + HEIGHT - tall, wide, tall, bar.tip))
        if bar.value:
            parts.append(counts.above(middle, TOP + HEIGHT - tall - 5, f"{bar.value:,.0f}"))
        parts.append(labels.above(middle, TOP + HEIGHT + 18, bar.label))
    if scale.logarithmic:
        parts.append(text(LEFT, 12, "logarithmic scale", "start", "soft"))
    return svg(title, TOP + HEIGHT + 28, parts)


class AxisLabels:
    """Labels from left to right. One that would run into the label before it is left out."""

    def __init__(self) -> None:
        self._end, self._y = -math.inf, 0.0

    def above(self, middle: float, y: float, label: str) -> str:
        reach = columns(label) * CHARACTER / 2
        if middle - reach < self._end and abs(y - self._y) < 12:
            return ""
        self._end, self._y = middle + reach + 4, y
        return text(middle, y, label, "middle")


def lying(title: str, bars: Sequence[Bar]) -> str:
    """Named amounts, one under the other, each with its tip behind it."""
    row, room = 26, WIDTH - LABEL_WIDTH - 90
    largest = max((bar.value for bar in bars), default=0) or 1
    parts = []
    for i, bar in enumerate(bars):
        y, long = 6 + i * row, room * bar.value / largest
        parts.append(text(LABEL_WIDTH - 8, y + 14, bar.label, "end"))
        parts.append(rect(LABEL_WIDTH, y, long, 20, bar.tip))
        parts.append(text(LABEL_WIDTH + long + 8, y + 14, bar.tip, "start"))
    return svg(title, 12 + len(bars) * row, parts)


def svg(title: str, height: float, parts: Sequence[str]) -> str:
    label = attribute(title)
    return (
        f'<svg class="plot" viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{label}"><title>{label}</title>{"".join(parts)}</svg>'
    )


def grid(marks: Sequence[tuple[float, str]]) -> str:
    """A line and its label at each share of the height."""
    lines = []
    for share, label in marks:
        y = TOP + HEIGHT * (1 - share)
        lines.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:g}" y2="{y:g}"/>{text(LEFT - 6, y + 4, label, "end")}')
    return "".join(lines)


def rect(x: float, y: float, width: float, height: float, tip: str, style: str = "value") -> str:
    if width <= 0 or height <= 0:
        return ""
    shape = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect class="{style}" {shape}><title>{attribute(tip)}</title></rect>'


def text(x: float, y: float, content: str, anchor: str, style: str = "", *, tip: str = "") -> str:
    title = f"<title>{attribute(tip)}</title>" if tip else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{style}">{attribute(content)}{title}</text>'


def shortened(label: str, room: int) -> str:
    """As much of a label as fits: an ideograph takes the room of two letters."""
    for i, char in enumerate(label):
        room -= columns(char)
        if room < 0:
            return label[: max(i - 1, 1)] + "…"
    return label
